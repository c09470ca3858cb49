//! Transposes the digits of scalars (step 1): queues the kernels that compute digits and sort them into rows.

use super::kernel_queue::KernelQueue;
use crate::Result;
use crate::backend::Buffer;
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::msm::{
    BIN_COUNTS, Digits, DigitsParams, GlvDigits, HistogramRows, ROWS_BLOCK, RowSize, SORT_GROUP, ScanBins,
    ScanRowBlocks, ScanRows, ScatterBins, ScatterEntries, ScatterParams, TILE_SHARE,
};
use crate::msm::plan::{MatrixSizes, WindowRange};
use crate::msm::scalars::ScalarForm;

/// Number of counters of a band that precede those of its bins and rows.
const OTHER_COUNTERS: u64 = BIN_COUNTS as u64;
/// Matrix entries that one sorting workgroup handles.
const SORT_TILE: u32 = 2048;
/// Minimum entries of a matrix that is sorted in the longest tiles of the device. From there on longer runs pay more
/// than more workgroups.
const LONG_SORT: u64 = 1 << 26;
/// Desired number of workgroups that compute digits: enough to fill a device, few enough that their counts of bins are
/// quickly added up.
const DIGITS_GROUPS: u32 = 512;
/// Maximum scalars per workgroup that computes digits.
const MAX_DIGITS_TILE: u32 = 4096;

/// Holds the transposed digits of a chunk in a band of windows as a CSR matrix. It has a row per bucket of each window,
/// or two rows if GLV is used.
pub(super) struct DigitMatrix {
    pub chunk_rows: MatrixSizes,
    /// Index of the first row's bucket among the device's buckets.
    pub first_bucket: u32,
    /// Index of the first entry of each row.
    pub offsets: Buffer,
    /// Index of the first piece of each row; rows are cut into pieces for load balance.
    pub piece_offsets: Buffer,
    pub entries: Buffer,
    pub counters: Buffer,
}

/// Holds entries in their bins (ranges of rows), the start of each bin, and the bin of each tile's first entry.
struct BinnedEntries {
    bins: Buffer,
    tile_bins: Buffer,
    entries: Buffer,
}

/// Refers to scalars of a vector in a device buffer, from index `start` on.
pub(super) struct ScalarSlice<'a> {
    pub scalars: &'a Buffer,
    pub start: u32,
    pub form: ScalarForm,
    /// Maximum bits of a scalar.
    pub bits: u32,
}

/// Describes a chunk of the scalar vectors of a matrix. Their scalars belong to the bases from index `base` on; a
/// further copy of a base is `stride` bases after the previous one.
pub(super) struct DigitInput<'a> {
    pub vectors: Vec<ScalarSlice<'a>>,
    pub count: usize,
    /// Index of the first scalar among all points.
    pub first: usize,
    pub base: u32,
    pub stride: u32,
    /// A flag per vector, set if a scalar has more bits than promised.
    pub too_long: &'a Buffer,
}

impl KernelQueue<'_> {
    /// Transposes a chunk's digits in `band` (step 1): queues kernels that sort matrix entries into bins of rows, then
    /// into rows.
    pub(super) fn transpose_digits(&mut self, digits: &DigitInput<'_>, band: WindowRange) -> Result<DigitMatrix> {
        let chunk_rows = self.plan.matrix_sizes(digits.count, band);
        let room = self.plan.buffer_sizes();
        let (counters, entries) = (self.allocate_counters()?, self.allocate_array::<u32>(room.slots[0])?);
        if chunk_rows.levels > 0 {
            self.stream.zero(&entries)?;
        }
        let found = self.allocate_bytes(room.digits_or_prefix_bytes)?;
        self.make_digits(digits, band, &found, &counters)?;
        let binned = self.sort_into_bins(digits, band, found, &counters)?;
        let tile = self.sort_tile(chunk_rows);
        let (band_bins, low, room) = (chunk_rows.bins, self.plan.low_bit_count(), room.entries as u32);
        let (bins, tile_bins) = (In::new(&binned.bins), In::new(&binned.tile_bins));
        let (binned, counts) = (Out::new(&binned.entries), Out::new(&counters));
        let tiles = chunk_rows.entries().div_ceil(tile.into());
        let histogram =
            HistogramRows { band_bins, low, tile, bins, tile_bins, entries: binned, room, counters: counts };
        self.launch_groups(tiles, histogram)?;
        let (offsets, piece_offsets) = self.row_offsets(chunk_rows, &counters)?;
        let scatter = ScatterEntries {
            band_bins,
            low,
            tile,
            bins,
            tile_bins,
            entries: binned,
            room,
            counters: counts,
            out: Out::new(&entries),
        };
        self.launch_groups(tiles, scatter)?;
        let first_bucket = self.plan.local_first_bucket(band.from);
        Ok(DigitMatrix { chunk_rows, first_bucket, offsets, piece_offsets, entries, counters })
    }

    /// Allocates a band's counters, all zero.
    fn allocate_counters(&mut self) -> Result<Buffer> {
        let room = self.plan.buffer_sizes();
        let counters = self.allocate_array::<u32>(OTHER_COUNTERS + room.bins + room.rows)?;
        self.stream.zero(&counters)?;
        Ok(counters)
    }

    /// Queues the kernels that sort the digits `found` into bins. Returns the entries in the order of their bins.
    fn sort_into_bins(
        &mut self,
        digits: &DigitInput<'_>,
        band: WindowRange,
        found: Buffer,
        counters: &Buffer,
    ) -> Result<BinnedEntries> {
        let plan = self.plan;
        let (cut, room) = (plan.matrix_sizes(digits.count, band), plan.buffer_sizes());
        let (bins, cursors, tile_bins) = self.scan_bins(cut, counters)?;
        let entries = self.allocate_bytes(room.entries_or_sums_bytes)?;
        let tile = self.sort_tile(cut);
        // GLV halves count as copies of windows, but of the same bases.
        let (windows, stride) = (plan.windows * plan.rows_per_bucket(), if plan.glv { 0 } else { digits.stride });
        let params = ScatterParams {
            n: cut.points,
            c: plan.sort_key_bits(),
            wide: plan.wide_windows,
            windows,
            sets: plan.sets,
            from: band.from,
            to: band.to,
            low: plan.low_bit_count(),
            tile,
            stride,
            base: digits.base,
            places: cut.windows_per_vector(),
            room: room.entries as u32,
        };
        let tiles = u64::from(cut.points.div_ceil(tile)) * u64::from(cut.vectors * cut.windows_per_vector());
        let (digits, cursors, out) = (In::new(&found), Out::new(&cursors), Out::new(&entries));
        self.launch_groups(tiles, ScatterBins { params: Value(&params), digits, cursors, entries: out })?;
        Ok(BinnedEntries { bins, tile_bins, entries })
    }

    /// Queues the kernels that write the digits of each vector to `out`, and count the digits of each bin in `counters`.
    fn make_digits(
        &mut self,
        digits: &DigitInput<'_>,
        band: WindowRange,
        out: &Buffer,
        counters: &Buffer,
    ) -> Result<()> {
        let cut = self.plan.matrix_sizes(digits.count, band);
        let tile = cut.points.div_ceil(DIGITS_GROUPS).next_multiple_of(SORT_GROUP).min(MAX_DIGITS_TILE);
        let groups = u64::from(cut.points.div_ceil(tile));
        let shared = self.digits_params(digits, band, tile);
        let (out, counters, too_long) = (Out::new(out), Out::new(counters), Out::new(digits.too_long));
        for (vector, ScalarSlice { scalars, start, form, bits }) in digits.vectors.iter().enumerate() {
            let params = DigitsParams {
                montgomery: u32::from(*form == ScalarForm::Montgomery),
                bits: *bits,
                start: *start,
                vector: vector as u32,
                first_digit: vector as u32 * cut.windows_per_vector() * cut.points,
                ..shared
            };
            let (params, scalars) = (Value(&params), In::new(scalars));
            match self.plan.glv {
                true => self.launch_groups(groups, GlvDigits { params, scalars, digits: out, counters, too_long })?,
                false => self.launch_groups(groups, Digits { params, scalars, digits: out, counters, too_long })?,
            }
        }
        Ok(())
    }

    /// Returns the numbers that the kernels of all vectors of `digits` take, for work-groups of `tile` scalars.
    fn digits_params(&self, digits: &DigitInput<'_>, band: WindowRange, tile: u32) -> DigitsParams {
        let plan = self.plan;
        let chunk = digits.first..digits.first + digits.count;
        DigitsParams {
            n: plan.matrix_sizes(digits.count, band).points,
            c: plan.sort_key_bits(),
            wide: plan.wide_windows,
            sets: plan.sets,
            from: band.from,
            to: band.to,
            low: plan.low_bit_count(),
            tile,
            windows: plan.windows,
            skip: plan.set_point_range(band.from, &chunk).start,
            until: plan.set_point_range(band.to - 1, &chunk).end,
            montgomery: 0,
            bits: 0,
            start: 0,
            vector: 0,
            first_digit: 0,
        }
    }

    /// Returns the number of entries that a workgroup sorts.
    fn sort_tile(&self, cut: MatrixSizes) -> u32 {
        if cut.entries() >= LONG_SORT { self.stream.device().info().caps.max_sort_tile } else { SORT_TILE }
    }

    /// Queues the prefix sums over bins. Returns the start of each bin, a copy of the starts that sorting advances, and
    /// the bin of each tile's first entry.
    fn scan_bins(&mut self, cut: MatrixSizes, counters: &Buffer) -> Result<(Buffer, Buffer, Buffer)> {
        let room = self.plan.buffer_sizes();
        let [bins, cursors] = [1, 0].map(|more| self.allocate_array::<u32>(room.bins + more));
        let (bins, cursors) = (bins?, cursors?);
        let tile_bins = self.allocate_array::<u32>(room.entries.div_ceil(SORT_TILE.into()))?;
        let tile = self.sort_tile(cut);
        let tiles = cut.entries().div_ceil(tile.into());
        let scan = ScanBins {
            band_bins: cut.bins,
            tile,
            tiles: tiles as u32,
            counters: In::new(counters),
            bins: Out::new(&bins),
            cursors: Out::new(&cursors),
            tile_bins: Out::new(&tile_bins),
        };
        self.launch_groups(tiles.div_ceil(TILE_SHARE.into()).max(1), scan)?;
        Ok((bins, cursors, tile_bins))
    }

    /// Queues the prefix sums over rows. Returns the first entry of each row and its first piece; the rows' counters
    /// become cursors.
    fn row_offsets(&mut self, cut: MatrixSizes, counters: &Buffer) -> Result<(Buffer, Buffer)> {
        let [offsets, piece_offsets] = [(); 2].map(|()| self.allocate_array::<u32>(self.plan.buffer_sizes().rows + 1));
        let (offsets, piece_offsets) = (offsets?, piece_offsets?);
        let blocks = (u64::from(cut.rows) + 1).div_ceil(ROWS_BLOCK.into());
        let sums = self.allocate_array::<RowSize>(blocks)?;
        let (band_bins, rows, levels, limit, halved) =
            (cut.bins, cut.rows, cut.levels, cut.piece, self.plan.glv.into());
        let (counts, out) = (In::new(counters), Out::new(&sums));
        let scan = ScanRowBlocks { band_bins, rows, levels, limit, halved, counters: counts, sums: out };
        self.launch_groups(blocks, scan)?;
        let scan = ScanRows {
            band_bins,
            rows,
            levels,
            limit,
            halved,
            sums: In::new(&sums),
            counters: Out::new(counters),
            offsets: Out::new(&offsets),
            piece_offsets: Out::new(&piece_offsets),
        };
        self.launch_groups(blocks, scan)?;
        Ok((offsets, piece_offsets))
    }
}
