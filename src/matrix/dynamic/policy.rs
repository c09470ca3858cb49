//! Decides when a delta is merged, and describes a dynamic matrix for people.

use std::fmt;
use std::time::Duration;

/// Selects the number of changes above which an automatic merge starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This fraction of the number of non-zeros of the base matrix.
    Fraction(f64),
    /// This number of changes.
    Entries(usize),
    /// No automatic merge: only [`super::DynamicCsr::merge`] merges.
    Never,
}

/// Holds the conditions for an automatic merge of changes into the base matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// Number of changes above which a thread merges them, on a stream of its own. Before that, a product costs the
    /// non-zeros of the changes and a pass over their rows. For a small part of the base this is little.
    pub merge_above: Threshold,
    /// Number of changes up to which there is no automatic merge, because a merge costs a pass over the base.
    pub at_least: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { merge_above: Threshold::Fraction(0.01), at_least: 1024 }
    }
}

impl Policy {
    /// Returns the number of changes above which an automatic merge starts, for a base of `nonzeros` non-zeros.
    pub(super) fn limit(&self, nonzeros: usize) -> usize {
        let limit = match self.merge_above {
            Threshold::Fraction(part) => (nonzeros as f64 * part.max(0.0)) as usize,
            Threshold::Entries(number) => number,
            Threshold::Never => usize::MAX,
        };
        limit.max(self.at_least)
    }
}

/// Describes a dynamic matrix, its changes and its merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicExplanation {
    /// Number of rows and number of columns.
    pub sizes: [usize; 2],
    /// Number of non-zeros of the base matrix.
    pub nonzeros: usize,
    /// Number of changes since the base matrix was created.
    pub changes: usize,
    /// Number of completed merges.
    pub merges: usize,
    /// Duration of the last merge; `None` before the first.
    pub last_merge: Option<Duration>,
    /// Reason why the last automatic merge failed; `None` if it did not.
    pub failure: Option<String>,
    /// Number of changes above which the next automatic merge starts; `None` if none will.
    pub merge_above: Option<usize>,
}

impl fmt::Display for DynamicExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sizes: [rows, columns], nonzeros, changes, merges, last_merge, failure, merge_above } = self;
        write!(
            f,
            "dynamic csr, {rows} rows, {columns} columns: {nonzeros} non-zeros, {changes} changes, {merges} merges"
        )?;
        if let Some(time) = last_merge {
            write!(f, ", the last in {time:.3?}")?;
        }
        match merge_above {
            Some(number) => write!(f, "; the next above {number} changes")?,
            None => write!(f, "; none by itself")?,
        }
        failure.iter().try_for_each(|reason| write!(f, "; the last failed: {reason}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let limit = |merge_above, at_least| Policy { merge_above, at_least }.limit(10_000);
        assert_eq!(limit(Threshold::Fraction(0.01), 0), 100);
        assert_eq!(limit(Threshold::Fraction(0.01), 1024), 1024);
        assert_eq!(limit(Threshold::Entries(7), 0), 7);
        assert_eq!(limit(Threshold::Never, 0), usize::MAX);
        assert_eq!(limit(Threshold::Fraction(f64::NAN), 5), 5);
    }
}
