//! Random claims.

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{Claim, ProductTerm, SumcheckField, SumcheckOptions};
use proofwarp::{Accelerator, BackendKind};
use proptest::prelude::*;

use crate::common::accelerators_with_devices;
use crate::tools::{Case, EVERYWHERE, Lying};

/// Variables, terms as coefficients and columns, whether there is a factor eq, columns that no term has, a seed.
type Recipe = (u32, Vec<(u64, Vec<usize>)>, bool, usize, u64);

fn recipe() -> impl Strategy<Value = Recipe> {
    let term = (any::<u64>(), prop::collection::vec(0..5usize, 1..=6));
    (0..8u32, prop::collection::vec(term, 1..5), any::<bool>(), 0..3usize, any::<u64>())
}

fn case<F: SumcheckField>((variables, terms, eq, more, seed): Recipe) -> Case<F> {
    let term = |(coefficient, columns)| ProductTerm { coefficient: F::from_number(coefficient), columns };
    let claim = Claim::sum_of_products(variables, terms.into_iter().map(term).collect());
    let columns = claim.column_count() + more;
    let case = Case::random(claim, columns, seed);
    if eq { case.with_eq(seed ^ 1) } else { case }
}

fn check<F: SumcheckField>(recipe: Recipe) {
    let case = case::<F>(recipe);
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let expected = case.prove(&cpu, Lying::Host, &SumcheckOptions::default());
    case.check(&expected);
    for accelerator in accelerators_with_devices() {
        let lying = EVERYWHERE[case.columns.len() % 3];
        let options = SumcheckOptions { tail: Some(case.columns.len() as u32 % 4), ..SumcheckOptions::default() };
        assert_eq!(case.prove(&accelerator, lying, &options).to_bytes(), expected.to_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn in_the_tower(recipe in recipe()) { check::<Tower>(recipe); }

    #[test]
    fn in_the_field_of_ghash(recipe in recipe()) { check::<Ghash>(recipe); }

    #[test]
    fn in_a_prime_field(recipe in recipe()) { check::<halo2curves::bn256::Fr>(recipe); }
}
