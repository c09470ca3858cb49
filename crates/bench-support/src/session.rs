//! Runs a bench: who is measured, at which sizes, and where the numbers go.
//!
//! | variable | meaning |
//! |---|---|
//! | `PROOFWARP_BENCH_LOG=10..24` | binary logarithms of the sizes, inclusive, in steps of two; 10..16 without it |
//! | `PROOFWARP_BENCH_DISTRIBUTIONS=20` | the size at which distributions are compared; the largest without it, 0 for none |
//! | `PROOFWARP_BENCH_SECONDS=2` | about how long one number may take |
//! | `PROOFWARP_BENCH_LIMIT=20` | calls that would take more seconds, by the size before, are left out |
//! | `PROOFWARP_BENCH_OUT=DIR` | where numbers and plots go; `target/bench` without it |
//! | `PROOFWARP_PEERS=stock,sppark,icicle` | peers whose programs are built; only stock without it |
//! | `PROOFWARP_STOCK_KERNELS`, `PROOFWARP_SPPARK_KERNELS`, `PROOFWARP_ICICLE_KERNELS` | programs built before, by their paths |
//!
//! Those of the proofs' benches are in `groth16.rs` and in `--help` of `benches/halo2.rs`.
//!
//! Arguments that are no options choose what is measured: `-- msm_bn254_g1` or `-- sppark`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use proofwarp::Accelerator;

use crate::contestants::{self, Contestant, How};
use crate::inputs::RANDOM;
use crate::protocol::Request;
use crate::results::{Measurement, Outcome, Results, unique};
use crate::{Failure, plot, results_table, sampling, variables};

/// Sizes, filters and the numbers so far.
pub struct Session {
    sizes: Vec<u32>,
    /// The size at which distributions are compared.
    compared: Option<u32>,
    limit: Duration,
    filters: Vec<String>,
    results: Results,
}

impl Session {
    /// Starts the bench of this name, as variables and arguments say.
    ///
    /// # Errors
    /// A variable is not of its form, or none that a bench has.
    pub fn new(bench: &str) -> Result<Self, Failure> {
        variables::check_all()?;
        let sizes = variables::sizes(&variable("PROOFWARP_BENCH_LOG").unwrap_or_else(|| "10..16".to_owned()))?;
        let compared = match variable("PROOFWARP_BENCH_DISTRIBUTIONS") {
            Some(text) => Some(text.parse()?).filter(|log_n| *log_n > 0),
            None => sizes.last().copied(),
        };
        let limit = sampling::seconds("PROOFWARP_BENCH_LIMIT", 20.0)?;
        let filters = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let machine = vec![format!("{threads} threads")];
        let results = Results { bench: bench.to_owned(), machine, measurements: Vec::new() };
        Ok(Self { sizes, compared, limit, filters, results })
    }

    /// Sizes of random elements, and then the size at which they are compared with those distributions.
    pub fn cells(&self, distributions: &[&'static str]) -> Vec<(u32, &'static str)> {
        let sizes = self.sizes.iter().map(|log_n| (*log_n, RANDOM));
        let compared = self.compared.into_iter().flat_map(|log_n| distributions.iter().map(move |name| (log_n, *name)));
        unique(sizes.chain(compared))
    }

    /// This crate in those places, and the peers.
    pub fn contestants(&mut self, places: &[&'static str]) -> Vec<Contestant> {
        let contestants: Vec<Contestant> = contestants::ours(places).into_iter().chain(contestants::peers()).collect();
        for Contestant { implementation, how, .. } in &contestants {
            let line = format!("{implementation}: {}", name(how));
            if !self.results.machine.contains(&line) {
                eprintln!("{line}");
                self.results.machine.push(line);
            }
        }
        contestants
    }

    /// Measures one cell, unless it is not wanted or would take too long. `measure` is for contestants of
    /// this process; it is left to the peers to run theirs.
    pub fn measure(
        &mut self,
        contestant: &Contestant,
        request: &Request,
        measure: impl FnOnce(&How) -> Result<Outcome, Failure>,
    ) {
        if !self.wants(contestant, &request.operation) {
            return;
        }
        if let How::Ours(accelerator) = &contestant.how {
            self.note_devices(accelerator);
        }
        let request = &Request { place: contestant.place.to_owned(), ..request.clone() };
        let outcome = match &contestant.how {
            How::Absent(reason) => Ok(Outcome::Absent(reason.clone())),
            how => self.too_long(contestant, request).map_or_else(|| run(how, request, measure), Ok),
        };
        let outcome = outcome.unwrap_or_else(|error| Outcome::Absent(error.to_string().replace('\n', " ")));
        let measurement = measurement(contestant, request, outcome);
        if matches!(contestant.how, How::Absent(_)) {
            self.results.add(measurement);
        } else {
            self.record(measurement);
        }
    }

    /// Keeps the outcome of an implementation, in a place, that was measured or counted elsewhere, unless it is not wanted.
    pub fn keep(&mut self, operation: &str, (implementation, place): (&str, &str), log_n: u32, outcome: Outcome) {
        if self.wants_name(&format!("{operation} {implementation}, {place}")) {
            let [operation, implementation, place] = [operation, implementation, place].map(str::to_owned);
            let distribution = RANDOM.to_owned();
            self.record(Measurement { operation, implementation, place, distribution, log_n, outcome });
        }
    }

    /// Keeps a number that was measured elsewhere, and shows it.
    pub fn record(&mut self, measurement: Measurement) {
        eprintln!("{}", results_table::line(&measurement));
        self.results.add(measurement);
    }

    /// Keeps a line on what the numbers were measured on, once.
    pub fn note(&mut self, line: String) {
        if !self.results.machine.contains(&line) {
            self.results.machine.push(line);
        }
    }

    /// Keeps a line for each device of `accelerator`.
    pub fn note_devices(&mut self, accelerator: &Accelerator) {
        for device in accelerator.devices() {
            self.note(format!("{} ({})", device.info().name, device.info().backend));
        }
    }

    /// Returns those circuits of `PROOFWARP_BENCH_CIRCUITS`, or else of `default`, that the filters leave in.
    pub fn circuits(&self, default: &str) -> Vec<String> {
        let circuits = variable("PROOFWARP_BENCH_CIRCUITS").unwrap_or_else(|| default.to_owned());
        let named = |circuit: &&str| self.wants_name(&format!("{}_{circuit}", self.results.bench));
        circuits.split(',').map(str::trim).filter(named).map(str::to_owned).collect()
    }

    /// Whether the filters leave a contestant in.
    pub fn wants(&self, contestant: &Contestant, operation: &str) -> bool {
        self.wants_name(&format!("{operation} {}, {}", contestant.implementation, contestant.place))
    }

    /// Whether the filters leave in what has this name.
    pub fn wants_name(&self, name: &str) -> bool {
        self.filters.iter().all(|filter| name.contains(filter.as_str()))
    }

    /// Why a call is left out, going by the time at a smaller size.
    fn too_long(&self, contestant: &Contestant, request: &Request) -> Option<Outcome> {
        let of_contestant = |there: &&Measurement| {
            let key = (&there.implementation, there.place.as_str(), &there.distribution);
            key == (&contestant.implementation, contestant.place, &request.distribution)
        };
        self.over_limit(request.log_n, self.results.of(&request.operation).filter(of_contestant)).map(Outcome::Absent)
    }

    /// Whether a call is within the limit, going by the time at a smaller size.
    ///
    /// # Errors
    /// It is not; the text is the reason.
    pub fn in_time(&self, implementation: &str, place: &str, operation: &str, log_n: u32) -> Result<(), String> {
        let same =
            |there: &&Measurement| (there.implementation.as_str(), there.place.as_str()) == (implementation, place);
        self.over_limit(log_n, self.results.of(operation).filter(same)).map_or(Ok(()), Err)
    }

    /// Why a call is over the limit, by the largest of those before it that are smaller.
    fn over_limit<'a>(&self, log_n: u32, before: impl Iterator<Item = &'a Measurement>) -> Option<String> {
        let last = before.filter(|there| there.log_n < log_n).max_by_key(|there| there.log_n)?;
        match &last.outcome {
            Outcome::Time { nanoseconds, .. } => {
                let time = Duration::from_nanos(*nanoseconds);
                let reason = format!("2^{} took {time:.1?} and the limit is {:?}", last.log_n, self.limit);
                (time * 2u32.pow(log_n - last.log_n) > self.limit).then_some(reason)
            }
            Outcome::Absent(reason) => reason.contains("the limit is").then(|| reason.clone()),
        }
    }

    /// Prints the tables, and writes numbers and plots.
    ///
    /// # Errors
    /// A file cannot be written, or the arguments left nothing to measure.
    pub fn finish(self) -> Result<(), Failure> {
        if self.results.measurements.is_empty() {
            return Err(
                format!("expected arguments that name something to measure, got {}", self.filters.join(" ")).into()
            );
        }
        results_table::print(&self.results);
        let folder = folder();
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let file = folder.join(format!("{}.json", self.results.bench));
        self.results.write(&file)?;
        say!("{}", file.display());
        for plot in plot::write(&self.results, &folder)? {
            say!("{}", plot.display());
        }
        Ok(())
    }
}

fn run(
    how: &How,
    request: &Request,
    measure: impl FnOnce(&How) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    if let How::Peer(peer) = how { contestants::ask(peer, request) } else { measure(how) }
}

fn measurement(contestant: &Contestant, request: &Request, outcome: Outcome) -> Measurement {
    Measurement {
        operation: request.operation.clone(),
        implementation: contestant.implementation.clone(),
        place: contestant.place.to_owned(),
        distribution: request.distribution.clone(),
        log_n: request.log_n,
        outcome,
    }
}

/// Returns the name of the device that a contestant runs on.
fn name(how: &How) -> String {
    match how {
        How::Ours(accelerator) => {
            let names: Vec<&str> = accelerator.devices().iter().map(|device| device.info().name.as_str()).collect();
            names.join(", ")
        }
        How::Peer(peer) => peer.borrow().name.clone(),
        How::Cpu => "the host's cores".to_owned(),
        How::Absent(reason) => format!("absent: {reason}"),
    }
}

/// Parses `arguments` as the options of proofs of `circuit`.
///
/// # Errors
/// Returns an error that names the circuit if a variable gave a malformed option.
pub fn circuit_options<O: clap::Args>(circuit: &str, arguments: Vec<String>) -> Result<O, Failure> {
    let command = O::augment_args(clap::Command::new("bench").no_binary_name(true));
    let matches = command.try_get_matches_from(arguments).and_then(|matches| O::from_arg_matches(&matches));
    matches.map_err(|error| format!("variables for {circuit} as options of a proof: {error}").into())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("PROOFWARP_BENCH_OUT") {
        return folder.into();
    }
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| workspace().join("target"), PathBuf::from).join("bench")
}

/// Returns the root of the workspace.
pub fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package)
}
