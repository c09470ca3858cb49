//! Writes a matrix to a file, and maps it again.
//!
//! | bytes | contents, little-endian |
//! |---|---|
//! | 8 | `pw-csr-1` |
//! | 24 | the field's name, then zeros |
//! | 32 | numbers of columns, rows, non-zeros and coefficients in the dictionary, 64 bits each |
//! | 4 each | row pointers, column indices, coefficient indices; then zeros up to a multiple of 8 |
//! | 32 each | the dictionary's coefficients in canonical form |

use std::io::{self, Write};
use std::sync::Arc;

use super::csr::Csr;
use super::words::Words;
use crate::field::NttField;
use crate::mapped_file::MappedFile;
use crate::{Error, Result};

const MAGIC: [u8; 8] = *b"pw-csr-1";
/// Bytes of the field's name, 24, which is longer than any.
const NAME_BYTES: usize = 24;
/// Number of bytes, 64, that precede the row pointers.
const HEADER_BYTES: usize = MAGIC.len() + NAME_BYTES + 4 * size_of::<u64>();
/// Numbers of 32 bits that are converted at a time on a big-endian machine, 2^16.
const CHUNK: usize = 1 << 16;

impl<F: NttField> Csr<F> {
    /// Writes the matrix to `to`, for [`Self::from_file`].
    ///
    /// # Errors
    /// - The matrix lies in a file that has changed: [`Error::Invalid`].
    /// - `to` fails: its error.
    pub fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&header(F::NAME, self.counts()))?;
        let words = [self.row_pointers(), self.column_indices(), self.coefficient_indices()];
        words.iter().try_for_each(|words| write_words(words, to))?;
        to.write_all(&[0; 4][..padding(words.iter().map(|words| words.len()).sum())])?;
        self.dictionary().iter().try_for_each(|value| to.write_all(value.to_repr().as_ref()))?;
        self.check_unchanged().map_err(io::Error::other)
    }

    /// Reads the matrix that [`Self::write_to`] wrote from byte `start` of its file on. Returns it with the number of
    /// the first byte behind it. The matrix keeps `file`, and refers to it. Later uses of it fail if the file has
    /// changed.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such matrix, or one over another field.
    /// - [`Error::Invalid`]: [`Self::with_dictionary`] refuses the matrix.
    /// - [`Error::Invalid`]: the file has changed.
    pub fn from_file(file: &Arc<MappedFile>, start: usize) -> Result<(Self, usize)> {
        let [columns, rows, nonzeros, coefficients] = read_counts(file, start, F::NAME)?;
        let too_long = || invalid(file, "numbers of rows and non-zeros", "a matrix that fits in memory", rows);
        let mut at = start + HEADER_BYTES;
        let mut words = |count: usize| {
            let words = Words::from_file(file, at, count)?;
            at += size_of::<u32>() * count;
            Ok(words)
        };
        let pointers = rows.checked_add(1).ok_or_else(too_long)?;
        let words = [words(pointers)?, words(nonzeros)?, words(nonzeros)?];
        at += padding(words.iter().map(|words| words.len()).sum());
        let (dictionary, end) = read_dictionary(file, at, coefficients)?;
        let matrix = Self::from_words(columns, words, dictionary)?;
        file.check_unchanged()?;
        Ok((matrix, end))
    }

    fn counts(&self) -> [usize; 4] {
        [self.columns(), self.rows(), self.nonzeros(), self.dictionary().len()]
    }
}

fn header(name: &str, counts: [usize; 4]) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(name.as_bytes());
    header.resize(MAGIC.len() + NAME_BYTES, 0);
    header.extend(counts.iter().flat_map(|count| (*count as u64).to_le_bytes()));
    header
}

/// Reads the four numbers of a matrix over the field `name`, whose header begins at byte `start` of `file`.
fn read_counts(file: &MappedFile, start: usize, name: &str) -> Result<[usize; 4]> {
    let bytes = start.checked_add(HEADER_BYTES).and_then(|end| file.bytes().get(start..end));
    let bytes = bytes.ok_or_else(|| invalid(file, "header", format!("{HEADER_BYTES} bytes"), file.len()))?;
    let (identity, counts) = bytes.split_at(MAGIC.len() + NAME_BYTES);
    if identity != &header(name, [0; 4])[..identity.len()] {
        let actual = String::from_utf8_lossy(identity).into_owned();
        return Err(invalid(file, "header", format!("pw-csr-1 and {name}"), actual));
    }
    let (counts, _) = counts.as_chunks();
    let mut numbers = [0; 4];
    for (number, bytes) in numbers.iter_mut().zip(counts) {
        let value = u64::from_le_bytes(*bytes);
        *number = usize::try_from(value).map_err(|_| invalid(file, "header", "numbers of memory's size", value))?;
    }
    Ok(numbers)
}

/// Reads `count` coefficients from byte `start` of `file` on. Returns them with the number of the first byte behind.
fn read_dictionary<F: NttField>(file: &MappedFile, start: usize, count: usize) -> Result<(Vec<F>, usize)> {
    let size = F::Repr::default().as_ref().len();
    let end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(start));
    let bytes = end.and_then(|end| file.bytes().get(start..end));
    let bytes = bytes.ok_or_else(|| invalid(file, "dictionary", format!("{count} coefficients"), file.len()))?;
    let value = |bytes: &[u8]| {
        let mut repr = F::Repr::default();
        repr.as_mut().copy_from_slice(bytes);
        F::from_repr_vartime(repr).ok_or_else(|| invalid(file, "coefficient", "a number below the modulus", "another"))
    };
    Ok((bytes.chunks_exact(size).map(value).collect::<Result<_>>()?, start + bytes.len()))
}

/// Returns the bytes behind `count` numbers of 32 bits, up to a multiple of 8 bytes.
fn padding(count: usize) -> usize {
    count % 2 * size_of::<u32>()
}

fn write_words(words: &[u32], to: &mut impl Write) -> io::Result<()> {
    if cfg!(target_endian = "little") {
        return to.write_all(bytemuck::cast_slice(words));
    }
    words.chunks(CHUNK).try_for_each(|words| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        to.write_all(&bytes)
    })
}

fn invalid(file: &MappedFile, what: &str, expected: impl ToString, actual: impl ToString) -> Error {
    Error::invalid("csr", format!("{} of {}", what, file.path().display()), expected.to_string(), actual.to_string())
}

#[cfg(test)]
mod tests {
    use blstrs::Scalar;
    use ff::Field;

    use super::*;

    fn mapped(bytes: &[u8]) -> (tempfile::TempDir, Arc<MappedFile>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("matrix");
        std::fs::write(&path, bytes).expect("a file");
        let file = std::fs::File::open(&path).expect("a file");
        let same = |one: &std::fs::Metadata, other: &std::fs::Metadata| one.len() == other.len();
        // SAFETY: the test changes the file only between uses.
        let file = unsafe { MappedFile::new(file, path, same) }.expect("a map");
        (folder, Arc::new(file))
    }

    fn matrix(rows: usize) -> Csr<Scalar> {
        let value = |i: usize| [Scalar::ONE, -Scalar::ONE, Scalar::from(i as u64 + 5).invert().unwrap()][i % 3];
        Csr::from_rows(9, (0..rows).map(|row| (0..row % 4).map(move |i| ((row + i) % 9, value(row * i)))))
            .expect("rows")
    }

    fn bytes_of(matrix: &Csr<Scalar>) -> Vec<u8> {
        let mut bytes = Vec::new();
        matrix.write_to(&mut bytes).expect("memory");
        bytes
    }

    #[test]
    fn matrices_come_back() {
        for rows in [0, 1, 2, 5, 100] {
            let (matrix, mut bytes) = (matrix(rows), vec![7; 8]);
            bytes.extend(bytes_of(&matrix));
            assert_eq!(bytes.len() % 8, 0, "the next matrix is aligned too");
            let length = bytes.len();
            bytes.extend([7; 3]);
            let (_folder, file) = mapped(&bytes);
            let (read, end) = Csr::<Scalar>::from_file(&file, 8).expect("the matrix");
            assert_eq!((end, read.counts()), (length, matrix.counts()));
            assert_eq!(read.dictionary(), matrix.dictionary());
            for row in 0..rows {
                assert!(read.row(row).eq(matrix.row(row)), "row {row} of {rows}");
            }
            // From an odd address the numbers are copied.
            let (_folder, file) = mapped(&bytes[7..]);
            let (copied, _) = Csr::<Scalar>::from_file(&file, 1).expect("the matrix");
            assert!((0..rows).all(|row| copied.row(row).eq(matrix.row(row))));
        }
    }

    #[test]
    fn files_that_are_no_matrix_are_refused() {
        let good = bytes_of(&matrix(20));
        let refused = |bytes: &[u8], part: &str| {
            let (_folder, file) = mapped(bytes);
            let error = Csr::<Scalar>::from_file(&file, 0).expect_err("no matrix").to_string();
            assert!(error.contains(part), "{error}");
        };
        for length in [1, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 50, good.len() - 1] {
            refused(&good[..length], "expected");
        }
        let changed = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            bytes
        };
        refused(&changed(0, b'q'), "pw-csr-1");
        refused(&changed(MAGIC.len() + 3, b'q'), "bls12_381");
        for number in 0..4 {
            refused(&changed(MAGIC.len() + NAME_BYTES + 8 * number + 7, 0xff), "expected");
        }
        refused(&changed(HEADER_BYTES + 4 * 3, 0xff), "row pointer");
        refused(&changed(HEADER_BYTES + 4 * 21, 9), "column of non-zero 0: expected below 9");
        refused(&changed(good.len() - 1, 0xff), "below the modulus");
        let other = bytes_of(&matrix(20));
        let (_folder, file) = mapped(&other);
        let error = Csr::<halo2curves::bn256::Fr>::from_file(&file, 0).expect_err("another field");
        assert!(error.to_string().contains("expected pw-csr-1 and bn254"), "{error}");
    }

    #[test]
    fn a_file_that_changes_is_an_error() {
        let (folder, file) = mapped(&bytes_of(&matrix(50)));
        let (read, _) = Csr::<Scalar>::from_file(&file, 0).expect("the matrix");
        read.check_unchanged().expect("as it was");
        let path = folder.path().join("matrix");
        std::fs::File::options()
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(b"more"))
            .expect("a change");
        let error = read.check_unchanged().expect_err("a change").to_string();
        assert!(error.contains("changed since"), "{error}");
    }
}
