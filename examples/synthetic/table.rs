//! Results as tables.

use std::time::Duration;

use blstrs::Scalar;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::groth16::Circuit;
use rayon::prelude::*;

use crate::measure::Outcome;
use crate::memory::Item;
use crate::system::System;

/// Billions of bytes.
pub fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

/// Memory that is left.
pub fn available(bytes: u64) -> String {
    format!(", {:.2} GB available", gigabytes(bytes))
}

/// What the system is like.
pub fn system(system: &System, circuit: &Circuit<Scalar>) -> String {
    let [a, b, c] = system.matrices.each_ref().map(|matrix| matrix.nonzeros() as f64 / matrix.rows() as f64);
    let variables = system.values.len();
    let share = |count: usize| 100.0 * count as f64 / variables as f64;
    let small = |value: &&Scalar| **value == Scalar::ZERO || **value == Scalar::ONE;
    let bits = share(system.values.par_iter().filter(small).count());
    let (in_a, in_b) = (share(circuit.variables_of_a().len()), share(circuit.variables_of_b().len()));
    format!(
        "{} constraints, {variables} variables of which {} are inputs; a row has {a:.2}, {b:.2} and {c:.2} non-zeros; \
         {bits:.1} % of the variables are 0 or 1, {in_a:.1} % occur in A, {in_b:.1} % in B",
        circuit.constraint_count(),
        circuit.input_count()
    )
}

/// Memory that is going to be taken.
pub fn plan(items: &[Item], accelerator: &Accelerator) -> Table {
    let on_device = !accelerator.devices().is_empty();
    let mut table = new(&["memory, as planned", "host (GB)", "each device (GB)"]);
    for Item { name, host, device } in items {
        let device = if on_device { billions(*device) } else { String::new() };
        table.add_row([(*name).to_owned(), billions(*host), device]);
    }
    align(&mut table);
    table
}

/// Times and bytes.
pub fn outcome(outcome: &Outcome) -> String {
    let mut times = new(&["step", "time (ms)"]);
    for (name, time) in &outcome.steps {
        times.add_row([(*name).to_owned(), milliseconds(*time)]);
    }
    let (report, traffic) = (&outcome.report, &outcome.report.traffic);
    let rows = [
        (call(outcome.calls.len()), report.total),
        ("  compilation of kernels in it".to_owned(), traffic.compile),
        ("  uploads in it".to_owned(), traffic.upload),
        ("  kernels in it, streams added up".to_owned(), traffic.kernels),
        ("  downloads in it".to_owned(), traffic.download),
    ];
    for (name, time) in rows {
        times.add_row([name, milliseconds(time)]);
    }
    align(&mut times);
    let (backend, device) = (report.backend, &report.device);
    let proofs = outcome.verified;
    let verified = format!("{proofs} proofs verified: they are what the key's logarithms say that they must be");
    format!("{times}\n{}\n{verified}; made on {backend} ({device})", bytes(outcome))
}

/// Which call the report is of, where there were so many after the first.
fn call(further: usize) -> String {
    match further {
        0 => "the first call".to_owned(),
        _ => format!("median of {further} further calls"),
    }
}

fn bytes(outcome: &Outcome) -> Table {
    let mut table = new(&["memory, as measured", "GB"]);
    let traffic = &outcome.report.traffic;
    table.add_row(["uploads of a call".to_owned(), billions(traffic.bytes_up)]);
    table.add_row(["key on the devices".to_owned(), billions(outcome.key_bytes)]);
    table.add_row(["circuit on the devices".to_owned(), billions(outcome.circuit_bytes)]);
    for (number, peak) in outcome.device_peaks.iter().enumerate() {
        table.add_row([format!("peak of device {number}"), billions(*peak)]);
    }
    if let Some(peak) = outcome.host_peak {
        table.add_row(["peak of the host".to_owned(), billions(peak)]);
    }
    align(&mut table);
    table
}

fn billions(bytes: u64) -> String {
    format!("{:.3}", gigabytes(bytes))
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

fn new(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(Cell::new));
    table
}

/// All columns but the first to the right.
fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
