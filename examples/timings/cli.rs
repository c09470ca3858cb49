//! The command line.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser};
use proofwarp::msm;

use crate::{inputs, variables};

/// All that is timed.
const OPERATIONS: [&str; 18] = [
    "product bls12_381_fr",
    "product bls12_381_fq",
    "product bn254_fr",
    "inversion bls12_381_fq",
    "inversion bls12_381_fq2",
    "inversion bn254_fq",
    "ntt bls12_381_fr",
    "ntt bn254_fr",
    "csr bls12_381_fr",
    "csr bn254_fr",
    "expression bls12_381_fr",
    "expression bn254_fr",
    "plonk bls12_381_fr",
    "plonk bn254_fr",
    "msm bls12_381_g1",
    "msm bls12_381_g2",
    "msm bn254_g1",
    "msm bn254_g2",
];

/// Where an MSM's inputs are.
const PLACES: [&str; 3] = ["host", "bases", "resident"];

/// Options of other operations than a transform over several devices.
const NOT_OF_PEERS: [&str; 11] = [
    "scalars",
    "from",
    "window",
    "rounds",
    "halved",
    "precompute",
    "window_groups",
    "check",
    "explain",
    "batch",
    "joined",
];

/// Binary logarithms of sizes.
#[derive(Debug, Clone)]
pub struct Sizes(pub Vec<u32>);

fn sizes(text: &str) -> Result<Sizes, String> {
    variables::sizes(text).map(Sizes)
}

/// Times operations on the backend that `PROOFWARP_BACKEND` forces; every row is a median.
#[derive(Debug, Parser)]
#[command(name = "timings")]
pub struct Options {
    /// Binary logarithms of the sizes, FIRST..LAST (inclusive, in steps of two).
    #[arg(long, default_value = "10..16", value_parser = sizes)]
    pub log: Sizes,
    /// Timed runs of each row, after one to warm up.
    #[arg(long, default_value_t = 5)]
    pub repeat: usize,
    /// Only operations whose name contains this.
    #[arg(long, default_value = "")]
    pub only: String,
    /// Only distributions of scalars whose name contains this.
    #[arg(long, default_value = "")]
    pub scalars: String,
    /// Only places of the MSM's inputs whose name contains this: host, bases, resident (bases and scalars).
    #[arg(long, default_value = "")]
    pub from: String,
    /// Bits of the MSM's windows, one row each; 0 is the model's choice.
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub window: Vec<u32>,
    /// Rounds of batched affine additions, one row each; without, the model's choice.
    #[arg(long, value_delimiter = ',')]
    pub rounds: Vec<u32>,
    /// Halve scalars, or never do; without, as the model says.
    #[arg(long)]
    pub halved: Option<bool>,
    /// Copies of each base.
    #[arg(long, default_value_t = 1)]
    pub precompute: u32,
    /// Most devices to use; 0 is all of them.
    #[arg(long, default_value_t = 0)]
    pub devices: usize,
    /// Only one transform over 1, 2, 4 … of the devices at once.
    #[arg(long)]
    pub peers: bool,
    /// Groups of windows that several devices share the MSM's resident bases in, one row each; 0 is the model's choice.
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub window_groups: Vec<usize>,
    /// Check every sum of an MSM, by the bases' discrete logarithms, by the CPU every product of a matrix and every step
    /// of a PLONKish proof, and sums of terms in some rows.
    #[arg(long)]
    pub check: bool,
    /// Print the plan of each MSM over resident bases, of each matrix, and what is done in a row for terms.
    #[arg(long)]
    pub explain: bool,
    /// Vectors of scalars in a batch; the time of one is printed.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    /// Most vectors of a batch that are multiplied as one matrix, one row each; 0 is the model's choice.
    #[arg(long, value_delimiter = ',', default_value = "0")]
    pub joined: Vec<usize>,
}

impl Options {
    /// The options of a command line, checked before there is any work.
    ///
    /// # Errors
    /// The line is malformed, or an option would be without effect.
    pub fn checked(line: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(line)?;
        let options = Self::from_arg_matches(&matches)?;
        let given = |name: &&&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        options.check(NOT_OF_PEERS.iter().find(given).copied())?;
        Ok(options)
    }

    /// That every filter leaves something, and no option is without effect; one may be given that peers do not have.
    fn check(&self, not_of_peers: Option<&str>) -> Result<(), clap::Error> {
        let error = |text: String| Err(Self::command().error(ErrorKind::ArgumentConflict, text));
        let operations = OPERATIONS.iter().filter(|name| !self.peers || name.starts_with("ntt"));
        for (option, filter, names) in [
            ("--only", &self.only, operations.copied().collect::<Vec<_>>()),
            ("--scalars", &self.scalars, inputs::DISTRIBUTIONS.to_vec()),
            ("--from", &self.from, PLACES.to_vec()),
        ] {
            if !names.iter().any(|name| name.contains(filter.as_str())) {
                return error(format!("{option}: expected part of one of {}, got {filter}", names.join("; ")));
            }
        }
        match not_of_peers {
            Some(name) if self.peers => error(format!("--{}: without effect beside --peers", name.replace('_', "-"))),
            _ if self.batch == 1 && self.joined.iter().any(|joined| *joined > 0) => {
                error("--joined: expected --batch of 2 or more beside it".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// That what is asked for can be done on so many devices.
    ///
    /// # Errors
    /// There is none, and all of it needs one.
    pub fn check_devices(&self, devices: usize) -> Result<(), String> {
        let on_host = |name: &&str| (name.starts_with("ntt") || name.starts_with("msm")) && name.contains(&self.only);
        let option = match devices {
            0 if self.peers => "--peers",
            0 if !OPERATIONS.iter().any(on_host) => "--only",
            0 if !self.from.is_empty() && "resident".contains(&self.from) && !self.wants("bases") => "--from",
            _ => return Ok(()),
        };
        Err(format!("{option}: expected a device, got none: see above for the reason"))
    }

    /// Whether inputs in this place are asked for.
    pub fn wants(&self, place: &str) -> bool {
        place.contains(&self.from)
    }

    /// Every combination of groups, windows, rounds and joined vectors, with a name for what is not the model's.
    pub fn plans(&self) -> Vec<(String, msm::MsmOptions)> {
        let rounds: Vec<_> =
            if self.rounds.is_empty() { vec![None] } else { self.rounds.iter().copied().map(Some).collect() };
        let of = |window_groups: usize, window: u32, affine_rounds: Option<u32>, joined: usize| {
            let groups_name = if window_groups > 0 { format!(" groups={window_groups}") } else { String::new() };
            let window_name = if window > 0 { format!(" c={window}") } else { String::new() };
            let rounds_name = affine_rounds.map_or(String::new(), |rounds| format!(" rounds={rounds}"));
            let joined_name = if joined > 0 { format!(" joined={joined}") } else { String::new() };
            let halved_name = self.halved.map_or(String::new(), |halved| format!(" halved={halved}"));
            let (precompute, halved) = (self.precompute, self.halved);
            let options = msm::MsmOptions {
                window_groups,
                window,
                affine_rounds,
                precompute,
                halved,
                joined,
                ..Default::default()
            };
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
    use super::*;

    fn options(line: &str) -> Result<Options, clap::Error> {
        Options::checked(["timings"].into_iter().chain(line.split_whitespace()))
    }

    #[test]
    fn what_cannot_be_done_is_refused_before_any_work() {
        for (line, expected) in [
            ("--log 10", "expected FIRST..LAST, got 10"),
            ("--log 12..10", "no larger than the last"),
            ("--only fft", "--only: expected part of one of product bls12_381_fr; "),
            ("--only msm --peers", "--only: expected part of one of ntt bls12_381_fr; ntt bn254_fr, got msm"),
            ("--scalars some", "--scalars: expected part of one of "),
            ("--from disk", "--from: expected part of one of host; bases; resident, got disk"),
            ("--batch 0", "--batch"),
            ("--joined 2", "--joined: expected --batch"),
            ("--peers --check", "--check: without effect beside --peers"),
            ("--window-groups 2 --peers", "--window-groups: without effect beside --peers"),
        ] {
            let error = options(line).expect_err("refused");
            assert!(error.exit_code() == 2 && error.to_string().contains(expected), "{line}: {error}");
        }
        for line in ["", "--peers --only bn254 --repeat 2", "--joined 2 --batch 4", "--log 9..=11 --from bases"] {
            assert!(options(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn what_needs_a_device_is_refused_without_one() {
        for (line, expected) in [
            ("--peers", "--peers: "),
            ("--only csr", "--only: "),
            ("--only expression", "--only: "),
            ("--only plonk", "--only: "),
            ("--from resident", "--from: "),
        ] {
            let options = options(line).expect("options");
            let error = options.check_devices(0).expect_err("refused");
            assert!(error.starts_with(expected) && error.contains("expected a device, got none"), "{error}");
            assert_eq!(options.check_devices(1), Ok(()));
        }
        assert_eq!(options("--from host").expect("options").check_devices(0), Ok(()));
    }

    #[test]
    fn operations_are_named_as_they_are_timed() {
        use proofwarp::curve::MsmCurve;
        use proofwarp::field::Element;
        let named = [
            format!("ntt {}", <blstrs::Scalar as Element>::NAME),
            format!("csr {}", <halo2curves::bn256::Fr as Element>::NAME),
            format!("expression {}", <halo2curves::bn256::Fr as Element>::NAME),
            format!("plonk {}", <halo2curves::bn256::Fr as Element>::NAME),
            format!("msm {}", <blstrs::G2Affine as MsmCurve>::NAME),
            format!("msm {}", <halo2curves::bn256::G1Affine as MsmCurve>::NAME),
        ];
        assert!(named.iter().all(|name| OPERATIONS.contains(&name.as_str())), "{named:?}");
    }
}
