//! Computes products on the host's cores: adds up unreduced products and reduces each sum once.

use rayon::prelude::*;

#[cfg(target_arch = "x86_64")]
use super::cpu_avx2_256bit;
use super::element_and_accumulator::{
    DenseField, Entry, MatMulElement, NarrowAccumulator, SmallInteger, WideAccumulator, add_products, add_with_carry,
    limbs,
};
use super::layout::{View, checked_entry_count};
use crate::exec::ExecCtx;
use crate::field::{NttField, as_bytes_mut};
use crate::kernels;
use crate::module_launcher::KernelModule;
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Maximum number of rows of the first factor per parallel task.
const ROWS: usize = 8;
/// Bytes of the second factor per block of columns, 256 KiB, which stay in a core's cache.
const CACHE: usize = 256 << 10;

/// Returns a row-major copy, without gaps, of the entries that `view` selects from `entries`.
pub(super) fn pack_row_major<T: Entry>(entries: &[T], view: &View) -> SecretVec<T> {
    let mut packed = vec![T::default(); view.len()];
    if view.is_empty() {
        return SecretVec(packed);
    }
    let row = |(row, to): (usize, &mut [T])| {
        to.iter_mut().enumerate().for_each(|(column, to)| *to = entries[view.entry_index(row, column)]);
    };
    install(|| packed.par_chunks_mut(view.columns).enumerate().for_each(row));
    SecretVec(packed)
}

/// Allocates a zero entry for each entry of a matrix whose dimensions are `sizes`.
///
/// # Errors
/// - [`Error::Invalid`]: the product exceeds the address space.
/// - [`Error::OutOfMemory`]: the host has too little memory.
fn zeros<T: Entry>(sizes: &[usize]) -> Result<SecretVec<T>> {
    let (entries, mut all) = (checked_entry_count::<T>(sizes)?, Vec::new());
    all.try_reserve_exact(entries).map_err(|_| Error::OutOfMemory {
        device: "host".to_owned(),
        requested: (entries * size_of::<T>()) as u64,
        available: 0,
    })?;
    all.resize(entries, T::default());
    Ok(SecretVec(all))
}

/// Computes A·B on the host and returns it row-major. A factor is a slice of memory and the view of the matrix in it.
pub(super) fn multiply<A: MatMulElement<B>, B: Entry>(
    a: (&[A], View),
    b: (&[B], View),
    ctx: ExecCtx<'_>,
) -> Result<SecretVec<A::Product>> {
    let (a_rows, inner, columns) = (a.1.rows, a.1.columns, b.1.columns);
    let mut c = zeros::<A::Product>(&[a_rows, columns])?;
    if c.is_empty() {
        return Ok(c);
    }
    let (a, b) = (pack_row_major(a.0, &a.1), pack_row_major(b.0, &b.1.transposed()));
    // A block of columns stays in a core's cache for all rows of a task.
    let at_once = (a_rows / (4 * rayon::current_num_threads())).clamp(1, ROWS);
    let step = (CACHE / (inner * size_of::<B>()).max(1)).clamp(1, columns);
    let rows = |(task, out): (usize, &mut [A::Product])| {
        for first in (0..columns).step_by(step) {
            let some = first..(first + step).min(columns);
            for (row, out) in out.chunks_mut(columns).enumerate() {
                ctx.check_abort()?;
                let row = &a[(at_once * task + row) * inner..][..inner];
                let columns = &b[some.start * inner..some.end * inner];
                A::row_times_columns(row, columns, &mut out[some.clone()])?;
            }
        }
        Ok(())
    };
    install(|| c.par_chunks_mut(at_once * columns).enumerate().try_for_each(rows)).map(|()| c)
}

impl<F: DenseField> MatMulElement<F> for F {
    type Product = F;

    fn row_times_columns(row: &[F], columns: &[F], out: &mut [F]) -> Result<()> {
        F::sums_of_products(row, columns, out)
    }
}

/// Implements products of an integer type with field elements.
macro_rules! small {
    ($type:ty) => {
        impl<F: DenseField> MatMulElement<F> for $type {
            type Product = F;

            fn row_times_columns(row: &[$type], columns: &[F], out: &mut [F]) -> Result<()> {
                F::sums_of_integer_products(row, columns, out)
            }
        }
    };
}

small!(i8);
small!(i32);

// SAFETY: `NttField` makes the same promises.
unsafe impl<F: NttField> DenseField for F {
    fn check_limbs(elements: &[F]) -> Result<()> {
        crate::field::check_reduced(elements)
    }

    fn sums_of_products(row: &[F], columns: &[F], out: &mut [F]) -> Result<()> {
        let modulus = Modulus::for_field::<F>()?;
        let sums = unreduced_dot_products(row, columns, out.len());
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = modulus.reduce(sum));
        Ok(())
    }

    /// Sums the products by positive and by negative integers separately, and subtracts the sums.
    fn sums_of_integer_products<N: SmallInteger>(row: &[N], columns: &[F], out: &mut [F]) -> Result<()> {
        let modulus = Modulus::for_field::<F>()?;
        for (number, out) in out.iter_mut().enumerate() {
            let mut sums = [NarrowAccumulator::default(); 2];
            let pairs = row.iter().zip(&columns[number * row.len()..][..row.len()]);
            pairs.for_each(|(a, b)| {
                let a: i64 = (*a).into();
                sums[usize::from(a < 0)].add_product(a.unsigned_abs(), limbs(b));
            });
            *out = modulus.remainder::<F>(sums[0]) - modulus.remainder::<F>(sums[1]);
        }
        Ok(())
    }
}

impl MatMulElement<i8> for i8 {
    type Product = i32;

    fn row_times_columns(row: &[i8], columns: &[i8], out: &mut [i32]) -> Result<()> {
        for (number, out) in out.iter_mut().enumerate() {
            let pairs = row.iter().zip(&columns[number * row.len()..][..row.len()]);
            // The plan allows fewer than 2¹⁷ products, so no sum exceeds 32 bits.
            *out = pairs.fold(0i32, |sum, (a, b)| sum.wrapping_add(i32::from(*a) * i32::from(*b)));
        }
        Ok(())
    }
}

/// Returns the unreduced dot product of `row` with each of `count` columns. `columns` holds them one after the other,
/// each as long as `row`.
fn unreduced_dot_products<F: NttField>(row: &[F], columns: &[F], count: usize) -> Vec<WideAccumulator> {
    let mut sums = vec![WideAccumulator::default(); count];
    #[cfg(target_arch = "x86_64")]
    if cpu_avx2_256bit::add_dot_products(row, columns, &mut sums) {
        return sums;
    }
    for (number, sum) in sums.iter_mut().enumerate() {
        add_products(sum, row, &columns[number * row.len()..][..row.len()]);
    }
    sums
}

/// Holds a modulus p, in little-endian 64-bit limbs, and the constant of Montgomery reduction with R = 2^256.
struct Modulus {
    p: [u64; 4],
    /// −p⁻¹ mod 2^64.
    inverse: u64,
}

impl Modulus {
    fn for_field<F: NttField>() -> Result<Self> {
        let words = KernelModule::find(&kernels::gemm::FAMILY, F::NAME)?.modulus();
        if words.len() != 8 || size_of::<F>() != 32 {
            return Err(Error::invalid(super::layout::ERROR_CONTEXT, "limbs of the field", 8, words.len()));
        }
        let p: [u64; 4] = std::array::from_fn(|i| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32);
        // Newton's iteration: each step doubles the number of correct bits.
        let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(p[0].wrapping_mul(x))));
        Ok(Self { p, inverse: inverse.wrapping_neg() })
    }

    /// Reduces an accumulated sum S of products of limbs. Returns the element whose stored limbs are S/R mod p.
    fn reduce<F: NttField>(&self, WideAccumulator(mut sum): WideAccumulator) -> F {
        for i in 0..4 {
            let factor = sum[i].wrapping_mul(self.inverse);
            let mut carry = 0;
            for j in 0..4 {
                let word = u128::from(factor) * u128::from(self.p[j]) + u128::from(sum[i + j]) + carry;
                sum[i + j] = word as u64;
                carry = word >> 64;
            }
            // The sum is below 2^576 less the multiples of p that reductions add, so no carry leaves it.
            add_with_carry(&mut sum[i + 4..], &[carry as u64, 0, 0, 0, 0]);
        }
        self.remainder(NarrowAccumulator([sum[4], sum[5], sum[6], sum[7], sum[8]]))
    }

    /// Returns the element whose stored limbs are S mod p, where S is `low` + 2^256·`high`.
    fn remainder<F: NttField>(&self, NarrowAccumulator([low @ .., high]): NarrowAccumulator) -> F {
        // An element's limbs are R times its number, so high·R mod p are the limbs of the element of number `high`.
        self.element_from_limbs::<F>(low) + F::from(high)
    }

    /// Returns the element whose stored limbs are `limbs` mod p. It subtracts p at most about five times, because 2^256
    /// is below 6p.
    fn element_from_limbs<F: NttField>(&self, mut limbs: [u64; 4]) -> F {
        while !limbs.iter().rev().lt(self.p.iter().rev()) {
            let mut borrow = false;
            for (limb, p) in limbs.iter_mut().zip(self.p) {
                let (less, first) = limb.overflowing_sub(p);
                let (less, second) = less.overflowing_sub(u64::from(borrow));
                (*limb, borrow) = (less, first || second);
            }
        }
        let mut element = F::ZERO;
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        // SAFETY: there are 32 bytes, the element's size, and they hold a number below the modulus.
        unsafe { as_bytes_mut(std::slice::from_mut(&mut element)) }.copy_from_slice(&bytes);
        element
    }
}

#[cfg(test)]
mod tests {
    use ff::Field;

    use super::*;

    /// Returns edge cases, among them 0, ±1, ±1/2 and the element with the stored limbs p − 1.
    fn extremes<F: NttField>() -> Vec<F> {
        let mut elements = vec![F::ZERO, F::ONE, -F::ONE, F::TWO_INV, -F::TWO_INV, F::MULTIPLICATIVE_GENERATOR];
        // This element has the limbs of p − 1.
        let limbs = Modulus::for_field::<F>().expect("a modulus");
        let mut p = limbs.p;
        p[0] -= 1;
        elements.push(limbs.element_from_limbs(p));
        elements
    }

    fn check_extreme_sums<F: NttField>() {
        let extremes = extremes::<F>();
        for (number, a) in extremes.iter().enumerate() {
            for b in &extremes[..=number] {
                for count in [0, 1, 2, 1000] {
                    let mut out = [F::ONE];
                    F::sums_of_products(&vec![*a; count], &vec![*b; count], &mut out).expect("a product");
                    assert_eq!(out[0], *a * b * F::from(count as u64));
                    i32::row_times_columns(&vec![i32::MIN; count], &vec![*b; count], &mut out).expect("a product");
                    assert_eq!(out[0], -*b * F::from(1 << 31) * F::from(count as u64));
                }
            }
        }
    }

    #[test]
    fn sums_of_extremes() {
        check_extreme_sums::<crate::curve::bls12_377::Fr>();
        check_extreme_sums::<blstrs::Scalar>();
        check_extreme_sums::<halo2curves::bn256::Fr>();
        check_extreme_sums::<pasta_curves::Fp>();
        check_extreme_sums::<pasta_curves::Fq>();
    }

    /// Checks the reduction of a sum of 576 bits that is larger than any real one.
    #[test]
    fn the_largest_sum() {
        type F = pasta_curves::Fp;
        let modulus = Modulus::for_field::<F>().expect("a modulus");
        let reduced: F = modulus.reduce(WideAccumulator([
            u64::MAX,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            u64::MAX,
            7,
        ]));
        // (2^515 − 1)/R in limbs is (2^515 − 1)/R² as an element.
        let r = F::from(2).pow_vartime([256]);
        let expected = (F::from(2).pow_vartime([515]) - F::ONE) * (r * r).invert().expect("not zero");
        assert_eq!(reduced, expected);
    }
}
