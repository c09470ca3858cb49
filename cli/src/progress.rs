//! Shows the current step and the time left: a bar on a terminal, a line before each step elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::say;

/// Displays the progress of a number of steps on standard error.
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
}

impl Progress {
    /// Starts the display, which expects `steps` steps.
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::new(steps);
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len}, {eta} left: {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, lines: !std::io::stderr().is_terminal() }
    }

    /// Returns a display that shows nothing.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), lines: false }
    }

    /// Adds `steps` to the number of expected steps.
    pub fn more(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    /// Runs `work` as the step `what`, and returns its result.
    pub fn step<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        self.bar.set_message(what.to_owned());
        if self.lines {
            say(what);
        }
        let result = work();
        self.bar.inc(1);
        result
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
