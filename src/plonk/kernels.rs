//! Declares the kernels of PLONKish proofs.

use crate::kernels::field_sources::{BYTES, INVERSE_GROUP, SCAN_GROUP, SHOUP, SHOUP_PTX};
use crate::kernels::ntt::Fixed;
use crate::kernels::spec::{Declarations, KernelFamily, Part, kernels, shared_constants, shared_struct, source};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group that handles a row each.
    PLONK_GROUP: u32 = 128;
    /// Number of words of 64 bits that describe an output of a launch.
    OUTPUT_WORDS: u32 = 4;
    /// Lowest of the bits that number a buffer in the word of a column.
    BANK_SHIFT: u32 = 56;
    /// Binary logarithm of the number of work-items of a work-group that divides.
    DIVIDE_LOG: u32 = 7;
    /// Number of work-items of a work-group that divides.
    DIVIDE_GROUP: u32 = 1 << DIVIDE_LOG;
    /// Number of coefficients that a work-item divides.
    DIVIDE_CHAIN: u32 = 8;
    /// Number of coefficients that a work-group divides.
    DIVIDE_TILE: u32 = DIVIDE_GROUP * DIVIDE_CHAIN;
    /// Number of work-items of a work-group that evaluates.
    EVALUATE_GROUP: u32 = 128;
    /// Number of coefficients that a work-group evaluates, 16 for each work-item.
    EVALUATE_TILE: u32 = EVALUATE_GROUP * 16;
    /// Number of powers of a point, with exponents from 0 to `EVALUATE_GROUP`.
    POINT_POWERS: u32 = EVALUATE_GROUP + 1;
    /// Number of rows that a work-item divides by one inversion.
    PRODUCT_CHAIN: u32 = 16;
    /// Number of rows of a column that a work-group divides by one inversion.
    PRODUCT_TILE: u32 = INVERSE_GROUP * PRODUCT_CHAIN;
    /// Number of work-items of a work-group that multiplies the quotients of a tile.
    PRODUCT_SCAN: u32 = 128;
    /// Number of work-items of a work-group that permutes lookups.
    PERMUTE_GROUP: u32 = SCAN_GROUP;
    /// Number of rows that a work-item adds up.
    PERMUTE_CHAIN: u32 = 8;
    /// Number of rows that a work-group adds up.
    PERMUTE_TILE: u32 = PERMUTE_GROUP * PERMUTE_CHAIN;
    /// Number of rows that a work-group looks up, four for each work-item.
    PROBE_TILE: u32 = PERMUTE_GROUP * 4;
    /// Number of words of a lookup's totals: rows of A that S has, runs, rows of A that S lacks, and the first of these.
    TOTALS: u32 = 4;
}

shared_struct! {
    /// Describes a launch with one work-item per row of each output.
    pub struct RowLaunch as row_launch_t {
        /// Number of rows.
        pub n: u32,
        /// Number of rows that the circuit uses.
        pub usable: u32,
        /// Number of work-groups for each output.
        pub blocks: u32,
        /// Number of outputs.
        pub outputs: u32,
        /// Number of elements that precede the words of outputs and columns.
        pub words_at: u32,
    }
}

shared_struct! {
    /// Describes a launch that evaluates tiles of polynomials.
    pub struct TileLaunch as tile_launch_t {
        /// Number of coefficients.
        pub n: u32,
        /// Number of tiles of a polynomial.
        pub tiles: u32,
        /// Number of outputs.
        pub outputs: u32,
        /// Number of elements that precede the words of outputs and columns.
        pub words_at: u32,
    }
}

shared_struct! {
    /// Describes the parts of a quotient, and the tables of powers that scale them.
    pub struct PiecesLayout as pieces_layout_t {
        /// Index of the first part's first element.
        pub first: u64,
        /// Number of elements from the start of one part to the start of the next.
        pub stride: u64,
        /// Number of elements of a part.
        pub n: u32,
        /// Number of parts.
        pub q: u32,
        /// Binary logarithm of the entries of a table of powers by low bits.
        pub low_log: u32,
        /// Zero.
        pub padding: u32,
    }
}

shared_struct! {
    /// Describes the columns of lookups: their inputs A and their tables S.
    pub struct LookupLayout as lookup_layout_t {
        /// Seed of the hash function.
        pub seed: u64,
        /// Index of the first input's first element.
        pub inputs_first: u64,
        /// Number of elements from the start of one input to the start of the next.
        pub inputs_stride: u64,
        /// Index of the first table's first element.
        pub tables_first: u64,
        /// Number of elements from the start of one table to the start of the next.
        pub tables_stride: u64,
        /// Number of rows.
        pub n: u32,
        /// Number of rows that the circuit uses.
        pub usable: u32,
        /// Number of work-groups for each lookup.
        pub blocks: u32,
        /// Binary logarithm of the slots of a lookup's hash table.
        pub slots_log: u32,
    }
}

shared_struct! {
    /// Holds sums over the rows ahead.
    pub struct PermuteSums as permute_sums_t {
        /// Number of rows of A in runs.
        pub found: u32,
        /// Number of runs.
        pub runs: u32,
        /// Number of rows of A whose values S lacks.
        pub lost: u32,
    }
}

kernels! {
    pub ROW_KERNELS:
    /// Sums multiples of columns, less polynomials of few coefficients.
    plonk_combine[PLONK_GROUP] => Combine<F> {
        launch: Value<RowLaunch>,
        params: In<F>,
        out: Out<F>,
        bank0: In<F>,
        bank1: In<F>,
        bank2: In<F>,
        bank3: In<F>,
        bank4: In<F>,
        bank5: In<F>,
        bank6: In<F>,
        bank7: In<F>,
    }
    /// Computes the factors of permutation sets.
    plonk_permutation_factors[PLONK_GROUP] => PermutationFactors<F> {
        launch: Value<RowLaunch>,
        params: In<F>,
        low: In<Fixed>,
        high: In<Fixed>,
        low_log: u32,
        numerators: Out<F>,
        denominators: Out<F>,
        bank0: In<F>,
        bank1: In<F>,
        bank2: In<F>,
        bank3: In<F>,
        bank4: In<F>,
        bank5: In<F>,
        bank6: In<F>,
        bank7: In<F>,
    }
    /// Computes the factors of lookups.
    plonk_lookup_factors[PLONK_GROUP] => LookupFactors<F> {
        launch: Value<RowLaunch>,
        params: In<F>,
        numerators: Out<F>,
        denominators: Out<F>,
        bank0: In<F>,
        bank1: In<F>,
        bank2: In<F>,
        bank3: In<F>,
        bank4: In<F>,
        bank5: In<F>,
        bank6: In<F>,
        bank7: In<F>,
    }
    /// Writes rows of columns.
    plonk_write_blinding[PLONK_GROUP] => WriteBlinding<F> {
        count: u64,
        row: u32,
        rows: u32,
        values: In<F>,
        data: Out<F>,
        first: u64,
        stride: u64,
    }
    /// Reduces numbers of twice as many words as an element has.
    plonk_from_uniform[PLONK_GROUP] => FromUniform<F> {
        n: u32,
        wide: In<F>,
        out: Out<F>,
    }
}

kernels! {
    pub POLYNOMIAL_KERNELS:
    /// Computes the Horner sum of each tile of polynomials that are divided.
    plonk_divide_tiles[DIVIDE_GROUP] => DivideTiles<F> {
        n: u32,
        tiles: u32,
        params: In<F>,
        words_at: u32,
        data: In<F>,
        carries: Out<F>,
    }
    /// Replaces the sum of each tile by that of all tiles behind.
    plonk_divide_carries[DIVIDE_GROUP] => DivideCarries<F> {
        tiles: u32,
        share: u32,
        params: In<F>,
        carries: Out<F>,
    }
    /// Replaces coefficients by those of the quotient.
    plonk_divide[DIVIDE_GROUP] => Divide<F> {
        n: u32,
        tiles: u32,
        params: In<F>,
        words_at: u32,
        data: Out<F>,
        carries: In<F>,
    }
    /// Evaluates tiles of polynomials.
    plonk_evaluate_tiles[EVALUATE_GROUP] => EvaluateTiles<F> {
        launch: Value<TileLaunch>,
        params: In<F>,
        partials: Out<F>,
        bank0: In<F>,
        bank1: In<F>,
        bank2: In<F>,
        bank3: In<F>,
        bank4: In<F>,
        bank5: In<F>,
        bank6: In<F>,
        bank7: In<F>,
    }
    /// Computes values of polynomials from those of their tiles.
    plonk_evaluate_sums[EVALUATE_GROUP] => EvaluateSums<F> {
        tiles: u32,
        params: In<F>,
        words_at: u32,
        partials: In<F>,
        values: Out<F>,
    }
    /// Computes the pieces of a quotient from up to 4 parts.
    plonk_pieces_4[PLONK_GROUP] => Pieces4<F> {
        layout: Value<PiecesLayout>,
        matrix: In<F>,
        data: Out<F>,
        zeta_low: In<Fixed>,
        zeta_high: In<Fixed>,
        omega_low: In<Fixed>,
        omega_high: In<Fixed>,
    }
    /// Computes the pieces of a quotient from up to 8 parts.
    plonk_pieces_8[PLONK_GROUP] => Pieces8<F> {
        layout: Value<PiecesLayout>,
        matrix: In<F>,
        data: Out<F>,
        zeta_low: In<Fixed>,
        zeta_high: In<Fixed>,
        omega_low: In<Fixed>,
        omega_high: In<Fixed>,
    }
    /// Computes the pieces of a quotient from up to 16 parts.
    plonk_pieces_16[PLONK_GROUP] => Pieces16<F> {
        layout: Value<PiecesLayout>,
        matrix: In<F>,
        data: Out<F>,
        zeta_low: In<Fixed>,
        zeta_high: In<Fixed>,
        omega_low: In<Fixed>,
        omega_high: In<Fixed>,
    }
}

kernels! {
    pub PRODUCT_KERNELS:
    /// Computes quotients, and the product of those of each tile.
    plonk_product_ratios[INVERSE_GROUP] => ProductRatios<F> {
        n: u32,
        usable: u32,
        tiles: u32,
        numerators: In<F>,
        denominators: In<F>,
        quotients: Out<F>,
        products: Out<F>,
    }
    /// Replaces the product of each tile by that of all tiles ahead in its chain.
    plonk_scan_tiles[PRODUCT_SCAN] => ScanTiles<F> {
        chains: In<u32>,
        products: Out<F>,
    }
    /// Replaces quotients by the products of those ahead.
    plonk_scan_rows[PRODUCT_SCAN] => ScanRows<F> {
        n: u32,
        usable: u32,
        tiles: u32,
        products: In<F>,
        data: Out<F>,
    }
}

kernels! {
    pub PERMUTE_KERNELS:
    /// Inserts rows of S into hash tables.
    plonk_permute_insert[PERMUTE_GROUP] => PermuteInsert<F> {
        layout: Value<LookupLayout>,
        tables: In<F>,
        slots: Out<u32>,
    }
    /// Counts the values of A.
    plonk_permute_probe[PERMUTE_GROUP] => PermuteProbe<F> {
        layout: Value<LookupLayout>,
        inputs: In<F>,
        tables: In<F>,
        slots: In<u32>,
        counts: Out<u32>,
        lost: Out<u32>,
    }
    /// Computes the sums of each tile of rows.
    plonk_permute_sum[PERMUTE_GROUP] => PermuteSum {
        usable: u32,
        tiles: u32,
        counts: In<u32>,
        lost: In<u32>,
        sums: Out<PermuteSums>,
    }
    /// Replaces the sums of each tile by those of all tiles ahead.
    plonk_permute_scan[PERMUTE_GROUP] => PermuteScan {
        tiles: u32,
        sums: Out<PermuteSums>,
        totals: Out<u32>,
    }
    /// Lists runs, rows of S that are left, and rows of A that are lost.
    plonk_permute_list[PERMUTE_GROUP] => PermuteList {
        layout: Value<LookupLayout>,
        counts: In<u32>,
        lost: In<u32>,
        sums: In<PermuteSums>,
        starts: Out<u32>,
        rows: Out<u32>,
        left: Out<u32>,
        missing: Out<u32>,
        totals: Out<u32>,
    }
    /// Writes A′ and S′.
    plonk_permute_scatter[PERMUTE_GROUP] => PermuteScatter<F> {
        layout: Value<LookupLayout>,
        inputs: In<F>,
        tables: In<F>,
        starts: In<u32>,
        rows: In<u32>,
        left: In<u32>,
        missing: In<u32>,
        totals: In<u32>,
        out: Out<F>,
    }
}

/// Computes the steps of a PLONKish proof between its NTTs and its MSMs.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS],
    structures: &[
        RowLaunch::definition,
        TileLaunch::definition,
        PiecesLayout::definition,
        LookupLayout::definition,
        PermuteSums::definition,
    ],
    kernels: &[ROW_KERNELS, POLYNOMIAL_KERNELS, PRODUCT_KERNELS, PERMUTE_KERNELS],
    field_sources: &[SHOUP, SHOUP_PTX, BYTES],
    sources: &[
        Part::always(source!("cl/batch_inverse.cl")),
        Part::always(source!("cl/prefix_sum.cl")),
        Part::always(source!("cl/plonk_buffers.cl")),
        Part::always(source!("cl/plonk_rowwise.cl")),
        Part::always(source!("cl/plonk_lookup_permute.cl")),
        Part::always(source!("cl/plonk_grand_product.cl")),
        Part::always(source!("cl/plonk_evaluate.cl")),
        Part::always(source!("cl/plonk_divide.cl")),
        Part::always(source!("cl/plonk_h_pieces.cl")),
    ],
    ..KernelFamily::new("plonk")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
