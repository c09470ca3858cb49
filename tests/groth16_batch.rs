//! Batches of proofs that are interrupted and go on.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use bellperson::groth16::{Parameters, generate_random_parameters};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use common::{accelerators_and_cpu, alone, rng};
use ff::Field;
use proofwarp::groth16::{Batch, Witness, prove};
use proofwarp::{Accelerator, BackendKind, Error};
use proofwarp_bellperson::Prover;

/// Squares of a secret.
#[derive(Clone, Copy)]
struct Squares(usize);

impl Circuit<Scalar> for Squares {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let (mut value, mut x) = (Scalar::from(3), cs.alloc(|| "secret", || Ok(Scalar::from(3)))?);
        for _ in 0..self.0 {
            value = value.square();
            let square = cs.alloc(|| "square", || Ok(value))?;
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            x = square;
        }
        Ok(())
    }
}

fn key() -> Parameters<Bls12> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: every test calls this first, before a device or bellperson has been touched.
    ONCE.call_once(|| unsafe { std::env::set_var("BELLMAN_NO_GPU", "1") });
    generate_random_parameters(Squares(20), &mut rng(1)).expect("parameters")
}

/// Whenever the hook says yes, proofs that are done stay done, and the rest follows with the next call.
#[test]
fn goes_on_after_aborts() {
    let key = key();
    for accelerator in accelerators_and_cpu() {
        let (prover, first) = Prover::<Bls12>::new(&accelerator, Squares(20), &&key).expect("prover");
        let witness = Witness { inputs: &first.inputs, aux: (&first.aux).into(), evaluations: None };
        let witnesses = [witness; 6];
        let r: Vec<Scalar> = (0..6).map(Scalar::from).collect();
        let (expected, _) = prove(prover.key(), prover.circuit(), &witnesses, &r, &r, None).expect("proofs");
        let batch = Batch::new(prover.key(), prover.circuit(), &witnesses, &r, &r).expect("batch");
        let (mut missing, mut answers, mut interruptions, mut kept) = (6, 0, 0, false);
        while missing > 0 {
            let (asked, said_yes) = (AtomicU32::new(0), AtomicBool::new(false));
            let hook = || {
                let yes = asked.fetch_add(1, Ordering::Relaxed) >= answers;
                said_yes.fetch_or(yes, Ordering::Relaxed);
                yes
            };
            match batch.run(&accelerator, Some(&hook)) {
                Ok(_) => assert_eq!(batch.missing_count(), 0),
                Err(Error::Aborted) => assert!(said_yes.into_inner()),
                Err(error) => panic!("{error}"),
            }
            kept |= batch.missing_count() < missing && batch.missing_count() > 0;
            missing = batch.missing_count();
            interruptions += 1;
            // More and more nos, so that some batch ends between its first proof and its last.
            answers += answers / 4 + 1;
            assert!(interruptions < 100, "{missing} are missing still");
        }
        assert!(interruptions > 1 && kept, "{interruptions} interruptions on {:?}", accelerator.forced());
        assert_eq!(batch.proofs().expect("proofs"), expected);
    }
}

#[test]
fn unfinished_batches_have_no_proofs() {
    let key = key();
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let (prover, first) = Prover::<Bls12>::new(&accelerator, Squares(20), &&key).expect("prover");
    let witness = [Witness { inputs: &first.inputs, aux: (&first.aux).into(), evaluations: None }];
    let one = [Scalar::ONE];
    let batch = Batch::new(prover.key(), prover.circuit(), &witness, &one, &one).expect("batch");
    let aborted = batch.run(&accelerator, Some(&|| true));
    assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
    let error = batch.proofs().expect_err("no proofs yet").to_string();
    assert!(error.contains("missing proofs of a batch: expected 0, got 1"), "{error}");
}

/// A key made for the CPU, or for another device, proves on any device.
#[test]
fn other_devices_than_the_keys() {
    let key = key();
    let host = Accelerator::automatic().expect("settings").with_devices(Vec::new());
    let (prover, first) = Prover::<Bls12>::new(&host, Squares(20), &&key).expect("prover");
    let witnesses = [Witness { inputs: &first.inputs, aux: (&first.aux).into(), evaluations: None }; 2];
    let r = [Scalar::from(4), Scalar::from(5)];
    let (expected, report) = prove(prover.key(), prover.circuit(), &witnesses, &r, &r, None).expect("proofs");
    assert_eq!(report.backend, BackendKind::Cpu);
    for accelerator in alone(None) {
        let batch = Batch::new(prover.key(), prover.circuit(), &witnesses, &r, &r).expect("batch");
        let report = batch.run(&accelerator, None).expect("report");
        assert_eq!(Some(report.backend), accelerator.forced());
        assert_eq!(batch.proofs().expect("proofs"), expected);
        let own = prover.key().parameters().h.in_memory().expect("in memory");
        assert!(Arc::ptr_eq(own, &key.h));
    }
}
