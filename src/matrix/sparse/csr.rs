//! Stores a matrix in compressed rows on the host, its coefficients in a dictionary.

use std::collections::HashMap;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::kernel_and_tiles::{LIMIT, Statistics, Tiles};
use super::words::Words;
use crate::field::{NttField, as_bytes};
use crate::kernels::csr::{CSR_MINUS_ONE, CSR_PLUS_ONE};
use crate::rayon_waits::{check_host_threads, install};
use crate::{Error, Result};

/// Holds a sparse matrix in compressed rows on the host. It is immutable and checked when created.
///
/// Each distinct coefficient is held once, in a dictionary that starts with 1 and −1. A non-zero therefore takes 8
/// bytes on the host and 4 to 8 on a device. If a column occurs in a row more than once, its coefficients add up.
///
/// [`Self::write_to`] writes a matrix to a file. [`Self::from_file`] leaves it there, mapped. If that file changes, products
/// and uploads are errors. What rows and indices hold then has no meaning.
#[derive(Debug, Clone)]
pub struct Csr<F> {
    columns: usize,
    row_pointers: Words,
    column_indices: Words,
    coefficient_indices: Words,
    dictionary: Vec<F>,
    /// Statistics of the rows, and the number of non-zeros that are 1 or −1, once they are asked for.
    statistics: OnceLock<(Statistics, usize)>,
    /// Tiles of the balanced kernel, once they are asked for: one core finds them in all row pointers.
    tiles: OnceLock<Tiles>,
}

impl<F: NttField> Csr<F> {
    /// Creates a matrix of `columns` columns, with one row fewer than there are row pointers. Row r has the non-zeros
    /// from index `row_pointers[r]` to below `row_pointers[r + 1]`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are no row pointers, or they do not rise from 0 to the number of non-zeros.
    /// - [`Error::Invalid`]: `column_indices` and `coefficients` differ in length.
    /// - [`Error::Invalid`]: a column index is not below `columns`.
    /// - [`Error::Invalid`]: rows, columns or non-zeros exceed 2^31.
    /// - [`Error::Forked`]: [`crate::fork_check`] explains it.
    /// - [`Error::Device`]: the system gives rayon no thread.
    pub fn new(columns: usize, row_pointers: Vec<u32>, column_indices: Vec<u32>, coefficients: &[F]) -> Result<Self> {
        Error::check_eq("csr", "number of coefficients", column_indices.len(), coefficients.len())?;
        check_pointers(&row_pointers, column_indices.len())?;
        check_columns(columns, &column_indices)?;
        let mut dictionary = Dictionary::new();
        let coefficient_indices: Vec<_> = coefficients.iter().map(|value| dictionary.intern(*value)).collect();
        Ok(Self::from_vecs(columns, [row_pointers, column_indices, coefficient_indices], dictionary.values))
    }

    /// Creates a matrix whose coefficients are given as indices into `dictionary`, which starts with 1 and −1. It
    /// copies nothing and looks up nothing, which suits large matrices.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the dictionary starts with other values, or has more than 2^31.
    /// - [`Error::Invalid`]: an index is not in the dictionary.
    /// - Other errors are those of [`Self::new`].
    pub fn with_dictionary(
        columns: usize,
        row_pointers: Vec<u32>,
        column_indices: Vec<u32>,
        coefficient_indices: Vec<u32>,
        dictionary: Vec<F>,
    ) -> Result<Self> {
        Self::from_words(columns, [row_pointers, column_indices, coefficient_indices].map(Words::from), dictionary)
    }

    /// Creates a matrix as [`Self::with_dictionary`] does. `words` are its row pointers, column indices and coefficient
    /// indices.
    pub(super) fn from_words(columns: usize, words: [Words; 3], dictionary: Vec<F>) -> Result<Self> {
        let [row_pointers, column_indices, coefficient_indices] = words;
        Error::check_eq("csr", "number of coefficients", column_indices.len(), coefficient_indices.len())?;
        check_pointers(&row_pointers, column_indices.len())?;
        check_columns(columns, &column_indices)?;
        check_limit("dictionary", dictionary.len())?;
        if !dictionary.starts_with(&[F::ONE, -F::ONE]) {
            return Err(Error::invalid("csr", "dictionary", "one that starts with 1 and -1", "another"));
        }
        check_below(dictionary.len(), &coefficient_indices, "coefficient")?;
        Ok(Self::from_valid_words(columns, [row_pointers, column_indices, coefficient_indices], dictionary))
    }

    /// Creates a matrix whose dictionary holds 1, −1 and then all `coefficients` in order, even equal ones. It looks up
    /// nothing and does not check `row_pointers` and `column_indices`, which must be valid.
    pub(in crate::matrix) fn with_dense_dictionary(
        columns: usize,
        row_pointers: Vec<u32>,
        column_indices: Vec<u32>,
        coefficients: &[F],
    ) -> Result<Self> {
        check_limit("non-zeros", coefficients.len())?;
        let coefficient_indices = (2..).take(coefficients.len()).collect();
        let dictionary = [&[F::ONE, -F::ONE], coefficients].concat();
        Ok(Self::from_vecs(columns, [row_pointers, column_indices, coefficient_indices], dictionary))
    }

    /// Creates a matrix of `columns` columns from its `rows`. Each row is an iterator of (column, coefficient).
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column is not below `columns`.
    /// - [`Error::Invalid`]: rows, columns or non-zeros exceed 2^31.
    pub fn from_rows<R>(columns: usize, rows: impl IntoIterator<Item = R>) -> Result<Self>
    where
        R: IntoIterator<Item = (usize, F)>,
    {
        check_limit("columns", columns)?;
        let mut dictionary = Dictionary::new();
        let (mut row_pointers, mut column_indices, mut coefficient_indices) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, coefficient) in row {
                if column >= columns {
                    let what = format!("column in row {}", row_pointers.len() - 1);
                    return Err(Error::invalid("csr", what, format!("below {columns}"), column));
                }
                column_indices.push(column as u32);
                coefficient_indices.push(dictionary.intern(coefficient));
            }
            check_limit("non-zeros", column_indices.len())?;
            check_limit("rows", row_pointers.len())?;
            row_pointers.push(column_indices.len() as u32);
        }
        Ok(Self::from_vecs(columns, [row_pointers, column_indices, coefficient_indices], dictionary.values))
    }

    /// Returns the transposed matrix. Each of its rows has its columns in ascending order.
    #[must_use]
    pub fn transpose(&self) -> Self {
        let mut row_pointers = vec![0; self.columns + 1];
        for column in self.column_indices() {
            row_pointers[*column as usize + 1] += 1;
        }
        (0..self.columns).for_each(|column| row_pointers[column + 1] += row_pointers[column]);
        let mut next = row_pointers.clone();
        let mut column_indices = vec![0; self.nonzeros()];
        let mut coefficient_indices = vec![0; self.nonzeros()];
        for row in 0..self.rows() {
            for i in self.nonzero_range(row) {
                let place = &mut next[self.column_indices[i] as usize];
                column_indices[*place as usize] = row as u32;
                coefficient_indices[*place as usize] = self.coefficient_indices[i];
                *place += 1;
            }
        }
        Self::from_vecs(self.rows(), [row_pointers, column_indices, coefficient_indices], self.dictionary.clone())
    }

    /// Returns the non-zeros of `row` as (column, coefficient), in stored order. There are none if the row does not
    /// exist.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, F)> + '_ {
        let range = if row < self.rows() { self.nonzero_range(row) } else { 0..0 };
        range.map(|i| (self.column_indices[i] as usize, self.dictionary[self.coefficient_indices[i] as usize]))
    }
}

impl<F> Csr<F> {
    /// Creates a matrix from valid row pointers, column indices and coefficient indices, `words`.
    fn from_vecs(columns: usize, words: [Vec<u32>; 3], dictionary: Vec<F>) -> Self {
        Self::from_valid_words(columns, words.map(Words::from), dictionary)
    }

    /// Creates a matrix from valid row pointers, column indices and coefficient indices, `words`.
    fn from_valid_words(columns: usize, words: [Words; 3], dictionary: Vec<F>) -> Self {
        let [row_pointers, column_indices, coefficient_indices] = words;
        let (statistics, tiles) = (OnceLock::new(), OnceLock::new());
        Self { columns, row_pointers, column_indices, coefficient_indices, dictionary, statistics, tiles }
    }

    /// Checks that the matrix is still the one that was read, if it lies in a mapped file.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the file has changed.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        self.row_pointers.check_unchanged()
    }

    /// Returns the statistics of the rows, and the number of non-zeros that are 1 or −1.
    pub(super) fn statistics(&self) -> (Statistics, usize) {
        // Not inside of `get_or_init`: a worker of rayon's may meanwhile run a job that waits for it.
        *self.statistics.get().unwrap_or_else(|| {
            let (indices, is_sign) = (self.coefficient_indices(), |index: &&u32| **index <= CSR_MINUS_ONE);
            let signs = install(|| indices.par_iter().filter(is_sign).count());
            let found = (Statistics::from_row_pointers(&self.row_pointers), signs);
            self.statistics.get_or_init(|| found)
        })
    }

    /// Returns the tiles of the balanced kernel.
    pub(super) fn tiles(&self) -> &Tiles {
        // `Tiles::new` runs no job of rayon's, which might wait for it.
        self.tiles.get_or_init(|| Tiles::new(&self.row_pointers))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.row_pointers.len() - 1
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of stored non-zeros, whose coefficients may still be zero.
    pub fn nonzeros(&self) -> usize {
        self.column_indices.len()
    }

    /// Returns the index of the first non-zero of each row, then the number of non-zeros.
    pub fn row_pointers(&self) -> &[u32] {
        &self.row_pointers
    }

    /// Returns the dictionary that non-zeros index: 1 and −1, then the other coefficients. [`Self::new`] and
    /// [`Self::from_rows`] append each distinct one once, in order of first use.
    pub fn dictionary(&self) -> &[F] {
        &self.dictionary
    }

    /// Returns the column of each non-zero, row by row.
    pub fn column_indices(&self) -> &[u32] {
        &self.column_indices
    }

    /// Returns the index of the coefficient of each non-zero in the dictionary, row by row.
    pub fn coefficient_indices(&self) -> &[u32] {
        &self.coefficient_indices
    }

    /// Returns the range of indices of the non-zeros of `row`, which must exist.
    pub(super) fn nonzero_range(&self, row: usize) -> std::ops::Range<usize> {
        self.row_pointers[row] as usize..self.row_pointers[row + 1] as usize
    }
}

/// Collects distinct coefficients: 1, −1, then others in order of first use.
struct Dictionary<F> {
    values: Vec<F>,
    positions: HashMap<Box<[u8]>, u32>,
}

impl<F: NttField> Dictionary<F> {
    fn new() -> Self {
        Self { values: vec![F::ONE, -F::ONE], positions: HashMap::new() }
    }

    fn intern(&mut self, value: F) -> u32 {
        if value == F::ONE {
            return CSR_PLUS_ONE;
        }
        if value == self.values[CSR_MINUS_ONE as usize] {
            return CSR_MINUS_ONE;
        }
        let key = as_bytes(std::slice::from_ref(&value));
        if let Some(index) = self.positions.get(key) {
            return *index;
        }
        let index = self.values.len() as u32;
        self.positions.insert(key.into(), index);
        self.values.push(value);
        index
    }
}

pub(super) fn check_limit(what: &'static str, number: usize) -> Result<()> {
    if number <= LIMIT { Ok(()) } else { Err(Error::invalid("csr", what, format!("at most {LIMIT}"), number)) }
}

fn check_pointers(row_pointers: &[u32], nonzeros: usize) -> Result<()> {
    check_host_threads()?;
    let [first, .., last] = row_pointers else {
        return match row_pointers {
            [only] => Error::check_eq("csr", "the only row pointer", 0, *only as usize)
                .and_then(|()| Error::check_eq("csr", "number of non-zeros", 0, nonzeros)),
            _ => Err(Error::invalid("csr", "number of row pointers", "at least 1", 0)),
        };
    };
    check_limit("rows", row_pointers.len() - 1)?;
    check_limit("non-zeros", nonzeros)?;
    Error::check_eq("csr", "first row pointer", 0, *first as usize)?;
    if let Some(row) = row_pointers.par_windows(2).position_first(|pair| pair[0] > pair[1]) {
        let expected = format!("at least {}", row_pointers[row]);
        return Err(Error::invalid("csr", format!("row pointer {}", row + 1), expected, row_pointers[row + 1]));
    }
    Error::check_eq("csr", "last row pointer", nonzeros, *last as usize)
}

fn check_columns(columns: usize, column_indices: &[u32]) -> Result<()> {
    check_limit("columns", columns)?;
    check_below(columns, column_indices, "column")
}

fn check_below(limit: usize, indices: &[u32], what: &str) -> Result<()> {
    match indices.par_iter().position_first(|index| *index as usize >= limit) {
        None => Ok(()),
        Some(i) => Err(Error::invalid("csr", format!("{what} of non-zero {i}"), format!("below {limit}"), indices[i])),
    }
}
