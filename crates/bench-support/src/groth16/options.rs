//! Defines the command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use proofwarp::BackendKind;
use proofwarp::settings::no_gpu;
use proofwarp::settings::table::NO_GPU;

use super::work::WorkOptions;
use crate::backend::Backend;
use crate::{output, program};

/// Proves circuits of bellperson's in several ways, verifies and compares the proofs, and shows where each phase ran and
/// how long it took.
///
/// Needs no GPU: without one, the CPU does it all. CUDA needs the feature `cuda`, and nvcc when this is
/// built; an OpenCL device that is the processor is used if `PROOFWARP_OPENCL_CPU=1`.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// What to prove and how often.
    #[command(flatten)]
    pub work: WorkOptions,
    /// Ways to prove, with commas between them; ratios are to the last one. All but `resident` are programs of their own,
    /// which are built for that
    #[arg(long, value_enum, value_delimiter = ',', default_value = "resident")]
    pub adapter: Vec<Adapter>,
    /// Times each step of a proof on the resident pipeline alone too, on the first device
    #[arg(long)]
    pub steps: bool,
    /// Times how long the key takes from its mapped file to the first device too, decoded there or on the host
    #[arg(long)]
    pub mapped: bool,
    /// Number of GPUs; all without it [NVIDIA's: the others are hidden by `CUDA_VISIBLE_DEVICES`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: Option<u32>,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Backend of stock ec-gpu-gen; `auto`, the default, selects the one that is installed
    #[arg(long, value_enum)]
    pub stock_backend: Option<Backend>,
    /// Program of `stock` that was built before
    #[arg(long, value_name = "PATH", value_parser = program::path())]
    pub stock_binary: Option<PathBuf>,
    /// Program of `ec-gpu-gen` that was built before
    #[arg(long, value_name = "PATH", value_parser = program::path())]
    pub ec_gpu_gen_binary: Option<PathBuf>,
    /// Programs of `supraseal` that were built before, on the drop-in or on the published crate; with commas between them
    #[arg(long, value_name = "PATH", value_delimiter = ',', value_parser = program::path())]
    pub supraseal_binary: Vec<PathBuf>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE", value_parser = output::file())]
    pub json: Option<PathBuf>,
}

/// A way to prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Adapter {
    /// All of a proof on the devices, by the crate proofwarp-bellperson
    Resident,
    /// Unmodified bellperson, through the drop-in for its GPU crate
    EcGpuGen,
    /// Unmodified bellperson with its feature `cuda-supraseal`, through the drop-in for that prover
    Supraseal,
    /// Unmodified bellperson on the stock crate
    Stock,
}

impl Options {
    /// Returns what the engine, bellperson and the drivers read from the environment.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = self.backend.variables();
        variables.extend((self.backend.forced() == Some(BackendKind::Cpu)).then(|| (NO_GPU, "1".to_owned())));
        variables.extend(self.devices.map(|count| ("CUDA_VISIBLE_DEVICES", visible(count as usize))));
        variables
    }

    /// Returns the ways to measure: those that are listed, and then those of programs that are named.
    pub fn adapters(&self) -> Vec<Adapter> {
        let named = [
            (Adapter::EcGpuGen, self.ec_gpu_gen_binary.is_some()),
            (Adapter::Supraseal, !self.supraseal_binary.is_empty()),
            (Adapter::Stock, self.stock_binary.is_some()),
        ];
        let named = named.into_iter().filter(|(_, given)| *given).map(|(adapter, _)| adapter);
        self.adapter.iter().copied().chain(named).fold(Vec::new(), |mut all, adapter| {
            if !all.contains(&adapter) {
                all.push(adapter);
            }
            all
        })
    }

    /// Checks that no option is without effect.
    ///
    /// # Errors
    /// Returns a text that names the option.
    pub fn check(&self) -> Result<(), String> {
        self.check_adapters().and_then(|()| self.check_backend(no_gpu().is_some()))
    }

    /// Checks that options of adapters have their adapter.
    fn check_adapters(&self) -> Result<(), String> {
        let resident = [("--steps", self.steps), ("--mapped", self.mapped)].into_iter().find(|(_, given)| *given);
        match (resident, self.stock_backend) {
            (Some((option, _)), _) if !self.adapters().contains(&Adapter::Resident) => {
                Err(format!("{option}: expected --adapter resident beside it"))
            }
            (_, Some(_)) if !self.adapters().contains(&Adapter::Stock) => {
                Err("--stock-backend: expected --adapter stock beside it".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Checks that no option asks for a device where another asks for the CPU.
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
}

/// Returns the first `count` of the GPUs that are visible.
fn visible(count: usize) -> String {
    match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(named) => named.split(',').take(count).collect::<Vec<_>>().join(","),
        Err(_) => (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(","),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::parse;

    #[test]
    fn options_without_effect_are_refused() {
        for (line, expected) in [
            ("--steps --adapter ec-gpu-gen", "--steps: expected --adapter resident beside it"),
            ("--mapped --adapter supraseal,stock", "--mapped: expected --adapter resident beside it"),
            ("--stock-backend cpu", "--stock-backend: expected --adapter stock beside it"),
            ("--steps --backend cpu", "--steps: expected a device"),
            ("--devices 2 --backend cpu", "--devices: expected a device"),
        ] {
            let error = parse::<Options>(line).expect("a line").check().expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn a_backend_and_bellmans_wish_for_the_cpu_do_not_go_together() {
        let options = |line: &str| parse::<Options>(line).expect("a line");
        let error = options("--backend opencl").check_backend(true).expect_err("both");
        assert!(error.contains("--backend opencl: expected BELLMAN_NO_GPU not to be set"), "{error}");
        let steps = options("--steps");
        assert!(steps.check_backend(true).expect_err("no device").contains("--steps: expected a device"));
        assert_eq!((steps.check_backend(false), options("").check_backend(true)), (Ok(()), Ok(())));
    }

    #[test]
    fn paths_are_looked_at_first() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "as it was").expect("file");
        let absent = folder.path().join("absent/results.json");
        for (option, path) in [
            ("--json", absent.as_path()),
            ("--json", folder.path()),
            ("--stock-binary", &absent),
            ("--ec-gpu-gen-binary", &file),
            ("--supraseal-binary", &absent),
        ] {
            let error = parse::<Options>(&format!("{option} {}", path.display())).expect_err("refused");
            assert!(error.contains(option) && error.contains(&format!("{}: ", path.display())), "{error}");
        }
        let new = folder.path().join("new.json");
        for path in [&file, &new] {
            assert!(parse::<Options>(&format!("--json={}", path.display())).is_ok());
        }
        assert!(!new.exists() && std::fs::read(&file).expect("file") == b"as it was");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 1, "left as it was");
    }

    #[test]
    fn named_programs_are_measured_after_what_is_listed() {
        for (line, expected) in [
            ("", vec![Adapter::Resident]),
            ("--adapter resident,stock,resident --stock-backend cpu", vec![Adapter::Resident, Adapter::Stock]),
            ("--stock-binary cargo --stock-backend auto --steps", vec![Adapter::Resident, Adapter::Stock]),
            (
                "--adapter stock --supraseal-binary cargo,cargo --seed 18446744073709551615",
                vec![Adapter::Stock, Adapter::Supraseal],
            ),
        ] {
            let options = parse::<Options>(line).expect("a line");
            assert_eq!((options.check(), options.adapters()), (Ok(()), expected), "{line}");
        }
    }
}
