//! The peers, each in a process of its own: the workspace's patch replaces the stock crate, sppark needs nvcc to
//! build, and open-icicle's libraries need cmake too.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use proofwarp::{Accelerator, BackendKind};

use crate::protocol::{Answer, Request, parse_name};
use crate::{Failure, session};

/// A peer's program, running.
pub struct Peer {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Name of the device that it runs on.
    pub name: String,
}

/// A peer, or why there is none.
pub type Found = Result<Rc<RefCell<Peer>>, String>;

/// Finds the stock crate.
///
/// # Errors
/// There is none; the text is the reason.
pub fn stock() -> Found {
    find("stock", "PROOFWARP_STOCK_KERNELS", build_stock)
}

/// sppark.
///
/// # Errors
/// There is none; the text is the reason.
pub fn sppark() -> Found {
    find("sppark", "PROOFWARP_SPPARK_KERNELS", build_sppark)
}

/// Finds open-icicle.
///
/// # Errors
/// There is none; the text is the reason.
pub fn icicle() -> Found {
    find("icicle", "PROOFWARP_ICICLE_KERNELS", build_icicle)
}

/// Starts the program that `variable` names, or builds it where `PROOFWARP_PEERS` lists it.
fn find(peer: &str, variable: &str, build: fn() -> Result<PathBuf, Failure>) -> Found {
    let program = match std::env::var_os(variable) {
        Some(program) => Ok(program.into()),
        None if listed(peer) => build(),
        None => Err(format!("neither {variable} names a program nor PROOFWARP_PEERS lists {peer}").into()),
    };
    let started = program.and_then(Peer::start);
    started.map(|peer| Rc::new(RefCell::new(peer))).map_err(|error| error.to_string())
}

/// Whether a peer's program is to be built.
pub fn listed(peer: &str) -> bool {
    let peers = std::env::var("PROOFWARP_PEERS").unwrap_or_else(|_| "stock".to_owned());
    peers.split(',').any(|name| name.trim() == peer)
}

impl Peer {
    fn start(program: PathBuf) -> Result<Self, Failure> {
        let mut command = Command::new(&program);
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.map_err(|error| format!("{}: {error}", program.display()))?;
        let requests = process.stdin.take().ok_or("the program has no input")?;
        let mut answers = BufReader::new(process.stdout.take().ok_or("the program has no output")?);
        let name = parse_name(&line(&mut answers)?)?;
        Ok(Self { process, requests, answers, name })
    }

    /// The time that the calls asked for take.
    ///
    /// # Errors
    /// The program cannot do that, or ended.
    pub fn ask(&mut self, request: &Request) -> Result<Answer, Failure> {
        writeln!(self.requests, "{request}")?;
        Answer::parse(&line(&mut self.answers)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends by itself when its input does; a failure to end it earlier changes nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(answers: &mut impl BufRead) -> Result<String, Failure> {
    let mut line = String::new();
    match answers.read_line(&mut line)? {
        0 => Err("the program ended early; what it said is above".into()),
        _ => Ok(line.trim().to_owned()),
    }
}

/// `cargo build --release` of a package in a folder of the benches, and the folder of what it builds.
fn cargo(folder: &str) -> (Command, PathBuf) {
    let root = session::workspace();
    let target = root.join("target").join(folder);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root.join("benches").join(folder)).env("CARGO_TARGET_DIR", &target);
    cargo.args(["build", "--release"]);
    (cargo, target.join("release"))
}

fn run(peer: &str, mut cargo: Command) -> Result<(), Failure> {
    eprintln!("building {peer} (minutes, with CUDA kernels)");
    if cargo.status()?.success() { Ok(()) } else { Err(format!("{peer} does not build; see above").into()) }
}

/// Builds the stock program with its CUDA kernels for this card if CUDA is present, otherwise for the CPU. The program
/// refuses OpenCL devices that are no GPU.
fn build_stock() -> Result<PathBuf, Failure> {
    let (mut cargo, folder) = cargo("stock");
    if Accelerator::with_backend(BackendKind::Cuda).is_ok() {
        // Its default has no code for Hopper.
        let args = "--fatbin --gpu-architecture=sm_90 --generate-code=arch=compute_90,code=sm_90";
        cargo.args(["--features", "cuda"]).env("EC_GPU_CUDA_NVCC_ARGS", args);
    }
    run("the stock crate", cargo)?;
    Ok(folder.join("stock-kernels"))
}

fn build_sppark() -> Result<PathBuf, Failure> {
    let (mut cargo, folder) = cargo("sppark");
    // The variable itself is taken there: see its .cargo/config.toml.
    if let Some(nvcc) = std::env::var_os("NVCC") {
        cargo.env("PROOFWARP_NVCC", nvcc);
    }
    run("sppark", cargo)?;
    Ok(folder.join("sppark-kernels"))
}

/// Builds the program that links open-icicle's libraries, which `ICICLE_LIB_DIR` names the folder of.
fn build_icicle() -> Result<PathBuf, Failure> {
    let (cargo, folder) = cargo("icicle");
    run("icicle", cargo)?;
    Ok(folder.join("icicle-kernels"))
}
