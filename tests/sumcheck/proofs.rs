//! Proofs of every shape, on every backend.

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{
    Claim, Columns, KernelPath, ProductTerm, Proof, Prover, SumcheckField, SumcheckOptions, prove_with,
    unbitslice_column,
};
use proofwarp::{Abort, Accelerator, BackendKind};

use crate::common::{accelerators_and_cpu, accelerators_with_devices, skip};
use crate::tools::{Case, EVERYWHERE, Lying, page_locked, transcript, unbound};

/// All rounds on the device, or as it is by default.
const ON_DEVICE: SumcheckOptions = SumcheckOptions { path: None, tail: Some(0), rounds_a_pass: None };

/// Two rounds a pass, all on the device or as by default.
const PAIRS: [SumcheckOptions; 2] = [
    SumcheckOptions { rounds_a_pass: Some(2), ..ON_DEVICE },
    SumcheckOptions { path: None, tail: Some(2), rounds_a_pass: Some(2) },
];

/// A hook that never aborts.
const GO_ON: Abort<'static> = Some(&|| false);

/// The proof of the CPU, which is that of the definition.
fn checked<F: SumcheckField>(case: &Case<F>) -> Proof<F> {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let proof = case.prove(&cpu, Lying::Host, &SumcheckOptions::default());
    case.check(&proof);
    let bytes = proof.to_bytes();
    assert_eq!(Proof::from_bytes(&case.claim, &bytes).expect("its bytes"), proof);
    proof
}

/// Everywhere the same.
fn agrees<F: SumcheckField>(case: &Case<F>, options: &[SumcheckOptions]) {
    let expected = checked(case).to_bytes();
    for accelerator in accelerators_with_devices() {
        for (lying, options) in EVERYWHERE.iter().flat_map(|lying| options.iter().map(move |options| (*lying, options)))
        {
            let proof = case.prove(&accelerator, lying, options);
            assert!(proof.to_bytes() == expected, "{accelerator:?} {lying:?} {options:?} {:?}", case.claim);
        }
    }
}

fn products<F: SumcheckField>() {
    for variables in 0..=10 {
        for degree in 1..=6 {
            let case = Case::<F>::product(variables, degree, u64::from(variables) * 8 + degree as u64);
            checked(&case);
            if variables % 3 == 1 || variables < 3 {
                agrees(&case, &[ON_DEVICE]);
            }
        }
    }
}

fn terms<F: SumcheckField>() {
    // All columns once, which is a product but for its coefficient.
    for degree in 1..=5 {
        let term = ProductTerm { coefficient: F::from_number(3), columns: (0..degree).rev().collect() };
        agrees(&Case::random(Claim::sum_of_products(4, vec![term]), degree, degree as u64), &[ON_DEVICE]);
    }
    for (variables, degree) in [(0, 2), (1, 1), (2, 6), (3, 5), (5, 3), (8, 4)] {
        agrees(&Case::<F>::terms(variables, degree, 40 + u64::from(variables)), &[ON_DEVICE]);
    }
}

fn eq<F: SumcheckField>() {
    for (variables, degree) in [(0, 1), (1, 2), (2, 1), (3, 6), (4, 2), (7, 3), (9, 2)] {
        let seed = 60 + u64::from(variables);
        agrees(&Case::<F>::product(variables, degree, seed).with_eq(seed), &[ON_DEVICE]);
        agrees(&Case::<F>::terms(variables, degree, seed).with_eq(seed), &[ON_DEVICE]);
    }
}

/// The last rounds on the host, and more rows than groups have work-items.
fn larger<F: SumcheckField>() {
    let tails = [SumcheckOptions::default(), SumcheckOptions { tail: Some(4), ..ON_DEVICE }];
    for degree in 2..=4 {
        agrees(&Case::<F>::product(12, degree, 80 + degree as u64), &tails);
    }
    agrees(&Case::<F>::terms(11, 3, 90).with_eq(91), &tails);
}

/// Two rounds a pass: any number of rounds, also over more rows than groups have work-items, which are folded where they lie.
fn pairs<F: SumcheckField>(degrees: &[usize]) {
    for degree in degrees {
        for variables in (0..9).chain([13]) {
            let case = Case::<F>::product(variables, *degree, 70 + u64::from(variables));
            agrees(&case, if variables == 13 { &PAIRS[1..] } else { &PAIRS });
        }
    }
}

#[test]
fn pairs_of_rounds_over_the_tower() {
    pairs::<Tower>(&[2]);
}

#[test]
fn pairs_of_rounds_over_ghash() {
    pairs::<Ghash>(&[2, 3, 4]);
}

/// In page-locked memory, of the device's own driver or of another's.
fn pinned<F: SumcheckField>() {
    let case = Case::<F>::product(11, 3, 120);
    let expected = checked(&case).to_bytes();
    for owner in accelerators_with_devices() {
        let vectors: Vec<_> = case.columns.iter().map(|column| page_locked(&owner, column)).collect();
        let columns = || Columns::pinned(&vectors.iter().collect::<Vec<_>>());
        for (accelerator, abort) in accelerators_and_cpu().iter().flat_map(|there| [(there, None), (there, GO_ON)]) {
            let (proof, report) =
                prove_with(accelerator, &case.claim, columns(), unbound(&mut transcript()), &ON_DEVICE, abort)
                    .expect("a proof");
            assert!(report.fallbacks.is_empty(), "{report}");
            assert!(proof.to_bytes() == expected, "{accelerator:?}, memory of {owner:?}");
        }
        assert!(vectors.iter().zip(&case.columns).all(|(vector, column)| vector[..] == column[..]));
    }
}

#[test]
fn columns_in_page_locked_memory() {
    pinned::<Tower>();
    pinned::<Ghash>();
    pinned::<halo2curves::bn256::Fr>();
}

macro_rules! of_every_field {
    ($($field:ident: $type:ty;)*) => {
        $(mod $field {
            #[test] fn products() { super::products::<$type>(); }
            #[test] fn terms() { super::terms::<$type>(); }
            #[test] fn eq() { super::eq::<$type>(); }
            #[test] fn larger() { super::larger::<$type>(); }
        })*
    };
}

of_every_field! {
    tower: proofwarp::field::tower::Tower;
    ghash: proofwarp::field::ghash::Ghash;
    bls12_377_fr: proofwarp::curve::bls12_377::Fr;
    bls12_381_fr: blstrs::Scalar;
    bn254_fr: halo2curves::bn256::Fr;
    pasta_fp: pasta_curves::Fp;
    pasta_fq: pasta_curves::Fq;
}

#[cfg(feature = "plonky3")]
of_every_field! {
    goldilocks2: proofwarp::field::plonky3::Goldilocks2;
    baby_bear4: proofwarp::field::plonky3::BabyBear4;
    koala_bear4: proofwarp::field::plonky3::KoalaBear4;
}

/// A claim on the tower is one on GHASH's field in another basis: so are messages and finals, for the same challenges.
#[test]
fn both_bases_give_the_same_messages() {
    let case = Case::<Tower>::product(6, 3, 1);
    let there: Vec<Vec<Ghash>> =
        case.columns.iter().map(|column| column.iter().map(|a| Ghash::from(*a)).collect()).collect();
    let claim = Claim::product(6, &[0, 1, 2]).with_sum(Ghash::from(case.claim.claimed()));
    for accelerator in accelerators_and_cpu() {
        let slices: Vec<&[Ghash]> = there.iter().map(Vec::as_slice).collect();
        let mut tower =
            Prover::with_options(&accelerator, &case.claim, Columns::host(&case.slices()), &ON_DEVICE).expect("tower");
        let mut ghash = Prover::with_options(&accelerator, &claim, Columns::host(&slices), &ON_DEVICE).expect("GHASH");
        let mut challenge = Tower(0x1234_5678_9abc_def0);
        while let Some(message) = tower.message().expect("a message") {
            let other = ghash.message().expect("a message").expect("as many");
            let converted: Vec<Ghash> = message.coefficients().iter().map(|a| Ghash::from(*a)).collect();
            assert_eq!(other.coefficients(), converted);
            tower.fold(challenge).expect("in order");
            ghash.fold(challenge.into()).expect("in order");
            challenge *= Tower(3 << 90);
        }
        let finals = tower.finish().expect("finals").into_iter().map(Ghash::from).collect::<Vec<_>>();
        assert_eq!(ghash.finish().expect("finals"), finals);
    }
}

/// Bit-sliced columns are packed ones in another order of bits.
#[test]
fn bit_sliced_columns() {
    let case = Case::<Tower>::product(11, 2, 7);
    for column in &case.columns {
        let bits: Vec<u128> = column.iter().map(|element| element.0).collect();
        let words = proofwarp::field::bitslice::to_tiles(&bits);
        assert_eq!(&unbitslice_column(&words, column.len()).expect("its words"), column);
        let error = unbitslice_column(&words[1..], column.len()).expect_err("one too few").to_string();
        assert_eq!(error, "sumcheck: words of a column: expected 8192, got 8191");
    }
}

/// A device without carry-less multiply-add is used all the same, and the path alone is named as unused.
#[test]
fn an_unused_path_is_named() {
    let case = Case::<Ghash>::product(12, 3, 8);
    for accelerator in accelerators_with_devices() {
        let info = accelerator.devices()[0].info();
        if info.caps.carryless_multiply {
            skip(format_args!("{} has carry-less multiply-add", info.name));
            continue;
        }
        let lacks = format!(
            "{} does not support carry-less multiply-add: expected a CUDA device of compute capability 8.0 or later",
            info.name
        );
        let prover = Prover::new(&accelerator, &case.claim, Columns::host(&case.slices())).expect("memory");
        assert_eq!(prover.explain().path, Some(KernelPath::Portable));
        assert_eq!(prover.explain().reasons, [format!("path clmad not used: {lacks}")]);
        let options = SumcheckOptions { path: Some(KernelPath::Clmad), ..SumcheckOptions::default() };
        let error = Prover::with_options(&accelerator, &case.claim, Columns::host(&case.slices()), &options);
        assert_eq!(error.expect_err("no such path").to_string(), lacks);
    }
}

#[test]
fn what_runs_where_is_told() {
    let case = Case::<Ghash>::product(12, 3, 8);
    for accelerator in accelerators_with_devices() {
        let prover = Prover::new(&accelerator, &case.claim, Columns::host(&case.slices())).expect("memory");
        let explanation = prover.explain();
        let rounds = if explanation.pairs { 2 } else { 3 };
        assert_eq!(
            (explanation.device_rounds, explanation.host_rounds, explanation.fused),
            (rounds, 12 - rounds, true)
        );
        assert!(
            explanation.path.is_some() && explanation.to_string().contains(&format!("{rounds} rounds on the device"))
        );
        let units = accelerator.devices()[0].info().compute_units;
        let place = proofwarp::sumcheck::ColumnOwnership::Host;
        assert_eq!(case.claim.device_bytes(place, units).expect("a claim"), explanation.bytes);
        let options = SumcheckOptions { path: Some(KernelPath::Portable), ..SumcheckOptions::default() };
        let prover = Prover::with_options(&accelerator, &case.claim, Columns::host(&case.slices()), &options);
        assert_eq!(prover.expect("always there").explain().path, Some(KernelPath::Portable));
    }
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let prover = Prover::new(&cpu, &case.claim, Columns::host(&case.slices())).expect("a prover");
    assert_eq!(prover.explain().to_string(), "all 12 rounds on the host");
}
