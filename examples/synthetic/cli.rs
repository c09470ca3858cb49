//! The command line.

#[path = "../groth16/backend.rs"]
mod backend;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

pub use backend::Backend;

use crate::output;
use crate::system::Shape;

/// Proves a random R1CS of the shape of Filecoin's on the resident pipeline, under a key whose discrete logarithms are
/// known, so that every proof is checked exactly without a trusted setup.
///
/// The domain has 2^K elements, the system 31/32 of that constraints: 130 M for K = 27.
#[derive(Debug, Parser)]
#[command(name = "synthetic", after_help = EXAMPLES)]
pub struct Options {
    /// Binary logarithm of the domain's size
    #[arg(long, value_name = "K", default_value_t = 16, value_parser = clap::value_parser!(u32).range(10..=27))]
    pub log_constraints: u32,
    /// Mean number of non-zeros in a row of A; those of B and C have about one
    #[arg(long, value_name = "N", default_value_t = 3.0, value_parser = positive)]
    pub nonzeros: f64,
    /// Percentage of variables that are zero or one
    #[arg(long, value_name = "PERCENT", default_value_t = 95, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub bits: u32,
    /// Inputs, the constant one among them
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=1024))]
    pub inputs: u32,
    /// Timed calls after the first one
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub proofs: u32,
    /// Proofs of a call, of the same witness with randomisation of their own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// Seeds the system, the key and the randomisation
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where to prove; any but `auto` is an error if it cannot do it all
    #[arg(long, value_enum, default_value = "auto")]
    pub backend: Backend,
    /// Most devices to use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub devices: Option<u32>,
    /// Most bytes to take of a device's memory, as a number with K, M or G
    #[arg(long, value_name = "BYTES")]
    pub memory_limit: Option<String>,
    /// Writes the results to a file as well
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  synthetic                                            2^16, on the best backend
  synthetic --log-constraints 27 --backend cuda        130 M constraints: 80 GB of host memory, a GPU of 141 GB
  synthetic --log-constraints 20 --memory-limit 700M   a key that does not fit is streamed";

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

impl Options {
    /// The options of a command line, checked before there is any work.
    ///
    /// # Errors
    /// The line is malformed, an option would be without effect, or a file cannot be written.
    pub fn checked(line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(line)?;
        let error = |kind, text: String| Err(Self::command().error(kind, text));
        let of_devices = [("--devices", options.devices.is_some()), ("--memory-limit", options.memory_limit.is_some())];
        let given = of_devices.iter().find(|(_, given)| *given);
        if let (Backend::Cpu, Some((option, _))) = (options.backend, given) {
            return error(
                ErrorKind::ArgumentConflict,
                format!("{option}: expected a device, but --backend cpu has none"),
            );
        }
        if let Some(Err(text)) = options.json.as_deref().map(output::check) {
            return error(ErrorKind::ValueValidation, format!("--json: {text}"));
        }
        Ok(options)
    }

    /// The system to make.
    pub fn shape(&self) -> Shape {
        let domain = 1usize << self.log_constraints;
        Shape {
            constraints: domain - domain / 32,
            inputs: self.inputs as usize,
            nonzeros: self.nonzeros,
            bits: f64::from(self.bits) / 100.0,
            seed: self.seed,
        }
    }

    /// What the engine reads from the environment.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let backend = self.backend.forced();
        let backend = backend.map(|backend| ("PROOFWARP_BACKEND", backend.to_string()));
        let limit = self.memory_limit.clone().map(|limit| ("PROOFWARP_MEMORY_LIMIT", limit));
        backend.into_iter().chain(limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--json /no/such/folder/results.json", "--json: /no/such/folder/results.json: "),
            ("--backend cpu --devices 2", "--devices: expected a device"),
            ("--backend cpu --memory-limit 1G", "--memory-limit: expected a device"),
            ("--nonzeros NaN", "expected a number above 0"),
            ("--nonzeros 0", "expected a number above 0"),
        ] {
            let words = ["synthetic"].into_iter().chain(line.split_whitespace());
            let error = Options::checked(words).expect_err("refused");
            assert!(error.exit_code() == 2 && error.to_string().contains(expected), "{line}: {error}");
        }
        assert!(Options::checked(["synthetic", "--nonzeros=2.5", "--devices=1", "--memory-limit=1G"]).is_ok());
    }
}
