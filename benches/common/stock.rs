//! The stock crate, which the workspace's patch replaces, in a process of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use proofwarp::BackendKind;

use super::{Failure, accelerators};

/// The program of `benches/stock`.
pub struct Stock {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it runs on.
    pub name: String,
}

impl Stock {
    /// Starts the program that `PROOFWARP_STOCK_KERNELS` names, or builds it for the best backend here.
    ///
    /// # Errors
    /// It does not build or start.
    pub fn start() -> Result<Self, Failure> {
        let program = std::env::var_os("PROOFWARP_STOCK_KERNELS").map_or_else(build, |path| Ok(path.into()))?;
        let mut process = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or("the stock program has no input")?;
        let mut answers = BufReader::new(process.stdout.take().ok_or("the stock program has no output")?);
        let name = format!("stock {}", line(&mut answers)?);
        Ok(Self { process, requests, answers, name })
    }

    /// The time that `iterations` calls of an operation (`ntt`, `g1`, `g2`) take.
    ///
    /// # Errors
    /// The program failed.
    pub fn time(&mut self, operation: &str, log_n: u32, iterations: u64) -> Result<Duration, Failure> {
        writeln!(self.requests, "{operation} {log_n} {iterations}")?;
        Ok(Duration::from_nanos(line(&mut self.answers)?.parse()?))
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        // It ends by itself when its input does; a failure to end it earlier changes nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(answers: &mut impl BufRead) -> Result<String, Failure> {
    let mut line = String::new();
    match answers.read_line(&mut line)? {
        0 => Err("the stock program ended early".into()),
        _ => Ok(line.trim().to_owned()),
    }
}

/// Builds the stock program: with its CUDA kernels for this card where CUDA is present, for the CPU else
/// (it refuses OpenCL devices that are no GPU).
fn build() -> Result<PathBuf, Failure> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let target = root.join("target/stock");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--manifest-path"]).arg(root.join("benches/stock/Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", &target);
    if accelerators().iter().any(|(backend, _)| *backend == BackendKind::Cuda) {
        // Its default has no code for Hopper.
        let args = "--fatbin --gpu-architecture=sm_90 --generate-code=arch=compute_90,code=sm_90";
        cargo.args(["--features", "cuda"]).env("EC_GPU_CUDA_NVCC_ARGS", args);
    }
    eprintln!("building the stock crate (minutes, with CUDA kernels)");
    if !cargo.status()?.success() {
        return Err("the stock crate does not build".into());
    }
    Ok(target.join("release/stock-kernels"))
}
