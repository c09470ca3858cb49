//! Random columns, and a claim that holds for them.

use ff::Field;
use proofwarp::field::Element;
use proofwarp::sumcheck::{Claim, SumcheckField};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::merkle;
use crate::over::Over;

/// Elements that one core makes from a seed.
const PART: usize = 1 << 12;

/// A claim, its columns, and the commitment to them.
pub struct Inputs<F: SumcheckField, O: Over<F>> {
    pub claim: Claim<F>,
    pub columns: Vec<Vec<O::Entry>>,
    pub root: [u8; 32],
}

impl<F: SumcheckField, O: Over<F>> Inputs<F, O> {
    /// On the product of so many columns. With eq, the sum is zero: the first column is zero then, as in a proof that a polynomial
    /// vanishes.
    pub fn new(variables: u32, degree: usize, eq: bool) -> Self {
        let mut columns: Vec<Vec<O::Entry>> = (0..degree).map(|number| random(1 << variables, number as u64)).collect();
        let claim = Claim::product(variables, &(0..degree).collect::<Vec<_>>());
        if eq {
            columns[0].fill(O::Entry::ZERO);
            let root = merkle::root::<F, O>(&columns);
            return Self { claim: claim.with_eq(random(variables as usize, 1 << 32)), columns, root };
        }
        let claim = claim.with_sum(sum::<F, O>(&columns));
        let root = merkle::root::<F, O>(&columns);
        Self { claim, columns, root }
    }

    pub fn slices(&self) -> Vec<&[O::Entry]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }
}

fn random<F: Element>(count: usize, seed: u64) -> Vec<F> {
    let mut elements = vec![F::ZERO; count];
    elements.par_chunks_mut(PART).enumerate().for_each(|(number, part)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number as u64);
        for element in part {
            *element = F::random(&mut rng);
        }
    });
    elements
}

fn sum<F: SumcheckField, O: Over<F>>(columns: &[Vec<O::Entry>]) -> F {
    let product = |row: usize| columns.iter().map(|column| O::in_work(column[row])).product::<F::Compute>();
    let rows = (0..columns[0].len()).into_par_iter();
    F::from_compute_field(rows.map(product).reduce(|| F::Compute::ZERO, |a, b| a + b))
}
