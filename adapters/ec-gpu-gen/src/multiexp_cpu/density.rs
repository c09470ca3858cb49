//! Tells which exponents of a query have a base.

use std::borrow::Borrow;
use std::iter;
use std::sync::Arc;

use bitvec::prelude::{BitSlice, BitVec, Lsb0};
use ff::PrimeField;
use rayon::prelude::*;

/// Tells for each exponent of a multi-exponentiation whether it has a base. Exponents without a base are left out of
/// the sum.
pub trait QueryDensity: Sized {
    /// Iterates over all exponents in order, and yields whether each has a base.
    type Iter: Iterator<Item = bool>;

    /// Returns an iterator over all exponents in order, which yields whether each has a base.
    fn iter(self) -> Self::Iter;

    /// Returns the number of exponents, or `None` if the density fits any number of them.
    fn get_query_size(self) -> Option<usize>;

    /// Returns those of `exponents` that have a base, in order.
    fn generate_exps<F: PrimeField>(self, exponents: Arc<Vec<F::Repr>>) -> Arc<Vec<F::Repr>>;
}

/// Marks every exponent as having a base.
#[derive(Clone)]
pub struct FullDensity;

impl AsRef<FullDensity> for FullDensity {
    fn as_ref(&self) -> &FullDensity {
        self
    }
}

impl QueryDensity for &FullDensity {
    type Iter = iter::Repeat<bool>;

    fn iter(self) -> Self::Iter {
        iter::repeat(true)
    }

    fn get_query_size(self) -> Option<usize> {
        None
    }

    fn generate_exps<F: PrimeField>(self, exponents: Arc<Vec<F::Repr>>) -> Arc<Vec<F::Repr>> {
        exponents
    }
}

/// Holds a bit for each exponent, and counts the bits that are set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DensityTracker {
    /// For each exponent, whether it has a base.
    pub bv: BitVec,
    /// Number of exponents that have a base.
    pub total_density: usize,
}

impl<'a> QueryDensity for &'a DensityTracker {
    type Iter = bitvec::slice::BitValIter<'a, usize, Lsb0>;

    fn iter(self) -> Self::Iter {
        self.bv.iter().by_vals()
    }

    fn get_query_size(self) -> Option<usize> {
        Some(self.bv.len())
    }

    fn generate_exps<F: PrimeField>(self, exponents: Arc<Vec<F::Repr>>) -> Arc<Vec<F::Repr>> {
        let bits = &self.bv[..self.bv.len().min(exponents.len())];
        if bits.len() == exponents.len() && bits.all() {
            return exponents;
        }
        Arc::new(select_marked(bits, &exponents))
    }
}

/// Number of bits that one task handles.
const BLOCK: usize = 1 << 13;

/// Returns, in order, the `values` whose bit in `bits` is set. There are at most as many bits as values.
fn select_marked<T: Copy + Send + Sync>(bits: &BitSlice, values: &[T]) -> Vec<T> {
    let total = bits.count_ones();
    let mut result = Vec::with_capacity(total);
    let mut rest = &mut result.spare_capacity_mut()[..total];
    let mut tasks = Vec::with_capacity(bits.len().div_ceil(BLOCK));
    for (bits, values) in bits.chunks(BLOCK).zip(values.chunks(BLOCK)) {
        let (places, after) = rest.split_at_mut(bits.count_ones());
        tasks.push((bits, values, places));
        rest = after;
    }
    tasks.into_par_iter().for_each(|(bits, values, places)| {
        places.iter_mut().zip(bits.iter_ones()).for_each(|(place, index)| _ = place.write(values[index]));
    });
    // SAFETY: the tasks' places are the first `total`. Each task has as many places as its bits are set, so it wrote
    // all of them.
    unsafe { result.set_len(total) };
    result
}

impl DensityTracker {
    /// Creates a density without exponents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an exponent without a base.
    pub fn add_element(&mut self) {
        self.bv.push(false);
    }

    /// Marks exponent `idx`, counted from 0, as one that has a base.
    ///
    /// # Panics
    /// Panics if there is no such exponent.
    pub fn inc(&mut self, idx: usize) {
        if !self.bv.replace(idx, true) {
            self.total_density += 1;
        }
    }

    /// Returns the number of exponents that have a base.
    pub fn get_total_density(&self) -> usize {
        self.total_density
    }

    /// Appends the exponents of `other`. If `is_input_density` is true, the first exponent of both densities is that of
    /// the constant one. It is then kept once, and has a base if it had one in either density.
    ///
    /// `other` is a reference, as in ec-gpu-gen 0.7, or a value, as in 0.6.
    pub fn extend(&mut self, other: impl Borrow<Self>, is_input_density: bool) {
        let other = other.borrow();
        if self.bv.is_empty() {
            other.clone_into(self);
            return;
        }
        let shared = usize::from(is_input_density && !other.bv.is_empty());
        if shared == 1 && other.bv[0] {
            self.inc(0);
            self.total_density -= 1;
        }
        self.bv.extend_from_bitslice(&other.bv[shared..]);
        self.total_density += other.total_density;
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn tracker(bits: &[bool]) -> DensityTracker {
        DensityTracker { bv: bits.iter().collect(), total_density: bits.iter().filter(|bit| **bit).count() }
    }

    fn random_bits(rng: &mut ChaCha8Rng) -> Vec<bool> {
        let length = rng.gen_range(0..20);
        (0..length).map(|_| rng.r#gen()).collect()
    }

    #[test]
    fn extending_concatenates() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..1000 {
            let (first, second) = (random_bits(&mut rng), random_bits(&mut rng));
            let mut extended = tracker(&first);
            extended.extend(tracker(&second), false);
            assert_eq!(extended, tracker(&[first, second].concat()));
        }
    }

    #[test]
    fn extending_inputs_keeps_the_constant_once() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..1000 {
            let (first, second) = (random_bits(&mut rng), random_bits(&mut rng));
            let mut extended = tracker(&first);
            extended.extend(tracker(&second), true);
            let expected = match (first.split_first(), second.split_first()) {
                (Some((a, first)), Some((b, second))) => [&[*a || *b], first, second].concat(),
                _ => [first, second].concat(),
            };
            assert_eq!(extended, tracker(&expected));
        }
    }

    #[test]
    fn exponents_with_a_base_keep_their_order() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for (length, chance) in [(0, 0.5), (1, 1.0), (BLOCK, 0.0), (BLOCK, 1.0), (3 * BLOCK + 77, 0.3)] {
            let density = tracker(&(0..length).map(|_| rng.gen_bool(chance)).collect::<Vec<_>>());
            let exponents = Arc::new((0..length as u64).map(|i| blstrs::Scalar::from(i).to_repr()).collect::<Vec<_>>());
            let expected: Vec<_> = density.bv.iter_ones().map(|index| exponents[index]).collect();
            assert!(*density.generate_exps::<blstrs::Scalar>(exponents) == expected, "{length} exponents");
        }
    }

    #[test]
    fn counting_twice_counts_once() {
        let mut density = DensityTracker::new();
        (0..3).for_each(|_| density.add_element());
        for index in [2, 0, 2] {
            density.inc(index);
        }
        assert_eq!(density, tracker(&[true, false, true]));
        let exponents = Arc::new((0u64..3).map(|i| blstrs::Scalar::from(i).to_repr()).collect::<Vec<_>>());
        let dense = density.generate_exps::<blstrs::Scalar>(exponents.clone());
        assert_eq!(*dense, [exponents[0], exponents[2]]);
    }
}
