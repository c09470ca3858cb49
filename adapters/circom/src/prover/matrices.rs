//! Compresses the coefficients of a zkey to sparse matrices.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ff::PrimeField;
use proofwarp::field::NttField;
use proofwarp::matrix::Csr;
use rayon::prelude::*;

use crate::curves::curve_id::CurveId;
use crate::curves::scalars::{scalar_from_bytes, scalar_to_bytes};
use crate::error::Result;
use crate::zkey::coefficients::{Coefficient, Coefficients, Matrix};
use crate::zkey::header::ZkeyHeader;

/// A coefficient as the file has it, v·R² mod r.
type RawValue<'a> = &'a [u8; CurveId::SCALAR_BYTES];

/// The distinct values of a zkey, and the index of each.
struct Dictionary<'a, F> {
    values: Vec<F>,
    /// Encodings of 1 and −1, with which `values` start. Most coefficients of a circuit have one of these values.
    units: [[u8; CurveId::SCALAR_BYTES]; 2],
    /// Indices of the other values.
    indices: HashMap<RawValue<'a>, u32>,
}

/// Builds one matrix in compressed rows, from coefficients in any order.
struct CsrBuilder {
    pointers: Vec<u32>,
    /// For each row, the index of its next non-zero.
    next: Vec<AtomicU32>,
    columns: Vec<AtomicU32>,
    values: Vec<AtomicU32>,
}

/// Returns the matrices A and B, each with a row for each element of the domain of `header` and a column for each
/// signal. All threads of rayon's pool take part. Entries of a row are in any order.
///
/// # Errors
/// - [`Error::Engine`](crate::Error::Engine): a matrix has more than 2^31 rows, columns or non-zeros.
pub(crate) fn to_sparse_matrices<F: NttField>(
    header: &ZkeyHeader,
    coefficients: &Coefficients<'_>,
) -> Result<[Arc<Csr<F>>; 2]> {
    let dictionary = Dictionary::<F>::new(coefficients);
    let matrices = [Matrix::A, Matrix::B].map(|matrix| CsrBuilder::new(header, coefficients, matrix));
    coefficients.par_iter().for_each(|coefficient| {
        matrices[coefficient.matrix as usize].add(&coefficient, dictionary.index(coefficient.value));
    });
    let [a, b] = matrices.map(|rows| rows.into_matrix(header, dictionary.values.clone()));
    Ok([Arc::new(a?), Arc::new(b?)])
}

impl<'a, F: NttField> Dictionary<'a, F> {
    /// Collects the distinct values of `coefficients` behind 1 and −1, with which a dictionary starts.
    fn new(coefficients: &Coefficients<'a>) -> Self {
        let one = F::from(2).pow_vartime([R_SQUARED_LOG]);
        let units = [one, -one].map(|unit| scalar_to_bytes(&unit));
        let others = coefficients.par_iter().map(|coefficient| coefficient.value).filter(|raw| !units.contains(*raw));
        let add = |mut values: HashSet<_>, raw| {
            values.insert(raw);
            values
        };
        let merge = |a: HashSet<_>, b: HashSet<_>| {
            let (mut large, small) = if a.len() < b.len() { (b, a) } else { (a, b) };
            large.extend(small);
            large
        };
        let distinct: HashSet<RawValue<'a>> = others.fold(HashSet::new, add).reduce(HashSet::new, merge);
        let indices = distinct.iter().zip(2..).map(|(raw, index)| (*raw, index)).collect();
        let values = [F::ONE, -F::ONE].into_iter().chain(distinct.into_iter().map(decode_value)).collect();
        Self { values, units, indices }
    }

    /// Returns the index of a value that [`Self::new`] has seen. Any other value, of a mapped file that has changed
    /// meanwhile, gives 0; the caller checks for a change.
    fn index(&self, raw: RawValue<'_>) -> u32 {
        match self.units.iter().position(|unit| unit == raw) {
            Some(unit) => unit as u32,
            None => self.indices.get(raw).copied().unwrap_or_default(),
        }
    }
}

/// Binary logarithm of R² in the encoding of values, where R is 2^256.
const R_SQUARED_LOG: u64 = 512;

/// Returns v for the encoding v·R² mod r, which the zkey has checked to be below r.
fn decode_value<F: PrimeField>(raw: RawValue<'_>) -> F {
    let value: F = scalar_from_bytes(raw).unwrap_or_default();
    value * F::TWO_INV.pow_vartime([R_SQUARED_LOG])
}

impl CsrBuilder {
    /// Counts the non-zeros of each row of `matrix`.
    fn new(header: &ZkeyHeader, coefficients: &Coefficients<'_>, matrix: Matrix) -> Self {
        let counts = atomics(header.domain_size as usize);
        coefficients.par_iter().filter(|coefficient| coefficient.matrix == matrix).for_each(|coefficient| {
            // A mapped file may have changed since it was checked; the caller looks for that.
            if let Some(count) = counts.get(coefficient.constraint as usize) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut pointers = vec![0; counts.len() + 1];
        for (row, count) in counts.iter().enumerate() {
            pointers[row + 1] = pointers[row] + count.load(Ordering::Relaxed);
            count.store(pointers[row], Ordering::Relaxed);
        }
        let total = pointers[counts.len()] as usize;
        Self { pointers, next: counts, columns: atomics(total), values: atomics(total) }
    }

    /// Writes `coefficient` to the next free place of its row, its value as an index into the dictionary.
    fn add(&self, coefficient: &Coefficient<'_>, value: u32) {
        let Some(next) = self.next.get(coefficient.constraint as usize) else { return };
        let place = next.fetch_add(1, Ordering::Relaxed) as usize;
        if let (Some(to_column), Some(to_value)) = (self.columns.get(place), self.values.get(place)) {
            to_column.store(coefficient.signal, Ordering::Relaxed);
            to_value.store(value, Ordering::Relaxed);
        }
    }

    fn into_matrix<F: NttField>(self, header: &ZkeyHeader, dictionary: Vec<F>) -> Result<Csr<F>> {
        let [columns, values] =
            [self.columns, self.values].map(|places| places.into_par_iter().map(AtomicU32::into_inner).collect());
        Ok(Csr::with_dictionary(header.signals as usize, self.pointers, columns, values, dictionary)?)
    }
}

/// Returns `count` zeros.
fn atomics(count: usize) -> Vec<AtomicU32> {
    (0..count).into_par_iter().map(|_| AtomicU32::new(0)).collect()
}
