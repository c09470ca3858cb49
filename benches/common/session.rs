//! A run of a bench: what is measured, and where the numbers go.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::inputs::RANDOM;
use super::ours::{self, Contestant, How};
use super::results::{Measurement, Results, unique};
use super::{Failure, Outcome, Request, plot, table, timing, variables};

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
    /// # Errors
    /// A variable is not of its form, or none that a bench has.
    pub fn new(bench: &str) -> Result<Self, Failure> {
        variables::check_all()?;
        let sizes = variables::sizes(&variable("PROOFWARP_BENCH_LOG").unwrap_or_else(|| "10..16".to_owned()))?;
        let compared = match variable("PROOFWARP_BENCH_DISTRIBUTIONS") {
            Some(text) => Some(text.parse()?).filter(|log_n| *log_n > 0),
            None => sizes.last().copied(),
        };
        let limit = timing::seconds("PROOFWARP_BENCH_LIMIT", 20.0)?;
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
        let contestants: Vec<Contestant> = ours::ours(places).into_iter().chain(ours::peers()).collect();
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

    /// Keeps a number that was measured elsewhere, and shows it.
    pub fn record(&mut self, measurement: Measurement) {
        eprintln!("{}", table::line(&measurement));
        self.results.add(measurement);
    }

    /// Keeps a line on what the numbers were measured on.
    pub fn note(&mut self, line: String) {
        self.results.machine.push(line);
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
        table::print(&self.results);
        let folder = folder();
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let file = folder.join(format!("{}.json", self.results.bench));
        self.results.write(&file)?;
        println!("{}", file.display());
        for plot in plot::write(&self.results, &folder)? {
            println!("{}", plot.display());
        }
        Ok(())
    }
}

fn run(
    how: &How,
    request: &Request,
    measure: impl FnOnce(&How) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    if let How::Peer(peer) = how { ours::ask(peer, request) } else { measure(how) }
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

/// What a contestant runs on.
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

/// The folder with the lock file: a bench may be an adapter's.
fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|folder| folder.join("Cargo.lock").exists()).unwrap_or(package)
}
