//! Results as tables.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, Table};

use super::outcome::{Outcome, Phase};
use crate::table::new;

const PHASES: [&str; 8] =
    ["phase", "calls", "elements", "ran on", "time (ms)", "upload (ms)", "kernels (ms)", "download (ms)"];

/// Returns the tables of the phases and of the steps of `outcome`.
pub fn measured(outcome: &Outcome) -> String {
    let mut text = format!("{}\n{}", outcome.engine, table(phases(outcome)));
    if !outcome.steps.is_empty() {
        let steps = table(outcome.steps.iter().map(phase_row));
        let _ = write!(text, "\nsteps of one proof, each alone on the first device (in a proof they overlap)\n{steps}");
    }
    text
}

fn table(rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = new(&PHASES, 4..8, rows);
    table.column_iter_mut().skip(1).take(2).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// Returns a row for each phase, then rows for the host's other work, then totals.
fn phases(outcome: &Outcome) -> Vec<Vec<String>> {
    let mut rows = vec![host_row("synthesis", outcome.synthesis_ms)];
    rows.extend(outcome.phases.iter().map(phase_row));
    let engine: f64 = outcome.phases.iter().map(|phase| phase.ms).sum();
    let compile: f64 = outcome.phases.iter().map(|phase| phase.compile_ms).sum();
    rows.extend((compile > 0.0).then(|| host_row("  in them, compilation of kernels", compile)));
    rows.push(host_row("the rest", (outcome.proving_ms - engine).max(0.0)));
    rows.push(host_row("end of synthesis to proof", outcome.proving_ms));
    rows.push(host_row("synthesis to proof", outcome.synthesis_ms + outcome.proving_ms));
    rows.push(host_row("verification", outcome.verify_ms));
    rows
}

fn phase_row(phase: &Phase) -> Vec<String> {
    let times = [phase.ms, phase.upload_ms, phase.kernels_ms, phase.download_ms];
    let place = if phase.unreported > 0 { "host, not reported".to_owned() } else { phase.backends.join(" and ") };
    let front = [phase.name.clone(), phase.operations.to_string(), phase.elements.to_string(), place];
    front.into_iter().chain(times.map(milliseconds)).collect()
}

fn host_row(name: &str, time: f64) -> Vec<String> {
    [name, "", "", "host"].map(str::to_owned).into_iter().chain([milliseconds(time)]).collect()
}

/// Returns a row for each way to prove, with how many times as fast as the last one it is.
pub fn comparison(outcomes: &[Outcome]) -> Table {
    let proving = |outcome: &Outcome| outcome.proving_ms;
    let both = |outcome: &Outcome| outcome.synthesis_ms + outcome.proving_ms;
    let row = |outcome: &Outcome| {
        let ratio = |time: fn(&Outcome) -> f64| {
            outcomes.last().map_or_else(String::new, |last| format!("{:.2}×", time(last) / time(outcome)))
        };
        let names = [outcome.engine.clone(), outcome.ran_on.clone(), milliseconds(outcome.synthesis_ms)];
        let rest = [milliseconds(proving(outcome)), ratio(proving), milliseconds(both(outcome)), ratio(both)];
        names.into_iter().chain(rest)
    };
    let header = ["", "ran on", "synthesis (ms)", "end of synthesis to proof (ms)", "ratio", "both (ms)", "ratio"];
    new(&header, 2..7, outcomes.iter().map(row))
}

/// Returns the number of verified proofs as a sentence.
pub fn verified(outcome: &Outcome) -> String {
    let Outcome { engine, verified, .. } = outcome;
    match verified {
        0 => format!("{engine}: its program does not say whether the proofs were verified"),
        1 => format!("{engine}: 1 proof verified by bellperson, the same in every run"),
        _ => format!("{engine}: {verified} proofs verified by bellperson, the same in every run"),
    }
}

fn milliseconds(time: f64) -> String {
    format!("{time:.2}")
}
