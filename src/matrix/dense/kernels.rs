//! Declares the kernels of dense matrices.

use crate::kernels::csr::CHANGE_CONSTANTS;
use crate::kernels::field_sources::ACCUMULATOR;
use crate::kernels::spec::{
    Declarations, Domain, Element, KernelFamily, Module, Part, Target, Variant, kernels, shared_constants,
    shared_struct, source,
};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group that multiplies matrices.
    GEMM_GROUP: u32 = 256;
    /// Rows of the result that a work-group computes, for entries of more than two words and for bytes.
    GEMM_ROWS: usize = 16;
    /// Columns of the result that a work-group computes, for entries of more than two words and for bytes. A warp reads
    /// that many adjacent elements.
    GEMM_COLUMNS: usize = 32;
    /// Rows, and columns, of the result that a work-group computes, for elements of one or two words.
    GEMM_TILE: usize = 64;
    /// Number of work-items of a work-group that multiplies by a vector, or that handles an entry each.
    GEMV_GROUP: u32 = 128;
    /// Number of work-items of a work-group of the steps before and after products of residues.
    CRT_GROUP: u32 = 128;
    /// Number of residues that `crt_reconstruct` takes per step: the depth of the instruction of tensor cores.
    CRT_STEP: usize = 32;
    /// Number of rows of a byte matrix that a work-group transposes.
    TRANSPOSE_ROWS: usize = 32;
    /// Number of words, of four bytes each, that such a row has.
    TRANSPOSE_WORDS: usize = 32;
}

shared_constants! {
    pub RESIDUE_CONSTANTS:
    /// Number of 32-bit words per modulus m in the table of constants. The first eight hold balanced powers of 256, and
    /// the last two are unused.
    CRT_WORDS: usize = 20;
    /// Index of m.
    CRT_MODULUS: usize = 8;
    /// Index of ⌈2³²/m⌉.
    CRT_RECIPROCAL: usize = 9;
    /// Index of (M/m)⁻¹ mod m, where M is the product of all moduli.
    CRT_INVERSE: usize = 10;
    /// Index of ⌊2³²/m⌋.
    CRT_FRACTION: usize = 11;
    /// Index of ⌊m/2⌋/m in units of 2⁻³², plus the bound of sums.
    CRT_OFFSET: usize = 12;
    /// Index of ⌊m/2⌋.
    CRT_HALF: usize = 13;
    /// Index of 2³¹ mod m.
    CRT_BIAS: usize = 14;
    /// Index of the lower word of q = ⌈2⁶⁴·(M/m)⁻¹/m⌉.
    CRT_SLOPE_LOW: usize = 15;
    /// Index of the upper word of q, negated.
    CRT_SLOPE_HIGH: usize = 16;
    /// Index of 2³¹·(M/m)⁻¹/m in units of 2⁻³², less two.
    CRT_SHIFT: usize = 17;
    /// Smallest number of products of bytes whose sum may exceed a signed 32-bit integer.
    INT8_EXACT: usize = 1 << 17;
}

shared_constants! {
    pub INT8_CONSTANTS:
    /// Number of work-items of a work-group on tensor cores: two warpgroups.
    INT8_GROUP: u32 = 256;
    /// Rows of the result that a work-group computes: 64 for each warpgroup.
    INT8_ROWS: usize = 128;
    /// Columns of the result that a work-group computes: the most that a warpgroup's instruction has.
    INT8_COLUMNS: usize = 256;
    /// Multiple to which k is padded: the depth of a stage of `gemm_int8_wgmma.cu`.
    INT8_PADDED: usize = INT8_WGMMA_DEPTH;
    /// Number of stages in local memory or in flight.
    INT8_STAGES: usize = 4;
    /// Depth of a stage of `gemm_int8.cu`, in k: that of one instruction.
    INT8_MMA_DEPTH: usize = 32;
    /// Depth of a stage of `gemm_int8_wgmma.cu`, in k: that of four instructions, whose rows are a swizzle's 128 bytes.
    INT8_WGMMA_DEPTH: usize = 128;
}

shared_struct! {
    /// Holds where the entries of a matrix are: entry (r, c) is first + r·row_step + c·column_step.
    pub struct GemmView as gemm_view_t {
        /// Index of entry (0, 0).
        pub first: u64,
        /// Distance from a row to the next, in entries.
        pub row_step: u64,
        /// Distance from a column to the next, in entries.
        pub column_step: u64,
    }
}

shared_struct! {
    /// Holds the sizes of a product.
    pub struct GemmSizes as gemm_sizes_t {
        /// Number of rows of the result.
        pub rows: u32,
        /// Number of terms of an entry.
        pub inner: u32,
        /// Number of columns of the result.
        pub columns: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that computes several products of one shape.
    pub struct GemmBatchParams as gemm_batch_params_t {
        /// Number of work-groups of a product.
        pub groups: u32,
        /// Number of the first product.
        pub pair: u32,
        /// Number of rows of a result.
        pub rows: u32,
        /// Number of terms of an entry.
        pub inner: u32,
        /// Number of columns of a result.
        pub columns: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a product with a vector.
    pub struct GemvParams as gemv_params_t {
        /// Number of rows of the matrix.
        pub rows: u32,
        /// Number of columns of the matrix.
        pub inner: u32,
        /// Number of work-items that sum a piece of a row, a power of two.
        pub lanes: u32,
        /// Number of pieces of a row.
        pub pieces: u32,
        /// Index of the first entry of the vector.
        pub x_first: u64,
        /// Distance from an entry of the vector to the next.
        pub x_step: u64,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that computes residues.
    pub struct ResiduesParams as residues_params_t {
        /// Number of rows of the matrix.
        pub rows: u32,
        /// Number of columns of the matrix.
        pub inner: u32,
        /// Number of rows of residues.
        pub padded: u32,
        /// Number of words of a row of residues, of four residues each.
        pub quads: u32,
        /// Number of moduli.
        pub moduli: u32,
        /// Number of parts of an entry, 1 or 2. Small entries have one.
        pub parts: u32,
        /// Number of bits of the lower part.
        pub split: u32,
        /// Whether residues are of canonical numbers instead of limbs as stored. Unused for small entries.
        pub canonical: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that multiplies residues.
    pub struct Int8ResiduesParams as int8_residues_params_t {
        /// Number of tiles from a set's first row to its last.
        pub tall: u32,
        /// Number of tiles from a set's first column to its last.
        pub wide: u32,
        /// Number of tiles of all sets.
        pub tiles: u32,
        /// Number of k.
        pub depth: u32,
        /// Number of moduli.
        pub moduli: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a launch that multiplies bytes.
    pub struct Int8WordsParams as int8_words_params_t {
        /// Number of tiles from the first row to the last.
        pub tall: u32,
        /// Number of tiles.
        pub tiles: u32,
        /// Number of rows of the result.
        pub rows: u32,
        /// Number of columns of the result.
        pub columns: u32,
        /// Number of k.
        pub depth: u32,
    }
}

kernels! {
    pub KERNELS:
    /// Computes C = A·B by sums of unreduced products.
    gemm_lazy[GEMM_GROUP] => Lazy {
        sizes: Value<GemmSizes>,
        a: In<Element>,
        a_view: Value<GemmView>,
        b: In<Element>,
        b_view: Value<GemmView>,
        c: Out<Element>,
        c_view: Value<GemmView>,
    }
    /// Computes C = A·B by Montgomery multiplications.
    gemm_montgomery[GEMM_GROUP] => Montgomery {
        sizes: Value<GemmSizes>,
        a: In<Element>,
        a_view: Value<GemmView>,
        b: In<Element>,
        b_view: Value<GemmView>,
        c: Out<Element>,
        c_view: Value<GemmView>,
    }
    /// Computes several products of matrices of one shape.
    gemm_batched[GEMM_GROUP] => Batched {
        params: Value<GemmBatchParams>,
        firsts: In<u64>,
        a: In<Element>,
        a_start: Value<GemmView>,
        b: In<Element>,
        b_start: Value<GemmView>,
        c: Out<Element>,
        c_start: Value<GemmView>,
    }
    /// Computes C = A·B for integers A of `bytes` bytes each.
    gemm_small_lazy[GEMM_GROUP] => SmallLazy {
        sizes: Value<GemmSizes>,
        bytes: u32,
        a: In<u8>,
        a_view: Value<GemmView>,
        b: In<Element>,
        b_view: Value<GemmView>,
        c: Out<Element>,
        c_view: Value<GemmView>,
    }
    /// Computes C = A·B for bytes.
    gemm_bytes[GEMM_GROUP] => Bytes {
        sizes: Value<GemmSizes>,
        a: In<u8>,
        a_view: Value<GemmView>,
        b: In<u8>,
        b_view: Value<GemmView>,
        c: Out<i32>,
        c_view: Value<GemmView>,
    }
    /// Computes the sums of pieces of rows times a vector.
    gemv_lazy[GEMV_GROUP] => GemvLazy {
        params: Value<GemvParams>,
        a: In<Element>,
        a_view: Value<GemmView>,
        x: In<Element>,
        y: Out<Element>,
    }
    /// Computes the sums of pieces of rows times a vector, for integers of `bytes` bytes each.
    gemv_small[GEMV_GROUP] => GemvSmall {
        params: Value<GemvParams>,
        bytes: u32,
        a: In<u8>,
        a_view: Value<GemmView>,
        x: In<Element>,
        y: Out<Element>,
    }
    /// Adds up the sums of the pieces of each row.
    gemv_reduce_partials[GEMV_GROUP] => ReducePartials {
        rows: u32,
        pieces: u32,
        parts: In<Element>,
        y: Out<Element>,
    }
    /// Adds products of a matrix's changes and a vector to y.
    gemv_differences[GEMV_GROUP] => Differences {
        count: u32,
        changes: In<u32>,
        values: In<Element>,
        x: In<Element>,
        y: Out<Element>,
    }
    /// Copies entries of `words` words from one layout to another.
    gemm_copy[GEMV_GROUP] => CopyEntries {
        rows: u32,
        columns: u32,
        words: u32,
        from: In<u32>,
        from_view: Value<GemmView>,
        to: Out<u32>,
        to_view: Value<GemmView>,
    }
    /// Converts integers of `bytes` bytes each to elements.
    gemm_to_field[GEMV_GROUP] => ToField {
        rows: u32,
        columns: u32,
        bytes: u32,
        from: In<u8>,
        from_view: Value<GemmView>,
        to: Out<Element>,
    }
    /// Finds the first element whose absolute value has more than `bits` bits.
    gemm_find_out_of_range[GEMV_GROUP] => FindOutOfRange {
        columns: u32,
        bits: u32,
        start: u64,
        count: u32,
        from: In<Element>,
        from_view: Value<GemmView>,
        least: Out<u32>,
    }
    /// Computes the residues of elements.
    crt_residues[CRT_GROUP] => Residues {
        params: Value<ResiduesParams>,
        a: In<Element>,
        a_view: Value<GemmView>,
        table: In<u32>,
        out: Out<u32>,
    }
    /// Computes the residues of integers of `bytes` bytes each.
    crt_residues_small[CRT_GROUP] => ResiduesSmall {
        params: Value<ResiduesParams>,
        bytes: u32,
        a: In<u8>,
        a_view: Value<GemmView>,
        table: In<u32>,
        out: Out<u32>,
    }
    /// Transposes column-major bytes.
    crt_transpose_bytes[CRT_GROUP] => TransposeBytes {
        rows: u32,
        inner: u32,
        quads: u32,
        a: In<u8>,
        a_view: Value<GemmView>,
        out: Out<u32>,
    }
    /// Reconstructs elements from residues.
    crt_reconstruct[CRT_GROUP] => Reconstruct {
        rows: u32,
        columns: u32,
        padded: u32,
        quads: u32,
        sets: u32,
        residues: In<u32>,
        table: In<u32>,
        c: Out<Element>,
        c_view: Value<GemmView>,
    }
}

kernels! {
    pub INT8_KERNELS:
    /// Computes products of residues.
    gemm_int8_residues[INT8_GROUP] => Int8Residues {
        params: Value<Int8ResiduesParams>,
        table: In<u32>,
        a: In<u8>,
        b: In<u8>,
        out: Out<u8>,
        local: Local,
    }
    /// Computes products of bytes, as sums of 32 bits.
    gemm_int8_words[INT8_GROUP] => Int8Words {
        params: Value<Int8WordsParams>,
        a: In<u8>,
        b: In<u8>,
        c: Out<i32>,
        c_view: Value<GemmView>,
        local: Local,
    }
}

/// Multiplies dense matrices over a field.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS, RESIDUE_CONSTANTS, CHANGE_CONSTANTS],
    structures: &[
        GemmView::definition,
        GemmSizes::definition,
        GemmBatchParams::definition,
        GemvParams::definition,
        ResiduesParams::definition,
    ],
    kernels: &[KERNELS],
    field_sources: &[ACCUMULATOR],
    sources: &[
        Part::always(source!("cl/gemm_common.cl")),
        Part::when(Module::is_small, source!("cl/gemm_small_field.cl")),
        Part::when(Module::is_multi_limb, source!("cl/gemm.cl")),
        Part::always(source!("cl/gemv.cl")),
        Part::always(source!("cl/gemm_crt.cl")),
        Part::when(Module::is_small, source!("cl/gemm_crt_residues_small.cl")),
        Part::when(Module::is_multi_limb, source!("cl/gemm_crt_residues_split.cl")),
        Part::always(source!("cl/gemm_crt_reconstruct.cl")),
    ],
    ..KernelFamily::new("gemm")
};

/// Ends the name of the module with int8 products on tensor cores.
pub const TENSOR: &str = "tensor";
/// Ends the name of the module that only devices of compute capability 9.0 run.
pub const HOPPER: &str = "hopper";

/// Multiplies dense matrices of bytes on tensor cores.
pub static INT8: KernelFamily = KernelFamily {
    domain: Domain::Nothing,
    constants: &[RESIDUE_CONSTANTS, INT8_CONSTANTS],
    structures: &[GemmView::definition, Int8ResiduesParams::definition, Int8WordsParams::definition],
    kernels: &[INT8_KERNELS],
    sources: &[
        Part::always(source!("cuda/gemm_int8_common.cuh")),
        Part::when(|module| module.target == Target::Cuda, source!("cuda/gemm_int8.cu")),
        Part::when(|module| module.target == Target::Hopper, source!("cuda/gemm_int8_wgmma.cu")),
    ],
    variants: &[
        Variant { suffix: TENSOR, define: "", target: Target::Cuda, condition: |_| true },
        // Warpgroup matrix products, which only devices of compute capability 9.0 have.
        Variant { suffix: HOPPER, define: "HAS_WGMMA", target: Target::Hopper, condition: |_| true },
    ],
    ..KernelFamily::new("gemm_int8")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY, &INT8], ..Declarations::NONE };
