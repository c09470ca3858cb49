//! What is being done, and how long it will take: a bar on a terminal, a line a step elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::say;

/// A number of steps under way.
pub struct Progress {
    bar: ProgressBar,
    lines: bool,
}

impl Progress {
    /// So many steps.
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::new(steps);
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len}, {eta} left: {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, lines: !std::io::stderr().is_terminal() }
    }

    /// So many more steps are to come.
    pub fn more(&self, steps: u64) {
        self.bar.inc_length(steps);
    }

    /// Does a step.
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
