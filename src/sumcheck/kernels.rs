//! Declares the kernels of sumcheck.

use crate::kernels::field_sources::{ACCUMULATOR, SHOUP, SHOUP_PTX};
use crate::kernels::spec::{
    Declarations, KernelFamily, Module, Part, Target, Variant, kernels, shared_constants, shared_struct, source,
};

/// Ends the names of modules that use carry-less multiply-add.
pub const CLMAD: &str = "clmad";

shared_constants! {
    pub PRODUCT_CONSTANTS:
    /// Maximum number of factors of a product that has kernels of its own: their values fit in registers.
    MAX_PRODUCT_FACTORS: u32 = 4;
}

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group.
    SUMCHECK_GROUP: u32 = 128;
    /// Number of the point that stands for the coefficient of the highest degree.
    POINT_INFINITY: u32 = u32::MAX;
    /// Value of [`TermsParams::low_log`] if rows have no weights.
    NO_WEIGHTS: u32 = u32::MAX;
    /// Bits of a digit of an element whose basis is changed: 32 work-items look up images in different banks.
    PLACE_BITS: u32 = 5;
    /// Number of digits that an element of 128 bits has.
    PLACES: u32 = 128u32.div_ceil(PLACE_BITS);
    /// Number of work-groups of a pass for two rounds that share a compute unit, plus the number of factors: more
    /// factors take more registers.
    PAIR_GROUPS_AND_FACTORS: u32 = 6;
}

shared_constants! {
    pub SLICED_CONSTANTS:
    /// Number of bits that a word holds, each of another element.
    SLICED_BITS: u32 = 32;
    /// Number of words that hold one bit of a tile's elements.
    SLICED_LANES: u32 = 32;
    /// Number of products of 64 bits that make up one of 128 bits (Karatsuba), and of 32 bits that make up one of 64.
    SLICED_BRANCHES: u32 = 3;
    /// Number of products of 32 bits that make up one of 128 bits.
    SLICED_PARTS: u32 = SLICED_BRANCHES * SLICED_BRANCHES;
    /// Number of work-items of a work-group that computes a round.
    SLICED_GROUP: u32 = SLICED_BRANCHES * SLICED_LANES;
    /// Number of work-groups of a round that share a compute unit: there are registers for as many.
    SLICED_OCCUPANCY: u32 = 5;
    /// Number of work-items of a work-group that converts elements to or from tiles: one for each word of 32 elements.
    SLICE_GROUP: u32 = 4 * SLICED_LANES;
}

/// Holds a challenge as the words of an element. If the field is prime with more than two 32-bit limbs, they are the
/// element as a number b, and ⌊b·R/p⌋.
pub type SumcheckChallenge = [u32];

/// Holds an element of 128 bits.
pub type SlicedElement = u128;

shared_struct! {
    /// Holds the numbers of a pass over a product of all columns.
    pub struct PassParams as pass_params_t {
        /// Number of elements from a column that is read to the next.
        pub from_stride: u64,
        /// Number of elements from a column that is written to the next.
        pub to_stride: u64,
        /// Number of pairs of rows, or of sets of four rows if the pass is for two rounds.
        pub step: u32,
        /// Whether the pass folds the columns first. A first pass does not.
        pub folds: u32,
        /// Number of the pass, by which the host knows that it has ended.
        pub pass: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a pass over any terms.
    pub struct TermsParams as terms_params_t {
        /// Number of elements from a column to the next.
        pub stride: u64,
        /// Number of pairs of rows.
        pub pairs: u32,
        /// Number of points.
        pub points: u32,
        /// Number of terms.
        pub terms: u32,
        /// Maximum number of factors of a term.
        pub degree: u32,
        /// Binary logarithm of the length of the low table of weights, or [`NO_WEIGHTS`].
        pub low_log: u32,
        /// Index of the low table in the weights.
        pub low_at: u32,
        /// Index of the high table in the weights.
        pub high_at: u32,
        /// Number of the pass, by which the host knows that it has ended.
        pub pass: u32,
    }
}

shared_struct! {
    /// Holds the numbers of a round over bit-sliced columns.
    pub struct SlicedParams as sliced_params_t {
        /// Number of elements from a column that is read to the next.
        pub from_stride: u64,
        /// Number of elements from a column that is written to the next.
        pub to_stride: u64,
        /// Number of tiles of half a column, after folding.
        pub tiles: u32,
        /// Number of columns.
        pub factors: u32,
        /// Number of times `tiles` that a folded column has, or 0 if the round does not fold. If it is 1, the round
        /// only folds.
        pub folds: u32,
        /// Number of the round.
        pub round: u32,
    }
}

kernels! {
    pub KERNELS:
    /// Tells the host that the work ahead in the stream has ended.
    sumcheck_signal[1] => Signal {
        pass: u32,
        told: Out<u32>,
    }
    /// Binds the first variable of all columns.
    sumcheck_fold[SUMCHECK_GROUP] => Fold<F> {
        pairs: u32,
        columns: u32,
        from_stride: u64,
        to_stride: u64,
        r: Value<SumcheckChallenge>,
        from: In<F>,
        to: Out<F>,
    }
    /// Sums values of any terms at points.
    sumcheck_terms[SUMCHECK_GROUP] => Terms<F> {
        params: Value<TermsParams>,
        words: In<u32>,
        coefficients: In<F>,
        weights: In<F>,
        from: In<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Computes the sums over groups.
    sumcheck_totals[SUMCHECK_GROUP] => Totals<F> {
        groups: u32,
        points: u32,
        partials: In<F>,
        totals: Out<F>,
    }
    /// Folds two columns, and sums values of their product.
    sumcheck_product_2[SUMCHECK_GROUP] => Product2<F> {
        params: Value<PassParams>,
        r: Value<SumcheckChallenge>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Folds three columns, and sums values of their product.
    sumcheck_product_3[SUMCHECK_GROUP] => Product3<F> {
        params: Value<PassParams>,
        r: Value<SumcheckChallenge>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Folds four columns, and sums values of their product.
    sumcheck_product_4[SUMCHECK_GROUP] => Product4<F> {
        params: Value<PassParams>,
        r: Value<SumcheckChallenge>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
}

kernels! {
    pub BINARY_KERNELS:
    /// Folds two columns twice, and sums values of their product for two rounds.
    sumcheck_pair_2[SUMCHECK_GROUP] => Pair2<F> {
        params: Value<PassParams>,
        first: Value<F>,
        second: Value<F>,
        both: Value<F>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Folds three columns twice, and sums values of their product for two rounds.
    sumcheck_pair_3[SUMCHECK_GROUP] => Pair3<F> {
        params: Value<PassParams>,
        first: Value<F>,
        second: Value<F>,
        both: Value<F>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Folds four columns twice, and sums values of their product for two rounds.
    sumcheck_pair_4[SUMCHECK_GROUP] => Pair4<F> {
        params: Value<PassParams>,
        first: Value<F>,
        second: Value<F>,
        both: Value<F>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Converts elements to another basis.
    sumcheck_convert[SUMCHECK_GROUP] => Convert<F> {
        count: u64,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
    }
    /// Converts two columns to another basis, and sums values of their product.
    sumcheck_first_product_2[SUMCHECK_GROUP] => FirstProduct2<F> {
        params: Value<PassParams>,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Converts three columns to another basis, and sums values of their product.
    sumcheck_first_product_3[SUMCHECK_GROUP] => FirstProduct3<F> {
        params: Value<PassParams>,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Converts four columns to another basis, and sums values of their product.
    sumcheck_first_product_4[SUMCHECK_GROUP] => FirstProduct4<F> {
        params: Value<PassParams>,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Converts two columns to another basis, and sums values of their product for two rounds.
    sumcheck_first_pair_2[SUMCHECK_GROUP] => FirstPair2<F> {
        params: Value<PassParams>,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Converts three columns to another basis, and sums values of their product for two rounds.
    sumcheck_first_pair_3[SUMCHECK_GROUP] => FirstPair3<F> {
        params: Value<PassParams>,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
    /// Converts four columns to another basis, and sums values of their product for two rounds.
    sumcheck_first_pair_4[SUMCHECK_GROUP] => FirstPair4<F> {
        params: Value<PassParams>,
        table: In<u32>,
        from: In<F>,
        to: Out<F>,
        partials: Out<F>,
        totals: Out<F>,
        ended: Out<u32>,
        told: Out<u32>,
    }
}

kernels! {
    pub EXTENSION_KERNELS:
    /// Binds the first variable of columns over the base field.
    sumcheck_base_fold[SUMCHECK_GROUP] => BaseFold<F, B> {
        pairs: u32,
        columns: u32,
        from_stride: u64,
        to_stride: u64,
        r: Value<F>,
        from: In<B>,
        to: Out<F>,
    }
    /// Lifts elements of the base field.
    sumcheck_lift[SUMCHECK_GROUP] => Lift<F, B> {
        count: u64,
        from: In<B>,
        to: Out<F>,
    }
}

kernels! {
    pub SLICED_KERNELS:
    /// Folds bit-sliced columns, and sums values of their product.
    sumcheck_sliced[SLICED_GROUP] => Sliced {
        params: Value<SlicedParams>,
        r: Value<SlicedElement>,
        from: In<u32>,
        to: Out<u32>,
        products: Out<u32>,
        totals: Out<u32>,
    }
    /// Converts packed elements to tiles.
    sumcheck_slice[SLICE_GROUP] => Slice {
        tiles: u64,
        from: In<u32>,
        to: Out<u32>,
    }
    /// Converts tiles to packed elements.
    sumcheck_unslice[SLICE_GROUP] => Unslice {
        tiles: u32,
        columns: u32,
        from_stride: u64,
        from: In<u32>,
        to: Out<u32>,
    }
    /// Computes products of 32 bits. Tests call it, and benches count its operations.
    sliced_products[SLICED_LANES] => SlicedProducts {
        a: In<u32>,
        b: In<u32>,
        to: Out<u32>,
    }
}

/// Computes rounds of sumcheck.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[PRODUCT_CONSTANTS, CONSTANTS],
    structures: &[PassParams::definition, TermsParams::definition],
    kernels: &[KERNELS, BINARY_KERNELS, EXTENSION_KERNELS],
    field_sources: &[ACCUMULATOR, SHOUP, SHOUP_PTX, Part::always(source!("cl/sumcheck_multi_limb.cl"))],
    sources: &[
        Part::when(Module::is_prime, source!("cl/sumcheck_prime.cl")),
        Part::when(Module::is_small, source!("cl/sumcheck_small_field.cl")),
        Part::always(source!("cl/sumcheck.cl")),
        Part::when(Module::is_binary, source!("cl/sumcheck_two_rounds.cl")),
        Part::when(Module::is_binary, source!("cl/sumcheck_basis.cl")),
        Part::when(Module::is_extension, source!("cl/sumcheck_base_field.cl")),
    ],
    variants: &[Variant { suffix: CLMAD, define: "HAS_CLMAD", target: Target::Clmad, condition: Module::is_binary }],
    ..KernelFamily::new("sumcheck")
};

/// Computes rounds of sumcheck over bit-sliced columns of the tower field GF(2^128).
pub static SLICED: KernelFamily = KernelFamily {
    constants: &[PRODUCT_CONSTANTS, SLICED_CONSTANTS],
    structures: &[SlicedParams::definition],
    kernels: &[SLICED_KERNELS],
    sources: &[Part::always(source!("cl/tower_bitsliced.cl")), Part::always(source!("cl/sumcheck_bitsliced.cl"))],
    ..KernelFamily::new("sumcheck_sliced")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY, &SLICED], ..Declarations::NONE };
