//! A process that runs faults, and says how each run ends.

use std::any::Any;
use std::fs::read_to_string;
use std::io::{Write, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use proofwarp::Error;
use proofwarp::backend::Driver;

use crate::Arguments;
use crate::bench::{Bench, driver};
use crate::draw::{Drawn, Usual, draw};
use crate::faulty::{Fault, Live, Planned};
use crate::hook::Questions;
use crate::line::{Line, Outcome};
use crate::subject::{Group, Refusal};

/// Runs after which the device is made anew, and must have got everything back.
const RUNS_OF_A_BENCH: u64 = 100;
/// Runs in which the pool of the process's own device fills, 25: faults make it keep blocks of more sizes than usual runs.
const WARM_RUNS: u64 = 25;
/// Maximum of events, streams and blocks that the device gives out in these runs, beyond a usual run: 100. 53 were measured.
const WARM_MORE: usize = 100;
/// Maximum of events, streams and blocks that the device gives out in later runs, beyond the first ones: 40. A leak of one block in
/// every second run exceeds it after 80 runs.
const LIVE_MORE: usize = 40;

/// Runs the faults of the first group's seeds; whether all could be run.
pub fn run(arguments: &Arguments) -> bool {
    std::panic::set_hook(Box::new(|_| ()));
    let group = arguments.group[0];
    let runs = arguments.runs.unwrap_or(u64::MAX);
    let ran = driver().and_then(|driver| Worker::new(group, driver, arguments.loud)).and_then(|mut worker| {
        say(&Line::Ready);
        (0..runs).try_for_each(|run| worker.run(arguments.seed + run))
    });
    if let Err(refusal) = &ran {
        eprintln!("{refusal}");
        say(&Line::Gone);
    }
    ran.is_ok()
}

fn say(line: &Line) {
    println!("{line}");
    // Whoever listens is gone where that fails.
    let _ = stdout().flush();
}

/// The process's resident memory in KiB.
fn memory() -> u64 {
    let statm = read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4
}

struct Worker {
    group: Group,
    driver: Arc<dyn Driver>,
    /// Without silent faults.
    is_loud: bool,
    bench: Option<Bench>,
    usual: Vec<Usual>,
    /// Runs of the bench.
    runs: u64,
    /// What the device has given out after usual runs.
    start: Live,
    /// Maximum that the device has given out in the first runs.
    warm: Live,
}

impl Worker {
    fn new(group: Group, driver: Arc<dyn Driver>, is_loud: bool) -> Result<Self, Refusal> {
        let bench = Bench::new(group, &driver)?;
        let usual = (0..bench.subjects.len()).map(|subject| bench.usual(subject)).collect::<Result<_, _>>()?;
        let warm = bench.faults.live();
        Ok(Self { group, driver, is_loud, bench: Some(bench), usual, runs: 0, start: warm, warm })
    }

    /// The bench, made anew where there is none.
    fn bench(&mut self) -> Result<&Bench, Refusal> {
        if self.bench.is_none() {
            self.bench = Some(Bench::new(self.group, &self.driver)?);
            self.runs = 0;
        }
        self.bench.as_ref().ok_or_else(|| Refusal::Other("no bench".to_owned()))
    }

    fn run(&mut self, seed: u64) -> Result<(), Refusal> {
        let (usual, is_loud) = (self.usual.clone(), self.is_loud || self.group.is_global());
        let bench = self.bench()?;
        let drawn = draw(seed, &usual, &vec![!is_loud; usual.len()]);
        let subject = bench.subjects[drawn.subject].name();
        let subject = format!("{subject}{}", if drawn.is_forced { ", forced" } else { "" });
        say(&Line::Start { seed, subject, faults: described(&drawn) });
        let ((mut outcome, mut detail), fired) = outcome(bench, &drawn);
        let (after, is_gone) = self.after(&drawn, &fired);
        if let (Some((bad, why)), true) = (after, is_harmless(outcome)) {
            (outcome, detail) = (bad, format!("{why}; the run itself: {detail}"));
        }
        say(&Line::End { outcome, fired: fired.len(), memory: memory(), detail });
        if is_gone { Err(Refusal::Other("the device does not work any more".to_owned())) } else { Ok(()) }
    }

    /// What a run leaves behind: an outcome where that is something bad, and whether nothing works any more.
    fn after(&mut self, drawn: &Drawn, fired: &[Planned]) -> (Option<(Outcome, String)>, bool) {
        self.runs += 1;
        let has_silent = fired.iter().any(|planned| planned.fault.is_silent());
        let is_looked_at = has_silent || self.group == Group::Sumcheck || self.runs.is_multiple_of(4);
        let bench = self.bench.as_ref().filter(|_| is_looked_at);
        let well = bench.map_or(Ok(()), |bench| bench.is_well(drawn.subject, has_silent));
        let is_global = self.group.is_global();
        let (mut bad, mut is_gone) = (None, false);
        if let Err(refusal) = &well {
            // A bit that was changed may be one of a key or of a table that stay on the device.
            if !has_silent {
                bad = Some((Outcome::After, format!("the next run: {refusal}")));
            }
            is_gone = is_global;
        }
        if !is_global && (well.is_err() || self.runs >= RUNS_OF_A_BENCH) {
            let left = self.bench.take().map_or_else(Live::default, Bench::end);
            if left != Live::default() {
                bad = Some((Outcome::Leak, format!("{left:?} left in the end")));
            }
            is_gone = well.is_err() && self.bench().and_then(|bench| bench.is_well(drawn.subject, false)).is_err();
        }
        if is_global && bad.is_none() {
            bad = self.grown().map(|what| (Outcome::Leak, what));
        }
        (bad, is_gone)
    }

    /// Returns what the process's own device has given out, if that has grown beyond the first runs, or beyond usual runs while
    /// these last.
    fn grown(&mut self) -> Option<String> {
        let live = self.bench.as_ref()?.faults.live();
        let (before, most) = if self.runs <= WARM_RUNS { (self.start, WARM_MORE) } else { (self.warm, LIVE_MORE) };
        if self.runs <= WARM_RUNS {
            self.warm = self.warm.max(live);
        }
        let counts = |live: Live| [live.events, live.pinned, live.streams, live.memories as u64];
        let mut pairs = counts(live).into_iter().zip(counts(before));
        let has_grown = pairs.any(|(now, before)| now.saturating_sub(before) > most as u64);
        has_grown.then(|| format!("{live:?}, before {before:?}"))
    }
}

fn is_harmless(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Valid | Outcome::Error | Outcome::Unchecked)
}

/// Faults by their names and calls, in the order in which they are planned.
fn described(drawn: &Drawn) -> String {
    let fault = |planned: &Planned| format!("{:?}@{}", planned.fault, planned.at);
    let stop = drawn.stop_after.map(|questions| format!("Stop@{questions}"));
    drawn.planned.iter().map(fault).chain(stop).collect::<Vec<_>>().join(" ")
}

/// A run of faults, and those that struck.
fn outcome(bench: &Bench, drawn: &Drawn) -> ((Outcome, String), Vec<Planned>) {
    let questions = Questions::new(drawn.stop_after);
    if drawn.planned.iter().any(|planned| matches!(planned.fault, Fault::Allocation | Fault::Memory)) {
        // What is free in the device's pool would serve.
        bench.device.trim();
    }
    bench.faults.plan(drawn.planned.clone());
    let proved = catch_unwind(AssertUnwindSafe(|| bench.prove(drawn.subject, drawn.is_forced, &questions)));
    let (mut fired, _) = bench.faults.end();
    let has_silent = fired.iter().any(|planned| planned.fault.is_silent());
    let is_checked = bench.subjects[drawn.subject].is_checked();
    let outcome = match proved {
        Err(panic) => {
            let text = text_of(&*panic);
            let is_stated = bench.subjects[drawn.subject].may_panic_with(&text);
            (if is_stated { Outcome::Error } else { Outcome::Panic }, text)
        }
        Ok(Ok(true)) => (Outcome::Valid, String::new()),
        Ok(Ok(false)) if has_silent && !is_checked => (Outcome::Unchecked, String::new()),
        Ok(Ok(false)) => (Outcome::Invalid, String::new()),
        Ok(Err(Refusal::Engine(error @ Error::Invalid { .. }))) if !bench.subjects[drawn.subject].uploads() => {
            (Outcome::Blames, error.to_string())
        }
        Ok(Err(Refusal::Engine(error @ Error::Aborted))) if !questions.has_stopped() => {
            (Outcome::FalseAbort, error.to_string())
        }
        Ok(Err(refusal)) => (Outcome::Error, refusal.to_string()),
    };
    if questions.has_stopped() {
        // An abort counts as a fault.
        fired.push(Planned { fault: Fault::Event, at: 0, random: 0 });
    }
    (outcome, fired)
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").replace(['\n', '\t'], " ")
}
