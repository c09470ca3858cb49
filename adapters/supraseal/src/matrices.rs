//! Holds a circuit's matrices, from which proofs take a, b and c.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use blstrs::Scalar;
use proofwarp::file_state::open_regular;
use proofwarp::groth16::Circuit;
use proofwarp::matrix::Csr;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::file;

/// Holds the matrices A, B and C of a circuit's constraints, in memory or in a mapped file. Clones share them.
///
/// A file of [`Self::write`] must stay as it is while matrices of [`Self::open`] are in use, like a parameter file
/// ([`crate::SRS`]).
#[derive(Clone)]
pub struct Matrices(Arc<Circuit<Scalar>>);

/// Holds one matrix in compressed rows. Row i has the non-zeros from `row_pointers[i]` to below `row_pointers[i + 1]`.
/// Columns are numbered by variables, inputs first.
#[derive(Debug, Clone, Default)]
pub struct CompressedRows {
    /// Index of the first non-zero of each row, then the number of non-zeros.
    pub row_pointers: Vec<u32>,
    /// Column of each non-zero.
    pub columns: Vec<u32>,
    /// Coefficient of each non-zero.
    pub coefficients: Vec<Scalar>,
}

impl fmt::Debug for Matrices {
    /// Writes the counts only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Matrices");
        fields.field("inputs", &self.input_count()).field("aux", &self.aux_count());
        fields.field("constraints", &self.constraint_count()).finish_non_exhaustive()
    }
}

impl Matrices {
    /// Creates the matrices of a circuit with `inputs` inputs, the constant one included, and `aux` auxiliary variables
    /// from `rows` of A, B and C. As in bellperson's keys, A has a row for each input too.
    ///
    /// # Errors
    /// - [`Error::Engine`]: the matrices differ in their numbers of rows, or one is malformed.
    pub fn new(inputs: usize, aux: usize, rows: [CompressedRows; 3]) -> Result<Self, Error> {
        let columns = inputs.saturating_add(aux);
        let matrix = |CompressedRows { row_pointers, columns: indices, coefficients }| {
            Csr::new(columns, row_pointers, indices, &coefficients).map(Arc::new)
        };
        let [a, b, c] = rows.map(matrix);
        Ok(Self(Arc::new(Circuit::from_matrices(inputs, [a?, b?, c?])?)))
    }

    /// Maps the file at `path`, which [`Self::write`] made.
    ///
    /// # Errors
    /// - [`Error::Io`]: the file cannot be opened or mapped.
    /// - [`Error::Unusable`]: the file does not hold a circuit's matrices.
    ///
    /// # Safety
    /// No process writes to the file or shortens it while matrices of it are in use. It may be deleted or replaced.
    pub unsafe fn open(path: &Path) -> Result<Self, Error> {
        let opened = open_regular(path).map_err(|reason| Error::from_io(path, reason))?;
        let unusable = |reason| Error::Unusable { path: path.to_owned(), reason };
        let circuit = Circuit::from_file(&file::map(path, opened)?).map_err(unusable)?;
        Ok(Self(Arc::new(circuit)))
    }

    /// Writes the matrices to a new file, which then replaces that at `path`.
    ///
    /// # Errors
    /// - [`Error::Io`]: the file cannot be written or renamed.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let written = new_readable_file(folder).and_then(|partial| {
            let mut file = BufWriter::new(partial.as_file());
            self.0.write_to(&mut file)?;
            file.flush()?;
            drop(file);
            partial.as_file().sync_all()?;
            partial.persist(path).map_err(|failed| failed.error)
        });
        written.map(drop).map_err(|reason| Error::from_io(path, reason))
    }

    /// Returns the number of inputs, the constant one included.
    pub fn input_count(&self) -> usize {
        self.0.input_count()
    }

    /// Returns the number of auxiliary variables.
    pub fn aux_count(&self) -> usize {
        self.0.aux_count()
    }

    /// Returns the number of constraints.
    pub fn constraint_count(&self) -> usize {
        self.0.constraint_count()
    }

    /// Returns whether no clone of the matrices exists.
    pub fn is_unshared(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Returns whether `other` is a clone of the matrices.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the bytes of host memory that the matrices take. Those of a mapped file count too.
    pub fn host_bytes(&self) -> u64 {
        let bytes = |matrix: &Csr<Scalar>| {
            let words = matrix.row_pointers().len() + 2 * matrix.nonzeros();
            words * size_of::<u32>() + size_of_val(matrix.dictionary())
        };
        let indices = size_of_val(self.0.variables_of_a()) + size_of_val(self.0.variables_of_b());
        self.0.matrices().iter().map(|matrix| bytes(matrix) as u64).sum::<u64>() + indices as u64
    }

    pub(crate) fn circuit(&self) -> &Circuit<Scalar> {
        &self.0
    }
}

/// Creates a temporary file in `folder` that other users may read, as far as the process's mask allows.
fn new_readable_file(folder: &Path) -> io::Result<NamedTempFile> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    builder.tempfile_in(folder)
}
