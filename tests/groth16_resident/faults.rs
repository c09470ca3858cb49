//! Failures and aborts on a device.

use blstrs::Scalar;
use ff::Field;
use proofwarp::groth16::{Witness, prove};
use proofwarp::{BackendKind, Error};

use crate::circuits::{Kind, prover, setup};
use crate::common::{abort_after, accelerators_and_cpu, alone};
use crate::memory::capped;

#[test]
fn aborts() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        let one = [Scalar::ONE];
        for questions in 0..3 {
            let abort = abort_after(questions);
            let result = prove(prover.key(), prover.circuit(), &[witness], &one, &one, Some(&abort));
            assert!(matches!(result, Err(Error::Aborted)), "after {questions}: {result:?}");
        }
        let never = || false;
        assert!(prove(prover.key(), prover.circuit(), &[witness], &one, &one, Some(&never)).is_ok());
    }
}

/// A launch that fails, whichever it is, is an error where a backend is forced, and the next proof is right.
#[test]
fn failures_on_a_device() {
    let key = setup(5, Kind::Plain);
    for accelerator in alone(None) {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        let (r, s) = ([Scalar::from(8); 3], [Scalar::from(9); 3]);
        let run = || prove(prover.key(), prover.circuit(), &[witness; 3], &r, &s, None);
        run().expect("proofs, and tables for all later ones");
        let (expected, report) = run().expect("proofs");
        let launches = report.traffic.launches;
        for fuse in (0..launches).step_by(launches as usize / 6) {
            accelerator.devices()[0].fail_after(fuse);
            let result = run();
            assert!(matches!(result, Err(Error::Device { .. })), "launch {fuse}: {result:?}");
            assert_eq!(run().expect("proofs").0, expected, "after launch {fuse} failed");
        }
    }
}

/// Where no backend is forced, what a device has not finished is made on the CPU, and the report says why.
#[test]
fn fallback_to_the_cpu() {
    let key = setup(5, Kind::Plain);
    for accelerator in capped(None) {
        let device = &accelerator.devices()[0];
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        let (r, s) = ([Scalar::from(8); 4], [Scalar::from(9); 4]);
        let run = || prove(prover.key(), prover.circuit(), &[witness; 4], &r, &s, None).expect("proofs");
        let (expected, report) = run();
        assert_ne!(report.backend, BackendKind::Cpu);
        for fuse in [0, report.traffic.launches * 3 / 4] {
            device.fail_after(fuse);
            let (proofs, report) = run();
            assert_eq!(proofs, expected);
            assert_eq!(report.backend, BackendKind::Cpu);
            assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
        }
    }
}
