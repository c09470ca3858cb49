//! Declares the kernels of column operations.

use crate::kernels::field_sources::BYTES;
use crate::kernels::spec::{Declarations, KernelFamily, Part, kernels, shared_constants, source};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group.
    COLUMNS_GROUP: u32 = 128;
}

kernels! {
    pub KERNELS:
    /// Sets all rows to a constant.
    columns_constant[COLUMNS_GROUP] => Constant<F> {
        rows: u32,
        to: Out<F>,
        c: In<F>,
    }
    /// Copies the first `length` elements, and fills the other rows with zeros.
    columns_extend[COLUMNS_GROUP] => Extend<F> {
        rows: u32,
        from: In<F>,
        to: Out<F>,
        length: u32,
    }
    /// Multiplies rows by periodic powers.
    columns_periodic[COLUMNS_GROUP] => Periodic<F> {
        rows: u32,
        values: Out<F>,
        powers: In<F>,
        period: u32,
    }
    /// Computes a + b.
    columns_sum[COLUMNS_GROUP] => Sum<F> {
        rows: u32,
        to: Out<F>,
        a: In<F>,
        b: In<F>,
        rotation_a: u32,
        rotation_b: u32,
    }
    /// Computes a·b.
    columns_product[COLUMNS_GROUP] => Product<F> {
        rows: u32,
        to: Out<F>,
        a: In<F>,
        b: In<F>,
        rotation_a: u32,
        rotation_b: u32,
    }
    /// Computes a + c for a constant c.
    columns_sum_constant[COLUMNS_GROUP] => SumConstant<F> {
        rows: u32,
        to: Out<F>,
        a: In<F>,
        rotation: u32,
        c: In<F>,
    }
    /// Computes a·c for a constant c.
    columns_product_constant[COLUMNS_GROUP] => ProductConstant<F> {
        rows: u32,
        to: Out<F>,
        a: In<F>,
        rotation: u32,
        c: In<F>,
    }
    /// Computes a·c + b for a constant c.
    columns_scale_add[COLUMNS_GROUP] => ScaleAdd<F> {
        rows: u32,
        to: Out<F>,
        a: In<F>,
        b: In<F>,
        rotation_a: u32,
        rotation_b: u32,
        c: In<F>,
    }
    /// Computes (a + c)·b for a constant c.
    columns_shift_mul[COLUMNS_GROUP] => ShiftMul<F> {
        rows: u32,
        to: Out<F>,
        a: In<F>,
        b: In<F>,
        rotation_a: u32,
        rotation_b: u32,
        c: In<F>,
    }
    /// Adds the terms of the first and last rows of permutation products.
    columns_permutation_ends[COLUMNS_GROUP] => PermutationEnds<F> {
        rows: u32,
        h: Out<F>,
        first: In<F>,
        last: In<F>,
        l0: In<F>,
        l_last: In<F>,
        l_active: In<F>,
        challenges: In<F>,
    }
    /// Adds the term by which a product begins where the previous one ended.
    columns_link[COLUMNS_GROUP] => Link<F> {
        rows: u32,
        h: Out<F>,
        z: In<F>,
        before: In<F>,
        l0: In<F>,
        challenges: In<F>,
        rotation: u32,
    }
    /// Copies a rotated column.
    columns_rotate[COLUMNS_GROUP] => Rotate<F> {
        rows: u32,
        to: Out<F>,
        from: In<F>,
        rotation: u32,
    }
    /// Multiplies one column's factors into both sides of a permutation argument.
    columns_permutation_factors[COLUMNS_GROUP] => PermutationFactors<F> {
        rows: u32,
        left: Out<F>,
        right: Out<F>,
        values: In<F>,
        sigma: In<F>,
        places: Out<F>,
        challenges: In<F>,
    }
    /// Adds the term that compares both sides of a permutation argument.
    columns_permutation_sides[COLUMNS_GROUP] => PermutationSides<F> {
        rows: u32,
        h: Out<F>,
        left: In<F>,
        right: In<F>,
        l_active: In<F>,
        challenges: In<F>,
    }
    /// Adds the terms of a lookup by logarithmic derivatives.
    columns_logup[COLUMNS_GROUP] => Logup<F> {
        rows: u32,
        h: Out<F>,
        table: In<F>,
        product: In<F>,
        sum: In<F>,
        m: In<F>,
        first: In<F>,
        last: In<F>,
        l0: In<F>,
        l_last: In<F>,
        l_active: In<F>,
        challenges: In<F>,
        rotation: u32,
    }
    /// Adds the term of a further sum of such a lookup.
    columns_logup_more[COLUMNS_GROUP] => LogupMore<F> {
        rows: u32,
        h: Out<F>,
        product: In<F>,
        sum: In<F>,
        z: In<F>,
        l_active: In<F>,
        challenges: In<F>,
        rotation: u32,
    }
    /// Adds the terms of a shuffle argument.
    columns_shuffle[COLUMNS_GROUP] => Shuffle<F> {
        rows: u32,
        h: Out<F>,
        input: In<F>,
        table: In<F>,
        z: In<F>,
        l0: In<F>,
        l_last: In<F>,
        l_active: In<F>,
        challenges: In<F>,
        rotation: u32,
    }
    /// Computes factors of a lookup product, one work-item per slot.
    columns_lookup_slots[COLUMNS_GROUP] => LookupSlots<F> {
        rows: u32,
        permuted: Out<F>,
        beside: Out<F>,
        input: In<F>,
        table: In<F>,
        challenges: In<F>,
        slot: u32,
    }
    /// Converts canonical numbers to Montgomery form.
    columns_to_montgomery[COLUMNS_GROUP] => ToMontgomery<F> {
        rows: u32,
        values: Out<F>,
    }
    /// Converts elements from Montgomery form to canonical numbers.
    columns_from_montgomery[COLUMNS_GROUP] => FromMontgomery<F> {
        rows: u32,
        values: Out<F>,
    }
    /// Runs a step of a bitonic sort.
    columns_sort_step[COLUMNS_GROUP] => SortStep<F> {
        rows: u32,
        values: Out<F>,
        round: u32,
        step: u32,
    }
}

/// Computes elementwise operations on the columns of a PLONKish proof.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS],
    kernels: &[KERNELS],
    field_sources: &[BYTES],
    sources: &[Part::always(source!("cl/halo2_gpu_columns.cl"))],
    ..KernelFamily::new("columns")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
