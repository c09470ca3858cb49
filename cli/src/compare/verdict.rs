//! States a comparison in a sentence.

use bench_support::plot::format_ratio;

use super::results::Comparison;

/// Returns a sentence on the largest size of the first operation, such as "proofwarp is 12 × faster than ec-gpu-gen
/// 0.7.1 (CPU) on this NVIDIA H200 (MSM bls12_381_g1, 2^20)". Returns `None` if nothing was measured beside proofwarp.
///
/// The peer is the first one, which is stock. Of proofwarp's own implementations the sentence takes the last one, which
/// starts from the host or as a process, as peers do.
pub fn sentence(comparison: &Comparison) -> Option<String> {
    let operation = *comparison.operations().first()?;
    let names = comparison.implementations(operation);
    let is_ours = |name: &&&str| name.starts_with("proofwarp");
    let ours = names.iter().rfind(is_ours)?;
    let peer = names.iter().find(|name| !is_ours(name))?;
    let time = |name: &str, log| comparison.find(operation, name, log).map(|found| found.milliseconds);
    let both = |log| Some((log, time(peer, log)? / time(ours, log)?));
    let (log, gain) = comparison.logs(operation).into_iter().rev().find_map(both)?;
    let (peer, machine, operation) = (bracketed(peer), machine(comparison), capitals(operation));
    let ratio = if gain < 1.0 {
        format!("proofwarp takes {} as long as {peer}", format_ratio(1.0 / gain))
    } else {
        format!("proofwarp is {} faster than {peer}", format_ratio(gain))
    };
    Some(format!("{ratio} on this {machine} ({operation}, 2^{log})"))
}

/// Returns the part of `name` before its first comma.
fn short(name: &str) -> &str {
    name.split(',').next().unwrap_or(name)
}

/// Returns `name` with the part behind its first comma, such as what ran it, in brackets.
fn bracketed(name: &str) -> String {
    name.split_once(", ").map_or_else(|| name.to_owned(), |(name, how)| format!("{name} ({how})"))
}

/// Returns the name of the first device, or "machine" without a device.
fn machine(comparison: &Comparison) -> &str {
    let device = comparison.environment("device").next();
    device.map_or("machine", |device| device.split(" (").next().unwrap_or(device))
}

/// Returns `operation` without what it spans, with the usual capitals.
fn capitals(operation: &str) -> String {
    let known = [("msm", "MSM"), ("ntt", "NTT"), ("groth16", "Groth16")];
    let (name, rest) = short(operation).split_once(' ').unwrap_or((operation, ""));
    let name = known.iter().find(|(known, _)| *known == name).map_or(name, |(_, capitals)| *capitals);
    format!("{name} {rest}").trim_end().to_owned()
}
