//! Counts proofs, failures and times by circuit, and writes them as Prometheus reads them.

use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

use super::circuit::Circuit;
use super::failure::Failure;
use super::histogram::Histogram;

/// Holds the figures of a circuit.
#[derive(Debug, Default)]
pub(super) struct CircuitMetrics {
    /// Number of proofs sent.
    pub proofs: AtomicU64,
    /// Number of failures by reason, in the order of [`Failure::REASONS`].
    failures: [AtomicU64; Failure::REASONS.len()],
    /// Number of requests that wait or are being received.
    pub queued: AtomicU64,
    /// Time from a witness's arrival to the start of its proof.
    pub wait: Histogram,
    /// Time from the start of a proof, or of its batch, to its end.
    pub prove: Histogram,
}

impl CircuitMetrics {
    /// Counts `failure`.
    pub(super) fn count_failure(&self, failure: &Failure) {
        let index = Failure::REASONS.iter().position(|reason| *reason == failure.reason());
        if let Some(count) = index.and_then(|index| self.failures.get(index)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Counts requests that reach no circuit.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    refused: AtomicU64,
    not_found: AtomicU64,
}

impl Rejections {
    /// Counts a request by the `status` of its answer, if that is one of these.
    pub(super) fn count(&self, status: StatusCode) {
        let count = match status {
            StatusCode::FORBIDDEN => &self.refused,
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => &self.not_found,
            _ => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        const NAME: &str = "proofwarp_rejections_total";
        write_head(text, NAME, "counter", "Requests that reached no circuit, by reason.")?;
        [("refused", &self.refused), ("not_found", &self.not_found)].into_iter().try_for_each(|(reason, count)| {
            writeln!(text, "{NAME}{{reason=\"{reason}\"}} {}", count.load(Ordering::Relaxed))
        })
    }
}

/// Writes a metric's lines for one circuit, whose label is given.
type WriteLines = fn(&mut String, &str, &CircuitMetrics, &str) -> fmt::Result;

/// Names, kinds and descriptions of the metrics, and what writes their lines.
const METRICS: [(&str, &str, &str, WriteLines); 5] = [
    ("proofwarp_proofs_total", "counter", "Proofs sent.", |text, name, metrics, label| {
        writeln!(text, "{name}{{{label}}} {}", metrics.proofs.load(Ordering::Relaxed))
    }),
    ("proofwarp_failures_total", "counter", "Requests without a proof, by reason.", write_failures),
    ("proofwarp_queue_length", "gauge", "Requests that wait or are being received.", |text, name, metrics, label| {
        writeln!(text, "{name}{{{label}}} {}", metrics.queued.load(Ordering::Relaxed))
    }),
    ("proofwarp_wait_seconds", "histogram", "Time of a witness in the queue.", |text, name, metrics, label| {
        metrics.wait.write(text, name, label)
    }),
    ("proofwarp_prove_seconds", "histogram", "Time of a proof and its verification.", |text, name, metrics, label| {
        metrics.prove.write(text, name, label)
    }),
];

fn write_head(text: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn write_failures(text: &mut String, name: &str, metrics: &CircuitMetrics, label: &str) -> fmt::Result {
    Failure::REASONS.iter().zip(&metrics.failures).try_for_each(|(reason, count)| {
        writeln!(text, "{name}{{{label},reason=\"{reason}\"}} {}", count.load(Ordering::Relaxed))
    })
}

/// Returns the figures of `circuits`, and `rejections`, in Prometheus' text format.
///
/// # Errors
/// Returns an error if a figure cannot be formatted, which never happens.
pub(super) fn to_text(circuits: &[Arc<Circuit>], rejections: &Rejections) -> Result<String, fmt::Error> {
    let mut text = String::new();
    for (name, kind, help, write_lines) in METRICS {
        write_head(&mut text, name, kind, help)?;
        for circuit in circuits {
            write_lines(&mut text, name, &circuit.metrics, &label(&circuit.name))?;
        }
    }
    rejections.write(&mut text)?;
    Ok(text)
}

/// Returns the label of the circuit `name`.
fn label(name: &str) -> String {
    let escaped = name.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("circuit=\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        assert_eq!(label("a\"b\\c\nd"), r#"circuit="a\"b\\c\nd""#);
    }

    #[test]
    fn failures_are_counted_by_reason() {
        let metrics = CircuitMetrics::default();
        metrics.count_failure(&Failure::QueueFull(String::new()));
        metrics.count_failure(&Failure::Refused(String::new()));
        let mut text = String::new();
        write_failures(&mut text, "failures", &metrics, "circuit=\"a\"").expect("a text");
        assert!(text.contains("failures{circuit=\"a\",reason=\"queue_full\"} 1\n"), "{text}");
        assert_eq!(text.matches(" 1\n").count(), 1, "{text}");
    }
}
