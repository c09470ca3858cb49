//! The model's tables, and its fit to what was measured.

use std::path::{Path, PathBuf};

use super::Written;
use super::model::{ELEMENT, Job, Model};
use super::steps::Timed;
use crate::Failure;

const HOSTS: [f64; 5] = [1.0, 8.0, 16.0, 32.0, 64.0];
const GPUS: f64 = 8.0;
/// Gbit/s.
const NETWORKS: [f64; 3] = [25.0, 100.0, 400.0];
const PARTITIONS: f64 = 10.0;

/// Prints the fit to measurements, if there are any, and what the model says for clusters of H200.
pub fn print(files: &[PathBuf]) -> Result<(), Failure> {
    let runs = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    if !runs.is_empty() {
        fitted(&runs);
    }
    say!("predicted, not measured: hosts of {GPUS} H200, a rank for each GPU\n");
    for bits in NETWORKS {
        say!("| {bits} Gbit/s | {} |", HOSTS.map(|hosts| format!("{hosts} × {GPUS}")).join(" | "));
        say!("|---|{}", "---|".repeat(HOSTS.len()));
        lines(bits);
        say!("");
    }
    Ok(())
}

fn lines(bits: f64) {
    let model = Model::H200;
    let line = |name: &str, value: &dyn Fn(&Job) -> String| {
        let job = |hosts: f64| value(&Job { hosts, gpus: GPUS, network: bits * 1e9 / 8.0 });
        say!("| {name} | {} |", HOSTS.map(job).join(" | "));
    };
    for log in [28, 30, 32] {
        let points = f64::from(log).exp2();
        line(&format!("MSM 2^{log}, ms"), &|job| ms(model.msm(points, job)));
        line(&format!("MSM 2^{log}, scalars from one rank, ms"), &|job| ms(model.msm_from_root(points, job)));
    }
    line("NTT 2^30, ms", &|job| ms(model.ntt(30.0, job)));
    line("one proof of 2^27, ms", &|job| ms(model.proof(27.0, job)));
    line("proofs of 10 partitions a day", &|job| format!("{:.0}", model.proofs_a_day(PARTITIONS, job)));
}

fn ms(seconds: f64) -> String {
    format!("{:.1}", 1e3 * seconds)
}

fn read(path: &Path) -> Result<Written, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// Prints what the runs say of the parts, and the model beside each run.
fn fitted(runs: &[Written]) {
    let steps = || runs.iter().flat_map(|run| run.steps.iter().map(move |timed| (run.ranks as f64, timed)));
    let of = |name: &'static str| steps().filter(move |(_, timed)| timed.step == name);
    let points: Vec<_> =
        of("msm").map(|(ranks, timed)| (f64::from(timed.log).exp2() / ranks, longest(timed))).collect();
    let (msm, g1) = line_through(&points);
    let shares = || of("ntt").filter(|(ranks, _)| *ranks > 1.0).flat_map(|(_, timed)| &timed.ranks);
    let sent: f64 = shares().map(|share| share.sent).sum();
    let inside = shares().map(|share| share.messages).sum::<f64>() / sent.max(1.0);
    let model = Model { msm, g1, host: host(&of("ntt").collect::<Vec<_>>()), inside, ..Model::H200 };
    say!("fitted: msm {} ms and {:.2} ns a point, messages {:.2} GB/s of each rank", ms(msm), 1e9 * g1, rate(inside));
    say!("the host's memory {:.1} GB/s to devices and back, for all ranks together\n", rate(model.host));
    say!("| step | ranks | measured, ms | by the model, ms |\n|---|---|---|---|");
    for (ranks, timed) in steps() {
        // All ranks of these runs share one host.
        let job = Job { hosts: 1.0, gpus: ranks, network: f64::INFINITY };
        let predicted = match timed.step.as_str() {
            "msm" => model.msm(f64::from(timed.log).exp2(), &job),
            "ntt" => model.ntt(timed.log.into(), &job),
            _ => continue,
        };
        say!("| {} of 2^{} | {ranks} | {} | {} |", timed.step, timed.log, ms(timed.seconds), ms(predicted));
    }
    say!("");
}

/// Converts seconds a byte to GB/s.
fn rate(byte: f64) -> f64 {
    1e-9 / byte.max(1e-12)
}

/// Seconds a byte of all ranks of one host, by the longest work of each transform: one rank's vector goes to the device and back
/// once, that of several once for each dimension.
fn host(ntts: &[(f64, &Timed)]) -> f64 {
    let byte = |(ranks, timed): &(f64, &Timed)| {
        let passes = if *ranks > 1.0 { 2.0 } else { 1.0 };
        longest(timed) / (passes * ELEMENT * f64::from(timed.log).exp2())
    };
    ntts.iter().map(byte).sum::<f64>() / (ntts.len() as f64).max(1.0)
}

/// The longest work of a rank.
fn longest(timed: &Timed) -> f64 {
    timed.ranks.iter().map(|share| share.work).fold(0.0, f64::max)
}

/// Least squares of y = a + b·x, a and b not below zero.
fn line_through(points: &[(f64, f64)]) -> (f64, f64) {
    let n = (points.len() as f64).max(1.0);
    let mean = |value: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let (xy, xx) = (mean(&|p| (p.0 - x) * (p.1 - y)), mean(&|p| (p.0 - x).powi(2)));
    if xx > 0.0 && xy > 0.0 && y > xy / xx * x {
        return (y - xy / xx * x, xy / xx);
    }
    // One size only, or no constant part: all of it is points.
    (0.0, if x > 0.0 { y / x } else { 0.0 })
}
