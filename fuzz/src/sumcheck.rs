//! Claims of sumcheck: such as hold, with their columns, and any others.

use arbitrary::Arbitrary;
use ff::Field;
use proofwarp::field::ghash::Ghash;
use proofwarp::sumcheck::{BoundTranscript, Claim, HashTranscript, ProductTerm};
use proofwarp::{Accelerator, BackendKind};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The field of all targets: each byte string of 16 bytes is an element, so no damage is found by the encoding.
pub type F = Ghash;

/// A claim that holds, and its columns.
pub struct Case {
    pub claim: Claim<F>,
    pub columns: Vec<Vec<F>>,
}

/// k·c0·c1² + c2 over 2^`variables` rows, if need be with eq: no final can be another, nor can two be swapped.
pub fn case(variables: u32, with_eq: bool) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(u64::from(variables));
    let mut elements = |count: usize| (0..count).map(|_| F::random(&mut rng)).collect::<Vec<_>>();
    let columns: Vec<Vec<F>> = (0..3).map(|_| elements(1 << variables)).collect();
    let (k, point) = (elements(1)[0], elements(variables as usize));
    let mut weights = vec![F::ONE];
    for w in point.iter().filter(|_| with_eq) {
        weights = weights.iter().flat_map(|v| [*v * (F::ONE - w), *v * w]).collect();
    }
    weights.resize(1 << variables, F::ONE);
    let value = |row: usize| k * columns[0][row] * columns[1][row].square() + columns[2][row];
    let sum = weights.iter().enumerate().map(|(row, weight)| *weight * value(row)).sum();
    let terms = vec![
        ProductTerm { coefficient: k, columns: vec![0, 1, 1] },
        ProductTerm { coefficient: F::ONE, columns: vec![2] },
    ];
    let claim = Claim::sum_of_products(variables, terms).with_sum(sum);
    Case { claim: if with_eq { claim.with_eq(point) } else { claim }, columns }
}

/// Any claim.
#[derive(Debug, Arbitrary)]
pub struct AnyClaim {
    variables: u32,
    terms: Vec<(u128, Vec<usize>)>,
    columns: Option<usize>,
    eq: Option<Vec<u128>>,
    sum: u128,
}

impl AnyClaim {
    pub fn claim(self) -> Claim<F> {
        let term = |(coefficient, columns)| ProductTerm { coefficient: Ghash(coefficient), columns };
        // Mostly few, so that some are refused by nothing.
        let variables = if self.variables.is_multiple_of(16) { self.variables } else { self.variables % 8 };
        let claim =
            Claim::sum_of_products(variables, self.terms.into_iter().map(term).collect()).with_sum(Ghash(self.sum));
        let claim = self.columns.map_or(claim.clone(), |columns| claim.with_columns(columns));
        self.eq.map_or(claim.clone(), |point| claim.with_eq(point.into_iter().map(Ghash).collect()))
    }
}

pub fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("the CPU")
}

/// Calls with a transcript that is bound to a commitment.
pub fn bound<T>(call: impl FnOnce(BoundTranscript<'_, F, HashTranscript>) -> T) -> T {
    let mut transcript = HashTranscript::new(b"fuzz");
    call(BoundTranscript::bind_commitment(&mut transcript, b"root").expect("bytes"))
}
