//! Results as tables.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::outcome::Outcome;
use crate::paths::Measured;
use crate::phases::Phase;

const PHASES: [&str; 8] =
    ["phase", "calls", "elements", "ran on", "time (ms)", "upload (ms)", "kernels (ms)", "download (ms)"];

/// What a way to prove took, a table or two.
pub fn measured(measured: &Measured) -> String {
    let Measured { outcome, phases: parts, steps } = measured;
    let mut text = format!("{}\n{}", outcome.engine, phases(outcome, parts));
    if !steps.is_empty() {
        let mut table = new(&PHASES);
        table.add_rows(steps.iter().map(phase_row));
        align(&mut table, 4..8);
        align(&mut table, 1..3);
        let _ = write!(text, "\nsteps of one proof, each alone on the first device (in a proof they overlap)\n{table}");
    }
    text
}

/// A row for each phase, then what is done on the host beside the engine's calls, and totals.
fn phases(outcome: &Outcome, phases: &[Phase]) -> Table {
    let mut table = new(&PHASES);
    table.add_row(host_row("synthesis", outcome.synthesis_ms));
    for phase in phases {
        table.add_row(phase_row(phase));
    }
    let engine: f64 = phases.iter().map(|phase| phase.ms).sum();
    let compile: f64 = phases.iter().map(|phase| phase.compile_ms).sum();
    if compile > 0.0 {
        table.add_row(host_row("  in them, compilation of kernels", compile));
    }
    table.add_row(host_row("the rest", (outcome.proving_ms - engine).max(0.0)));
    table.add_row(host_row("end of synthesis to proof", outcome.proving_ms));
    table.add_row(host_row("synthesis to proof", outcome.synthesis_ms + outcome.proving_ms));
    table.add_row(host_row("verification", outcome.verify_ms));
    align(&mut table, 4..8);
    align(&mut table, 1..3);
    table
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

/// A row for each way to prove, with how many times as fast as the last one it is.
pub fn comparison(outcomes: &[&Outcome]) -> Table {
    let mut table =
        new(&["", "ran on", "synthesis (ms)", "end of synthesis to proof (ms)", "ratio", "both (ms)", "ratio"]);
    let proving = |outcome: &Outcome| outcome.proving_ms;
    let both = |outcome: &Outcome| outcome.synthesis_ms + outcome.proving_ms;
    for outcome in outcomes {
        let ratio = |time: fn(&Outcome) -> f64| {
            outcomes.last().map_or_else(String::new, |last| format!("{:.2}×", time(last) / time(outcome)))
        };
        let names = [outcome.engine.clone(), outcome.ran_on.clone(), milliseconds(outcome.synthesis_ms)];
        let rest = [milliseconds(proving(outcome)), ratio(proving), milliseconds(both(outcome)), ratio(both)];
        table.add_row(names.into_iter().chain(rest));
    }
    align(&mut table, 2..7);
    table
}

/// What was verified, where it was.
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

fn new(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(Cell::new));
    table
}

fn align(table: &mut Table, columns: std::ops::Range<usize>) {
    for index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
