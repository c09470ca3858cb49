//! Devices that compute wrong values, alone and before they fail: never a proof that is none, and never the caller who is blamed.

use std::sync::atomic::Ordering;

use proofwarp::field::ghash::Ghash;
use proofwarp::sumcheck::{
    BatchProof, ClaimBatch, Columns, KernelPath, Proof, Prover, SumcheckField, SumcheckOptions, prove_with, verify,
};
use proofwarp::{Accelerator, BackendKind, Error, Report, Result};

use crate::common::{accelerators_and_cpu, accelerators_with_devices};
use crate::faulty::{Flip, faulty};
use crate::tools::{Case, Lying, Recorder, transcript, unbound};

/// A pass and a copy a round, all rounds on the device.
const ON_DEVICE: SumcheckOptions =
    SumcheckOptions { path: Some(KernelPath::Portable), tail: Some(0), rounds_a_pass: Some(1) };
const FALSE_CLAIM: &str = "sumcheck: sum of the claim: expected that of the columns, got another";

/// A copy that is flipped, and a launch that fails.
#[derive(Debug, Clone, Copy)]
struct Faults {
    flip: Option<u32>,
    failure: Option<u32>,
}

impl Faults {
    fn all() -> Vec<Self> {
        let upto = |most: u32| [None].into_iter().chain((0..most).map(Some));
        upto(8).flat_map(|flip| upto(11).map(move |failure| Self { flip, failure })).collect()
    }

    fn set(self, accelerator: &Accelerator, flip: &Flip) {
        flip.store(self.flip.map_or(-1, i64::from), Ordering::SeqCst);
        accelerator.devices()[0].inject_launch_fault(self.failure.unwrap_or(u32::MAX));
    }
}

fn prove_on<F: SumcheckField>(
    accelerator: &Accelerator,
    case: &Case<F>,
    goes_back: bool,
) -> Result<(Proof<F>, Report)> {
    let mut recorder = Recorder::new(b"tests", goes_back);
    let columns = Columns::host(&case.slices());
    let proved = prove_with(accelerator, &case.claim, columns, unbound(&mut recorder), &ON_DEVICE, None)?;
    // Both have said and heard the same.
    let mut verifier = Recorder::new(b"tests", goes_back);
    verify(&case.claim, &proved.0, unbound(&mut verifier)).expect("an invalid proof was handed out");
    assert_eq!((recorder.observed, recorder.challenges), (verifier.observed, verifier.challenges));
    Ok(proved)
}

#[track_caller]
fn names_the_device(error: &Error, accelerator: &Accelerator) {
    let name = &accelerator.devices()[0].info().name;
    assert!(matches!(error, Error::Device { device, .. } if device == name), "{error}");
}

fn cases() -> [Case<Ghash>; 2] {
    [Case::product(6, 2, 1), Case::terms(6, 2, 2).with_eq(3)]
}

/// The host takes over, and starts again where it would say something else.
fn proofs_of_the_host(case: &Case<Ghash>) {
    for (forced, free, flip) in faulty() {
        let expected = case.prove(&forced, Lying::Host, &ON_DEVICE);
        let device = &free.devices()[0].info().name;
        let mut from_host = 0;
        for faults in Faults::all() {
            faults.set(&free, &flip);
            let (proof, report) = prove_on(&free, case, true).unwrap_or_else(|error| panic!("{faults:?}: {error}"));
            assert_eq!(proof, expected, "{faults:?}");
            let is_named = report.fallbacks.iter().any(|reason| reason.starts_with(device));
            assert_eq!(report.backend == BackendKind::Cpu, is_named, "{faults:?}: {report}");
            from_host += u32::from(is_named);
        }
        assert!(from_host > 60, "{from_host} proofs of the host");
    }
}

#[test]
fn a_transcript_that_goes_back_has_a_proof_of_the_host() {
    cases().iter().for_each(proofs_of_the_host);
}

/// Where another message was said, and that cannot be taken back, the device is named.
#[test]
fn a_transcript_that_does_not_go_back_has_an_error() {
    let case = &cases()[0];
    for (_, free, flip) in faulty() {
        let (mut valid, mut errors) = (0, 0);
        for faults in Faults::all() {
            faults.set(&free, &flip);
            match prove_on(&free, case, false) {
                Ok(_) => valid += 1,
                Err(error) => {
                    names_the_device(&error, &free);
                    assert!(faults.flip.is_some() && error.to_string().contains("another message in round"), "{error}");
                    errors += 1;
                }
            }
        }
        assert!(valid > 30 && errors > 20, "{valid} proofs, {errors} errors");
    }
}

#[test]
fn a_forced_device_is_named() {
    let case = &cases()[0];
    for (forced, _, flip) in faulty() {
        let mut wrong = 0;
        for flipped in 0..8 {
            Faults { flip: Some(flipped), failure: None }.set(&forced, &flip);
            if let Err(error) = prove_on(&forced, case, true) {
                names_the_device(&error, &forced);
                assert!(error.to_string().contains("than the host"), "{error}");
                wrong += 1;
            }
            // The columns are still there to be proved on the host.
            let vector = case.upload(&forced);
            flip.store(flipped.into(), Ordering::SeqCst);
            let columns = Columns::device(&vector);
            let proved = prove_with(&forced, &case.claim, columns, unbound(&mut transcript()), &ON_DEVICE, None);
            match proved {
                Ok((proof, _)) => drop(verify(&case.claim, &proof, unbound(&mut transcript())).expect("valid")),
                Err(error) => names_the_device(&error, &forced),
            }
        }
        assert!(wrong >= 6, "{wrong} wrong values");
    }
}

/// A false claim is the caller's fault on every device, with eq too, which the prover's own sums do not depend on.
#[test]
fn false_claims_are_told_from_faults() {
    for case in cases() {
        let false_claim = case.claim.clone().with_sum(case.claim.claimed() + Ghash(1));
        let case = Case { claim: false_claim, ..case };
        let on = |accelerator: &Accelerator, columns: Columns<'_, Ghash>| {
            let proved = prove_with(accelerator, &case.claim, columns, unbound(&mut transcript()), &ON_DEVICE, None);
            proved.expect_err("a false claim").to_string()
        };
        let slices = case.slices();
        for accelerator in accelerators_and_cpu() {
            assert_eq!(on(&accelerator, Columns::host(&slices)), FALSE_CLAIM);
            let free = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
            assert_eq!(on(&free, Columns::host(&slices)), FALSE_CLAIM);
            assert_eq!(prove_on(&free, &case, false).expect_err("a false claim").to_string(), FALSE_CLAIM);
        }
        for accelerator in accelerators_with_devices() {
            assert_eq!(on(&accelerator, Columns::device(&case.upload(&accelerator))), FALSE_CLAIM);
            // These are gone.
            let error = on(&accelerator, Columns::device_owned(case.upload(&accelerator)));
            assert!(error.contains("or the claim's sum is not the columns'"), "{error}");
        }
    }
}

/// Columns on a device in other forms are copied to the host in that form.
#[test]
fn false_claims_on_columns_of_a_device() {
    use proofwarp::field::DeviceVector;
    use proofwarp::field::tower::Tower;
    use proofwarp::sumcheck::bitslice_column;

    let case = Case::<Tower>::product(10, 2, 3);
    let claim = case.claim.clone().with_sum(Tower(3));
    let words: Vec<Tower> = case.columns.iter().flat_map(|column| bitslice_column(column)).collect();
    for accelerator in accelerators_with_devices() {
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let vector = DeviceVector::upload(&mut stream, &words).expect("memory");
        stream.synchronize(None).expect("upload");
        let columns = Columns::device_sliced(&vector);
        let proved =
            prove_with(&accelerator, &claim, columns, unbound(&mut transcript()), &SumcheckOptions::default(), None);
        assert_eq!(proved.expect_err("a false claim").to_string(), FALSE_CLAIM);
    }
    #[cfg(feature = "plonky3")]
    for accelerator in accelerators_with_devices() {
        use proofwarp::field::plonky3::{Goldilocks, Goldilocks2};
        let claim = proofwarp::sumcheck::Claim::<Goldilocks2>::product(3, &[0, 1]).with_sum(Goldilocks2::from(7));
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let vector = DeviceVector::upload(&mut stream, &[Goldilocks::from(5); 16]).expect("memory");
        stream.synchronize(None).expect("upload");
        let columns = Columns::device_base(&vector);
        let proved = prove_with(&accelerator, &claim, columns, unbound(&mut transcript()), &ON_DEVICE, None);
        assert_eq!(proved.expect_err("a false claim").to_string(), FALSE_CLAIM);
    }
}

/// The prover of single messages knows no columns at the end, so its error names both.
#[test]
fn a_prover_of_single_messages() {
    let case = &cases()[0];
    for (forced, _, flip) in faulty() {
        for flipped in 0..7 {
            let columns = Columns::host(&case.slices());
            let mut prover = Prover::with_options(&forced, &case.claim, columns, &ON_DEVICE).expect("memory");
            flip.store(flipped, Ordering::SeqCst);
            while prover.message().expect("a message").is_some() {
                prover.fold(Ghash(77)).expect("in order");
            }
            let error = prover.finish().expect_err("a wrong value");
            names_the_device(&error, &forced);
            assert!(error.to_string().contains("it computed a wrong value, or the claim's sum"), "{error}");
        }
    }
}

/// On the host it is the claim that is false, with eq too.
#[test]
fn a_prover_of_single_messages_of_a_false_claim() {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    for case in cases() {
        let claim = case.claim.clone().with_sum(Ghash(99));
        let mut prover = Prover::new(&cpu, &claim, Columns::host(&case.slices())).expect("a prover");
        while prover.message().expect("a message").is_some() {
            prover.fold(Ghash(77)).expect("in order");
        }
        assert_eq!(prover.finish().expect_err("a false claim").to_string(), FALSE_CLAIM);
    }
}

fn batch_on(accelerator: &Accelerator, cases: &[Case<Ghash>], goes_back: bool) -> Result<BatchProof<Ghash>> {
    let batch = ClaimBatch::new(cases.iter().map(|case| case.claim.clone()).collect());
    let slices: Vec<_> = cases.iter().map(Case::slices).collect();
    let columns = slices.iter().map(|slices| Columns::host(slices)).collect();
    let mut recorder = Recorder::new(b"tests", goes_back);
    let proof = batch.prove(accelerator, columns, unbound(&mut recorder), None)?;
    let mut verifier = Recorder::new(b"tests", goes_back);
    batch.verify(&proof, unbound(&mut verifier)).expect("an invalid proof was handed out");
    assert_eq!((recorder.observed, recorder.challenges), (verifier.observed, verifier.challenges));
    Ok(proof)
}

/// Rounds over more than 2^9 rows are on the device.
#[test]
fn batches() {
    let cases = [Case::<Ghash>::product(11, 2, 4), Case::product(3, 3, 5), Case::product(10, 2, 6).with_eq(7)];
    for (forced, free, flip) in faulty() {
        let expected = batch_on(&free, &cases, true).expect("no fault");
        let (mut errors, mut wrong) = (0, 0);
        for (flipped, failure) in (0..8).flat_map(|flip| [None, Some(3), Some(6)].map(|failure| (flip, failure))) {
            let faults = Faults { flip: Some(flipped), failure };
            faults.set(&free, &flip);
            let proof = batch_on(&free, &cases, true).unwrap_or_else(|error| panic!("{faults:?}: {error}"));
            assert_eq!(proof, expected, "{faults:?}");
            faults.set(&free, &flip);
            if let Err(error) = batch_on(&free, &cases, false) {
                names_the_device(&error, &free);
                errors += 1;
            }
            faults.set(&forced, &flip);
            if let Err(error) = batch_on(&forced, &cases, true) {
                names_the_device(&error, &forced);
                wrong += 1;
            }
        }
        assert!(errors >= 4 && wrong >= 8, "{errors} that cannot go back, {wrong} of a forced device");
        Faults { flip: None, failure: None }.set(&forced, &flip);
    }
}

/// All of them on a device, or one of them where it is.
#[test]
fn false_claims_of_batches() {
    let cases = [Case::<Ghash>::product(10, 2, 4), Case::product(10, 3, 5).with_eq(6)];
    for number in 0..2 {
        let mut cases = cases.clone();
        cases[number].claim = cases[number].claim.clone().with_sum(Ghash(5));
        for accelerator in accelerators_and_cpu() {
            let free = Accelerator::automatic().expect("settings").with_devices(accelerator.devices().to_vec());
            for (accelerator, goes_back) in [(&accelerator, true), (&free, true), (&free, false)] {
                let error = batch_on(accelerator, &cases, goes_back).expect_err("a false claim");
                assert_eq!(error.to_string(), FALSE_CLAIM);
            }
        }
    }
}
