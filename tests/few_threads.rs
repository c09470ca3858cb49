//! A limit on threads, as `ulimit -u` or a container sets it: pools with fewer threads, or an error, and no panic.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use blstrs::{G1Affine, G1Projective, Scalar};
use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;
use proofwarp::msm::msm;
use proofwarp::ntt::NttDomain;
use proofwarp::{Accelerator, BackendKind};

/// A user of whom nothing else runs.
const NOBODY: u32 = 54_321;

/// This program's other test, as another user, of whom there may be `limit` threads.
fn limited(limit: u64, folder: &std::path::Path) -> Output {
    let program = folder.join("program");
    let mut command = Command::new(program);
    command.args(["--exact", "computes", "--ignored", "--nocapture", "--test-threads=1"]).current_dir("/");
    command.uid(NOBODY).env("PROOFWARP_BACKEND", "cpu").env("RAYON_NUM_THREADS", "8").env_remove("PROOFWARP_REPORT");
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    let set = move || {
        // SAFETY: the pointer is to a value that lives; the call may be made between fork and exec.
        match unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the function makes one system call.
    unsafe { command.pre_exec(set) };
    command.output().expect("the program runs")
}

#[test]
fn pools_do_with_what_they_get() {
    // SAFETY: it has no conditions.
    if unsafe { libc::geteuid() } != 0 {
        return eprintln!("left out: only root can start a program as another user");
    }
    let folder = tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let folder = folder.expect("a folder");
    std::fs::copy(std::env::current_exe().expect("this program"), folder.path().join("program")).expect("a copy");
    for (limit, expected) in [(1, "no result: "), (3, "right"), (4, "right"), (6, "right"), (64, "right")] {
        let output = limited(limit, folder.path());
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        assert!(output.status.success() && !err.contains("panicked"), "{limit} threads: {out}{err}");
        assert!(out.contains(expected), "{limit} threads: {out}{err}");
    }
}

/// Part of the test above.
#[test]
#[ignore = "started by another test"]
fn computes() {
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let (bases, scalars) = (vec![G1Affine::generator(); 1 << 10], vec![Scalar::from(3); 1 << 10]);
    let sum = match msm(&accelerator, &bases, &scalars, None) {
        Ok((sum, _)) => sum,
        Err(error) => return println!("no result: {error}"),
    };
    assert_eq!(sum, G1Projective::generator() * Scalar::from(3 << 10));
    let domain = NttDomain::<Scalar>::new(&accelerator, 12).expect("a domain");
    let mut values = vec![Scalar::ONE; 1 << 12];
    domain.forward(&mut values).and_then(|_| domain.inverse(&mut values)).expect("transforms");
    assert!(values == vec![Scalar::ONE; 1 << 12]);
    println!("right");
}
