//! Holds a circuit's matrices, from which proofs take a, b and c.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use blstrs::Scalar;
use proofwarp::file_state::open_regular;
use proofwarp::groth16::Circuit;
use proofwarp::matrix::Csr;

use crate::error::Error;
use crate::file;

/// Holds the matrices A, B and C of a circuit's constraints, in memory or in a mapped file. Clones share them.
///
/// A file of [`Self::write`] must stay as it is while matrices of [`Self::open`] are in use, like a parameter file
/// ([`crate::SRS`]).
#[derive(Debug, Clone)]
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
    pub fn open(path: &Path) -> Result<Self, Error> {
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
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", std::process::id()));
        let partial = PathBuf::from(name);
        let written = self.write_new(&partial).and_then(|()| fs::rename(&partial, path));
        written.map_err(|reason| {
            // A file that was never made cannot be removed.
            let _ = fs::remove_file(&partial);
            Error::from_io(path, reason)
        })
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

    /// Returns the bytes of host memory, or of the mapped file, that the matrices take.
    pub fn host_bytes(&self) -> u64 {
        let bytes = |matrix: &Csr<Scalar>| {
            let words = matrix.row_pointers().len() + 2 * matrix.nonzeros();
            words * size_of::<u32>() + size_of_val(matrix.dictionary())
        };
        self.0.matrices().iter().map(|matrix| bytes(matrix) as u64).sum()
    }

    pub(crate) fn circuit(&self) -> &Circuit<Scalar> {
        &self.0
    }

    fn write_new(&self, path: &Path) -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        self.0.write_to(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()
    }
}
