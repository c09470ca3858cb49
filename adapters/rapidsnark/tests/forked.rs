//! Checks that a child that was forked after its parent's first call gets an error, and does not hang.
#![cfg(unix)]

mod common;

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use common::*;
use halo2curves::bn256::Bn256;
use rapidsnark::*;

/// Runs `work` in a child. Returns its exit code, which is 0 if `work` returned true, or the signal that ended it.
fn run_in_child(work: impl FnOnce() -> bool) -> i32 {
    // SAFETY: the child has one thread, runs the functions under test, and ends without running anything of its parent's.
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

fn is_refused(code: c_int, error: &Buffer) -> bool {
    code == PROVER_ERROR && error.text().contains("was forked after process")
}

fn proves_in_child(handle: *mut c_void, zkey: &[u8], witness: &[u8]) -> bool {
    let by_handle = prove(handle, witness, [LARGE, LARGE]);
    let (code, error, _) = create(zkey);
    is_refused(by_handle.code, &by_handle.error) && is_refused(code, &error)
}

#[test]
fn calls_of_a_child_are_errors() {
    let (zkey, witness) = (zkey::<Bn256>(), witness::<Bn256>(3));
    let handle = create_valid(&zkey);
    prove(handle, &witness, [LARGE, LARGE]).expect_valid::<Bn256>();
    assert_eq!(run_in_child(|| proves_in_child(handle, &zkey, &witness)), 0);
    prove(handle, &witness, [LARGE, LARGE]).expect_valid::<Bn256>();
    groth16_prover_destroy(handle);
}
