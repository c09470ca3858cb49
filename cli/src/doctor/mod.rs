//! Diagnoses what this machine proves on, and why.
//!
//! [`probe`] collects facts, and [`diagnose`] says what they mean and what to do. [`adapters`] says what each adapter
//! would use, [`selftest`] computes, and [`print`] shows it all.

mod adapters;
mod diagnose;
mod finding;
mod print;
mod probe;
mod project;
mod selftest;

use std::io::Write;

use anyhow::Result;
use proofwarp::Accelerator;
use serde::Serialize;

use crate::cli::Doctor;
use crate::output;
use adapters::Adapter;
use finding::{Finding, Level};
use probe::Facts;
use project::Project;
use selftest::Tested;

/// Holds everything that `proofwarp doctor` reports.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    version: &'static str,
    summary: String,
    exit_code: u8,
    findings: Vec<Finding>,
    facts: Facts,
    adapters: Vec<Adapter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<Project>,
    self_test: Vec<Tested>,
}

/// Diagnoses the machine, prints the result, and returns the exit code.
pub fn run(options: &Doctor) -> Result<u8> {
    let project = options.project.as_deref().map(Project::read).transpose()?;
    let diagnosis = diagnose(options, project);
    match options.json {
        true => {
            let text = serde_json::to_string_pretty(&diagnosis)?;
            output::print(|out| writeln!(out, "{text}"))?;
        }
        false => output::print(|out| print::print(&diagnosis, out))?,
    }
    Ok(diagnosis.exit_code)
}

fn diagnose(options: &Doctor, project: Option<Project>) -> Diagnosis {
    let accelerator = Accelerator::from_env();
    let facts = Facts::look(&accelerator);
    let mut findings = diagnose::diagnose(&facts);
    let self_test = match (&accelerator, options.no_self_test) {
        (Ok(accelerator), false) => selftest::run(accelerator, options.log, options.all_backends),
        _ => Vec::new(),
    };
    findings.extend(diagnose::self_test(&self_test));
    findings.extend(project.iter().flat_map(Project::findings));
    let exit_code = findings.iter().map(|finding| finding.level.exit_code()).max().unwrap_or(0);
    let version = env!("CARGO_PKG_VERSION");
    let summary = summary(&facts, &findings, &self_test);
    Diagnosis { version, summary, exit_code, adapters: adapters::all(&facts), project, findings, facts, self_test }
}

/// Returns one line that says where proofs are made, and what is wrong.
fn summary(facts: &Facts, findings: &[Finding], tested: &[Tested]) -> String {
    let place = match facts.devices.as_slice() {
        _ if facts.accelerator.is_some() => "proofs cannot be made".to_owned(),
        [] => "proofs are made on the CPU".to_owned(),
        [one] => format!("proofs are made on {} ({})", one.name, one.backend),
        [one, more @ ..] => format!("proofs are made on {} ({}) and {} more", one.name, one.backend, more.len()),
    };
    let count = |level| findings.iter().filter(|finding| finding.level == level).count();
    let tests = match tested.len() {
        0 => "no self-test".to_owned(),
        tests => format!("{} of {tests} self-tests right", tested.iter().filter(|test| test.is_right()).count()),
    };
    format!("{place}; {tests}; {} faults, {} warnings", count(Level::Fault), count(Level::Warning))
}
