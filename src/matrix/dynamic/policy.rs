//! Decides when a delta is merged, and describes a dynamic matrix for people.

use std::fmt;
use std::time::Duration;

/// Sets the number of changed entries above which they are merged automatically.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This fraction of the base's non-zeros.
    Fraction(f64),
    /// This number.
    Entries(usize),
    /// Never: only [`super::DynamicCsr::merge`] merges.
    Never,
}

/// Says when a delta is merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// More changes than this are merged by a thread, on a stream of its own. In a product, a delta costs its own
    /// non-zeros and a pass over its rows, so a small part of the base hardly counts.
    pub merge_above: Threshold,
    /// Up to this number of changes there is no automatic merge, because merging costs a pass over the base.
    pub at_least: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { merge_above: Threshold::Fraction(0.01), at_least: 1024 }
    }
}

impl Policy {
    /// Returns the number of changes above which a merge starts, for a base of `nonzeros`.
    pub(super) fn limit(&self, nonzeros: usize) -> usize {
        let limit = match self.merge_above {
            Threshold::Fraction(part) => (nonzeros as f64 * part.max(0.0)) as usize,
            Threshold::Entries(number) => number,
            Threshold::Never => usize::MAX,
        };
        limit.max(self.at_least)
    }
}

/// Describes a dynamic matrix and its merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicExplanation {
    /// Rows and columns.
    pub sizes: [usize; 2],
    /// Non-zeros of the base.
    pub nonzeros: usize,
    /// Changes that were appended since the base was made.
    pub changes: usize,
    /// Merges so far.
    pub merges: usize,
    /// Duration of the last merge.
    pub last_merge: Option<Duration>,
    /// Reason why the last automatic merge failed, if it did.
    pub failure: Option<String>,
    /// Changes above which the next automatic merge starts; `None` if none does.
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
