//! The same proof on stock ec-gpu-gen, by a program of its own: a patch holds for a whole workspace.

use std::path::PathBuf;
use std::process::Command;

use proofwarp::{Accelerator, BackendKind};

use crate::Failure;
use crate::child::{self, Program};
use crate::cli::{Backend, Options};
use crate::outcome::Outcome;

/// Architecture of the kernels of stock ec-gpu-gen if the GPU's is not known.
const DEFAULT_ARCHITECTURE: &str = "90";

/// A program on stock ec-gpu-gen.
pub struct Stock {
    program: PathBuf,
    backend: Backend,
}

impl Stock {
    /// The program that was named, or else one that is built.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn find(options: &Options) -> Result<Self, Failure> {
        let backend = match (options.stock_backend.unwrap_or(Backend::Auto), options.backend) {
            (Backend::Auto, Backend::Cpu) => Backend::Cpu,
            (asked, _) => asked,
        };
        match &options.stock_binary {
            Some(program) => Ok(Self { program: program.clone(), backend }),
            None => build(backend),
        }
    }

    /// Proves by it.
    ///
    /// # Errors
    /// It cannot be run, or says nothing that can be read.
    pub fn run(&self, options: &Options) -> Result<Outcome, Failure> {
        child::run(&self.program, options, |command| {
            // What was set for proofwarp must not reach it.
            command.env_remove("BELLMAN_NO_GPU");
            match self.backend {
                Backend::Cpu => command.env("BELLMAN_NO_GPU", "1"),
                Backend::Cuda => command.env("EC_GPU_FRAMEWORK", "cuda"),
                Backend::Opencl => command.env("EC_GPU_FRAMEWORK", "opencl"),
                Backend::Auto => command,
            };
        })
    }
}

fn build(asked: Backend) -> Result<Stock, Failure> {
    let backend = if asked == Backend::Auto { installed() } else { asked };
    let architecture = architecture();
    // A folder for each set of kernels: cargo does not see that the compiler's arguments changed.
    let (target, feature) = match backend {
        Backend::Cuda => (format!("stock-cuda-{architecture}"), Some("cuda")),
        Backend::Opencl => ("stock-opencl".to_owned(), Some("opencl")),
        Backend::Cpu | Backend::Auto => ("stock-cpu".to_owned(), None),
    };
    let own_arguments = backend == Backend::Cuda && std::env::var_os("EC_GPU_CUDA_NVCC_ARGS").is_none();
    let arguments = own_arguments.then(|| ("EC_GPU_CUDA_NVCC_ARGS", nvcc_arguments(&architecture)));
    let program = Program {
        example: "stock",
        proves_on: &format!("stock ec-gpu-gen ({backend})"),
        feature,
        target: &target,
        variables: arguments.into_iter().collect(),
    };
    let hint = "choose another with --stock-backend";
    let program = program.build().map_err(|error| format!("{error}, or {hint}"))?;
    Ok(Stock { program, backend })
}

/// What stock ec-gpu-gen can be built for and run on here: it links to the driver and to OpenCL's loader.
fn installed() -> Backend {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if runs("nvcc") && runs("nvidia-smi") {
        return Backend::Cuda;
    }
    let gpu = Accelerator::global().ok().and_then(|accelerator| accelerator.devices().first());
    match gpu.map(|device| device.info()) {
        Some(info) if info.backend == BackendKind::OpenCl && !info.is_cpu => Backend::Opencl,
        _ => Backend::Cpu,
    }
}

/// The first GPU's compute capability, such as 90.
fn architecture() -> String {
    let query = ["--query-gpu=compute_cap", "--format=csv,noheader"];
    let output = Command::new("nvidia-smi").args(query).output().ok().filter(|output| output.status.success());
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let digits: String = text.lines().next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() { DEFAULT_ARCHITECTURE.to_owned() } else { digits }
}

/// Its default knows no recent architecture.
fn nvcc_arguments(architecture: &str) -> String {
    format!(
        "--fatbin --gpu-architecture=sm_{architecture} --generate-code=arch=compute_{architecture},code=sm_{architecture}"
    )
}

/// Checks that all made the same proofs, byte by byte.
///
/// # Errors
/// They did not.
pub fn check_equal(outcomes: &[&Outcome]) -> Result<(), Failure> {
    let differ = |pair: &&[&Outcome]| pair[0].proof != pair[1].proof;
    let Some([one, other]) = outcomes.windows(2).find(differ).and_then(|pair| <&[_; 2]>::try_from(pair).ok()) else {
        return Ok(());
    };
    Err(format!("the proofs differ:\n  {}: {}\n  {}: {}", one.engine, one.proof, other.engine, other.proof).into())
}
