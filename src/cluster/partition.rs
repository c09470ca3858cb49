//! Says which part of a vector each rank has, by numbers only.

use std::ops::Range;

use crate::{Error, Result};

/// Divides the range 0..length into consecutive ranges, one per rank. A range may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Exclusive end of each rank's range.
    ends: Vec<usize>,
}

impl Partition {
    /// Divides 0..`length` evenly among `ranks` ranks. The ranges differ in length by at most one, and the longer ones
    /// come first.
    pub fn even(length: usize, ranks: usize) -> Self {
        let end = |rank: usize| (rank + 1) * (length / ranks) + (length % ranks).min(rank + 1);
        Self { ends: (0..ranks).map(end).collect() }
    }

    /// Divides 0..`length` among the ranks in proportion to `speeds`, one per rank in any unit.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are no speeds, or all are zero.
    /// - [`Error::Invalid`]: a speed is negative or not finite.
    pub fn weighted(length: usize, speeds: &[f64]) -> Result<Self> {
        let total: f64 = speeds.iter().sum();
        if !(total > 0.0 && total.is_finite() && speeds.iter().all(|speed| *speed >= 0.0)) {
            let expected = "numbers of at least 0, some of them above";
            return Err(Error::invalid("cluster", "speeds of ranks", expected, format!("{speeds:?}")));
        }
        let mut before = 0.0;
        let mut ends: Vec<usize> = speeds
            .iter()
            .map(|speed| {
                before += speed;
                ((length as f64 * (before / total)).round() as usize).min(length)
            })
            .collect();
        // Rounding may leave the sum a little below its total.
        let last = speeds.iter().rposition(|speed| *speed > 0.0).unwrap_or(0);
        ends[last..].fill(length);
        Ok(Self { ends })
    }

    /// Returns the number of ranks.
    pub fn rank_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the length of the whole range, the sum over all ranks.
    pub fn length(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the range of `rank`, which is empty if there is no such rank.
    pub fn range(&self, rank: usize) -> Range<usize> {
        let end = self.ends.get(rank).copied().unwrap_or_else(|| self.length());
        let start = rank.checked_sub(1).map_or(0, |before| self.ends.get(before).copied().unwrap_or(end));
        start..end
    }

    /// Returns the ranges of all ranks, in the order of the ranks.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.rank_count()).map(|rank| self.range(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_partition(slices: &Partition, length: usize, ranks: usize) {
        assert_eq!((slices.rank_count(), slices.length()), (ranks, length));
        let end = slices.ranges().fold(0, |end, range| {
            assert_eq!(range.start, end);
            range.end
        });
        assert_eq!(end, length);
        assert!(slices.range(ranks).is_empty());
    }

    #[test]
    fn every_element_is_in_one_part() {
        for ranks in 1..9 {
            for length in 0..40 {
                let even = Partition::even(length, ranks);
                check_partition(&even, length, ranks);
                assert!(even.ranges().all(|range| range.len() == length / ranks || range.len() == length / ranks + 1));
                let speeds: Vec<f64> = (0..ranks).map(|rank| (rank % 3) as f64 + 0.1).collect();
                check_partition(&Partition::weighted(length, &speeds).expect("speeds"), length, ranks);
            }
        }
    }

    #[test]
    fn parts_are_as_long_as_ranks_are_fast() {
        let lengths = |speeds: &[f64]| -> Vec<usize> {
            Partition::weighted(100, speeds).expect("speeds").ranges().map(|range| range.len()).collect()
        };
        assert_eq!(lengths(&[1.0, 3.0]), [25, 75]);
        assert_eq!(lengths(&[2.0, 0.0, 2.0]), [50, 0, 50]);
        assert_eq!(lengths(&[1.0, 1.0, 0.0]), [50, 50, 0]);
        for speeds in [&[][..], &[0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY]] {
            assert!(Partition::weighted(5, speeds).is_err());
        }
    }
}
