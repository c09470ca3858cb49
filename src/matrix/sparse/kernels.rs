//! Declares the kernels of sparse matrices.

use crate::kernels::field_sources::SCAN_GROUP;
use crate::kernels::spec::{Declarations, KernelFamily, Part, kernels, shared_constants, shared_struct, source};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group that computes products.
    CSR_GROUP: u32 = 128;
    /// Number of work-items per row in the vector kernel: a warp.
    CSR_LANES: u32 = 32;
    /// Maximum number of non-zeros, and of rows, per tile of the balanced kernel: four of each for a work-item.
    CSR_TILE: u32 = 4 * CSR_GROUP;
    /// Dictionary index of the coefficient 1, whose product is an addition.
    CSR_PLUS_ONE: u32 = 0;
    /// Dictionary index of the coefficient −1, whose product is a subtraction.
    CSR_MINUS_ONE: u32 = 1;
    /// Value of `index_bits` if coefficients are in the order of non-zeros. No index has as few bits.
    CSR_IN_PLACE: u32 = 1;
}

shared_constants! {
    pub CHANGE_CONSTANTS:
    /// Bit of a change's column that is set if the value replaces the entry, and clear if it is added: column indices
    /// have 31 bits.
    CHANGE_REPLACES: u32 = 1 << 31;
}

shared_struct! {
    /// Holds the numbers of a product with several vectors.
    pub struct CsrParams as csr_params_t {
        /// Number of tiles for the balanced kernel, and of rows for the others.
        pub units: u32,
        /// Number of work-groups per vector.
        pub blocks: u32,
        /// Bits of a column index.
        pub column_bits: u32,
        /// Bits of a dictionary index in an array of its own, or 0, or [`CSR_IN_PLACE`].
        pub index_bits: u32,
        /// Index of the first element of the first vector x.
        pub x_first: u64,
        /// Distance, in elements, from a vector x to the next.
        pub x_stride: u64,
        /// Index of the first element of the first vector y.
        pub y_first: u64,
        /// Distance, in elements, from a vector y to the next.
        pub y_stride: u64,
    }
}

shared_struct! {
    /// Holds the numbers of a matrix and of its changes.
    pub struct DeltaParams as delta_params_t {
        /// Number of changes.
        pub count: u32,
        /// Number of rows with changes.
        pub rows: u32,
        /// Number of non-zeros of the matrix.
        pub nonzeros: u32,
        /// Bits of a column index.
        pub column_bits: u32,
        /// Bits of a dictionary index in an array of its own, or 0, or [`CSR_IN_PLACE`].
        pub index_bits: u32,
    }
}

kernels! {
    pub KERNELS:
    /// Computes y = A·x by one work-item per row.
    csr_scalar[CSR_GROUP] => Scalar<F> {
        params: Value<CsrParams>,
        pointers: In<u32>,
        entries: In<u32>,
        indices: In<u32>,
        dictionary: In<F>,
        x: In<F>,
        y: Out<F>,
    }
    /// Computes y = A·x by [`CSR_LANES`] work-items per row.
    csr_vector[CSR_GROUP] => Vector<F> {
        params: Value<CsrParams>,
        pointers: In<u32>,
        entries: In<u32>,
        indices: In<u32>,
        dictionary: In<F>,
        x: In<F>,
        y: Out<F>,
    }
    /// Computes y = A·x by one work-group per tile. Sums of pieces of rows go to `partials`.
    csr_balanced[CSR_GROUP] => Balanced<F> {
        params: Value<CsrParams>,
        starts: In<u32>,
        pointers: In<u32>,
        partials: Out<F>,
        entries: In<u32>,
        indices: In<u32>,
        dictionary: In<F>,
        x: In<F>,
        y: Out<F>,
    }
    /// Adds up the partial sums of rows that are longer than a tile.
    csr_merge[CSR_GROUP] => Merge<F> {
        count: u32,
        blocks: u32,
        tiles: u32,
        long_rows: In<u32>,
        partials: In<F>,
        y: Out<F>,
        y_first: u64,
        y_stride: u64,
    }
    /// Locates changes in a matrix, and replaces their values by the differences to the entries.
    delta_lookup[SCAN_GROUP] => DeltaLookup<F> {
        params: Value<DeltaParams>,
        changes: In<u32>,
        values: Out<F>,
        marks: Out<u32>,
        pointers: In<u32>,
        entries: In<u32>,
        indices: In<u32>,
        dictionary: In<F>,
    }
    /// Computes prefix sums over the work-groups of [`DeltaLookup`].
    changes_scan[SCAN_GROUP] => ChangesScan {
        count: u32,
        groups: u32,
        marks: Out<u32>,
    }
    /// Computes the row pointers of the changed matrix.
    changes_pointers[SCAN_GROUP] => ChangesPointers {
        count: u32,
        rows: u32,
        changes: In<u32>,
        marks: Out<u32>,
        all_rows: u32,
        pointers: In<u32>,
        new_pointers: Out<u32>,
    }
    /// Builds the non-zeros of the changed matrix.
    delta_merge[SCAN_GROUP] => DeltaMerge<F> {
        params: Value<DeltaParams>,
        changes: In<u32>,
        values: In<F>,
        marks: Out<u32>,
        entries: In<u32>,
        indices: In<u32>,
        dictionary: In<F>,
        new_columns: Out<u32>,
        coefficients: Out<F>,
    }
}

/// Products of sparse matrices and vectors, and changes of matrices.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS, CHANGE_CONSTANTS],
    structures: &[CsrParams::definition, DeltaParams::definition],
    kernels: &[KERNELS],
    sources: &[
        Part::always(source!("cl/csr.cl")),
        Part::always(source!("cl/prefix_sum.cl")),
        Part::always(source!("cl/csr_delta.cl")),
    ],
    ..KernelFamily::new("csr")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
