//! When a delta is merged, and what is there, for people.

use std::fmt;
use std::time::Duration;

/// So many changed entries are merged by themselves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// This part of the base's non-zeros.
    Fraction(f64),
    /// This number.
    Entries(usize),
    /// Never: by [`super::DynamicCsr::merge`] alone.
    Never,
}

/// When a delta is merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// More changes than this are merged by a thread, on a stream of its own. A product's delta costs its own non-zeros and a pass
    /// over its rows, so that a small part of the base hardly counts.
    pub merge_above: Threshold,
    /// Unless there are at most so many: merging costs a pass over the base.
    pub at_least: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { merge_above: Threshold::Fraction(0.01), at_least: 1024 }
    }
}

impl Policy {
    /// The number of changes above which there is a merge, for so many non-zeros.
    pub(super) fn limit(&self, nonzeros: usize) -> usize {
        let limit = match self.merge_above {
            Threshold::Fraction(part) => (nonzeros as f64 * part.max(0.0)) as usize,
            Threshold::Entries(number) => number,
            Threshold::Never => usize::MAX,
        };
        limit.max(self.at_least)
    }
}

/// What is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Rows and columns.
    pub sizes: [usize; 2],
    /// Non-zeros of the base.
    pub nonzeros: usize,
    /// Changes that were appended since the base was made.
    pub changes: usize,
    /// Merges so far.
    pub merges: usize,
    /// How long the last one took.
    pub last_merge: Option<Duration>,
    /// Why the last one by itself failed, if it did.
    pub failure: Option<String>,
    /// Changes above which the next merge starts by itself; none if none does.
    pub merge_above: Option<usize>,
}

impl fmt::Display for Explanation {
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
