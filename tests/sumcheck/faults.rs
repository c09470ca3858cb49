//! Aborts, failures of devices, too little memory, several threads.

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{Columns, SumcheckField, SumcheckOptions, prove, prove_with};
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone};
use crate::tools::{Case, EVERYWHERE, Lying, transcript, unbound};

const ON_DEVICE: SumcheckOptions = SumcheckOptions { path: None, tail: Some(2), rounds_a_pass: None };

fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("always there")
}

#[test]
fn an_abort_in_each_round() {
    let case = Case::<Tower>::terms(7, 3, 1).with_eq(2);
    let expected = case.prove(&cpu(), Lying::Host, &ON_DEVICE);
    for accelerator in accelerators_and_cpu() {
        let mut aborted = 0;
        for questions in 0..1000 {
            let hook = abort_after(questions);
            let columns = Columns::host(&case.slices());
            let result =
                prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &ON_DEVICE, Some(&hook));
            match result {
                Ok((proof, _)) => {
                    assert_eq!(proof, expected);
                    break;
                }
                Err(error) => assert!(matches!(error, Error::Aborted), "{error}"),
            }
            aborted += 1;
        }
        assert!((7..1000).contains(&aborted), "{aborted} times on {accelerator:?}");
    }
}

/// A forced device's failure is an error; else the host takes over and says the same.
#[test]
fn a_failure_at_each_launch() {
    for case in [Case::<Tower>::product(6, 3, 3), Case::<Tower>::terms(6, 3, 4)] {
        let expected = case.prove(&cpu(), Lying::Host, &ON_DEVICE);
        for forced in alone(None) {
            let device = forced.devices()[0].clone();
            let free = Accelerator::automatic().expect("settings").with_devices(vec![device.clone()]);
            let mut failed = 0;
            for launches in 0..100 {
                device.inject_launch_fault(launches);
                let columns = Columns::host(&case.slices());
                let proved = prove_with(&forced, &case.claim, columns, unbound(&mut transcript()), &ON_DEVICE, None);
                let error = match proved {
                    Ok((proof, _)) => {
                        assert_eq!(proof, expected, "{launches} launches are all");
                        break;
                    }
                    Err(error) => error.to_string(),
                };
                assert!(error.contains("failure injected"), "{error}");
                failed += 1;
                device.inject_launch_fault(launches);
                let columns = Columns::host(&case.slices());
                let proved = prove_with(&free, &case.claim, columns, unbound(&mut transcript()), &ON_DEVICE, None);
                let (proof, report) = proved.expect("the host takes over");
                assert_eq!(proof, expected, "after {launches} launches");
                assert_eq!(report.backend, BackendKind::Cpu);
                assert!(report.fallbacks.iter().any(|reason| reason.contains("failure injected")), "{report}");
            }
            // One a round at least, and one for the last rows.
            assert!((5..100).contains(&failed), "{failed} launches on {forced:?}");
        }
    }
}

#[test]
fn a_failure_leaves_kept_columns() {
    let case = Case::<Ghash>::product(6, 2, 5);
    for accelerator in alone(None) {
        let vector = case.upload(&accelerator);
        accelerator.devices()[0].inject_launch_fault(3);
        let result = prove_with(
            &accelerator,
            &case.claim,
            Columns::device(&vector),
            unbound(&mut transcript()),
            &ON_DEVICE,
            None,
        );
        assert!(result.expect_err("made to fail").to_string().contains("failure injected"));
        let mut after = vec![Ghash(0); vector.len()];
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        vector.download(&mut stream, &mut after).expect("download");
        assert!(after == case.columns.concat());
        let proved = prove(&accelerator, &case.claim, Columns::device(&vector), unbound(&mut transcript()), None);
        assert_eq!(proved.expect("again").0, case.prove(&cpu(), Lying::Host, &ON_DEVICE));
    }
}

/// Every limit is either enough, or says how much is missing.
#[test]
fn too_little_memory() {
    let case = Case::<blstrs::Scalar>::product(10, 2, 6);
    for limit in (1..30).map(|pages| pages * 4096) {
        for accelerator in alone(Some(limit)) {
            let columns = Columns::host(&case.slices());
            let result = prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &ON_DEVICE, None);
            match result {
                Ok((proof, _)) => assert_eq!(proof, case.prove(&cpu(), Lying::Host, &ON_DEVICE)),
                Err(error) => assert!(matches!(error, Error::OutOfMemory { .. }), "{error}"),
            }
            assert!(accelerator.devices()[0].peak_memory() <= limit);
        }
    }
}

fn several_threads_on<F: SumcheckField>(accelerator: &Accelerator) {
    let cases: Vec<Case<F>> = (0..4).map(|seed| Case::product(9, 2 + seed % 3, 20 + seed as u64)).collect();
    let expected: Vec<_> = cases.iter().map(|case| case.prove(&cpu(), Lying::Host, &ON_DEVICE)).collect();
    std::thread::scope(|scope| {
        for (case, expected) in cases.iter().zip(&expected) {
            scope.spawn(move || {
                for lying in EVERYWHERE {
                    assert_eq!(&case.prove(accelerator, lying, &ON_DEVICE), expected);
                }
            });
        }
    });
}

#[test]
fn several_threads_on_one_device() {
    for accelerator in accelerators_with_devices() {
        // Compiled before: PoCL does not take that from several threads at once.
        Case::<Ghash>::product(9, 2, 1).prove(&accelerator, Lying::Kept, &ON_DEVICE);
        several_threads_on::<Ghash>(&accelerator);
    }
}
