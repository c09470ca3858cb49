//! Random columns, and a claim that holds for them.

use ff::Field;
use proofwarp::sumcheck::{Claim, SumcheckField};
use rayon::prelude::*;

use super::merkle;
use super::over::Over;
use crate::inputs::elements;

/// A claim, its columns, and the commitment to them.
pub struct Inputs<F: SumcheckField, O: Over<F>> {
    pub claim: Claim<F>,
    pub columns: Vec<Vec<O::Entry>>,
    pub root: [u8; 32],
}

impl<F: SumcheckField, O: Over<F>> Inputs<F, O> {
    /// Makes a claim on the product of `degree` columns. With eq, the sum is zero: the first column is zero then, as in a proof that a polynomial
    /// vanishes.
    pub fn new(variables: u32, degree: usize, eq: bool) -> Self {
        let mut columns: Vec<Vec<O::Entry>> =
            (0..degree).map(|number| elements(1 << variables, number as u64)).collect();
        let claim = Claim::product(variables, &(0..degree).collect::<Vec<_>>());
        if eq {
            columns[0].fill(O::Entry::ZERO);
            let root = merkle::root::<F, O>(&columns);
            return Self { claim: claim.with_eq(elements(variables as usize, 1 << 32)), columns, root };
        }
        let claim = claim.with_sum(sum::<F, O>(&columns));
        let root = merkle::root::<F, O>(&columns);
        Self { claim, columns, root }
    }

    pub fn slices(&self) -> Vec<&[O::Entry]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }
}

fn sum<F: SumcheckField, O: Over<F>>(columns: &[Vec<O::Entry>]) -> F {
    let product = |row: usize| columns.iter().map(|column| O::in_work(column[row])).product::<F::Compute>();
    let rows = (0..columns[0].len()).into_par_iter();
    F::from_compute_field(rows.map(product).reduce(|| F::Compute::ZERO, |a, b| a + b))
}
