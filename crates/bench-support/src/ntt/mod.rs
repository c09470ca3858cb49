//! `proofwarp bench ntt`: times transforms of host slices, page-locked memory and device memory, over one device and several.

mod peers;
mod places;

use blstrs::Scalar;
use clap::Args;
use halo2curves::bn256::Fr;

use crate::Failure;
use crate::rows::{self, RowOptions};

/// Names the operations.
const OPERATIONS: [&str; 2] = ["ntt bls12_381_fr", "ntt bn254_fr"];
/// Where vectors are.
const PLACES: [&str; 2] = ["host", "resident"];

/// Times transforms; every row is a median.
#[derive(Debug, Clone, Args)]
pub struct Options {
    #[command(flatten)]
    rows: RowOptions,
    /// Only places of the vectors whose name contains this: host, resident
    #[arg(long, value_name = "NAME", default_value = "")]
    from: String,
    /// Vectors of a call; the time of one is printed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Only one transform over 1, 2, 4 … of the devices at once
    #[arg(long, conflicts_with_all = ["from", "batch"])]
    peers: bool,
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.rows.backend.variables()
    }

    /// Checks that every filter leaves something.
    fn check(&self) -> Result<(), String> {
        self.rows.check(&OPERATIONS)?;
        rows::check_filter("--from", &self.from, &PLACES)
    }

    fn check_devices(&self, devices: usize) -> Result<(), String> {
        if devices == 0 && self.peers { Err(rows::no_device("--peers")) } else { Ok(()) }
    }
}

/// Runs the program, and prints its rows.
///
/// # Errors
/// Returns an error if an option is without effect, or if a transform fails.
pub fn run(options: &Options) -> Result<(), Failure> {
    options.check()?;
    let accelerator = options.rows.accelerator()?;
    options.check_devices(accelerator.devices().len())?;
    if options.peers {
        peers::all::<Scalar>(&accelerator, &options.rows)?;
        return peers::all::<Fr>(&accelerator, &options.rows);
    }
    rows::print_header();
    for &log_n in options.rows.sizes() {
        places::rows::<Scalar>(&accelerator, options, log_n)?;
        places::rows::<Fr>(&accelerator, options, log_n)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proofwarp::field::Element;

    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--log 10", "expected FIRST..LAST, got 10"),
            ("--log 12..10", "no larger than the last"),
            ("--only msm", "--only: expected part of one of ntt bls12_381_fr; ntt bn254_fr, got msm"),
            ("--from disk", "--from: expected part of one of host; resident, got disk"),
            ("--batch 0", "--batch"),
            ("--peers --batch 2", "cannot be used with"),
            ("--check", "unexpected argument"),
        ] {
            let error = parse::<Options>(line).and_then(|options| options.check()).expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
        for line in ["", "--peers --only bn254 --repeat 2", "--batch 4", "--log 9..=11 --from host"] {
            assert_eq!(parse::<Options>(line).and_then(|options| options.check()), Ok(()), "{line}");
        }
        let peers = parse::<Options>("--peers").expect("options");
        assert!(peers.check_devices(0).is_err_and(|error| error.contains("expected a device, got none")));
        assert_eq!(peers.check_devices(1), Ok(()));
    }

    #[test]
    fn operations_are_named_as_they_are_timed() {
        assert_eq!(OPERATIONS, [Scalar::NAME, Fr::NAME].map(|name| format!("ntt {name}")));
    }
}
