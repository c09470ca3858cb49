//! Declares the kernels of multi-scalar multiplication.

use crate::kernels::field_sources::{BYTES, INVERSE_GROUP};
use crate::kernels::spec::{
    Declarations, Domain, KernelFamily, Module, Part, kernels, shared_constants, shared_struct, source,
};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group that sorts entries.
    SORT_GROUP: u32 = 256;
    /// Maximum number of bins (ranges of rows) of a band: as many counters fit in local memory.
    BAND_BINS: u32 = 4096;
    /// Maximum number of bins of a window: each work-item of a sort has one.
    WINDOW_BINS: u32 = SORT_GROUP;
    /// Maximum number of rows that a bin has.
    BIN_ROWS: u32 = 2048;
    /// Maximum number of entries of a piece of a row. Lengths of pieces are counted apart.
    BINS: u32 = 512;
    /// Index of the counters of pairs in the list of each round.
    LIST_COUNTS: u32 = 0;
    /// Index of the counters of pairs of each list that have been taken.
    TAKEN_COUNTS: u32 = 16;
    /// Index of the counter of lone bases in the first round.
    LONE_COUNT: u32 = 31;
    /// Index of the counters of units and of long rows to be merged.
    MERGE_COUNTS: u32 = 32;
    /// Index of the counters of pieces of each length.
    PIECE_COUNTS: u32 = 64;
    /// Index of the counters of pieces of each length that have their place.
    PIECE_CURSORS: u32 = PIECE_COUNTS + BINS;
    /// Index of the counters of entries of each bin. Those of each row follow.
    BIN_COUNTS: u32 = PIECE_CURSORS + BINS;
    /// Number of tiles whose first bins a work-group finds.
    TILE_SHARE: u32 = 4096;
    /// Number of rows whose sizes a work-group adds up.
    ROWS_BLOCK: u32 = 2048;
    /// Number of work-items of a work-group that finds and sorts pieces.
    PIECE_GROUP: u32 = 256;
    /// Number of work-items of a work-group that accumulates buckets.
    ACCUMULATE_GROUP: u32 = 128;
    /// Maximum number of pieces of a row that one work-group merges.
    MERGE: u32 = 64;
    /// Number of work-items that add a point together.
    QUAD: u32 = 4;
    /// Number of work-items of a work-group that sums points by quads.
    SUM_GROUP: u32 = 64;
    /// Number of work-items of a work-group of batched affine additions, which share an inversion.
    AFFINE_GROUP: u32 = INVERSE_GROUP;
    /// Maximum number of pairs per inversion in the first round. Its prefix products are in the place of the sums, so
    /// memory does not limit it.
    FIRST_TILE: u32 = 8192;
    /// Maximum number of entries that a work-group of the sort handles (OpenCL): some devices have only 32 KiB of local
    /// memory.
    OPENCL_SORT_TILE: u32 = 2048;
    /// Maximum number of entries that a work-group of the sort handles (CUDA): 48 KiB of local memory.
    CUDA_SORT_TILE: u32 = 4096;
    /// Number of work-items of a work-group that lists pairs of slots (places for entries).
    LIST_GROUP: u32 = 256;
    /// Number of pairs of slots that one work-group reads.
    LIST_BLOCK: u32 = 2048;
    /// Number of work-items of a work-group that handles a point each.
    POINT_GROUP: u32 = 128;
    /// Mask of all flags in the first byte of an encoded point.
    ENCODING_FLAGS: u8 = 0xe0;
    /// Flag of infinity in the first byte of an encoded point.
    ENCODING_INFINITY: u8 = 0x40;
    /// Fault of a point with a coordinate that is not below the modulus.
    FAULT_NOT_REDUCED: u32 = 0;
    /// Fault of a point that is not on the curve.
    FAULT_NOT_ON_CURVE: u32 = 1;
    /// Fault of a point outside the subgroup of prime order.
    FAULT_OUTSIDE_SUBGROUP: u32 = 2;
    /// Fault of an encoding with wrong flags.
    FAULT_ENCODING: u32 = 3;
    /// Fault of infinity where that is refused.
    FAULT_INFINITY: u32 = 4;
    /// Code of a point without a fault.
    FAULT_NONE: u32 = 5;
    /// Factor of a point's index in the result of a check, above all faults: the result is factor · index + fault.
    FAULTS: u32 = 8;
}

/// Stands for a scalar.
pub enum Scalar {}

/// Stands for an affine point: x and y.
pub enum Affine {}

/// Stands for a point in XYZZ coordinates.
pub enum Point {}

/// Stands for a point in Jacobian coordinates.
pub enum Jacobian {}

/// Stands for the entries of the two slots of a pair.
pub enum Pair {}

shared_struct! {
    /// Holds a piece of a row: consecutive entries that one work-item sums.
    pub struct Piece as piece_t {
        /// Index of the first entry.
        pub start: u32,
        /// Number of entries.
        pub length: u16,
        /// Number of first entries whose points are added as they are. The others are added times λ.
        pub plain: u16,
        /// Row of the piece, with the flags `FIRST_PIECE` and `LAST_PIECE` of `cl/msm_accumulate.cl`.
        pub row: u32,
    }
}

shared_struct! {
    /// Holds the size of one or several rows.
    pub struct RowSize as row_size_t {
        /// Number of slots for entries, a multiple of 2^levels per row.
        pub slots: u32,
        /// Number of pieces, each of at most `limit` of the slots that the rounds leave.
        pub pieces: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that computes digits.
    pub struct DigitsParams as digits_params_t {
        /// Number of scalars.
        pub n: u32,
        /// Bits of the digits of a wide window; with GLV, one more than the bits of a wide window.
        pub c: u32,
        /// Number of wide sets.
        pub wide: u32,
        /// Number of window sets.
        pub sets: u32,
        /// First set of the band.
        pub from: u32,
        /// End of the band's sets.
        pub to: u32,
        /// Binary logarithm of the rows of a bin.
        pub low: u32,
        /// Number of scalars of a work-group.
        pub tile: u32,
        /// Whether scalars are in Montgomery form.
        pub montgomery: u32,
        /// Maximum bits of a scalar.
        pub bits: u32,
        /// Index of the first scalar in its buffer.
        pub start: u32,
        /// Number of the vector.
        pub vector: u32,
        /// Number of digits that precede those of the vector.
        pub first_digit: u32,
        /// Number of windows. Unused with GLV.
        pub windows: u32,
        /// Number of first scalars that set `from` leaves out. Unused with GLV.
        pub skip: u32,
        /// End of the scalars of set `to` − 1. Unused with GLV.
        pub until: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that scatters entries into bins.
    pub struct ScatterParams as scatter_params_t {
        /// Number of scalars.
        pub n: u32,
        /// Bits of the digits of a wide window, as digits have them.
        pub c: u32,
        /// Number of wide sets.
        pub wide: u32,
        /// Number of windows, GLV halves counted as copies.
        pub windows: u32,
        /// Number of window sets.
        pub sets: u32,
        /// First set of the band.
        pub from: u32,
        /// End of the band's sets.
        pub to: u32,
        /// Binary logarithm of the rows of a bin.
        pub low: u32,
        /// Number of digits of a work-group.
        pub tile: u32,
        /// Number of bases from a copy to the next one.
        pub stride: u32,
        /// Number of the base of scalar 0.
        pub base: u32,
        /// Number of digits of a scalar in a vector.
        pub places: u32,
        /// Number of words that precede the rows of entries.
        pub room: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that reduces segments of buckets.
    pub struct ReduceParams as reduce_params_t {
        /// Number of segments.
        pub segments: u32,
        /// Binary logarithm of the segments of a window.
        pub bits: u32,
        /// Number of buckets of a segment of a wide window.
        pub segment: u32,
        /// First set of the device.
        pub from: u32,
        /// End of the device's sets.
        pub to: u32,
        /// Number of window sets.
        pub sets: u32,
        /// Number of wide sets.
        pub wide: u32,
    }
}

shared_struct! {
    /// Holds the numbers of the rows of a matrix and of their pieces.
    pub struct RowsParams as rows_params_t {
        /// Number of rows, or of buckets where a kernel works on buckets.
        pub rows: u32,
        /// Number of rounds of affine additions that have shortened the rows.
        pub level: u32,
        /// Maximum number of entries of a piece.
        pub limit: u32,
        /// Whether a bucket has two rows: GLV is used.
        pub halved: u32,
        /// Bucket of row 0.
        pub first_bucket: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that lists pairs.
    pub struct CollectParams as collect_params_t {
        /// Number of rows.
        pub rows: u32,
        /// Level of the slots.
        pub level: u32,
        /// Number of points that the store has room for.
        pub room: u32,
    }
}

kernels! {
    pub KERNELS:
    /// Computes the digits of a band, and counts them by bin.
    msm_digits[SORT_GROUP] => Digits {
        params: Value<DigitsParams>,
        scalars: In<Scalar>,
        digits: Out<u32>,
        counters: Out<u32>,
        too_long: Out<u32>,
    }
    /// Computes the digits of GLV halves for a band, and counts them by bin.
    msm_glv_digits[SORT_GROUP] => GlvDigits {
        params: Value<DigitsParams>,
        scalars: In<Scalar>,
        digits: Out<u32>,
        counters: Out<u32>,
        too_long: Out<u32>,
    }
    /// Computes prefix sums over the bins of a band.
    msm_scan_bins[SORT_GROUP] => ScanBins {
        band_bins: u32,
        tile: u32,
        tiles: u32,
        counters: In<u32>,
        bins: Out<u32>,
        cursors: Out<u32>,
        tile_bins: Out<u32>,
    }
    /// Scatters the entries of digits into bins.
    msm_scatter_bins[SORT_GROUP] => ScatterBins {
        params: Value<ScatterParams>,
        digits: In<u32>,
        cursors: Out<u32>,
        entries: Out<u32>,
    }
    /// Counts the entries of every row.
    msm_histogram_rows[SORT_GROUP] => HistogramRows {
        band_bins: u32,
        low: u32,
        tile: u32,
        bins: In<u32>,
        tile_bins: In<u32>,
        entries: Out<u32>,
        room: u32,
        counters: Out<u32>,
    }
    /// Adds up the sizes of blocks of rows.
    msm_scan_row_blocks[SORT_GROUP] => ScanRowBlocks {
        band_bins: u32,
        rows: u32,
        levels: u32,
        limit: u32,
        halved: u32,
        counters: In<u32>,
        sums: Out<RowSize>,
    }
    /// Computes where rows and their pieces start.
    msm_scan_rows[SORT_GROUP] => ScanRows {
        band_bins: u32,
        rows: u32,
        levels: u32,
        limit: u32,
        halved: u32,
        sums: In<RowSize>,
        counters: Out<u32>,
        offsets: Out<u32>,
        piece_offsets: Out<u32>,
    }
    /// Scatters entries into their rows.
    msm_scatter_entries[SORT_GROUP] => ScatterEntries {
        band_bins: u32,
        low: u32,
        tile: u32,
        bins: In<u32>,
        tile_bins: In<u32>,
        entries: Out<u32>,
        room: u32,
        counters: Out<u32>,
        out: Out<u32>,
    }
    /// Computes copies of bases, each the previous one doubled several times.
    msm_precompute_multiples[POINT_GROUP] => PrecomputeMultiples {
        n: u32,
        doublings: u32,
        from: u32,
        to: u32,
        table: Out<Affine>,
    }
    /// Lists the pairs of two live slots of a level.
    msm_collect_pairs[LIST_GROUP] => CollectPairs {
        params: Value<CollectParams>,
        offsets: In<u32>,
        pairs: In<Pair>,
        above: Out<u32>,
        bases: In<Affine>,
        store: Out<Affine>,
        counters: Out<u32>,
        list: Out<u32>,
    }
    /// Adds the listed pairs of points.
    msm_batch_affine_add[AFFINE_GROUP] => BatchAffineAdd<F> {
        level: u32,
        room: u32,
        pairs: In<Pair>,
        above: Out<u32>,
        points: In<Affine>,
        store: Out<Affine>,
        counters: Out<u32>,
        list: In<u32>,
        scratch: Out<F>,
    }
    /// Finds the row of every piece, lists the merges, and counts lengths.
    msm_build_chunks[PIECE_GROUP] => BuildChunks {
        params: Value<RowsParams>,
        offsets: In<u32>,
        piece_offsets: In<u32>,
        piece_rows: Out<u32>,
        counters: Out<u32>,
        units: Out<u32>,
        long_rows: Out<u32>,
    }
    /// Sorts the pieces by length, longest first.
    msm_sort_chunks[PIECE_GROUP] => SortChunks {
        params: Value<RowsParams>,
        offsets: In<u32>,
        piece_offsets: In<u32>,
        piece_rows: In<u32>,
        counters: Out<u32>,
        pieces: Out<Piece>,
    }
    /// Computes the sum of every piece.
    msm_accumulate[ACCUMULATE_GROUP] => Accumulate {
        rows: u32,
        limit: u32,
        first_bucket: u32,
        piece_offsets: In<u32>,
        pieces: In<Piece>,
        entries: In<u32>,
        points: In<Affine>,
        buckets: Out<Point>,
        partial: Out<Point>,
    }
    /// Merges the sums of runs of pieces.
    msm_merge_chunks[SUM_GROUP] => MergeChunks {
        params: Value<RowsParams>,
        offsets: In<u32>,
        piece_offsets: In<u32>,
        piece_rows: In<u32>,
        counters: In<u32>,
        units: In<u32>,
        buckets: Out<Point>,
        partial: Out<Point>,
    }
    /// Merges the sums of runs of long rows.
    msm_merge_rows[SUM_GROUP] => MergeRows {
        params: Value<RowsParams>,
        offsets: In<u32>,
        piece_offsets: In<u32>,
        counters: In<u32>,
        long_rows: In<u32>,
        buckets: Out<Point>,
        partial: In<Point>,
    }
    /// Computes shares and totals of segments of buckets, by a quad each.
    msm_reduce_segments[SUM_GROUP] => ReduceSegments {
        params: Value<ReduceParams>,
        buckets: In<Point>,
        shares: Out<Point>,
        totals: Out<Point>,
    }
    /// Computes shares and totals of segments of buckets, by a work-item each.
    msm_reduce_segments_scalar[SUM_GROUP] => ReduceSegmentsScalar {
        params: Value<ReduceParams>,
        buckets: Out<Point>,
        shares: Out<Point>,
        totals: Out<Point>,
    }
    /// Adds up shares, and totals by the bits of their numbers.
    msm_weighted_bit_sums[SUM_GROUP] => WeightedBitSums {
        bits: u32,
        parts: u32,
        shares: In<Point>,
        totals: In<Point>,
        out: Out<Point>,
    }
    /// Adds up points.
    msm_sum_parts[SUM_GROUP] => SumParts {
        count: u32,
        parts: In<Point>,
        out: Out<Jacobian>,
    }
    /// Checks points, and notes the first fault.
    points_check[POINT_GROUP] => CheckPoints {
        start: u32,
        n: u32,
        chunk: u32,
        points: In<Affine>,
        first: Out<u32>,
    }
    /// Decodes points, and notes the first fault.
    points_decode[POINT_GROUP] => DecodePoints {
        start: u32,
        n: u32,
        chunk: u32,
        infinity_is_fault: u32,
        points: Out<Affine>,
        first: Out<u32>,
    }
}

/// Computes multi-scalar multiplications, and checks their bases.
pub static FAMILY: KernelFamily = KernelFamily {
    domain: Domain::Curves,
    constants: &[CONSTANTS],
    structures: &[
        Piece::definition,
        RowSize::definition,
        DigitsParams::definition,
        ScatterParams::definition,
        ReduceParams::definition,
        RowsParams::definition,
        CollectParams::definition,
    ],
    kernels: &[KERNELS],
    field_sources: &[Part::when(Module::decodes_points, BYTES.source)],
    sources: &[
        Part::always(source!("cl/curve.cl")),
        Part::always(source!("cl/batch_inverse.cl")),
        Part::always(source!("cl/prefix_sum.cl")),
        Part::always(source!("cl/curve_quad.cl")),
        Part::always(source!("cl/msm_glv.cl")),
        Part::always(source!("cl/msm_digits.cl")),
        Part::always(source!("cl/msm_sort.cl")),
        Part::always(source!("cl/msm_precompute.cl")),
        Part::always(source!("cl/msm_batch_affine.cl")),
        Part::always(source!("cl/msm_accumulate.cl")),
        Part::always(source!("cl/msm_reduce.cl")),
        Part::always(source!("cl/msm_check_points.cl")),
        Part::when(Module::decodes_points, source!("cl/msm_decode_points.cl")),
    ],
    ..KernelFamily::new("msm")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
