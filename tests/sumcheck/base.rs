//! Columns over a field of one or two words, and proofs over its extension.

use ff::{Field, PrimeField};
use p3_challenger::{CanObserve, DuplexChallenger, FieldChallenger};
use proofwarp::field::DeviceVector;
use proofwarp::field::plonky3::{BabyBear, BabyBear4, Goldilocks, Goldilocks2, KoalaBear, KoalaBear4};
use proofwarp::sumcheck::{
    BoundTranscript, Challenger, Claim, ClaimBatch, Columns, HashTranscript, ProductTerm, Proof, Prover, SumcheckField,
    SumcheckOptions, Transcript, prove, prove_with, verify,
};
use proofwarp::{Accelerator, BackendKind};

use crate::common::{accelerators_and_cpu, accelerators_with_devices, rng};
use crate::tools::{Case, Lying, page_locked, transcript, unbound};

const TAILS: [Option<u32>; 3] = [Some(0), Some(3), None];

fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("always there")
}

/// A claim, its columns below, and the proof of the same columns above.
struct Below<F: SumcheckField> {
    case: Case<F>,
    columns: Vec<Vec<F::Base>>,
    expected: Proof<F>,
}

impl<F: SumcheckField> Below<F>
where
    F::Base: PrimeField,
{
    fn new(claim: Claim<F>, columns: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        let half = F::Base::TWO_INV;
        let mut element = |row: usize| match row % 7 {
            1 => -F::Base::ONE,
            3 => half,
            5 => F::Base::ZERO,
            _ => F::Base::random(&mut rng),
        };
        let column = |_| (0..1usize << claim.variables()).map(&mut element).collect::<Vec<_>>();
        let columns: Vec<Vec<F::Base>> = (0..columns).map(column).collect();
        let lifted = columns.iter().map(|column| column.iter().map(|a| F::from_base(*a)).collect()).collect();
        let case = Case::new(claim, lifted);
        let expected = case.prove(&cpu(), Lying::Host, &SumcheckOptions::default());
        case.check(&expected);
        Self { case, columns, expected }
    }

    fn slices(&self) -> Vec<&[F::Base]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }

    fn agrees(&self) {
        for tail in TAILS {
            let options = SumcheckOptions { tail, ..SumcheckOptions::default() };
            for accelerator in accelerators_and_cpu() {
                self.proves(&accelerator, Columns::host_base(&self.slices()), &options);
            }
            for accelerator in accelerators_with_devices() {
                let mut stream = accelerator.devices()[0].stream().expect("stream");
                let vector = DeviceVector::upload(&mut stream, &self.columns.concat()).expect("memory");
                stream.synchronize(None).expect("upload");
                self.proves(&accelerator, Columns::device_base(&vector), &options);
                let pinned: Vec<_> = self.columns.iter().map(|column| page_locked(&accelerator, column)).collect();
                self.proves(&accelerator, Columns::pinned_base(&pinned.iter().collect::<Vec<_>>()), &options);
                let mut after = vec![F::Base::ZERO; vector.len()];
                vector.download(&mut stream, &mut after).expect("download");
                assert!(after == self.columns.concat(), "columns were changed");
            }
        }
    }

    fn proves(&self, accelerator: &Accelerator, columns: Columns<'_, F>, options: &SumcheckOptions) {
        let proved = prove_with(accelerator, &self.case.claim, columns, unbound(&mut transcript()), options, None);
        let (proof, report) = proved.unwrap_or_else(|error| panic!("{error}: {:?}", self.case.claim));
        assert!(report.fallbacks.is_empty(), "{report}");
        assert!(proof.to_bytes() == self.expected.to_bytes(), "{accelerator:?} {options:?} {:?}", self.case.claim);
    }
}

fn products<F: SumcheckField<Base: PrimeField>>() {
    for (variables, degree) in [(0, 2), (1, 1), (1, 3), (2, 4), (3, 6), (4, 2), (5, 3), (7, 4), (8, 5), (11, 2)] {
        let claim = Claim::product(variables, &(0..degree).collect::<Vec<_>>());
        Below::<F>::new(claim, degree, u64::from(variables)).agrees();
    }
}

/// What has coefficients or weights of the extension, and columns that occur twice.
fn terms_and_eq<F: SumcheckField<Base: PrimeField>>() {
    let mut rng = rng(5);
    for variables in [0, 1, 4, 8] {
        let mut term = |columns: &[usize]| ProductTerm { coefficient: F::random(&mut rng), columns: columns.to_vec() };
        let terms = vec![term(&[0, 1, 1]), term(&[2]), term(&[0, 2])];
        Below::<F>::new(Claim::sum_of_products(variables, terms.clone()), 4, 1).agrees();
        let point: Vec<F> = (0..variables).map(|_| F::random(&mut rng)).collect();
        Below::<F>::new(Claim::sum_of_products(variables, terms).with_eq(point.clone()), 3, 2).agrees();
        Below::<F>::new(Claim::product(variables, &[1, 0]).with_eq(point), 2, 3).agrees();
    }
}

/// A claim below beside one above.
fn batches<F: SumcheckField<Base: PrimeField>>() {
    let below = Below::<F>::new(Claim::product(10, &[0, 1]), 2, 1);
    let above = Case::<F>::product(8, 3, 2);
    let batch = ClaimBatch::new(vec![below.case.claim.clone(), above.claim.clone()]);
    let proved = |accelerator: &Accelerator, first: Columns<'_, F>| {
        let columns = vec![first, Columns::host(&above.slices())];
        batch.prove(accelerator, columns, unbound(&mut transcript()), None).expect("a proof")
    };
    let expected = proved(&cpu(), Columns::host(&below.case.slices()));
    batch.verify(&expected, unbound(&mut transcript())).expect("valid");
    for accelerator in accelerators_and_cpu() {
        assert!(proved(&accelerator, Columns::host_base(&below.slices())) == expected);
    }
}

macro_rules! of_each_extension {
    ($($check:ident)*) => {
        mod goldilocks {
            $(#[test] fn $check() { super::$check::<super::Goldilocks2>(); })*
        }
        mod baby_bear {
            $(#[test] fn $check() { super::$check::<super::BabyBear4>(); })*
        }
        mod koala_bear {
            $(#[test] fn $check() { super::$check::<super::KoalaBear4>(); })*
        }
    };
}

of_each_extension! {
    products
    terms_and_eq
    batches
    challengers
}

/// A challenger of each field, which has seen something.
trait Challenged: SumcheckField {
    type Challenger: Clone;
    fn challenger() -> Self::Challenger;
    /// What Plonky3's own verifier would do in a round.
    fn by_hand(challenger: &mut Self::Challenger, elements: &[Self]) -> Self;
}

macro_rules! challenged {
    ($type:ident, $base:ident, $theirs:ty, $permutation:ty, $make:expr, $width:literal, $rate:literal) => {
        impl Challenged for $type {
            type Challenger = DuplexChallenger<$theirs, $permutation, $width, $rate>;

            fn challenger() -> Self::Challenger {
                let mut challenger = DuplexChallenger::new($make);
                challenger.observe($base::from(77).0);
                challenger
            }

            fn by_hand(challenger: &mut Self::Challenger, elements: &[Self]) -> Self {
                for element in elements {
                    challenger.observe_algebra_element(element.0);
                }
                Self(challenger.sample_algebra_element())
            }
        }
    };
}

challenged!(
    Goldilocks2,
    Goldilocks,
    p3_goldilocks::Goldilocks,
    p3_goldilocks::Poseidon2Goldilocks<8>,
    p3_goldilocks::default_goldilocks_poseidon2_8(),
    8,
    4
);
challenged!(
    BabyBear4,
    BabyBear,
    p3_baby_bear::BabyBear,
    p3_baby_bear::Poseidon2BabyBear<16>,
    p3_baby_bear::default_babybear_poseidon2_16(),
    16,
    8
);
challenged!(
    KoalaBear4,
    KoalaBear,
    p3_koala_bear::KoalaBear,
    p3_koala_bear::Poseidon2KoalaBear<16>,
    p3_koala_bear::default_koalabear_poseidon2_16(),
    16,
    8
);

/// Proofs with Plonky3's challengers verify, and challenges are what its own calls give.
fn challengers<F: Challenged<Base: PrimeField>>()
where
    for<'c> Challenger<'c, F::Challenger>: Transcript<F>,
{
    let below = Below::<F>::new(Claim::product(5, &[0, 1, 2]), 3, 9);
    let claim = &below.case.claim;
    for accelerator in accelerators_and_cpu() {
        let (mut proving, mut verifying) = (F::challenger(), F::challenger());
        let mut prover = Challenger(&mut proving);
        let columns = Columns::host_base(&below.slices());
        let bound = BoundTranscript::bind_commitment(&mut prover, b"root").expect("bytes");
        let (proof, _) = prove(&accelerator, claim, columns, bound, None).expect("a proof");
        let mut verifier = Challenger(&mut verifying);
        let bound = BoundTranscript::bind_commitment(&mut verifier, b"root").expect("bytes");
        let (point, finals) = verify(claim, &proof, bound).expect("valid");
        assert!(verify(claim, &proof, unbound(&mut transcript())).is_err(), "another transcript");
        let next: F = verifier.challenge("next");
        assert_eq!(next, prover.challenge("next"), "both have seen the same");
        let mut theirs = F::challenger();
        // Frames of a tag, a count and elements: the commitment of four bytes; variables, degree, terms, columns, whether there is
        // eq; coefficient and columns; eq's point, which is none; the sum.
        let root = [1, 3, 4, u64::from_le_bytes(*b"roo\0\0\0\0\0"), u64::from(b't')];
        let shape = [[4, 5, 5, 3, 1, 3, 0], [5, 4, 1, 0, 1, 2, 6]].concat();
        let numbers = [&root[..], &shape, &[0, 7, 1]].concat();
        let numbers: Vec<F> = numbers.into_iter().map(F::from_number).collect();
        let mut seen = [&numbers[..], &[claim.claimed()]].concat();
        for (message, coordinate) in proof.messages.iter().zip(&point) {
            seen.extend([8, 3].map(F::from_number));
            seen.extend(message.coefficients());
            assert_eq!(F::by_hand(&mut theirs, &seen), *coordinate);
            seen.clear();
        }
        seen.extend([9, 3].map(F::from_number));
        seen.extend(finals);
        assert_eq!(F::by_hand(&mut theirs, &seen), next);
    }
}

#[test]
fn what_runs_where_is_told() {
    let below = Below::<BabyBear4>::new(Claim::product(10, &[0, 1]), 2, 4);
    for accelerator in accelerators_with_devices() {
        let prover = Prover::new(&accelerator, &below.case.claim, Columns::host_base(&below.slices()));
        let bytes = prover.expect("a prover").explain().bytes;
        let above = Prover::new(&accelerator, &below.case.claim, Columns::host(&below.case.slices()));
        let above = above.expect("a prover").explain().bytes;
        // Half the rows above, and all of them below, which is a quarter.
        assert_eq!(above - bytes, 2 * 1024 * (16 - 8 - 4));
    }
}

#[test]
fn fields_that_extend_none() {
    type F = halo2curves::bn256::Fr;
    let (claim, column) = (Claim::<F>::product(1, &[0]), [F::one(); 2]);
    for accelerator in accelerators_and_cpu() {
        let columns = Columns::host_base(&[&column]);
        let error =
            prove(&accelerator, &claim, columns, unbound(&mut HashTranscript::new(b"none")), None).expect_err("none");
        let expected = "sumcheck: columns: expected over the field itself, which extends none, got over one below";
        assert_eq!(error.to_string(), expected);
        let claim = Claim::<Goldilocks2>::product(2, &[0]);
        let column = [Goldilocks::ONE; 3];
        let columns = Columns::host_base(&[&column]);
        let error = prove(&accelerator, &claim, columns, unbound(&mut transcript()), None).expect_err("another length");
        assert_eq!(error.to_string(), "sumcheck: length of column 0: expected 4, got 3");
    }
}

/// Goldilocks' numbers may be from the modulus on, in columns of either field.
#[test]
fn numbers_from_the_modulus_on() {
    let number = |i: u64| Goldilocks(p3_goldilocks::Goldilocks::new(u64::MAX - i % 5));
    let columns: Vec<Vec<Goldilocks>> = (0..3).map(|k| (0..64).map(|i| number(i + k)).collect()).collect();
    let tight: Vec<Vec<Goldilocks2>> = columns
        .iter()
        .map(|column| column.iter().map(|a| Goldilocks2::from_base(*a + Goldilocks::ZERO)).collect())
        .collect();
    let case = Case::new(Claim::product(6, &[0, 1, 2]), tight);
    let expected = case.prove(&cpu(), Lying::Host, &SumcheckOptions::default());
    let loose: Vec<Vec<Goldilocks2>> =
        columns.iter().map(|column| column.iter().map(|a| Goldilocks2::from_base(*a)).collect()).collect();
    for accelerator in accelerators_and_cpu() {
        let options = SumcheckOptions { tail: Some(0), ..SumcheckOptions::default() };
        let slices: Vec<&[Goldilocks]> = columns.iter().map(Vec::as_slice).collect();
        let above: Vec<&[Goldilocks2]> = loose.iter().map(Vec::as_slice).collect();
        for columns in [Columns::host_base(&slices), Columns::host(&above)] {
            let proved = prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &options, None);
            assert_eq!(proved.expect("a proof").0, expected);
        }
    }
}
