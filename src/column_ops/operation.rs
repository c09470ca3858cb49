//! Defines the operations and their parameters.

/// Describes the kind of one argument of an [`Operation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// A column that the operation reads at the row that it writes.
    Read,
    /// A column that the operation reads at row + rotation, and for some operations also at the row itself. The i-th
    /// such column uses the i-th [`Parameter::Rotation`].
    Rotated,
    /// The operation reads only the first n elements of this column. The operation's [`Parameter::Number`] is n.
    Prefix,
    /// A short column of constants or challenges, with at least this number of elements. It need not have an element
    /// per row.
    Elements(usize),
    /// A column that the operation overwrites.
    Written,
    /// A column that the operation reads and overwrites.
    Updated,
    /// A signed number of rows that is added to the row index, modulo the number of rows, to read a
    /// [`Parameter::Rotated`] column.
    Rotation,
    /// The number of rows that the operation writes.
    Rows,
    /// Another number from 0 to 2^32 − 1, such as a length or a period.
    Number,
}

use Parameter::{Elements, Number, Prefix, Read, Rotated, Rotation, Rows, Updated, Written};

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $name:ident = $kernel:literal [$($parameter:expr),*];)*) => {
        /// Selects an operation on columns. Each variant lists its arguments in order. Names in parentheses are the
        /// elements of one column.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Operation {
            /// Lists every operation once, in the order of the variants.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the kind of each argument, in the order in which the operation takes them.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(Self::$name => &[$($parameter),*],)*
                }
            }

            /// Returns the name of the operation's kernel in `cl/halo2_gpu_columns.cl`.
            pub(super) const fn kernel(self) -> &'static str {
                match self {
                    $(Self::$name => $kernel,)*
                }
            }
        }
    };
}

operations! {
    /// Sets every row of `to` to the constant `c`. Arguments: to, c.
    Constant = "columns_constant" [Written, Elements(1)];
    /// Writes the first `length` elements of `from` to `to`, then zeros. Arguments: from, to, length.
    Extend = "columns_extend" [Prefix, Written, Number];
    /// Multiplies row i of `values` by `powers`\[(i mod period) − 1\]. Rows at multiples of `period` stay unchanged.
    /// Arguments: values, powers, period.
    Periodic = "columns_periodic" [Updated, Elements(1), Number];
    /// Writes a + b to `to`, row by row. Arguments: to, a, b, rotation of a, rotation of b, rows.
    Sum = "columns_sum" [Written, Rotated, Rotated, Rotation, Rotation, Rows];
    /// Writes a·b to `to`, row by row. Arguments: to, a, b, rotation of a, rotation of b, rows.
    Product = "columns_product" [Written, Rotated, Rotated, Rotation, Rotation, Rows];
    /// Writes a + c to `to` for a constant `c`. Arguments: to, a, rotation of a, c, rows.
    SumConstant = "columns_sum_constant" [Written, Rotated, Rotation, Elements(1), Rows];
    /// Writes a·c to `to` for a constant `c`. Arguments: to, a, rotation of a, c, rows.
    ProductConstant = "columns_product_constant" [Written, Rotated, Rotation, Elements(1), Rows];
    /// Writes a·c to `to` for a constant `c`, like [`Operation::ProductConstant`] with another order of arguments.
    /// Arguments: to, a, rotation of a, rows, c.
    Scale = "columns_product_constant" [Written, Rotated, Rotation, Rows, Elements(1)];
    /// Writes a + c to `to` for a constant `c`, like [`Operation::SumConstant`] with another order of arguments.
    /// Arguments: to, a, rotation of a, rows, c.
    Shift = "columns_sum_constant" [Written, Rotated, Rotation, Rows, Elements(1)];
    /// Writes a·c + b to `to` for a constant `c`. Arguments: to, a, b, rotation of a, rotation of b, rows, c.
    ScaleAdd = "columns_scale_add" [Written, Rotated, Rotated, Rotation, Rotation, Rows, Elements(1)];
    /// Writes (a + c)·b to `to` for a constant `c`. Arguments: to, a, b, rotation of a, rotation of b, rows, c.
    ShiftMul = "columns_shift_mul" [Written, Rotated, Rotated, Rotation, Rotation, Rows, Elements(1)];
    /// Sets `h` to (h·y + (1 − first)·l₀)·y + (last² − last)·l_last, the terms at both ends of a permutation argument.
    /// It does not read `l_active`. Arguments: h, first, last, l₀, l_last, l_active, (y).
    PermutationEnds = "columns_permutation_ends" [Updated, Read, Read, Read, Read, Read, Elements(1)];
    /// Sets `h` to h·y + (z − before)·l₀, the term by which the product `z` starts where the product `before` ended.
    /// Arguments: h, z, before, l₀, (y), rotation of before, rows.
    Link = "columns_link" [Updated, Read, Rotated, Read, Elements(1), Rotation, Rows];
    /// Copies `from` to `to`, rotated. Arguments: to, from, rotation of from, rows.
    Rotate = "columns_rotate" [Written, Rotated, Rotation, Rows];
    /// Multiplies the factors of one column into both sides of a permutation argument. It sets `left` to
    /// left·(β·σ + γ + v), `right` to right·(place + γ + v) and `place` to place·δ. Arguments: left, right, v, σ,
    /// place, (y, β, γ, δ).
    PermutationFactors = "columns_permutation_factors" [Updated, Updated, Read, Read, Updated, Elements(4)];
    /// Sets `h` to h·y + (left − right)·l_active, the term that compares both sides of a permutation argument.
    /// Arguments: h, left, right, l_active, (y).
    PermutationSides = "columns_permutation_sides" [Updated, Read, Read, Read, Elements(1)];
    /// Adds three terms of a LogUp lookup to `h`, which is multiplied by y before each. The terms are z·l₀, last·l_last
    /// and (((z' − z)·table + m)·product − table·sum)·l_active, where z' is z at row + rotation. Arguments: h, table,
    /// product, sum, m, z, last, l₀, l_last, l_active, (y), rotation, rows.
    Logup = "columns_logup"
        [Updated, Read, Read, Read, Read, Rotated, Read, Read, Read, Read, Elements(1), Rotation, Rows];
    /// Sets `h` to h·y + ((z' − z)·product − sum)·l_active, the term of a further sum of a LogUp lookup. z' is z at
    /// row + rotation. Arguments: h, product, sum, z, l_active, (y), rotation, rows.
    LogupMore = "columns_logup_more" [Updated, Read, Read, Rotated, Read, Elements(1), Rotation, Rows];
    /// Adds three terms of a shuffle argument to `h`, which is multiplied by y before each. The terms are (1 − z)·l₀,
    /// (z² − z)·l_last and (table·z' − input·z)·l_active, where z' is z at row + rotation. Arguments: h, input, table,
    /// z, l₀, l_last, l_active, (y), rotation, rows.
    Shuffle = "columns_shuffle" [Updated, Read, Read, Rotated, Read, Read, Read, Elements(1), Rotation, Rows];
    /// Prepares a lookup's quotients (input + β)·(table + γ)/f for one division per slot, which is a block of
    /// consecutive rows. With f = (permuted + β)·(beside + γ) of the old values, it writes:
    /// - permuted = (input + β)·(table + γ), times f of the slot's other rows
    /// - beside = f, but at the slot's first row the product of f over all rows of the slot
    ///
    /// Arguments: permuted, beside, input, table, (β, γ), rows, number of rows per slot.
    LookupSlots = "columns_lookup_slots" [Updated, Updated, Read, Read, Elements(2), Rows, Number];
    /// Converts each row of `values` from a canonical number below the modulus to Montgomery form. Arguments: values.
    ToMontgomery = "columns_to_montgomery" [Updated];
    /// Converts each row of `values` from Montgomery form to its canonical number. Arguments: values.
    FromMontgomery = "columns_from_montgomery" [Updated];
    /// Runs one step of an ascending bitonic sort, which compares the raw limbs of `values` as numbers. Steps 0 to
    /// `round` of each round below log₂ of the number of rows sort all rows. A work-item compares two rows. Arguments:
    /// values, round, step.
    SortStep = "columns_sort_step" [Updated, Number, Number];
}

impl Operation {
    /// Returns the number of rows per work-item: 2 for a sort step, else 1. For [`Self::LookupSlots`] the last argument
    /// gives the number instead.
    pub(super) const fn rows_per_item(self) -> usize {
        if matches!(self, Self::SortStep) { 2 } else { 1 }
    }
}
