//! Reads the coefficients of the matrices A and B.

use rayon::prelude::*;

use crate::binary_files::fields::Fields;
use crate::binary_files::sections::Section;
use crate::curves::curve_id::{CurveId, is_below};
use crate::error::Result;
use crate::zkey::header::ZkeyHeader;

/// Bytes that an entry takes: matrix, constraint, signal, value.
const ENTRY_BYTES: usize = 12 + CurveId::SCALAR_BYTES;
/// Minimum entries that a thread checks at a time: some tens of microseconds of work.
const MIN_ENTRIES: usize = 1 << 11;

/// A matrix of the constraint system. C is not in a zkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// The left factors, encoded as 0.
    A,
    /// The right factors, encoded as 1.
    B,
}

/// An entry of a matrix. Entries of the same matrix, constraint and signal add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coefficient<'a> {
    /// The matrix.
    pub matrix: Matrix,
    /// The row, below the domain's size.
    pub constraint: u32,
    /// The column, below the number of signals.
    pub signal: u32,
    /// v·R² mod r for the coefficient v and R = 2^256, little-endian, below r. A Montgomery product with a plain value w
    /// gives v·w in Montgomery form.
    pub value: &'a [u8; CurveId::SCALAR_BYTES],
}

/// Coefficients of a zkey, in the file's order.
#[derive(Debug, Clone, Copy)]
pub struct Coefficients<'a> {
    entries: &'a [[u8; ENTRY_BYTES]],
}

impl<'a> Coefficients<'a> {
    /// Views the section of coefficients without checking its entries.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): the section has another length than its first field says.
    pub(crate) fn new(section: &Section<'a>) -> Result<Self> {
        let mut fields = Fields::new(section.place, section.bytes);
        let count = fields.u32("number of coefficients")?;
        let (entries, rest) = fields.bytes("coefficients", fields.remaining() as u64)?.as_chunks();
        if entries.len() as u64 == u64::from(count) && rest.is_empty() {
            return Ok(Self { entries });
        }
        let expected = format!("4 + {count} * {ENTRY_BYTES} bytes");
        Err(section.place.malformed("length", expected, section.bytes.len()))
    }

    /// Views `bytes`, a section that has been checked.
    pub(crate) fn from_checked(bytes: &'a [u8]) -> Self {
        Self { entries: bytes.get(4..).unwrap_or_default().as_chunks().0 }
    }

    /// Checks each entry against the key's `header`.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): an entry's matrix is not 0 or 1, or its constraint, signal or value is too large.
    pub(crate) fn check(&self, section: &Section<'_>, header: &ZkeyHeader) -> Result<()> {
        let fault = |entry: &[u8; ENTRY_BYTES]| entry_fault(entry, header);
        let entries = self.entries.par_iter().with_min_len(MIN_ENTRIES).enumerate();
        let first = entries.find_map_first(|(index, entry)| Some((index, fault(entry)?)));
        let Some((index, [field, expected, actual])) = first else { return Ok(()) };
        Err(section.place.malformed(format!("{field} of coefficient {index}"), expected, actual))
    }

    /// Returns the number of coefficients.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the coefficient at `index`, if there is one.
    pub fn get(&self, index: usize) -> Option<Coefficient<'a>> {
        self.entries.get(index).map(decode)
    }

    /// Returns all coefficients.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Coefficient<'a>> + DoubleEndedIterator + use<'a> {
        self.entries.iter().map(decode)
    }

    /// Returns all coefficients, for all threads of rayon's pool.
    pub fn par_iter(&self) -> impl IndexedParallelIterator<Item = Coefficient<'a>> + use<'a> {
        self.entries.par_iter().with_min_len(MIN_ENTRIES).map(decode)
    }
}

/// Splits an entry into matrix, constraint, signal and value.
fn fields(entry: &[u8; ENTRY_BYTES]) -> ([u32; 3], &[u8; CurveId::SCALAR_BYTES]) {
    let [m0, m1, m2, m3, c0, c1, c2, c3, s0, s1, s2, s3, value @ ..] = entry;
    let matrix = u32::from_le_bytes([*m0, *m1, *m2, *m3]);
    let constraint = u32::from_le_bytes([*c0, *c1, *c2, *c3]);
    let signal = u32::from_le_bytes([*s0, *s1, *s2, *s3]);
    ([matrix, constraint, signal], value)
}

fn decode(entry: &[u8; ENTRY_BYTES]) -> Coefficient<'_> {
    let ([matrix, constraint, signal], value) = fields(entry);
    let matrix = if matrix == 0 { Matrix::A } else { Matrix::B };
    Coefficient { matrix, constraint, signal, value }
}

/// Returns the field at fault, its expected and its actual value, if an entry is malformed.
fn entry_fault(entry: &[u8; ENTRY_BYTES], header: &ZkeyHeader) -> Option<[String; 3]> {
    let ([matrix, constraint, signal], value) = fields(entry);
    let bounds =
        [("matrix", matrix, 2), ("constraint", constraint, header.domain_size), ("signal", signal, header.signals)];
    for (field, actual, bound) in bounds {
        if actual >= bound {
            return Some([field.to_owned(), format!("less than {bound}"), actual.to_string()]);
        }
    }
    let is_good = is_below(value, header.curve.scalar_prime());
    (!is_good).then(|| ["value", "less than r", "one that is not"].map(str::to_owned))
}
