//! The command line.

#[path = "backend.rs"]
mod backend;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};

pub use backend::Backend;
use proofwarp::settings::no_gpu;

use crate::options::WorkOptions;
use crate::paths::{Adapter, Against};
use crate::{output, parameters, program};

/// Proves a circuit of bellperson's on proofwarp, verifies the proof, and shows where each phase ran and how long it
/// took.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is
/// built; an OpenCL device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Parser)]
#[command(name = "groth16", after_help = EXAMPLES)]
pub struct Options {
    #[command(flatten)]
    pub work: WorkOptions,
    /// How proofwarp is used
    #[arg(long, value_enum, default_value = "ec-gpu-gen")]
    pub adapter: Adapter,
    /// Proves the same in another way too, and shows both side by side
    #[arg(long, value_enum)]
    pub against: Option<Against>,
    /// Times each step of a proof on the resident pipeline alone too, on the first device; with the adapter `resident`
    #[arg(long)]
    pub steps: bool,
    /// Times how long the key takes from its mapped file to the first device too, decoded there or on the host; with the
    /// adapter `resident`
    #[arg(long)]
    pub mapped: bool,
    /// Number of GPUs; all without it [NVIDIA's: the others are hidden by `CUDA_VISIBLE_DEVICES`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: Option<u32>,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Proves the same on stock ec-gpu-gen too, which is built for that: `--against stock`, beside another
    #[arg(long)]
    pub compare: bool,
    /// How stock ec-gpu-gen is built for --compare; `auto`, as without it, goes by what is installed
    #[arg(long, value_enum)]
    pub stock_backend: Option<Backend>,
    /// Compares with this program, which was built from examples/stock before
    #[arg(long, value_name = "PATH")]
    pub stock_binary: Option<PathBuf>,
    /// Proves by cuda-supraseal with this program, which was built from examples/supraseal or supraseal-published
    /// before; several are separated by commas
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub supraseal_binary: Vec<PathBuf>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  groth16                                         2^16 constraints of SHA-256
  groth16 --circuit x5 --log-constraints 20       full-size witness
  groth16 --circuit poseidon --backend opencl     on OpenCL or not at all
  groth16 --log-constraints 14 --compare          against stock ec-gpu-gen
  groth16 --adapter resident --batch 4            key on the device, four proofs at once
  groth16 --adapter resident --against ec-gpu-gen --compare
  groth16 --adapter supraseal --against resident  bellperson's cuda-supraseal on the drop-in";

impl Options {
    /// The options of a command line, checked as far as that is possible before there is any work.
    ///
    /// # Errors
    /// The line is malformed, an option would be without effect, or what it names is not there or cannot be written.
    pub fn checked(line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(line)?;
        let error = |kind| move |text: String| Self::command().error(kind, text);
        options.check_adapters().map_err(error(ErrorKind::ArgumentConflict))?;
        options.check_backend(no_gpu().is_some()).map_err(error(ErrorKind::ArgumentConflict))?;
        options.check_paths().map_err(error(ErrorKind::ValueValidation))?;
        Ok(options)
    }

    /// That no option asks for what no adapter does.
    fn check_adapters(&self) -> Result<(), String> {
        if self.against.and_then(Against::adapter) == Some(self.adapter) {
            return Err(format!(
                "--against: expected another adapter than --adapter, got {} twice",
                name(&self.adapter)
            ));
        }
        let resident = [("--steps", self.steps), ("--mapped", self.mapped)].into_iter().find(|(_, given)| *given);
        match (resident, self.stock_backend) {
            (Some((option, _)), _) if !self.adapters().contains(&Adapter::Resident) => {
                Err(format!("{option}: expected --adapter resident, or --against resident, beside it"))
            }
            (_, Some(_)) if !self.stock() => {
                Err("--stock-backend: expected --compare, or --against stock, beside it".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// That no option asks for a device where another asks for the CPU.
    fn check_backend(&self, no_gpu: bool) -> Result<(), String> {
        if no_gpu && !matches!(self.backend, Backend::Auto | Backend::Cpu) {
            return Err(format!(
                "--backend {}: expected BELLMAN_NO_GPU not to be set, which asks for the CPU",
                self.backend
            ));
        }
        if !no_gpu && self.backend != Backend::Cpu {
            return Ok(());
        }
        let options = [("--steps", self.steps), ("--devices", self.devices.is_some())];
        match options.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(format!("{option}: expected a device, but --backend cpu or BELLMAN_NO_GPU asks for the CPU"))
            }
            None => Ok(()),
        }
    }

    /// That programs are there and that results and parameters can be written.
    fn check_paths(&self) -> Result<(), String> {
        let of = |option: &'static str| move |error: String| format!("{option}: {error}");
        self.stock_binary.iter().try_for_each(|path| program::check(path)).map_err(of("--stock-binary"))?;
        self.supraseal_binary.iter().try_for_each(|path| program::check(path)).map_err(of("--supraseal-binary"))?;
        self.json.iter().try_for_each(|path| output::check(path)).map_err(of("--json"))?;
        parameters::check(&self.work).map_err(of("--parameters"))
    }

    /// The adapters to measure, the one that was asked for first.
    pub fn adapters(&self) -> Vec<Adapter> {
        let other = self.against.and_then(Against::adapter).filter(|other| *other != self.adapter);
        std::iter::once(self.adapter).chain(other).collect()
    }

    /// Whether bellperson's other prover is measured.
    pub fn supraseal(&self) -> bool {
        self.adapters().contains(&Adapter::Supraseal) || !self.supraseal_binary.is_empty()
    }

    /// Whether the stock crate is measured too.
    pub fn stock(&self) -> bool {
        self.compare || self.stock_binary.is_some() || self.against == Some(Against::Stock)
    }
}

/// A value as the command line takes it.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a command line is refused with.
    fn refused(line: &str) -> String {
        let words = ["groth16"].into_iter().chain(line.split_whitespace());
        let Err(error) = Options::checked(words) else { panic!("not refused: {line}") };
        assert_eq!(error.exit_code(), 2, "{line}");
        error.to_string()
    }

    #[test]
    fn options_without_effect_are_refused() {
        for (line, expected) in [
            ("--against ec-gpu-gen", "--against: expected another adapter than --adapter, got ec-gpu-gen twice"),
            ("--adapter resident --against resident", "got resident twice"),
            ("--steps", "--steps: expected --adapter resident, or --against resident"),
            ("--mapped --against supraseal", "--mapped: expected --adapter resident, or --against resident"),
            ("--stock-backend cpu", "--stock-backend: expected --compare, or --against stock"),
            ("--adapter resident --steps --backend cpu", "--steps: expected a device"),
            ("--devices 2 --backend cpu", "--devices: expected a device"),
        ] {
            let error = refused(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn a_backend_and_bellmans_wish_for_the_cpu_do_not_go_together() {
        let options = |line: &[&str]| Options::try_parse_from([&["groth16"][..], line].concat()).expect("a line");
        let error = options(&["--backend", "opencl"]).check_backend(true).expect_err("both");
        assert!(error.contains("--backend opencl: expected BELLMAN_NO_GPU not to be set"), "{error}");
        let steps = options(&["--adapter=resident", "--steps"]);
        assert!(steps.check_backend(true).expect_err("no device").contains("--steps: expected a device"));
        assert_eq!((steps.check_backend(false), options(&[]).check_backend(true)), (Ok(()), Ok(())));
    }

    #[test]
    fn paths_are_looked_at_first() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "as it was").expect("file");
        let (absent, below) = (folder.path().join("absent/results.json"), file.join("parameters"));
        for (option, path) in [
            ("--json", &absent),
            ("--json", &folder.path().to_owned()),
            ("--stock-binary", &absent),
            ("--stock-binary", &file),
            ("--supraseal-binary", &absent),
            ("--parameters", &below),
        ] {
            let error = refused(&format!("{option} {}", path.display()));
            assert!(error.contains(&format!("{option}: {}: ", path.display())), "{error}");
        }
        let new = folder.path().join("new.json");
        for path in [&file, &new] {
            let line = ["groth16".to_owned(), format!("--json={}", path.display())];
            let parameters = format!("--parameters={}", folder.path().display());
            assert!(Options::checked(line.into_iter().chain([parameters])).is_ok());
        }
        assert!(!new.exists() && std::fs::read(&file).expect("file") == b"as it was");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1, "left as it was");
    }

    #[test]
    fn options_that_have_an_effect_are_taken() {
        let folder = tempfile::tempdir().expect("folder");
        for line in [
            "",
            "--adapter resident --against ec-gpu-gen --compare --stock-backend cpu",
            "--against resident --steps --mapped",
            "--adapter resident --mapped --backend cpu",
            "--stock-binary cargo --stock-backend auto",
            "--seed 18446744073709551615 --batch 2",
        ] {
            let parameters = format!("--parameters={}", folder.path().display());
            let words = ["groth16", &parameters].into_iter().chain(line.split_whitespace());
            assert!(Options::checked(words).is_ok(), "{line}");
        }
    }
}
