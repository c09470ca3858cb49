//! Secrets that a process has in its memory after an operation, with all handles dropped.
//!
//! Each operation runs in a process of its own, whose vectors are cleared before they are freed. The process then waits while
//! the test reads all of its memory: heap, stacks, and on PoCL the device's memory and that of its work-items. Stacks keep the
//! last values of a thread. Those of PoCL's threads, the larger ones, have the private memory of its last work-items.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod groth16;
mod memory;
mod numbers;
mod printed;
mod subjects;

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use proofwarp::{Accelerator, BackendKind};

use crate::memory::{Found, Owner, scan};
use crate::numbers::Patterns;
use crate::subjects::{SUBJECTS, Subject};

/// Names the operation that a process of this program runs.
const SUBJECT: &str = "PROOFWARP_TEST_SUBJECT";
/// What such a process says once the operation is over.
const OVER: &str = "the operation is over";
/// Secrets of an operation.
pub const COUNT: usize = 512;
/// Maximum secrets that the stack of one thread may still have: the last values that the thread worked on.
const LAST: usize = COUNT / 16;

/// The program's part in a process that another test started.
#[test]
fn operation() {
    let Ok(name) = std::env::var(SUBJECT) else { return };
    let subject = SUBJECTS.iter().find(|subject| subject.name == name).expect("an operation");
    (subject.run)(&Accelerator::from_env().expect("a backend"));
    println!("{OVER}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("the other process lets this one go");
}

/// A process that has run an operation, and waits.
struct Process {
    child: Child,
    /// Open for as long as it writes.
    _lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(subject: &str, backend: BackendKind) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "operation", "--nocapture", "--test-threads", "1"]);
        command.env(SUBJECT, subject).env("PROOFWARP_BACKEND", backend.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let over = lines.by_ref().map_while(Result::ok).any(|line| line.contains(OVER));
        assert!(over, "{subject} on {backend} failed");
        Self { child, _lines: lines }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take().map(|mut pipe| pipe.write_all(b"\n")));
        drop(self.child.wait());
    }
}

fn found(subject: &Subject, backend: BackendKind) -> Found {
    let process = Process::start(subject.name, backend);
    let found = scan(process.child.id(), &Patterns::of(&(subject.secrets)())).expect("the process's memory");
    println!("{} on {backend}: {found}", subject.name);
    found
}

/// Memory that is kept on purpose is found.
#[test]
fn secrets_that_are_kept_are_found() {
    let kept = SUBJECTS.iter().find(|subject| subject.name == "kept").expect("it is there");
    assert_eq!(found(kept, BackendKind::Cpu).of(Owner::Heap), COUNT);
}

#[test]
fn nothing_is_left() {
    let mut left = Vec::new();
    for accelerator in common::accelerators_and_cpu() {
        let backend = accelerator.forced().expect("it is forced");
        for subject in SUBJECTS.iter().filter(|subject| subject.name != "kept") {
            let found = found(subject, backend);
            if found.of(Owner::Heap) > subject.may_keep(backend) || found.max_of_one_stack() > LAST {
                left.push(format!("{} on {backend}: {found}", subject.name));
            }
        }
    }
    assert!(left.is_empty(), "secrets in memory:\n{}", left.join("\n"));
}
