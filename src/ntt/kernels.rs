//! Declares the kernels of transforms.

use crate::kernels::field_sources::{SHOUP, SHOUP_PTX};
use crate::kernels::spec::{
    Constant, Declarations, Element, KernelFamily, KernelSignature, Part, kernels, shared_constants, shared_struct,
    source,
};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group of the kernels that are no passes.
    NTT_POINTWISE_GROUP: u32 = 128;
    /// Binary logarithm of the elements of a tile that a work-item holds in registers.
    STEP_LOG: u32 = 2;
    /// Flag: the nodes are not those of the plain tree, since the input is multiplied by powers of a shift.
    SHIFTED: u32 = 1;
    /// Flag: the output is in bit-reversed order.
    REVERSED: u32 = 2;
    /// Flag: rows are multiplied by the factors of the low bits of their number.
    FACTOR_LOW: u32 = 4;
    /// Flag: rows are multiplied by the factors of the high bits of their number.
    FACTOR_HIGH: u32 = 8;
    /// Flag: outputs are multiplied by the factors of their last digit.
    FACTOR_LAST: u32 = 16;
    /// Flag: groups wait until all that they overwrite has been read.
    IN_PLACE: u32 = 32;
    /// Number of powers base^(2^k) that kernels take for a base: exponents have 32 bits.
    POWER_TABLE: u32 = 32;
    /// Flag of a table that contains powers of the input's shift.
    FACTOR_IN: u32 = 1;
    /// Flag of a table that contains powers of the output's shift.
    FACTOR_OUT: u32 = 2;
    /// Flag of a table that contains the scale.
    FACTOR_SCALE: u32 = 4;
}

/// Binary logarithm of the elements of a tile: two passes of 2^8 rows have runs of 64 bytes.
pub const TILE_LOG: u32 = 9;
/// Minimum number of work-groups of a pass that a multiprocessor runs at once, by launch bounds: 28 warps.
pub const NTT_GROUPS: u32 = 7;
/// Binary logarithm of the number of elements that a small tile has.
pub const SMALL_TILE_LOG: u32 = 8;
/// Minimum number of work-groups of a pass over small tiles that a multiprocessor runs at once: 28 warps.
pub const SMALL_NTT_GROUPS: u32 = 14;

/// Lists the constants of tiles of 2^`log` elements, `groups` of which a multiprocessor runs at once.
const fn tile_constants(log: u32, groups: u32) -> [Constant; 2] {
    [
        Constant { name: "TILE_LOG", value: log as u64, kind: "i32" },
        Constant { name: "NTT_GROUPS", value: groups as u64, kind: "i32" },
    ]
}

/// Stands for a fixed factor: a value and a quotient for Shoup's multiplication.
pub enum Fixed {}

shared_struct! {
    /// Holds the numbers of a pass before the last.
    pub struct ColumnParams as column_params_t {
        /// Distance from the start of a vector to the start of the next, in elements.
        pub vector_stride: u64,
        /// Binary logarithm of the length of a vector.
        pub log_n: u32,
        /// Binary logarithm of the distance between consecutive rows, in elements.
        pub stride_log: u32,
        /// Binary logarithm of the number of rows.
        pub radix_log: u32,
        /// Number of index bits that the first pass settled; 0 in that pass.
        pub first_log: u32,
        /// Number of index bits that the pass swaps with its own.
        pub swap_log: u32,
        /// Flags.
        pub flags: u32,
        /// Number of words of the state that the pass clears.
        pub clear: u32,
        /// Fills the structure up to whole words of 64 bits.
        pub padding: u32,
    }
}

shared_struct! {
    /// Holds the numbers of the last pass.
    pub struct RowParams as row_params_t {
        /// Distance from the start of a vector to the start of the next, in elements.
        pub vector_stride: u64,
        /// Number of rows of all vectors.
        pub columns: u32,
        /// Binary logarithm of the length of a vector.
        pub log_n: u32,
        /// Binary logarithm of the length of a row.
        pub radix_log: u32,
        /// Number of index bits that the first pass settled.
        pub first_log: u32,
        /// Number of low bits of a row's number that select low factors.
        pub low_log: u32,
        /// Flags.
        pub flags: u32,
        /// Index of the ticket counter in the state.
        pub state_offset: u32,
        /// Binary logarithm of the tiles of a plane.
        pub plane_log: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a pass over the memory of several devices.
    pub struct PeerParams as peer_params_t {
        /// First tile of the device.
        pub first_tile: u32,
        /// Binary logarithm of the number of devices.
        pub owners_log: u32,
        /// Binary logarithm of the distance between parts, in elements.
        pub part_log: u32,
        /// Position of the owner's bits in the index that is read.
        pub from_log: u32,
        /// Position of the owner's bits in the index that is written.
        pub to_log: u32,
        /// Binary logarithm of the length of the vector.
        pub log_n: u32,
        /// Binary logarithm of the distance between consecutive rows. Unused in the last pass.
        pub stride_log: u32,
        /// Binary logarithm of the number of rows, or of the length of a row in the last pass.
        pub radix_log: u32,
        /// Number of index bits that the first pass settled.
        pub first_log: u32,
        /// Number of index bits that the pass swaps with its own. Unused in the last pass.
        pub swap_log: u32,
        /// Number of low bits of a row's number that select low factors. Unused before the last pass.
        pub low_log: u32,
        /// Flags.
        pub flags: u32,
    }
}

/// Number of work-items of a work-group of a pass.
const PASS_GROUP: u32 = 1 << (TILE_LOG - STEP_LOG);
/// Number of work-items of a work-group of a pass over small tiles.
const SMALL_PASS_GROUP: u32 = 1 << (SMALL_TILE_LOG - STEP_LOG);

kernels! {
    pub PASSES:
    /// Transforms columns, in a pass before the last.
    ntt_column_pass[PASS_GROUP] => ColumnPass {
        params: Value<ColumnParams>,
        data: In<Element>,
        out: Out<Element>,
        nodes: In<Fixed>,
        state: Out<u32>,
    }
    /// Transforms rows, in the last pass.
    ntt_row_pass[PASS_GROUP] => RowPass {
        params: Value<RowParams>,
        data: In<Element>,
        out: Out<Element>,
        nodes: In<Fixed>,
        low: In<Fixed>,
        high: In<Fixed>,
        last: In<Fixed>,
        state: Out<u32>,
    }
}

/// Lists the passes over small tiles, which take the same arguments.
const SMALL_PASSES: &[KernelSignature] = &[
    KernelSignature { group_size: SMALL_PASS_GROUP, ..PASSES[0] },
    KernelSignature { group_size: SMALL_PASS_GROUP, ..PASSES[1] },
];

kernels! {
    pub KERNELS:
    /// Transforms vectors of one or two elements.
    ntt_short[PASS_GROUP] => Short {
        data: In<Element>,
        out: Out<Element>,
        vector_stride: u64,
        vectors: u32,
        log_n: u32,
        low: In<Fixed>,
        last: In<Fixed>,
        flags: u32,
    }
    /// Transforms columns in the memory of several devices.
    ntt_peer_columns[PASS_GROUP] => PeerColumns {
        params: Value<PeerParams>,
        data: In<Element>,
        out: Out<Element>,
        nodes: In<Fixed>,
    }
    /// Transforms rows in the memory of several devices.
    ntt_peer_rows[PASS_GROUP] => PeerRows {
        params: Value<PeerParams>,
        data: In<Element>,
        out: Out<Element>,
        nodes: In<Fixed>,
        low: In<Fixed>,
        high: In<Fixed>,
        last: In<Fixed>,
    }
    /// Computes the nodes of a tree of remainders.
    ntt_twiddle_tree[NTT_POINTWISE_GROUP] => TwiddleTree {
        params: In<Element>,
        log_n: u32,
        count: u32,
        nodes: Out<Fixed>,
    }
    /// Computes a table of factors.
    ntt_twiddles[NTT_POINTWISE_GROUP] => TwiddleFactors {
        params: In<Element>,
        width_log: u32,
        shift: u32,
        which: u32,
        count: u32,
        factors: Out<Fixed>,
    }
    /// Multiplies vectors pointwise.
    ntt_multiply[NTT_POINTWISE_GROUP] => Multiply {
        data: Out<Element>,
        other: In<Element>,
        count: u64,
        mask: u32,
    }
    /// Adds vectors pointwise.
    ntt_add[NTT_POINTWISE_GROUP] => Add {
        data: Out<Element>,
        other: In<Element>,
        count: u64,
        mask: u32,
    }
    /// Subtracts vectors pointwise.
    ntt_subtract[NTT_POINTWISE_GROUP] => Subtract {
        data: Out<Element>,
        other: In<Element>,
        count: u64,
        mask: u32,
    }
    /// Multiplies elements by powers of a base.
    ntt_powers[NTT_POINTWISE_GROUP] => MultiplyByPowers {
        data: Out<Element>,
        vector_stride: u64,
        count: u64,
        length_log: u32,
        first: u32,
        step: u32,
        low_log: u32,
        low: In<Fixed>,
        high: In<Fixed>,
    }
    /// Permutes vectors between natural and bit-reversed order.
    ntt_permute[NTT_POINTWISE_GROUP] => Permute {
        data: Out<Element>,
        vector_stride: u64,
        count: u64,
        log_n: u32,
    }
    /// Transposes a matrix.
    ntt_transpose[NTT_POINTWISE_GROUP] => Transpose {
        from: In<Element>,
        to: Out<Element>,
        rows_log: u32,
        columns_log: u32,
    }
    /// Scatters elements to equally distant places.
    ntt_interleave[NTT_POINTWISE_GROUP] => Interleave {
        from: In<Element>,
        to: Out<Element>,
        count: u64,
        step_log: u32,
        first: u32,
    }
}

/// Computes transforms, their twiddles, and pointwise operations.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS, &tile_constants(TILE_LOG, NTT_GROUPS)],
    structures: &[ColumnParams::definition, RowParams::definition, PeerParams::definition],
    kernels: &[PASSES, KERNELS],
    field_sources: &[SHOUP, SHOUP_PTX],
    sources: &[
        Part::always(source!("cl/ntt_common.cl")),
        Part::always(source!("cl/ntt_twiddles.cl")),
        Part::always(source!("cl/ntt_columns.cl")),
        Part::always(source!("cl/ntt_rows.cl")),
        Part::always(source!("cl/ntt_multi_gpu.cl")),
        Part::always(source!("cl/ntt_pointwise.cl")),
    ],
    ..KernelFamily::new("ntt")
};

/// Computes passes, over small tiles, of a transform whose tiles all run at once.
pub static SMALL: KernelFamily = KernelFamily {
    constants: &[
        CONSTANTS,
        &tile_constants(SMALL_TILE_LOG, SMALL_NTT_GROUPS),
        &[Constant { name: "SMALL_TILES", value: 1, kind: "i32" }],
    ],
    structures: &[ColumnParams::definition, RowParams::definition],
    kernels: &[SMALL_PASSES],
    field_sources: &[SHOUP, SHOUP_PTX],
    sources: &[Part::always(source!("cl/ntt_common.cl")), Part::always(source!("cl/ntt_single_wave.cl"))],
    ..KernelFamily::new("ntt_small")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY, &SMALL], ..Declarations::NONE };
