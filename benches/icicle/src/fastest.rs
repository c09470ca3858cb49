//! Chooses options by their times.

use std::fmt::Debug;
use std::time::Duration;

use bench_support::Failure;

/// Returns those of `options` that take the least time. Leaves out options that fail, and prints why.
pub fn find_fastest<O: Copy + Debug>(
    options: impl IntoIterator<Item = O>,
    mut time: impl FnMut(O) -> Result<Duration, Failure>,
) -> Result<O, Failure> {
    let mut best: Option<(Duration, O)> = None;
    for candidate in options {
        match time(candidate) {
            Ok(time) if best.is_some_and(|(least, _)| least <= time) => {}
            Ok(time) => best = Some((time, candidate)),
            Err(error) => eprintln!("icicle: left out: {candidate:?}: {error}"),
        }
    }
    best.map(|(_, options)| options).ok_or_else(|| "icicle: no options give the right result; see above".into())
}
