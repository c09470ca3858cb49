//! A child that was forked after its parent had used the pool: an error or a panic with the reason, and no hang.
#![cfg(unix)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use blstrs::{G1Affine, Scalar};
use ec_gpu_gen::fft_cpu::parallel_fft;
use ec_gpu_gen::multiexp_cpu::{FullDensity, multiexp_cpu};
use ec_gpu_gen::threadpool::{THREAD_POOL, Worker};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;

/// What the child says by its exit code, or the signal that ended it.
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

fn panics<T>(work: impl FnOnce() -> T) -> bool {
    let says_why = |panic: Box<dyn Any + Send>| {
        proofwarp::rayon_waits::panic_message(&*panic).contains("was forked after process")
    };
    catch_unwind(AssertUnwindSafe(work)).err().is_some_and(says_why)
}

#[test]
fn calls_of_a_child_say_why() {
    let worker = Worker::new();
    let sum = || {
        let bases = (Arc::new(vec![G1Affine::generator(); 64]), 0);
        let exponents = Arc::new(vec![Scalar::from(3).to_repr(); 64]);
        multiexp_cpu(&worker, bases, FullDensity, exponents).wait()
    };
    let transform = |log_threads| parallel_fft(&mut [Scalar::ONE; 2], &worker, &-Scalar::ONE, 1, log_threads);
    assert_eq!(child(|| sum().is_ok()), 0, "a fork before the first use is none of its business");
    assert!(sum().is_ok());
    transform(0);
    let in_child = || {
        sum().is_err_and(|error| error.to_string().contains("was forked after process"))
            && panics(|| worker.scoped(|scope| scope.execute(|| {})))
            && panics(|| worker.compute(|| 1).wait())
            && panics(|| THREAD_POOL.spawn(|| {}))
            && panics(|| transform(1))
    };
    assert_eq!(child(in_child), 0);
    assert!(sum().is_ok(), "the parent goes on");
}
