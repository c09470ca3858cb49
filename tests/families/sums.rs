//! `sumcheck_…`: all rounds on the device, by every path.

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{
    BoundTranscript, Claim, Columns, HashTranscript, KernelPath, ProductTerm, Prover, SumcheckField, SumcheckOptions,
    prove_with,
};

use crate::agree;
use crate::common::rng;

const ON_DEVICE: SumcheckOptions = SumcheckOptions { path: None, tail: Some(0), rounds_a_pass: None };

fn columns<F: SumcheckField>(claim: &Claim<F>) -> Vec<Vec<F>> {
    let mut rng = rng(1);
    (0..claim.column_count()).map(|_| (0..1 << claim.variables()).map(|_| F::random(&mut rng)).collect()).collect()
}

/// The sum of a claim without eq.
fn with_sum<F: SumcheckField>(claim: Claim<F>, columns: &[Vec<F>]) -> Claim<F> {
    let product =
        |term: &ProductTerm<F>, row: usize| term.columns.iter().map(|column| columns[*column][row]).product::<F>();
    let value = |row: usize| claim.terms().iter().map(|term| term.coefficient * product(term, row)).sum::<F>();
    let sum = (0..1 << claim.variables()).map(value).sum();
    claim.with_sum(sum)
}

fn proved<F: SumcheckField>(claim: Claim<F>, options: &SumcheckOptions) {
    let columns = columns(&claim);
    let claim = with_sum(claim, &columns);
    let slices: Vec<&[F]> = columns.iter().map(Vec::as_slice).collect();
    agree(|accelerator| {
        let mut transcript = HashTranscript::new(b"families");
        let (columns, bound) = (Columns::host(&slices), BoundTranscript::insecure_without_commitment(&mut transcript));
        prove_with(accelerator, &claim, columns, bound, options, None).map(|(proof, _)| proof)
    });
}

/// Products of two, three and four columns, and terms that share one.
fn rounds<F: SumcheckField>() {
    for degree in 2..=4 {
        proved(Claim::<F>::product(5, &(0..degree).collect::<Vec<_>>()), &ON_DEVICE);
    }
    let term = |columns: &[usize]| ProductTerm { coefficient: F::from_number(3), columns: columns.to_vec() };
    proved(Claim::<F>::sum_of_products(5, vec![term(&[0, 1]), term(&[1, 2, 2])]), &ON_DEVICE);
}

#[test]
fn bls12_377() {
    rounds::<proofwarp::curve::bls12_377::Fr>();
}

#[test]
fn bls12_381() {
    rounds::<blstrs::Scalar>();
}

#[test]
fn bn254() {
    rounds::<halo2curves::bn256::Fr>();
}

#[test]
fn pasta_fp() {
    rounds::<pasta_curves::Fp>();
}

#[test]
fn pasta_fq() {
    rounds::<pasta_curves::Fq>();
}

#[cfg(feature = "plonky3")]
mod words {
    use proofwarp::field::plonky3::{BabyBear4, Goldilocks2};
    use proofwarp::sumcheck::SumcheckField;
    use proofwarp::{Accelerator, Result};

    use super::{BoundTranscript, Claim, Columns, HashTranscript, ON_DEVICE, agree, prove_with, rng, rounds};

    /// Columns of the field below.
    fn from_below<F: SumcheckField>(element: impl Fn(u64) -> (F::Base, F)) {
        let claim = Claim::<F>::product(5, &[0, 1]);
        let mut rng = rng(7);
        let mut column = || {
            (0..32).map(|_| element(u64::from(rand::RngCore::next_u32(&mut rng)))).unzip::<_, _, Vec<F::Base>, Vec<F>>()
        };
        let [(a, above_a), (b, above_b)] = [column(), column()];
        let sum = above_a.iter().zip(&above_b).map(|(a, b)| *a * b).sum();
        let claim = claim.with_sum(sum);
        agree(|accelerator: &Accelerator| -> Result<_> {
            let columns = Columns::host_base(&[&a, &b]);
            let mut transcript = HashTranscript::new(b"families");
            let bound = BoundTranscript::insecure_without_commitment(&mut transcript);
            prove_with(accelerator, &claim, columns, bound, &ON_DEVICE, None).map(|(proof, _)| proof)
        });
    }

    #[test]
    fn goldilocks() {
        rounds::<Goldilocks2>();
        from_below::<Goldilocks2>(|number| (number.into(), Goldilocks2::from_number(number)));
    }

    #[test]
    fn baby_bear() {
        rounds::<BabyBear4>();
        from_below::<BabyBear4>(|number| {
            ((number % 1_000_000_007).into(), BabyBear4::from_number(number % 1_000_000_007))
        });
    }
}

/// A round a pass, and two.
fn binary<F: SumcheckField>() {
    rounds::<F>();
    for degree in 2..=4 {
        let claim = Claim::<F>::product(6, &(0..degree).collect::<Vec<_>>());
        proved(claim, &SumcheckOptions { rounds_a_pass: Some(2), ..ON_DEVICE });
    }
}

#[test]
fn ghash() {
    binary::<Ghash>();
}

#[test]
fn tower() {
    binary::<Tower>();
}

#[test]
fn bitsliced() {
    for degree in 2..=4 {
        let claim = Claim::<Tower>::product(11, &(0..degree).collect::<Vec<_>>());
        proved(claim, &SumcheckOptions { path: Some(KernelPath::Bitsliced), ..ON_DEVICE });
    }
}

/// Without options, the environment may have the device take all rounds.
#[test]
fn a_tail_of_the_environment() {
    if std::env::var_os("PROOFWARP_TEST_CHILD").is_none() {
        let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
        child.args(["--exact", "sums::a_tail_of_the_environment"]).env("PROOFWARP_SUMCHECK_TAIL", "0");
        let output = child.env("PROOFWARP_TEST_CHILD", "1").output().expect("a child");
        return assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    // An even number: a pass may take two rounds.
    let claim = Claim::<Ghash>::product(4, &[0, 1]);
    let columns = columns(&claim);
    let slices: Vec<&[Ghash]> = columns.iter().map(Vec::as_slice).collect();
    for accelerator in crate::common::accelerators_with_devices() {
        let prover = Prover::new(&accelerator, &claim, Columns::host(&slices)).expect("a prover");
        assert_eq!([prover.explain().device_rounds, prover.explain().host_rounds], [4, 0]);
    }
}
