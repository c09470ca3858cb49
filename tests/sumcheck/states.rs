//! What a prover is after its device failed, or had too little memory for the columns. `tests/mutants.py` found both untested.

use ff::Field;
use proofwarp::field::ghash::Ghash;
use proofwarp::sumcheck::{Columns, Prover, SumcheckOptions};
use proofwarp::{Accelerator, Error};

use crate::common::alone;
use crate::tools::Case;

const ON_DEVICE: SumcheckOptions = SumcheckOptions { path: None, tail: Some(2), rounds_a_pass: None };

/// A forced device without room is an error from the start; otherwise the host has the columns.
#[test]
fn too_little_memory_at_the_start() {
    let case = Case::<blstrs::Scalar>::product(10, 2, 6);
    for forced in alone(Some(8 * 4096)) {
        let start = |accelerator: &Accelerator| {
            Prover::with_options(accelerator, &case.claim, Columns::host(&case.slices()), &ON_DEVICE).map(|_| ())
        };
        let error = start(&forced).expect_err("64 KiB of columns in 32 KiB");
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        start(&Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec()))
            .expect("on the host");
    }
}

/// Columns may be half folded: nothing is said of them any more.
#[test]
fn a_failure_ends_the_prover() {
    let case = Case::<Ghash>::product(6, 2, 7);
    for accelerator in alone(None) {
        let columns = Columns::host(&case.slices());
        let mut prover = Prover::with_options(&accelerator, &case.claim, columns, &ON_DEVICE).expect("a prover");
        accelerator.devices()[0].inject_launch_fault(0);
        prover.message().expect_err("made to fail");
        let after = [prover.message().map(|_| ()), prover.fold(Ghash::ONE), prover.finish().map(|_| ())];
        for error in after.map(|result| result.expect_err("it failed").to_string()) {
            assert!(error.contains("a device that failed"), "{error}");
        }
    }
}
