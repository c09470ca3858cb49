//! The same proof on stock ec-gpu-gen, by a program of its own: a patch holds for a whole workspace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proofwarp::{Accelerator, BackendKind};

use crate::cli::{Backend, Options};
use crate::outcome::Outcome;
use crate::{Failure, progress};

/// Architecture of the kernels of stock ec-gpu-gen if the GPU's is not known.
const DEFAULT_ARCHITECTURE: &str = "90";

/// Proves on stock ec-gpu-gen, which is built first if no program was named.
///
/// # Errors
/// The program cannot be built or run, or says nothing that can be read.
pub fn run_stock(options: &Options) -> Result<Outcome, Failure> {
    let asked = match (options.stock_backend, options.backend) {
        (Backend::Auto, Backend::Cpu) => Backend::Cpu,
        (asked, _) => asked,
    };
    let (program, backend) = match &options.stock_binary {
        Some(path) => (path.clone(), asked),
        None => build(asked)?,
    };
    let mut command = Command::new(&program);
    command.args(arguments(options)).stdout(Stdio::piped());
    // What was set for proofwarp must not reach it.
    command.env_remove("BELLMAN_NO_GPU");
    match backend {
        Backend::Cpu => command.env("BELLMAN_NO_GPU", "1"),
        Backend::Cuda => command.env("EC_GPU_FRAMEWORK", "cuda"),
        Backend::Opencl => command.env("EC_GPU_FRAMEWORK", "opencl"),
        Backend::Auto => &mut command,
    };
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), output.status).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let last = text.lines().last().ok_or("the program on stock ec-gpu-gen said nothing")?;
    Ok(serde_json::from_str(last)?)
}

/// The options of the work, for the other program.
fn arguments(options: &Options) -> Vec<std::ffi::OsString> {
    let work = &options.work;
    let mut arguments = vec![
        format!("--circuit={}", work.circuit.name()).into(),
        format!("--log-constraints={}", work.log_constraints).into(),
        format!("--proofs={}", work.proofs).into(),
        format!("--seed={}", work.seed).into(),
    ];
    // A program that was built before there were batches can still make single proofs.
    if work.batch > 1 {
        arguments.push(format!("--batch={}", work.batch).into());
    }
    if let Some(folder) = &work.parameters {
        arguments.extend(["--parameters".into(), folder.into()]);
    }
    arguments
}

fn build(asked: Backend) -> Result<(PathBuf, Backend), Failure> {
    let backend = if asked == Backend::Auto { installed() } else { asked };
    let architecture = architecture();
    // A folder for each set of kernels: cargo does not see that the compiler's arguments changed.
    let (target, feature) = match backend {
        Backend::Cuda => (format!("stock-cuda-{architecture}"), Some("cuda")),
        Backend::Opencl => ("stock-opencl".to_owned(), Some("opencl")),
        Backend::Cpu | Backend::Auto => ("stock-cpu".to_owned(), None),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = root.join("target").join(target);
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--release", "--quiet", "--manifest-path"]).arg(root.join("examples/stock/Cargo.toml"));
    command.arg("--target-dir").arg(&target).args(feature.map(|feature| format!("--features={feature}")));
    if backend == Backend::Cuda && std::env::var_os("EC_GPU_CUDA_NVCC_ARGS").is_none() {
        command.env("EC_GPU_CUDA_NVCC_ARGS", nvcc_arguments(&architecture));
    }
    let status = progress::step(&format!("building stock ec-gpu-gen ({backend:?})"), || command.status())?;
    if !status.success() {
        return Err(format!("stock ec-gpu-gen could not be built: {status}; choose another with --stock-backend, or name a built one with --stock-binary").into());
    }
    Ok((target.join("release/groth16-stock"), backend))
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
