//! A limit on threads, as `ulimit -u` or a container sets it: pools with fewer threads, or an error, and no panic.
#![cfg(target_os = "linux")]

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use blstrs::{G1Affine, G1Projective, Scalar};
use ff::Field;
use group::Group;
use group::prime::PrimeCurveAffine;
use proofwarp::column_ops::Argument::{Column, Number};
use proofwarp::column_ops::{Operation, on_cpu};
use proofwarp::field::check_reduced;
use proofwarp::matrix::Csr;
use proofwarp::msm::msm;
use proofwarp::ntt::NttDomain;
use proofwarp::sumcheck::{Claim, Columns, Prover};
use proofwarp::{Accelerator, BackendKind};

/// Number of a user who has no other process: the system counts threads by user.
const OTHER_USER: u32 = 54_321;

/// Returns a command for this program's other test, with a pool of rayon's of `threads` threads.
fn with_threads(threads: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "computes", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("PROOFWARP_BACKEND", "cpu").env("RAYON_NUM_THREADS", threads.to_string());
    command.env_remove("PROOFWARP_REPORT");
    command
}

/// Thousands of threads search each other for work for minutes: this crate's own are a few a core.
#[test]
fn many_threads_are_not_asked_for() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let output = with_threads(8 * cores).output().expect("the program runs");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && out.contains("right"), "{out}");
    let own = out.lines().find_map(|line| line.strip_prefix("own cores: ")?.parse::<usize>().ok());
    // A thread has its name some time after it was started.
    assert!(own.is_some_and(|own| (1..=4 * cores).contains(&own)), "{cores} cores: {out}");
}

/// Runs this program's other test `name` as another user, who may have `limit` threads.
fn limited(limit: u64, name: &str, folder: &std::path::Path) -> Output {
    let program = folder.join("program");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]).current_dir("/");
    command
        .uid(OTHER_USER)
        .env("PROOFWARP_BACKEND", "cpu")
        .env("RAYON_NUM_THREADS", "8")
        .env_remove("PROOFWARP_REPORT");
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
    let limits = [(1, "no result: "), (3, "right"), (4, "right"), (6, "right"), (64, "right")];
    for (test, (limit, expected)) in limits.into_iter().flat_map(|limit| [("computes", limit), ("checks", limit)]) {
        let output = limited(limit, test, folder.path());
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        assert!(output.status.success() && !err.contains("panicked"), "{test}, {limit} threads: {out}{err}");
        assert!(out.contains(expected), "{test}, {limit} threads: {out}{err}");
    }
}

/// Is part of the tests above.
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
    // Its sums are spread over this crate's own cores.
    let claim = Claim::product(12, &[0]).with_sum(Scalar::from(1 << 12));
    let mut prover = Prover::new(&accelerator, &claim, Columns::host(&[&values])).expect("a prover");
    assert!(prover.message().expect("a message").is_some());
    println!("right");
    let names = std::fs::read_dir("/proc/self/task").expect("threads").filter_map(|thread| {
        let name = std::fs::read_to_string(thread.ok()?.path().join("comm")).ok()?;
        name.starts_with("proofwarp-core-").then_some(name)
    });
    println!("own cores: {}", names.count());
}

/// Is part of a test above. Each function is the first to use the pool in its process's life if those before it failed.
#[test]
#[ignore = "started by another test"]
fn checks() {
    let rows = 1 << 12;
    let [to, ones] = [Scalar::ZERO, Scalar::ONE].map(|element| vec![element; rows]);
    let results = [
        check_reduced(&ones),
        Csr::new(rows, (0..=rows as u32).collect(), (0..rows as u32).collect(), &ones).map(drop),
        on_cpu(Operation::Sum, &[Column(&to[..]), Column(&ones), Column(&ones), Number(0), Number(0), Number(8)], 0)
            .map(drop),
    ];
    match results.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(_) => println!("right"),
        Err(error) => println!("no result: {error}"),
    }
}
