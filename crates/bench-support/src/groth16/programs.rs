//! Runs other programs on the same work. They are separate because a patch applies to a whole workspace, and a feature
//! to a whole program.

use std::path::{Path, PathBuf};
use std::process::Command;

use proofwarp::{Accelerator, BackendKind};

use super::options::{Adapter, Options};
use super::outcome::Outcome;
use super::work::WorkOptions;
use crate::backend::Backend;
use crate::{Failure, answer, progress};

/// Architecture of the kernels of stock ec-gpu-gen if the GPU's is not known.
const DEFAULT_ARCHITECTURE: &str = "90";

/// A program that proves and answers with its outcome.
pub struct Program {
    path: PathBuf,
    /// Backend of a program on stock crates.
    stock: Option<Backend>,
}

impl Program {
    /// Returns the programs of `adapter` that `options` name, or else one that is built. The resident pipeline has none.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built.
    pub fn find(adapter: Adapter, options: &Options) -> Result<Vec<Self>, Failure> {
        let (named, stock) = match adapter {
            Adapter::Resident => return Ok(Vec::new()),
            Adapter::EcGpuGen => (options.ec_gpu_gen_binary.as_slice(), None),
            Adapter::Supraseal => (options.supraseal_binary.as_slice(), None),
            Adapter::Stock => (options.stock_binary.as_slice(), Some(stock_backend(options))),
        };
        if named.is_empty() {
            let path = stock.map_or_else(|| drop_in(adapter), stock_build).run()?;
            return Ok(vec![Self { path, stock }]);
        }
        Ok(named.iter().map(|path| Self { path: path.clone(), stock }).collect())
    }

    /// Runs the program on `work` and returns its outcome.
    ///
    /// # Errors
    /// Returns an error if the program cannot be run, or if its answer cannot be parsed.
    pub fn prove(&self, work: &WorkOptions) -> Result<Outcome, Failure> {
        let mut command = Command::new(&self.path);
        command.args(work.arguments());
        if let Some(backend) = self.stock {
            // The stock program must not read proofwarp's settings.
            command.env_remove("BELLMAN_NO_GPU");
            match backend {
                Backend::Cpu => command.env("BELLMAN_NO_GPU", "1"),
                Backend::Cuda => command.env("EC_GPU_FRAMEWORK", "cuda"),
                Backend::Opencl => command.env("EC_GPU_FRAMEWORK", "opencl"),
                Backend::Auto => &mut command,
            };
        }
        answer::read(command)
    }

    /// Returns the name of the program's file.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A program to be built from a folder of `benches/peers`.
struct Build {
    folder: &'static str,
    name: &'static str,
    features: Vec<&'static str>,
    /// The build folder, below `target`.
    target: String,
    /// Variables of the build.
    variables: Vec<(&'static str, String)>,
}

impl Build {
    /// Builds the program and returns its path.
    fn run(self) -> Result<PathBuf, Failure> {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let target = root.join("target").join(&self.target);
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // In its folder, where settings for its build may be.
        command.current_dir(root.join("benches/peers").join(self.folder));
        command.args(["build", "--release", "--quiet", "--bin", self.name, "--target-dir"]).arg(&target);
        command.arg(format!("--features={}", self.features.join(","))).envs(self.variables);
        let status = progress::step(&format!("building {}", self.name), || command.status())?;
        if !status.success() {
            return Err(
                format!("{} could not be built: {status}; name a built one on the command line", self.name).into()
            );
        }
        Ok(target.join("release").join(self.name))
    }
}

/// Returns the build of the program on the drop-in of `adapter`, with the backends of this program.
fn drop_in(adapter: Adapter) -> Build {
    let (folder, name, feature) = match adapter {
        Adapter::Supraseal => (".", "groth16-supraseal", Some("supraseal")),
        _ => ("ec-gpu-gen", "groth16-ec-gpu-gen", None),
    };
    let cuda = cfg!(feature = "cuda").then_some("cuda");
    let target = format!("{name}{}", cuda.map_or("", |_| "-cuda"));
    Build { folder, name, features: feature.into_iter().chain(cuda).collect(), target, variables: Vec::new() }
}

/// Returns the build of the program on stock ec-gpu-gen for `backend`.
fn stock_build(backend: Backend) -> Build {
    let architecture = architecture();
    // A folder for each set of kernels: cargo does not see that the compiler's arguments changed.
    let (target, feature) = match backend {
        Backend::Cuda => (format!("stock-cuda-{architecture}"), Some("cuda")),
        Backend::Opencl => ("stock-opencl".to_owned(), Some("opencl")),
        Backend::Cpu | Backend::Auto => ("stock-cpu".to_owned(), None),
    };
    let own_arguments = backend == Backend::Cuda && std::env::var_os("EC_GPU_CUDA_NVCC_ARGS").is_none();
    let arguments = own_arguments.then(|| ("EC_GPU_CUDA_NVCC_ARGS", nvcc_arguments(&architecture)));
    Build {
        folder: ".",
        name: "groth16-stock",
        features: feature.into_iter().collect(),
        target,
        variables: arguments.into_iter().collect(),
    }
}

/// Returns the backend of the program on stock ec-gpu-gen. One that was built before may decide for itself.
fn stock_backend(options: &Options) -> Backend {
    match (options.stock_backend.unwrap_or(Backend::Auto), options.backend) {
        (Backend::Auto, Backend::Cpu) => Backend::Cpu,
        (Backend::Auto, _) if options.stock_binary.is_none() => installed(),
        (asked, _) => asked,
    }
}

/// Returns what stock ec-gpu-gen can be built for and run on here: it links to the driver and to OpenCL's loader.
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

/// Returns the first GPU's compute capability, such as 90.
fn architecture() -> String {
    let query = ["--query-gpu=compute_cap", "--format=csv,noheader"];
    let output = Command::new("nvidia-smi").args(query).output().ok().filter(|output| output.status.success());
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let digits: String = text.lines().next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    if digits.is_empty() { DEFAULT_ARCHITECTURE.to_owned() } else { digits }
}

/// Returns arguments for nvcc, since those of stock ec-gpu-gen know no recent architecture.
fn nvcc_arguments(architecture: &str) -> String {
    format!(
        "--fatbin --gpu-architecture=sm_{architecture} --generate-code=arch=compute_{architecture},code=sm_{architecture}"
    )
}
