//! The benches' variables, looked at before there is any work.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use proofwarp::settings::table::{Form, VARIABLES};

use crate::{output, program};

/// Begins the names of variables that benches alone have.
const OWN: &str = "PROOFWARP_BENCH_";
/// Peers whose programs can be built.
const PEERS: [&str; 3] = ["stock", "sppark", "icicle"];
/// Binary logarithms of sizes that indices in kernels have room for.
const LOGARITHMS: RangeInclusive<u32> = 0..=32;

/// Checks variables by their names and values; others than the benches' are left alone.
///
/// # Errors
/// One is not of its form, names what is not there, or is none that a bench has; the text names it.
pub fn check<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<(), String> {
    variables.into_iter().try_for_each(|(name, value)| of_its_form(name, value).map_err(|e| format!("{name}: {e}")))
}

/// [`check`] of the process's own.
///
/// # Errors
/// As there.
pub fn check_all() -> Result<(), String> {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let all: Vec<_> = std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    check(all.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

fn of_its_form(name: &str, value: &str) -> Result<(), String> {
    match name.strip_prefix(OWN) {
        Some("LOG") => sizes(value).map(drop),
        Some("DISTRIBUTIONS") => logarithm(value).map(drop),
        Some("SECONDS" | "LIMIT") => seconds(value).map(drop),
        Some("OUT") => output::check_folder(Path::new(value)),
        Some(_) if form(name).is_none() => Err(format!("no bench has this variable: expected one of {}", own())),
        None if name == "PROOFWARP_PEERS" => value.split(',').try_for_each(peer),
        None if form(name) == Some(Form::Programs) => {
            value.split(',').try_for_each(|path| program::check(Path::new(path)))
        }
        _ => Ok(()),
    }
}

/// Returns the form of a variable's value, if there is such a variable.
fn form(name: &str) -> Option<Form> {
    VARIABLES.iter().find(|variable| variable.name == name).map(|variable| variable.form)
}

/// The names of the benches' own, as text.
fn own() -> String {
    let names = VARIABLES.iter().filter_map(|variable| variable.name.strip_prefix(OWN));
    format!("{OWN}{{{}}}", names.collect::<Vec<_>>().join(","))
}

fn peer(name: &str) -> Result<(), String> {
    let known = name.trim().is_empty() || PEERS.contains(&name.trim());
    if known { Ok(()) } else { Err(format!("expected some of {}, got {name}", PEERS.join(", "))) }
}

fn logarithm(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| LOGARITHMS.contains(number));
    number.ok_or_else(|| format!("expected a number up to {}, got {text}", LOGARITHMS.end()))
}

/// The binary logarithms of FIRST..LAST, inclusive, in steps of two.
///
/// # Errors
/// The text is no such range.
pub fn sizes(text: &str) -> Result<Vec<u32>, String> {
    let ends = text.split_once("..").ok_or_else(|| format!("expected FIRST..LAST, got {text}"))?;
    let (first, last) = (logarithm(ends.0)?, logarithm(ends.1.trim_start_matches('='))?);
    if first > last {
        return Err(format!("expected FIRST..LAST with a first no larger than the last, got {text}"));
    }
    Ok((first..=last).step_by(2).collect())
}

/// A time.
///
/// # Errors
/// The text is no number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    number.ok_or_else(|| format!("expected seconds, got {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_looked_at_by_name() {
        for (name, value, expected) in [
            ("PROOFWARP_BENCH_LOG", "10", "expected FIRST..LAST, got 10"),
            ("PROOFWARP_BENCH_LOG", "ten..12", "expected a number up to 32, got ten"),
            ("PROOFWARP_BENCH_LOG", "12..10", "no larger than the last"),
            ("PROOFWARP_BENCH_DISTRIBUTIONS", "all", "expected a number up to 32, got all"),
            ("PROOFWARP_BENCH_SECONDS", "-1", "expected seconds, got -1"),
            ("PROOFWARP_BENCH_LIMIT", "soon", "expected seconds, got soon"),
            ("PROOFWARP_BENCH_OUT", "/dev/null/folder", "/dev/null/folder: "),
            ("PROOFWARP_BENCH_SECOND", "1", "no bench has this variable"),
            ("PROOFWARP_PEERS", "stock,spark", "expected some of stock, sppark, icicle, got spark"),
            ("PROOFWARP_STOCK_KERNELS", "/no/program", "/no/program: expected a program"),
            ("PROOFWARP_SUPRASEAL_GROTH16", "cargo,/no/program", "/no/program: expected a program"),
        ] {
            let error = check([("LOG", "debug"), (name, value)]).expect_err("refused");
            assert!(error.starts_with(&format!("{name}: ")) && error.contains(expected), "{error}");
        }
        let folder = std::env::temp_dir();
        let taken = [
            ("PROOFWARP_BENCH_LOG", "10..=14"),
            ("PROOFWARP_BENCH_LIMIT", "0.5"),
            ("PROOFWARP_BENCH_OUT", folder.to_str().expect("a name")),
            ("PROOFWARP_BENCH_CIRCUITS", "sha:14"),
            ("PROOFWARP_PEERS", ""),
            ("PROOFWARP_BACKEND", "cpu"),
        ];
        assert_eq!(check(taken), Ok(()));
        assert_eq!(sizes("10..15"), Ok(vec![10, 12, 14]));
    }
}
