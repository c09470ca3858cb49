//! Results as tables.

use std::time::Duration;

use blstrs::Scalar;
use comfy_table::Table;
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::groth16::Circuit;
use rayon::prelude::*;

use super::measure::Outcome;
use super::memory::Item;
use super::system::System;
use crate::table::new;

/// Converts `bytes` to gigabytes of 10^9 bytes.
pub fn gigabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e9
}

/// Formats `bytes` as available memory.
pub fn available(bytes: u64) -> String {
    format!(", {:.2} GB available", gigabytes(bytes))
}

/// Describes `system` and `circuit` by their constraints, variables, non-zeros and bits.
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

/// Returns a table of the planned memory, `items`.
pub fn plan(items: &[Item], accelerator: &Accelerator) -> Table {
    let on_device = !accelerator.devices().is_empty();
    let row = |Item { name, host, device }: &Item| {
        [(*name).to_owned(), billions(*host), if on_device { billions(*device) } else { String::new() }]
    };
    new(&["memory, as planned", "host (GB)", "each device (GB)"], 1..3, items.iter().map(row))
}

/// Returns the times and bytes of `outcome` as tables.
pub fn outcome(outcome: &Outcome) -> String {
    let (report, traffic) = (&outcome.report, &outcome.report.traffic);
    let steps = outcome.steps.iter().map(|(name, time)| ((*name).to_owned(), *time));
    let calls = [
        (call(outcome.calls.len()), report.total),
        ("  compilation of kernels in it".to_owned(), traffic.compile),
        ("  uploads in it".to_owned(), traffic.upload),
        ("  kernels in it, streams added up".to_owned(), traffic.kernels),
        ("  downloads in it".to_owned(), traffic.download),
    ];
    let times = new(&["step", "time (ms)"], 1..2, steps.chain(calls).map(|(name, time)| [name, milliseconds(time)]));
    let (backend, device) = (report.backend, &report.device);
    let proofs = outcome.verified;
    let verified = format!("{proofs} proofs verified: they are what the key's logarithms say that they must be");
    format!("{times}\n{}\n{verified}; made on {backend} ({device})", bytes(outcome))
}

/// Names the call that is reported: the first, or the median of the `further` calls after it.
fn call(further: usize) -> String {
    match further {
        0 => "the first call".to_owned(),
        _ => format!("median of {further} further calls"),
    }
}

fn bytes(outcome: &Outcome) -> Table {
    let known = [
        ("uploads of a call", outcome.report.traffic.bytes_up),
        ("key on the devices", outcome.key_bytes),
        ("circuit on the devices", outcome.circuit_bytes),
    ];
    let mut rows = known.map(|(name, bytes)| (name.to_owned(), bytes)).to_vec();
    let peaks = outcome.device_peaks.iter().enumerate();
    rows.extend(peaks.map(|(number, peak)| (format!("peak of device {number}"), *peak)));
    rows.extend(outcome.host_peak.map(|peak| ("peak of the host".to_owned(), peak)));
    new(&["memory, as measured", "GB"], 1..2, rows.into_iter().map(|(name, bytes)| [name, billions(bytes)]))
}

fn billions(bytes: u64) -> String {
    format!("{:.3}", gigabytes(bytes))
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}
