//! Defines the command line.

use clap::Args;
use proofwarp::msm::MsmOptions;

use crate::inputs;
use crate::rows::{self, RowOptions};

/// Names the operations.
const OPERATIONS: [&str; 4] = ["msm bls12_381_g1", "msm bls12_381_g2", "msm bn254_g1", "msm bn254_g2"];

/// Where the inputs are.
const PLACES: [&str; 3] = ["host", "bases", "resident"];

/// Times multi-scalar multiplications; every row is a median.
#[derive(Debug, Clone, Args)]
pub struct Options {
    #[command(flatten)]
    pub(super) rows: RowOptions,
    /// Only distributions of scalars whose name contains this
    #[arg(long, value_name = "NAME", default_value = "")]
    pub scalars: String,
    /// Only places of the MSM's inputs whose name contains this: host, bases, resident (bases and scalars)
    #[arg(long, value_name = "NAME", default_value = "")]
    pub from: String,
    /// Bits of the MSM's windows, one row each; 0 is the model's choice
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub window: Vec<u32>,
    /// Rounds of batched affine additions, one row each; without, the model's choice
    #[arg(long, value_delimiter = ',')]
    pub rounds: Vec<u32>,
    /// Halve scalars, or never do; without, as the model says
    #[arg(long)]
    pub halved: Option<bool>,
    /// Copies of each base
    #[arg(long, default_value_t = 1)]
    pub precompute: u32,
    /// Groups of windows that several devices share the MSM's resident bases in, one row each; 0 is the model's choice
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub window_groups: Vec<usize>,
    /// Check every sum, by the bases' discrete logarithms
    #[arg(long)]
    pub check: bool,
    /// Print the plan of each sum over resident bases
    #[arg(long)]
    pub explain: bool,
    /// Vectors of scalars in a batch; the time of one is printed
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// Most vectors of a batch that are multiplied as one matrix, one row each; 0 is the model's choice
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub joined: Vec<usize>,
}

impl Options {
    /// Returns the environment variables that the options stand for.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.rows.backend.variables()
    }

    /// Checks that every filter leaves something, and that no option is without effect.
    pub(super) fn check(&self) -> Result<(), String> {
        self.rows.check(&OPERATIONS)?;
        rows::check_filter("--scalars", &self.scalars, &inputs::DISTRIBUTIONS)?;
        rows::check_filter("--from", &self.from, &PLACES)?;
        if self.batch == 1 && self.joined.iter().any(|joined| *joined > 0) {
            return Err("--joined: expected --batch of 2 or more beside it".to_owned());
        }
        Ok(())
    }

    /// Checks that some of the places can be had with this number of `devices`.
    pub(super) fn check_devices(&self, devices: usize) -> Result<(), String> {
        let on_device = !self.wants("host") && !self.wants("bases");
        if devices == 0 && on_device { Err(rows::no_device("--from")) } else { Ok(()) }
    }

    /// Returns whether inputs in `place` are asked for.
    pub fn wants(&self, place: &str) -> bool {
        place.contains(&self.from)
    }

    /// Every combination of groups, windows, rounds and joined vectors, with a name for what is not the model's.
    pub fn plans(&self) -> Vec<(String, MsmOptions)> {
        let rounds: Vec<_> =
            if self.rounds.is_empty() { vec![None] } else { self.rounds.iter().copied().map(Some).collect() };
        let of = |window_groups: usize, window: u32, affine_rounds: Option<u32>, joined: usize| {
            let groups_name = if window_groups > 0 { format!(" groups={window_groups}") } else { String::new() };
            let window_name = if window > 0 { format!(" c={window}") } else { String::new() };
            let rounds_name = affine_rounds.map_or(String::new(), |rounds| format!(" rounds={rounds}"));
            let joined_name = if joined > 0 { format!(" joined={joined}") } else { String::new() };
            let halved_name = self.halved.map_or(String::new(), |halved| format!(" halved={halved}"));
            let (precompute, halved) = (self.precompute, self.halved);
            let options =
                MsmOptions { window_groups, window, affine_rounds, precompute, halved, joined, ..Default::default() };
            (format!("{groups_name}{window_name}{rounds_name}{halved_name}{joined_name}"), options)
        };
        let windows = self.window_groups.iter().flat_map(|groups| self.window.iter().map(move |c| (*groups, *c)));
        let rounds = windows.flat_map(|(groups, c)| rounds.iter().map(move |rounds| (groups, c, *rounds)));
        let joined = rounds.flat_map(|plan| self.joined.iter().map(move |joined| (plan, *joined)));
        joined.map(|((groups, c, rounds), joined)| of(groups, c, rounds, joined)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proofwarp::curve::MsmCurve;

    use super::*;
    use crate::output::parse;

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--only ntt", "--only: expected part of one of msm bls12_381_g1; "),
            ("--scalars some", "--scalars: expected part of one of "),
            ("--from disk", "--from: expected part of one of host; bases; resident, got disk"),
            ("--batch 0", "--batch"),
            ("--joined 2", "--joined: expected --batch"),
        ] {
            let error = parse::<Options>(line).and_then(|options| options.check()).expect_err("refused");
            assert!(error.contains(expected), "{line}: {error}");
        }
        for line in ["", "--joined 2 --batch 4", "--log 9..=11 --from bases"] {
            assert_eq!(parse::<Options>(line).and_then(|options| options.check()), Ok(()), "{line}");
        }
        let resident = parse::<Options>("--from resident").expect("options");
        assert!(resident.check_devices(0).is_err_and(|error| error.contains("expected a device, got none")));
        assert_eq!(resident.check_devices(1), Ok(()));
    }

    #[test]
    fn operations_are_named_as_they_are_timed() {
        let named = [<blstrs::G2Affine as MsmCurve>::NAME, <halo2curves::bn256::G1Affine as MsmCurve>::NAME];
        assert!(named.iter().all(|name| OPERATIONS.contains(&format!("msm {name}").as_str())), "{named:?}");
    }
}
