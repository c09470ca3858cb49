//! Says which elements of a transform's vectors each rank has, by numbers only.

use crate::cluster::partition::Partition;

/// Describes which elements of a vector of 2^log_n elements each rank has. The elements are divided into classes by
/// their index modulo 2^count_log. A class has its elements in the order of their indices. A rank has consecutive
/// classes, and its slice is these classes one after another.
///
/// With one rank, there is one class, and the slice is the whole vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CyclicLayout {
    log_n: u32,
    count_log: u32,
    slices: Partition,
}

impl CyclicLayout {
    pub(super) fn new(log_n: u32, count_log: u32, slices: Partition) -> Self {
        Self { log_n, count_log, slices }
    }

    /// Returns the number of residue classes into which the elements are divided.
    pub fn class_count(&self) -> usize {
        1 << self.count_log
    }

    /// Returns the number of elements of each class.
    pub fn class_length(&self) -> usize {
        1 << self.class_length_log()
    }

    pub(super) fn class_length_log(&self) -> u32 {
        self.log_n - self.count_log
    }

    /// Returns the range of classes of each rank.
    pub fn slices(&self) -> &Partition {
        &self.slices
    }

    /// Returns the number of elements in the slice of `rank`.
    pub fn length(&self, rank: usize) -> usize {
        self.slices.range(rank).len() << self.class_length_log()
    }

    /// Returns the index, in the whole vector, of the element at `position` in the slice of `rank`.
    pub fn index(&self, rank: usize, position: usize) -> usize {
        let (class, number) = (position >> self.class_length_log(), position & (self.class_length() - 1));
        (number << self.count_log) + self.slices.range(rank).start + class
    }

    /// Returns the slice of `rank`, copied from the vector `whole`.
    pub fn part<T: Copy + Send + Sync>(&self, rank: usize, whole: &[T]) -> Vec<T> {
        use rayon::prelude::*;
        (0..self.length(rank)).into_par_iter().map(|position| whole[self.index(rank, position)]).collect()
    }
}

/// Describes how the coefficients and the values of a transform of 2^log_n elements, seen as a matrix, are distributed
/// over the ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClusterNttPlan {
    /// Layout of the coefficients: the classes are columns, by the index modulo the number of columns.
    pub coefficients: CyclicLayout,
    /// Layout of the values: the classes are rows, by the index modulo the number of rows.
    pub values: CyclicLayout,
}

impl ClusterNttPlan {
    /// Plans a transform of 2^log_n elements, with rows and columns divided evenly among `ranks` ranks. With one rank,
    /// the vector is one column.
    pub(super) fn new(log_n: u32, ranks: usize) -> Self {
        let columns_log = if ranks == 1 { 0 } else { log_n / 2 };
        let rows_log = log_n - columns_log;
        let classes = |log: u32| CyclicLayout::new(log_n, log, Partition::even(1 << log, ranks));
        Self { coefficients: classes(columns_log), values: classes(rows_log) }
    }
}

/// Describes a block of consecutive columns, which are transformed, transposed and sent in one step. Their number is a
/// power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnRange {
    /// Index of the block's first column, among the columns of all ranks.
    pub first: usize,
    /// Binary logarithm of the number of columns.
    pub count_log: u32,
}

impl ColumnRange {
    pub(super) fn count(&self) -> usize {
        1 << self.count_log
    }
}

/// Divides the columns of `rank` in `slices` into blocks of at most 2^most_log columns, in ascending order.
pub(super) fn split_columns(slices: &Partition, rank: usize, most_log: u32) -> Vec<ColumnRange> {
    let (mut range, mut blocks) = (slices.range(rank), Vec::new());
    while !range.is_empty() {
        let block = ColumnRange { first: range.start, count_log: range.len().ilog2().min(most_log) };
        range.start += block.count();
        blocks.push(block);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_at_one_place() {
        for (log_n, ranks) in (0..9).flat_map(|log_n| (1..8).map(move |ranks| (log_n, ranks))) {
            let plan = ClusterNttPlan::new(log_n, ranks);
            for classes in [&plan.coefficients, &plan.values] {
                let mut seen = vec![false; 1 << log_n];
                for rank in 0..ranks {
                    let part = classes.part(rank, &(0..1usize << log_n).collect::<Vec<_>>());
                    assert_eq!(part.len(), classes.length(rank));
                    for index in part {
                        assert!(!std::mem::replace(&mut seen[index], true));
                    }
                }
                assert!(seen.into_iter().all(|seen| seen));
            }
        }
        let one = ClusterNttPlan::new(5, 1);
        assert!((0..32).all(|i| one.coefficients.index(0, i) == i && one.values.index(0, i) == i));
    }

    #[test]
    fn blocks_cover_columns() {
        for (columns, ranks, most) in [(64, 7, 2), (64, 1, 3), (2, 3, 5), (1, 1, 0), (128, 3, 10)] {
            let slices = Partition::even(columns, ranks);
            for rank in 0..ranks {
                let end =
                    split_columns(&slices, rank, most).into_iter().fold(slices.range(rank).start, |end, block| {
                        assert!(block.first == end && block.count_log <= most);
                        end + block.count()
                    });
                assert_eq!(end, slices.range(rank).end);
            }
        }
    }
}
