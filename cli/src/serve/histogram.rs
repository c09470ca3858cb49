//! Counts durations in buckets, as Prometheus reads them.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets in milliseconds: three a decade, from the smallest proof on a GPU to the largest on a
/// processor.
const BOUNDS_MS: [u64; 14] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000];

/// Counts durations by size, and adds them up.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// Durations up to each bound and above that before; the last counter has those above all bounds.
    counts: [AtomicU64; BOUNDS_MS.len() + 1],
    microseconds: AtomicU64,
}

impl Histogram {
    /// Adds `duration`.
    pub(super) fn record(&self, duration: Duration) {
        let bucket = BOUNDS_MS.iter().position(|bound| duration <= Duration::from_millis(*bound));
        self.counts[bucket.unwrap_or(BOUNDS_MS.len())].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(duration.as_micros() as u64, Ordering::Relaxed);
    }

    /// Writes the lines of the metric `name`. `label` is a label with its value.
    pub(super) fn write(&self, text: &mut String, name: &str, label: &str) -> fmt::Result {
        let mut total = 0;
        let bounds = BOUNDS_MS.iter().map(|bound| (*bound as f64 / 1e3).to_string());
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(&self.counts) {
            total += count.load(Ordering::Relaxed);
            writeln!(text, "{name}_bucket{{{label},le=\"{bound}\"}} {total}")?;
        }
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        writeln!(text, "{name}_sum{{{label}}} {seconds}\n{name}_count{{{label}}} {total}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let histogram = Histogram::default();
        for ms in [1, 3, 70_000] {
            histogram.record(Duration::from_millis(ms));
        }
        let mut text = String::new();
        histogram.write(&mut text, "seconds", "circuit=\"a\"").expect("a text");
        for line in [
            "seconds_bucket{circuit=\"a\",le=\"0.001\"} 1",
            "seconds_bucket{circuit=\"a\",le=\"0.002\"} 1",
            "seconds_bucket{circuit=\"a\",le=\"0.005\"} 2",
            "seconds_bucket{circuit=\"a\",le=\"60\"} 2",
            "seconds_bucket{circuit=\"a\",le=\"+Inf\"} 3",
            "seconds_sum{circuit=\"a\"} 70.004",
            "seconds_count{circuit=\"a\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
