//! Failures and aborts on a device.

use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::backend::Abort;
use proofwarp::groth16::{Batch, Proof, Witness, prove};
use proofwarp::{Accelerator, BackendKind, Error};
use proofwarp_bellperson::{Assignment, Prover};
use rand::Rng;

use crate::circuits::{Kind, batch, engine_error, prover, setup, stock};
use crate::common::{abort_after, accelerators_and_cpu, alone, rng};
use crate::memory::{capped, streaming};

#[test]
fn aborts() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
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
        let witness = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
        let (r, s) = ([Scalar::from(8); 3], [Scalar::from(9); 3]);
        let run = || prove(prover.key(), prover.circuit(), &[witness; 3], &r, &s, None);
        run().expect("proofs, and tables for all later ones");
        let (expected, report) = run().expect("proofs");
        let launches = report.traffic.launches;
        for fuse in (0..launches).step_by(launches as usize / 6) {
            accelerator.devices()[0].inject_launch_fault(fuse);
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
        let witness = Witness { inputs: &inputs, aux: (&aux).into(), evaluations: None };
        let (r, s) = ([Scalar::from(8); 4], [Scalar::from(9); 4]);
        let run = || prove(prover.key(), prover.circuit(), &[witness; 4], &r, &s, None).expect("proofs");
        let (expected, report) = run();
        assert_ne!(report.backend, BackendKind::Cpu);
        for fuse in [0, report.traffic.launches * 3 / 4] {
            device.inject_launch_fault(fuse);
            let (proofs, report) = run();
            assert_eq!(proofs, expected);
            assert_eq!(report.backend, BackendKind::Cpu);
            assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
        }
    }
}

/// Whatever order of failed launches, aborts and retries a batch meets, and wherever the host takes over: its proofs are
/// those of a batch without any, and until all are there it has none.
#[test]
fn faults_and_retries_at_random() {
    let key = setup(5, Kind::Dense);
    let (circuits, r, s) = batch(3, 5, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    let mut random = rng(53);
    for forced in alone(None) {
        let device = &forced.devices()[0];
        let free = Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec());
        let (prover, _) = Prover::<Bls12>::new(&forced, circuits[0], &&key).expect("prover");
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let witnesses = witnesses(&assignments);
        let mut counts = [0; 3];
        for case in 0..6 {
            let proofs = Batch::new(prover.key(), prover.circuit(), &witnesses, &r, &s).expect("batch");
            while proofs.missing_count() > 0 {
                device.inject_launch_fault(random.gen_range(0..400));
                let (abort, ask) = (abort_after(random.gen_range(0..60)), random.gen_bool(0.5));
                let accelerator = if random.gen_bool(0.3) { &free } else { &forced };
                match proofs.run(accelerator, if ask { Some(&abort) } else { None }) {
                    Ok(report) => counts[usize::from(report.backend == BackendKind::Cpu)] += 1,
                    Err(Error::Device { .. }) => counts[2] += 1,
                    Err(error) => assert!(ask && matches!(error, Error::Aborted), "{error}"),
                }
            }
            let proofs = proofs.proofs().expect("all of them");
            assert!(proofs.len() == 3 && proofs.iter().zip(&expected).all(same), "case {case}");
        }
        device.inject_launch_fault(u32::MAX);
        assert!(counts[2] > 0, "on the device, on the host, failed: {counts:?}");
    }
}

/// Wherever the hook says stop, there are no proofs; the memory is back, and the same key proves.
#[test]
fn aborts_at_each_step() {
    let key = setup(20, Kind::Dense);
    let (circuits, r, s) = batch(3, 20, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    let on_cpu = accelerators_and_cpu().into_iter().filter(|accelerator| accelerator.devices().is_empty());
    for accelerator in alone(Some(1 << 30)).into_iter().chain(on_cpu) {
        let (prover, _) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let run = |abort: Abort<'_>| prover.prove(&assignments, &r, &s, abort).map(|(proofs, _)| proofs);
        let free = || accelerator.devices().first().map(|device| device.free_memory().expect("memory"));
        assert_eq!(run(None).expect("proofs, and tables for all later ones"), expected);
        let (before, mut questions, mut aborted) = (free(), 0, 0);
        loop {
            match run(Some(&abort_after(questions))) {
                Ok(proofs) => {
                    assert_eq!(proofs, expected);
                    break;
                }
                Err(error) => {
                    assert!(matches!(engine_error(&error), Some(Error::Aborted)), "{error}");
                }
            }
            assert_eq!(free(), before, "bytes free after {questions} questions");
            assert_eq!(run(None).expect("proofs"), expected, "after {questions} questions");
            (questions, aborted) = (questions + 1 + questions / 4, aborted + 1);
        }
        assert!(aborted > 5, "only {aborted} aborts");
    }
}

fn witnesses(assignments: &[Assignment<Scalar>]) -> Vec<Witness<'_, Scalar>> {
    let all = assignments.iter();
    all.map(|Assignment { inputs, aux, .. }| Witness { inputs, aux: aux.into(), evaluations: None }).collect()
}

fn same((proof, stock): (&Proof<Bls12>, &bellperson::groth16::Proof<Bls12>)) -> bool {
    (proof.a, proof.b, proof.c) == (stock.a, stock.b, stock.c)
}

/// An upload of a key that is aborted goes on with the queries that are missing; a proof brings what is missing then.
#[test]
fn uploads_that_are_aborted() {
    let key = setup(20, Kind::Dense);
    let (circuits, r, s) = batch(2, 20, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    for accelerator in alone(None) {
        let host = accelerator.with_devices(Vec::new());
        let (prover, _) = Prover::<Bls12>::new(&host, circuits[0], &&key).expect("prover");
        let upload = |questions| prover.key().upload(&accelerator, Some(&abort_after(questions)));
        let mut bytes = 0;
        for queries in 0..3 {
            assert!(matches!(upload(0), Err(Error::Aborted)), "no question before query {queries}");
            assert_eq!(prover.key().device_bytes(), bytes, "bytes of {queries} queries");
            assert!(matches!(upload(1), Err(Error::Aborted)), "no question after query {queries}");
            assert!(prover.key().device_bytes() > bytes, "query {queries} is not kept");
            bytes = prover.key().device_bytes();
        }
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let witnesses = witnesses(&assignments);
        let proofs = Batch::new(prover.key(), prover.circuit(), &witnesses, &r, &s).expect("batch");
        let aborted = proofs.run(&accelerator, Some(&abort_after(1)));
        assert!(matches!(aborted, Err(Error::Aborted)), "{aborted:?}");
        assert!(prover.key().device_bytes() > bytes, "a proof does not upload what is missing");
        proofs.run(&accelerator, None).expect("proofs");
        let proofs = proofs.proofs().expect("all of them");
        assert!(proofs.iter().zip(&expected).all(same));
        upload(0).expect("all is there");
    }
}

/// An upload of a circuit that is aborted goes on with the matrices that are missing.
#[test]
fn uploads_of_circuits_that_are_aborted() {
    let key = setup(20, Kind::Dense);
    let (circuits, r, s) = batch(1, 20, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    for accelerator in alone(None) {
        let host = accelerator.with_devices(Vec::new());
        let (prover, first) = Prover::<Bls12>::new(&host, circuits[0], &&key).expect("prover");
        let circuit = prover.circuit();
        let upload = |questions| circuit.upload(&accelerator, Some(&abort_after(questions)));
        let (mut bytes, mut questions) = (vec![0], 0);
        while let Err(error) = upload(questions) {
            assert!(matches!(error, Error::Aborted), "{error}");
            bytes.push(circuit.device_bytes());
            questions += 1;
        }
        bytes.push(circuit.device_bytes());
        bytes.dedup();
        assert!(bytes.is_sorted() && bytes.len() > 3, "bytes after some of the matrices: {bytes:?}");
        upload(0).expect("all is there");
        let witnesses = witnesses(std::slice::from_ref(&first));
        let proofs = Batch::new(prover.key(), circuit, &witnesses, &r, &s).expect("batch");
        proofs.run(&accelerator, None).expect("a proof");
        assert!(proofs.proofs().expect("it").iter().zip(&expected).all(same));
    }
}

/// Wherever a batch by a streamed key is aborted, the sums that are done are kept, and the proofs are right in the end.
#[test]
fn aborts_of_batches_by_streamed_keys() {
    let (links, kind) = (100, Kind::Dense);
    let key = setup(links, kind);
    let (circuits, r, s) = batch(3, links, kind);
    let expected = stock(&circuits, &key, &r, &s);
    for accelerator in capped(Some(64 << 20)) {
        let prover = streaming(&accelerator, circuits[0], &key);
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let witnesses = witnesses(&assignments);
        let free = || accelerator.devices()[0].free_memory().expect("memory");
        let run = |abort: Abort<'_>| {
            let batch = Batch::new(prover.key(), prover.circuit(), &witnesses, &r, &s).expect("batch");
            let result = batch.run(&accelerator, abort);
            (batch, result)
        };
        let whole = run(None).1.expect("proofs").traffic.launches;
        let (before, mut questions, mut aborted, mut kept) = (free(), 0, 0, 0);
        loop {
            let (proofs, result) = run(Some(&abort_after(questions)));
            assert_eq!(free(), before, "bytes free after {questions} questions");
            if !matches!(result, Err(Error::Aborted)) {
                result.expect("no other error");
                break;
            }
            let rest = proofs.run(&accelerator, None).expect("the rest").traffic.launches;
            assert!(rest <= whole, "{rest} launches for the rest, {whole} for all");
            (kept, aborted) = (kept + u32::from(rest < whole), aborted + 1);
            let proofs = proofs.proofs().expect("all of them");
            assert!(proofs.iter().zip(&expected).all(same), "after {questions} questions");
            questions = 2 * questions + 1;
        }
        assert!(aborted > 4 && kept > 1, "{aborted} aborts, sums kept of {kept}");
    }
}
