//! A process that was forked after the first use of the engine: each call is an error that says so, and none hangs.
#![cfg(unix)]

mod common;

use std::time::{Duration, Instant};

use blstrs::{G1Affine, Scalar};
use ff::Field;
use group::prime::PrimeCurveAffine;
use proofwarp::column_ops::Argument::{Column, Number};
use proofwarp::column_ops::{self, Operation};
use proofwarp::field::check_reduced;
use proofwarp::matrix::Csr;
use proofwarp::msm::msm;
use proofwarp::ntt::NttDomain;
use proofwarp::{Accelerator, Error};

/// What the child says by its exit code; 9 where it had to be killed.
fn child(work: impl FnOnce() -> bool) -> i32 {
    // SAFETY: the child has one thread, runs what is tested, and ends without running anything of its parent's.
    let process = unsafe { libc::fork() };
    if process == 0 {
        let is_right = work();
        // SAFETY: it ends the process.
        unsafe { libc::_exit(i32::from(!is_right)) };
    }
    let (begun, mut status) = (Instant::now(), 0);
    // SAFETY: the process is a child of this one, and the pointer is to a variable.
    while unsafe { libc::waitpid(process, &raw mut status, libc::WNOHANG) } == 0 {
        if begun.elapsed() > Duration::from_secs(20) {
            // SAFETY: the process is a child of this one that has not been waited for.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { libc::WTERMSIG(status) }
}

fn is_forked<T>(result: proofwarp::Result<T>) -> bool {
    matches!(result, Err(Error::Forked { parent, child }) if parent != child && child == std::process::id())
}

/// What was made before the fork, and what is made after it, on each backend that there is; then the parent goes on.
#[test]
fn calls_of_a_child_are_errors() {
    assert_eq!(child(|| Accelerator::from_env().is_ok()), 0, "a fork before the first use is none of its business");
    for accelerator in common::accelerators_and_cpu() {
        let on_cpu = accelerator.devices().is_empty();
        let domain = NttDomain::<Scalar>::new(&accelerator, 10).expect("a domain");
        let mut values = vec![Scalar::ONE; 1 << 10];
        domain.forward(&mut values).expect("a transform");
        let sum = || msm(&accelerator, &[G1Affine::generator(); 64], &[Scalar::from(3); 64], None);
        let in_child = || {
            is_forked(domain.forward(&mut values.clone()))
                && is_forked(
                    NttDomain::<Scalar>::new(&accelerator, 8)
                        .and_then(|domain| domain.forward(&mut [Scalar::ONE; 256])),
                )
                && (!on_cpu || is_forked(sum()))
                && accelerator.devices().iter().all(|device| is_forked(device.stream()))
                // These take no accelerator. Each would wait for threads of the parent's pool.
                && is_forked(check_reduced(&values))
                && is_forked(Csr::new(1, vec![0, 1], vec![0], &[Scalar::ONE]))
                && is_forked(column_ops::on_cpu(Operation::Sum, &[Column(&values[..]), Number(0)], 0))
        };
        assert_eq!(child(in_child), 0);
        // What the child frees waits for nothing.
        let stream = accelerator.devices().first().map(|device| device.stream().expect("a stream"));
        let buffer = stream.as_ref().map(|stream| stream.allocate(1 << 12).expect("memory").mark_secret());
        assert_eq!(
            child(|| {
                drop((buffer, stream));
                true
            }),
            0
        );
        let before = values.clone();
        domain.forward(&mut values).and_then(|_| domain.inverse(&mut values)).expect("the parent goes on");
        assert!(values == before);
    }
}
