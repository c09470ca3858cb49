//! Defines the command line.

use std::path::PathBuf;

use clap::Args;

use super::system::Shape;
use crate::backend::Backend;
use crate::output;

/// Proves a random R1CS of the shape of Filecoin's on the resident pipeline, under a key whose discrete logarithms are
/// known, so that every proof is checked exactly without a trusted setup.
///
/// The domain has 2^K elements. The system has 31/32 as many constraints: 130 M for K = 27.
#[derive(Debug, Clone, Args)]
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
    /// Packs the witness: a variable that is zero or one takes two bits of the host's memory
    #[arg(long)]
    pub packed: bool,
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
    #[arg(long, value_name = "FILE", value_parser = output::file())]
    pub json: Option<PathBuf>,
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

impl Options {
    /// Checks that no option is without effect.
    ///
    /// # Errors
    /// Returns a text that names the option.
    pub fn check(&self) -> Result<(), String> {
        let of_devices = [("--devices", self.devices.is_some()), ("--memory-limit", self.memory_limit.is_some())];
        match of_devices.iter().find(|(_, given)| *given) {
            Some((option, _)) if self.backend == Backend::Cpu => {
                Err(format!("{option}: expected a device, but --backend cpu has none"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the system to make.
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

    /// Returns what the engine reads from the environment.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let limit = self.memory_limit.clone().map(|limit| ("PROOFWARP_MEMORY_LIMIT", limit));
        self.backend.variables().into_iter().chain(limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--json /no/such/folder/results.json", "/no/such/folder/results.json: "),
            ("--nonzeros NaN", "expected a number above 0"),
            ("--nonzeros 0", "expected a number above 0"),
        ] {
            let error = parse::<Options>(line).expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
        for option in ["--devices", "--memory-limit"] {
            let options = parse::<Options>(&format!("--backend cpu {option} 2")).expect("a line");
            let error = options.check().expect_err("refused");
            assert!(error.starts_with(&format!("{option}: expected a device")), "{error}");
        }
        let options = parse::<Options>("--nonzeros=2.5 --devices=1 --memory-limit=1G").expect("a line");
        assert_eq!(options.check(), Ok(()));
    }
}
