//! Which of the engine's reports belong to which phase of a Groth16 proof.

use std::collections::VecDeque;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use super::outcome::Phase;
use super::task::ms;
use bellperson::groth16::Parameters;
use blstrs::Bls12;
use proofwarp::{Report, report};

/// A report, and when its operation ended.
struct Seen {
    end: Instant,
    report: Report,
}

static SEEN: Mutex<Vec<Seen>> = Mutex::new(Vec::new());
/// Time that compiling or loading kernels took in all reports, including those of warm-up runs.
static COMPILED: Mutex<Duration> = Mutex::new(Duration::ZERO);

/// Starts to collect the engine's reports, if that has not been done.
pub fn collect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        report::observe(|report| {
            *COMPILED.lock().unwrap_or_else(PoisonError::into_inner) += report.traffic.compile;
            let seen = Seen { end: Instant::now(), report: report.clone() };
            SEEN.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
        });
    });
}

/// Returns the time that compiling or loading kernels took since [`collect`], or `None` if it took none. Timed runs
/// rarely include any of it.
pub fn compiled() -> Option<Duration> {
    Some(*COMPILED.lock().unwrap_or_else(PoisonError::into_inner)).filter(|time| !time.is_zero())
}

fn take_seen() -> Vec<Seen> {
    std::mem::take(&mut SEEN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Discards the reports collected so far.
pub fn clear() {
    drop(take_seen());
}

impl Phase {
    /// Returns the phase called `name` of the reports in `seen`.
    fn from_reports(name: &str, seen: &[Seen]) -> Self {
        let start = seen.iter().map(|seen| seen.end.checked_sub(seen.report.total).unwrap_or(seen.end)).min();
        let end = seen.iter().map(|seen| seen.end).max();
        let wall = start.zip(end).map_or(Duration::ZERO, |(start, end)| end - start);
        let sum = |time: fn(&Report) -> Duration| ms(seen.iter().map(|seen| time(&seen.report)).sum());
        Self {
            name: name.to_owned(),
            operations: seen.len(),
            elements: seen.iter().map(|seen| seen.report.elements).sum(),
            unreported: 0,
            backends: distinct(seen.iter().map(|seen| place(&seen.report))),
            ms: ms(wall),
            upload_ms: sum(|report| report.traffic.upload),
            kernels_ms: sum(|report| report.traffic.kernels),
            download_ms: sum(|report| report.traffic.download),
            compile_ms: sum(|report| report.traffic.compile),
            fallbacks: distinct(seen.iter().flat_map(|seen| seen.report.fallbacks.clone())),
        }
    }

    /// Adds `other`, a later part of the phase.
    fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.elements += other.elements;
        self.unreported += other.unreported;
        self.backends = distinct(self.backends.drain(..).chain(other.backends));
        self.ms += other.ms;
        self.upload_ms += other.upload_ms;
        self.kernels_ms += other.kernels_ms;
        self.download_ms += other.download_ms;
        self.compile_ms += other.compile_ms;
        self.fallbacks = distinct(self.fallbacks.drain(..).chain(other.fallbacks));
    }
}

/// Returns the backend and the device's name of `report`.
fn place(report: &Report) -> String {
    format!("{} ({})", report.backend, report.device)
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts.dedup();
    texts
}

/// Returns the phases of the `batch` proofs that bellperson made since the last [`clear`], in order.
///
/// bellperson calls the engine in a fixed order. A phase ends once its reports cover its number of elements, which
/// follows from `parameters`. So the calls may be spread over any number of devices.
pub fn take(parameters: &Parameters<Bls12>, batch: usize) -> Vec<Phase> {
    let seen = take_seen().into_iter().filter(|seen| seen.report.elements > 0);
    let (mut transforms, sums): (VecDeque<_>, VecDeque<_>) = seen.partition(|seen| is(seen, "ntt"));
    let (mut g2, mut g1): (VecDeque<_>, VecDeque<_>) = sums.into_iter().partition(|seen| is(seen, "msm bls12_381_g2"));
    let domain = parameters.h.len() + 1;
    let mut phases = Vec::new();
    for _ in 0..batch {
        phases.push(next("inverse NTT of A, B, C", &mut transforms, 3 * domain));
        phases.push(next("coset NTT of A, B, C", &mut transforms, 3 * domain));
        phases.push(next("inverse coset NTT of H", &mut transforms, domain));
    }
    phases.push(next("MSM H (G1)", &mut g1, batch * parameters.h.len()));
    phases.push(next("MSM L (G1)", &mut g1, batch * parameters.l.len()));
    for _ in 0..batch {
        phases.push(next("MSM A (G1)", &mut g1, parameters.a.len()));
        phases.push(next("MSM B (G1)", &mut g1, parameters.b_g1.len()));
    }
    phases.push(next("MSM B (G2)", &mut g2, batch * parameters.b_g2.len()));
    merge(phases)
}

/// Returns `report`, the only one of a batch on the resident pipeline, as a phase.
pub fn resident(report: &Report) -> Phase {
    Phase::from_reports(
        "the proofs, all steps overlapping, but their assembly",
        &[Seen { end: Instant::now(), report: report.clone() }],
    )
}

/// Merges the phases of each name into one. They keep the order in which their names first occur.
fn merge(phases: Vec<Phase>) -> Vec<Phase> {
    phases.into_iter().fold(Vec::new(), |mut merged: Vec<Phase>, phase| {
        match merged.iter_mut().find(|there| there.name == phase.name) {
            Some(there) => there.add(phase),
            None => merged.push(phase),
        }
        merged
    })
}

/// Lists the backends and devices that `phases` ran on.
pub fn places(phases: &[Phase]) -> String {
    distinct(phases.iter().flat_map(|phase| phase.backends.clone())).join(" and ")
}

fn is(seen: &Seen, prefix: &str) -> bool {
    seen.report.operation.starts_with(prefix)
}

/// Takes reports from the front of `seen` until they cover `elements`, and returns them as the phase `name`. If the
/// reports end before, `unreported` of the phase is the number of missing elements.
fn next(name: &str, seen: &mut VecDeque<Seen>, elements: usize) -> Phase {
    let mut taken = Vec::new();
    let mut missing = elements;
    while missing > 0
        && let Some(first) = seen.pop_front()
    {
        missing = missing.saturating_sub(first.report.elements);
        taken.push(first);
    }
    Phase { unreported: missing, ..Phase::from_reports(name, &taken) }
}
