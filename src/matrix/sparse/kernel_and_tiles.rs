//! Decides how work-items share a product, from the rows' lengths alone. Touches no device.

use std::fmt;

use rayon::prelude::*;

use crate::kernels::csr::{CSR_GROUP, CSR_IN_PLACE, CSR_LANES, CSR_TILE};
use crate::rayon_waits::install;

/// Maximum number of work-groups per launch.
const MAX_GROUPS: u32 = i32::MAX as u32;

/// Maximum length of rows for the scalar kernel, which has one work-item per row. A longer row makes neighbouring
/// work-items wait, and its entries are far from theirs in memory.
const SCALAR_LONGEST: u32 = 48;
/// Minimum mean length of rows for the scalar kernel. Shorter rows are read more evenly tile by tile.
const SCALAR_MEAN: u64 = 4;
/// Minimum [`Statistics::warp_efficiency`], in percent, for which the scalar kernel is chosen.
const SCALAR_BUSY: u64 = 80;
/// Minimum number of rows for the scalar kernel, so that one work-item per row fills a device.
const SCALAR_ROWS: u64 = 1 << 14;
/// Minimum mean length of rows for the vector kernel, so that each of the 32 work-items per row gets 4 non-zeros.
const VECTOR_MEAN: u64 = 4 * CSR_LANES as u64;
/// Maximum ratio of the longest row to the mean for the vector kernel, so that work-groups end at about the same time.
const VECTOR_LONGEST: u64 = 8;

/// Maximum number of rows, of columns and of non-zeros. Kernels have 32-bit counters that step past the end.
pub(super) const LIMIT: usize = 1 << 31;

/// Maximum number of blocks of 32 rows that one core scans alone, because it is done before other cores have woken up.
const SERIAL_WARPS: usize = 1 << 10;

/// Selects how work-items divide a sparse matrix among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// One work-item per row.
    Scalar,
    /// 32 work-items per row.
    Vector,
    /// One work-group per tile of at most 512 non-zeros. Longer rows are cut, and a second kernel adds up their partial
    /// sums.
    Balanced,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scalar => "scalar",
            Self::Vector => "vector",
            Self::Balanced => "balanced",
        })
    }
}

/// Describes the lengths of the rows of a matrix. The length of a row is its number of non-zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Number of rows.
    pub rows: u64,
    /// Number of rows without non-zeros.
    pub empty: u64,
    /// Number of non-zeros.
    pub nonzeros: u64,
    /// Length of the longest row.
    pub longest: u32,
    /// Sum of the squares of the lengths of all rows.
    squares: u128,
    /// Steps of all work-items in the scalar kernel: for each warp of 32 rows, 32 times its longest row.
    warp_steps: u64,
}

impl Statistics {
    pub(super) fn from_row_pointers(row_pointers: &[u32]) -> Self {
        // A warp's 32 rows have 33 pointers; the last one is the next warp's first.
        let warps = row_pointers.len().saturating_sub(1).div_ceil(CSR_LANES as usize);
        let warp = |number: usize| {
            let start = number * CSR_LANES as usize;
            Self::from_warp(&row_pointers[start..row_pointers.len().min(start + CSR_LANES as usize + 1)])
        };
        if warps <= SERIAL_WARPS {
            return (0..warps).map(warp).fold(Self::default(), Self::merge);
        }
        install(|| (0..warps).into_par_iter().map(warp).reduce(Self::default, Self::merge))
    }

    fn from_warp(pointers: &[u32]) -> Self {
        let lengths = pointers.windows(2).map(|pair| pair[1] - pair[0]);
        let mut sum = lengths.fold(Self::default(), |sum, length| {
            let empty = u64::from(length == 0);
            let squares = u128::from(length).pow(2);
            sum.merge(Self { rows: 1, empty, nonzeros: length.into(), longest: length, squares, warp_steps: 0 })
        });
        sum.warp_steps = u64::from(sum.longest) * u64::from(CSR_LANES);
        sum
    }

    fn merge(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            empty: self.empty + other.empty,
            nonzeros: self.nonzeros + other.nonzeros,
            longest: self.longest.max(other.longest),
            squares: self.squares + other.squares,
            warp_steps: self.warp_steps + other.warp_steps,
        }
    }

    /// Returns the mean length of a row, or 0 if there are no rows.
    pub fn mean(&self) -> f64 {
        self.nonzeros as f64 / self.rows.max(1) as f64
    }

    /// Returns the variance of the length of a row, or 0 if there are no rows.
    pub fn variance(&self) -> f64 {
        (self.squares as f64 / self.rows.max(1) as f64 - self.mean().powi(2)).max(0.0)
    }

    /// Returns the percentage of steps in the scalar kernel that process a non-zero. In the other steps, a work-item
    /// waits for a longer row of its warp. It is 100 if there are no non-zeros.
    pub fn warp_efficiency(&self) -> u64 {
        (100 * self.nonzeros).checked_div(self.warp_steps).unwrap_or(100)
    }

    /// Selects the kernel for these lengths of rows, and returns it with the reason.
    pub(super) fn select_kernel(&self) -> (Kernel, &'static str) {
        let longest = u64::from(self.longest);
        let few = self.rows < SCALAR_ROWS && self.nonzeros > 2 * self.rows;
        let alike = self.longest <= SCALAR_LONGEST && self.warp_efficiency() >= SCALAR_BUSY;
        if alike && self.nonzeros >= SCALAR_MEAN * self.rows && !few {
            return (Kernel::Scalar, "rows are of middle length and much alike");
        }
        if self.nonzeros >= VECTOR_MEAN * self.rows && longest * self.rows <= VECTOR_LONGEST * self.nonzeros {
            return (Kernel::Vector, "rows are long and much alike");
        }
        if few && self.longest <= SCALAR_LONGEST {
            return (Kernel::Balanced, "too few rows to fill a device with a work-item each");
        }
        (Kernel::Balanced, if alike { "rows are very short" } else { "lengths of rows differ" })
    }
}

/// Holds the tiles of the balanced kernel in the form that the kernel reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tiles {
    /// First row and first non-zero of each tile, then the number of all rows and of all non-zeros.
    pub starts: Vec<[u32; 2]>,
    /// Row number, index of the first tile and number of tiles for each row that is cut.
    pub long_rows: Vec<[u32; 3]>,
}

impl Tiles {
    /// Divides a matrix into tiles. Each has whole rows of up to [`CSR_TILE`] non-zeros in all, or a piece of a longer row.
    pub(super) fn new(row_pointers: &[u32]) -> Self {
        let mut tiles = Self::default();
        let rows = row_pointers.len().saturating_sub(1);
        let mut row = 0;
        while row < rows {
            let start = row_pointers[row];
            // A tile has at most [`CSR_TILE`] rows, so the search is short.
            let near = &row_pointers[row + 1..=rows.min(row + CSR_TILE as usize)];
            let whole = near.partition_point(|end| end - start <= CSR_TILE);
            match whole {
                0 => tiles.push_long_row(row as u32, start, row_pointers[row + 1]),
                _ => tiles.starts.push([row as u32, start]),
            }
            row += whole.max(1);
        }
        tiles.starts.push([rows as u32, row_pointers.last().copied().unwrap_or(0)]);
        tiles
    }

    /// Returns the number of tiles.
    pub(super) fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    fn push_long_row(&mut self, row: u32, start: u32, end: u32) {
        let pieces = (end - start).div_ceil(CSR_TILE);
        self.long_rows.push([row, self.starts.len() as u32, pieces]);
        self.starts.extend((0..pieces).map(|piece| [row, start + piece * CSR_TILE]));
    }
}

/// Describes how non-zeros are stored on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of a column index.
    pub column_bits: u32,
    /// Bits of a dictionary index in a separate array. It is 0 if the index shares a 32-bit word with the column, and
    /// [`CSR_IN_PLACE`] if there is no index.
    pub index_bits: u32,
}

impl Format {
    /// Returns the format in which coefficients are in the order of non-zeros, without indices into a dictionary.
    pub(super) fn with_ordered_coefficients() -> Self {
        Self { column_bits: 31, index_bits: CSR_IN_PLACE }
    }

    /// Returns the most compact format for `columns` columns and a dictionary of `dictionary` coefficients.
    pub(super) fn new(columns: usize, dictionary: usize) -> Self {
        let bits = |count: usize| count.saturating_sub(1).checked_ilog2().map_or(0, |log| log + 1);
        let (column_bits, dictionary_bits) = (bits(columns.min(LIMIT)), bits(dictionary));
        let index_bits = match dictionary_bits {
            _ if column_bits + dictionary_bits <= 32 => 0,
            0..=16 => 16,
            _ => 32,
        };
        Self { column_bits, index_bits }
    }

    /// Returns the bytes of a non-zero: the word of its column and the dictionary index.
    pub(super) fn nonzero_bytes(self) -> u64 {
        4 + u64::from(self.index_bits) / 8
    }
}

/// Returns the number of work-groups that multiply the matrix by one vector. `count` is the number of tiles for the
/// balanced `kernel`, and the number of rows for the others.
pub(super) fn group_count(kernel: Kernel, count: u32) -> u32 {
    match kernel {
        Kernel::Scalar => count.div_ceil(CSR_GROUP),
        Kernel::Vector => count.div_ceil(CSR_GROUP / CSR_LANES),
        Kernel::Balanced => count,
    }
}

/// Returns the maximum number of vectors per launch, at least one, if each takes `blocks` work-groups.
pub(super) fn vectors_per_launch(blocks: u32) -> usize {
    (MAX_GROUPS / blocks.max(1)).max(1) as usize
}

/// Returns the bytes of row pointers and non-zeros on a device. The dictionary is not included.
pub(super) fn matrix_bytes(statistics: &Statistics, format: Format) -> u64 {
    4 * (statistics.rows + 1) + statistics.nonzeros * format.nonzero_bytes()
}

/// Returns the minimum bytes that a product with one vector moves. It reads the matrix and the used part of the vector
/// once, and writes the result. `element` is the number of bytes per element.
pub(super) fn min_traffic_bytes(statistics: &Statistics, format: Format, columns: usize, element: usize) -> u64 {
    let used = statistics.nonzeros.min(columns as u64);
    matrix_bytes(statistics, format) + (used + statistics.rows) * element as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix_sums(lengths: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let sums = lengths.into_iter().scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        });
        std::iter::once(0).chain(sums).collect()
    }

    #[test]
    fn statistics_of_rows() {
        let statistics = Statistics::from_row_pointers(&prefix_sums([0, 1, 3, 0, 6].into_iter().chain([2; 60])));
        assert_eq!((statistics.rows, statistics.empty, statistics.nonzeros, statistics.longest), (65, 2, 130, 6));
        assert!((statistics.mean() - 2.0).abs() < 1e-9);
        assert!((statistics.variance() - (1 + 9 + 36 + 4 * 60) as f64 / 65.0 + 4.0).abs() < 1e-9);
        // The warps take 6, 2 and 2 steps.
        assert_eq!(statistics.warp_efficiency(), 100 * 130 / (32 * 10));
        assert_eq!(Statistics::from_row_pointers(&[0]), Statistics::default());
    }

    #[test]
    fn choices() {
        let choice = |lengths: Vec<u32>| Statistics::from_row_pointers(&prefix_sums(lengths)).select_kernel().0;
        assert_eq!(choice(vec![]), Kernel::Scalar);
        assert_eq!(choice(vec![0; 100]), Kernel::Balanced);
        assert_eq!(choice(vec![3; 1 << 15]), Kernel::Balanced);
        assert_eq!(choice(vec![12; 1 << 15]), Kernel::Scalar);
        assert_eq!(choice((0..1 << 15).map(|row| 2 + row % 3).collect()), Kernel::Balanced);
        assert_eq!(choice(vec![3; 1000]), Kernel::Balanced);
        assert_eq!(choice(vec![500; 1000]), Kernel::Vector);
        assert_eq!(choice([vec![3; 1 << 15], vec![1 << 20]].concat()), Kernel::Balanced);
        assert_eq!(choice((0..1 << 15).map(|row| if row % 32 == 0 { 40 } else { 1 }).collect()), Kernel::Balanced);
        assert_eq!(choice([vec![500; 1000], vec![1 << 16]].concat()), Kernel::Balanced);
    }

    #[test]
    fn tiles_cover_all_rows_once() {
        let cases = [vec![], vec![0; 2000], vec![1; 2000], vec![512, 513, 0, 511, 1, 1, 5000, 0, 3], vec![1 << 20]];
        for lengths in cases {
            let (pointers, rows) = (prefix_sums(lengths.iter().copied()), lengths.len() as u32);
            let tiles = Tiles::new(&pointers);
            assert_eq!(tiles.starts.len() as u32, tiles.count() + 1);
            assert_eq!(tiles.starts.last(), Some(&[rows, pointers[lengths.len()]]));
            for pair in tiles.starts.windows(2) {
                let ([row, start], [next_row, end]) = (pair[0], pair[1]);
                assert!(start <= end && end - start <= CSR_TILE && next_row - row <= CSR_TILE);
                let whole = start == pointers[row as usize] && end == pointers[next_row as usize] && next_row > row;
                let long = tiles.long_rows.iter().any(|long| long[0] == row);
                assert!(whole != long, "row {row}: {lengths:?}");
            }
            for [row, first, count] in &tiles.long_rows {
                let pieces = &tiles.starts[*first as usize..(*first + *count) as usize];
                assert!(pieces.iter().all(|piece| piece[0] == *row));
                assert_eq!(pieces[0][1], pointers[*row as usize]);
                assert_eq!(tiles.starts[(*first + *count) as usize], [row + 1, pointers[*row as usize + 1]]);
            }
            let long = lengths.iter().filter(|length| **length > CSR_TILE).count();
            assert_eq!(tiles.long_rows.len(), long);
        }
    }

    #[test]
    fn formats() {
        let format = |columns, dictionary| {
            let Format { column_bits, index_bits } = Format::new(columns, dictionary);
            (column_bits, index_bits, Format { column_bits, index_bits }.nonzero_bytes())
        };
        assert_eq!(format(0, 2), (0, 0, 4));
        assert_eq!(format(1, 2), (0, 0, 4));
        assert_eq!(format(2, 2), (1, 0, 4));
        assert_eq!(format(1 << 27, 32), (27, 0, 4));
        assert_eq!(format(1 << 27, 33), (27, 16, 6));
        assert_eq!(format((1 << 27) + 1, 32), (28, 16, 6));
        assert_eq!(format(1 << 27, 1 << 16), (27, 16, 6));
        assert_eq!(format(1 << 27, (1 << 16) + 1), (27, 32, 8));
        assert_eq!(format(LIMIT, 2), (31, 0, 4));
    }

    #[test]
    fn launches_within_limits() {
        assert_eq!(group_count(Kernel::Vector, 1 << 31), 1 << 29);
        assert_eq!(vectors_per_launch(0), i32::MAX as usize);
        assert_eq!(vectors_per_launch(1 << 30), 1);
        assert_eq!(vectors_per_launch(1 << 20), 2047);
    }
}
