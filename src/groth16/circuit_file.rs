//! Writes a circuit with its matrices to a file, and maps it again.
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | `pw-r1cs1` |
//! | 8 | number of inputs, little-endian |
//! | | the matrices A, B and C, as [`Csr::write_to`] writes them |

use std::io::{self, Write};
use std::sync::Arc;

use super::Circuit;
use super::parameters::ERROR_CONTEXT;
use crate::field::NttField;
use crate::matrix::Csr;
use crate::{Error, MappedFile, Result};

const MAGIC: [u8; 8] = *b"pw-r1cs1";
/// Number of bytes, 16, that precede the matrices.
const HEADER_BYTES: usize = MAGIC.len() + size_of::<u64>();

impl<F: NttField> Circuit<F> {
    /// Writes the circuit's inputs and its matrices A, B and C to `to`, for [`Self::from_file`].
    ///
    /// # Errors
    /// - [`io::ErrorKind::InvalidInput`]: the circuit does not have all three matrices.
    /// - `to` fails: its error.
    pub fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        let [_, _, _] = self.matrices() else {
            let text = format!("expected a circuit with matrices A, B and C, got {} of them", self.matrices().len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        };
        to.write_all(&MAGIC)?;
        to.write_all(&(self.input_count() as u64).to_le_bytes())?;
        self.matrices().iter().try_for_each(|matrix| matrix.write_to(to))
    }

    /// Reads the circuit that [`Self::write_to`] wrote to `file`. The matrices stay in the file, mapped. Devices copy
    /// them from there. Later uses of the circuit fail if the file has changed.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the file does not hold a circuit over this field.
    /// - [`Error::Invalid`]: the file has changed.
    pub fn from_file(file: &Arc<MappedFile>) -> Result<Self> {
        let inputs = read_inputs(file)?;
        let (a, end) = Csr::from_file(file, HEADER_BYTES)?;
        let (b, end) = Csr::from_file(file, end)?;
        let (c, end) = Csr::from_file(file, end)?;
        Error::check_eq(ERROR_CONTEXT, format!("bytes of {}", file.path().display()), end, file.len())?;
        let circuit = Self::from_matrices(inputs, [a, b, c].map(Arc::new))?;
        file.check_unchanged()?;
        Ok(circuit)
    }
}

fn read_inputs(file: &MappedFile) -> Result<usize> {
    let (expected, path) = (|| String::from("pw-r1cs1, then 8 bytes"), || file.path().display().to_string());
    let invalid = |actual: String| Error::invalid(ERROR_CONTEXT, format!("header of {}", path()), expected(), actual);
    let header = file.bytes().first_chunk::<HEADER_BYTES>();
    let header = header.ok_or_else(|| invalid(format!("{} bytes", file.len())))?;
    let (magic, inputs) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(invalid(String::from_utf8_lossy(magic).into_owned()));
    }
    let inputs = inputs.first_chunk().map_or(0, |inputs| u64::from_le_bytes(*inputs));
    usize::try_from(inputs).map_err(|_| invalid(format!("{inputs} inputs")))
}
