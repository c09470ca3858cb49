//! Shows that something long is going on.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Runs `work` under a spinner with the elapsed time, and leaves a line with its duration. Without a terminal it prints
/// a line before `work` instead of the spinner.
///
/// # Errors
/// Those of `work`.
pub fn step<T, E>(name: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let bar = std::io::stderr().is_terminal().then(|| spinner(name));
    if bar.is_none() {
        eprintln!("… {name}");
    }
    let outcome = work();
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let mark = if outcome.is_ok() { "✔" } else { "✘" };
    eprintln!("{mark} {name}: {:.2?}", start.elapsed());
    outcome
}

fn spinner(name: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(name.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
