//! Starts workers, one after another where one ends, and sums up what they say.

use std::env::current_exe;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::Arguments;
use crate::line::{Line, Outcome};
use crate::subject::Group;
use crate::table::{Ended, table, words};

/// A worker compiles kernels and makes keys before its first run.
const UNTIL_READY: Duration = Duration::from_secs(400);
/// KiB by which a worker may grow from its second quarter to its last.
const GROWTH_KIB: u64 = 48 << 10;
/// A group of which no fault has struck in so many runs does not run on the device.
const RUNS_IN_VAIN: usize = 50;
/// A worker of fewer runs is not judged by its growth.
const RUNS_TO_JUDGE: usize = 100;

/// Runs all groups and prints what came of it; whether nothing is bad.
pub fn run(arguments: &Arguments) -> bool {
    let groups = if arguments.group.is_empty() { Group::value_variants().to_vec() } else { arguments.group.clone() };
    let shares: usize = groups.iter().map(|group| group.share()).sum();
    let (start, left) = (Instant::now(), Mutex::new(groups.iter().copied()));
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let all = Mutex::new((Vec::new(), Vec::new()));
    thread::scope(|scope| {
        for _ in 0..arguments.side_by_side.max(1) {
            scope.spawn(|| {
                while let Some(group) = next() {
                    let faults = (arguments.faults * group.share()).div_ceil(shares);
                    let (runs, complaints) = Supervised::new(arguments, group, faults).run();
                    if let Ok(mut all) = all.lock() {
                        all.0.extend(runs);
                        all.1.extend(complaints);
                    }
                }
            });
        }
    });
    let (runs, complaints) = all.into_inner().unwrap_or_default();
    report(&runs, &complaints, start.elapsed())
}

fn report(runs: &[Ended], complaints: &[String], time: Duration) -> bool {
    for (text, times) in words(runs) {
        println!("{times:6} × {text}");
    }
    println!("{}", table(runs));
    let bad: Vec<&Ended> = runs.iter().filter(|run| run.is_bad()).collect();
    for Ended { seed, group, subject, faults, outcome, detail, .. } in &bad {
        println!("{outcome}: --group {group} --seed {seed} --runs 1: {subject}: {faults}: {detail}");
    }
    for complaint in complaints {
        println!("{complaint}");
    }
    let faults: usize = runs.iter().map(|run| run.fired).sum();
    println!(
        "{faults} faults in {} runs, {:.0} s: {} bad, {} complaints",
        runs.len(),
        time.as_secs_f64(),
        bad.len(),
        complaints.len()
    );
    bad.is_empty() && complaints.is_empty() && faults > 0
}

/// A group's runs.
struct Supervised<'a> {
    arguments: &'a Arguments,
    group: Group,
    /// Faults that are to strike.
    faults: usize,
    seed: u64,
    runs: Vec<Ended>,
    complaints: Vec<String>,
}

/// A worker that runs.
struct Running {
    child: Child,
    lines: Receiver<Line>,
    _folder: tempfile::TempDir,
}

impl Running {
    fn next(&self, time: Duration) -> Result<Line, RecvTimeoutError> {
        self.lines.recv_timeout(time)
    }

    /// Ends it: how it ended.
    fn end(mut self) -> String {
        let _ = self.child.kill();
        self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

fn lines_of(out: ChildStdout) -> Receiver<Line> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // Others may print on the same output.
        let lines = BufReader::new(out).lines().map_while(Result::ok).filter_map(|line| line.parse().ok());
        for line in lines {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl<'a> Supervised<'a> {
    fn new(arguments: &'a Arguments, group: Group, faults: usize) -> Self {
        Self { arguments, group, faults, seed: arguments.seed, runs: Vec::new(), complaints: Vec::new() }
    }

    fn run(mut self) -> (Vec<Ended>, Vec<String>) {
        let mut failures = 0;
        while self.is_left() && failures < 3 {
            let before = self.runs.len();
            match self.start() {
                Ok(running) => self.watch(running),
                Err(error) => self.complaints.push(format!("{}: no worker: {error}", self.group)),
            }
            failures = if self.runs.len() == before { failures + 1 } else { 0 };
        }
        if self.runs.iter().all(|run| run.fired == 0) {
            self.complaints.push(format!("{}: no fault struck in {} runs", self.group, self.runs.len()));
        }
        (self.runs, self.complaints)
    }

    fn is_left(&self) -> bool {
        let is_in_vain = self.runs.len() > RUNS_IN_VAIN && self.runs.iter().all(|run| run.fired == 0);
        match self.arguments.runs {
            _ if is_in_vain => false,
            Some(runs) => (self.runs.len() as u64) < runs,
            None => self.runs.iter().map(|run| run.fired).sum::<usize>() < self.faults,
        }
    }

    fn start(&self) -> std::io::Result<Running> {
        let mut command = Command::new(current_exe()?);
        let group = self.group.to_string();
        command.args(["--worker", "--group", &group, "--seed", &self.seed.to_string()]);
        if self.arguments.loud {
            command.arg("--loud");
        }
        // bellperson's lock files are in it: other processes' are no business of this one.
        let folder = tempfile::tempdir()?;
        command.env("TMPDIR", folder.path()).env("PROOFWARP_SUMCHECK_TAIL", "0");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or_else(|| std::io::Error::other("no output"))?;
        Ok(Running { child, lines: lines_of(out), _folder: folder })
    }

    /// Follows a worker until it ends, hangs, or has done enough.
    fn watch(&mut self, running: Running) {
        let (patience, mut memories) = (Duration::from_secs(self.arguments.patience), Vec::new());
        let mut under_way = None;
        let mut time = UNTIL_READY;
        let end = loop {
            if under_way.is_none() && !self.is_left() {
                break None;
            }
            match running.next(time) {
                Ok(Line::Ready) => time = patience,
                Ok(Line::Start { seed, subject, faults }) => under_way = Some((seed, subject, faults)),
                Ok(Line::End { outcome, fired, memory, detail }) => {
                    memories.push(memory);
                    self.ended(under_way.take(), outcome, fired, detail);
                }
                Ok(Line::Gone) => break None,
                Err(RecvTimeoutError::Timeout) => break Some(Outcome::Hang),
                Err(RecvTimeoutError::Disconnected) => break Some(Outcome::Crash),
            }
        };
        let status = running.end();
        match (end, under_way) {
            (Some(outcome), Some(run)) => self.ended(Some(run), outcome, 1, status),
            (Some(outcome), None) => {
                self.complaints.push(format!("{}: {outcome} outside of a run: {status}", self.group));
            }
            _ => {}
        }
        self.complaints.extend(growth(&memories).map(|growth| format!("{}: {growth}", self.group)));
    }

    fn ended(&mut self, run: Option<(u64, String, String)>, outcome: Outcome, fired: usize, detail: String) {
        let Some((seed, subject, faults)) = run else { return };
        self.seed = seed + 1;
        let group = self.group.to_string();
        self.runs.push(Ended { seed, group, subject, faults, fired, outcome, detail });
    }
}

/// What is wrong with a worker's memory over its runs.
fn growth(memories: &[u64]) -> Option<String> {
    let quarter = memories.len() / 4;
    let most = |part: &[u64]| part.iter().copied().max().unwrap_or(0);
    let (second, last) = (most(&memories[quarter..2 * quarter]), most(&memories[3 * quarter..]));
    let has_grown = memories.len() >= RUNS_TO_JUDGE && last > second + GROWTH_KIB;
    has_grown.then(|| format!("resident memory grew from {second} to {last} KiB in {} runs", memories.len()))
}
