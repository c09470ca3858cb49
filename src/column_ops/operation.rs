//! Defines the operations and their parameters.

/// Describes an argument of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// A column that is read at the row that is written.
    Read,
    /// A column that is read at another row, or at both rows: the first such column by the first rotation, and so on.
    Rotated,
    /// A column that is read from its start on, for as many elements as the next number says.
    Prefix,
    /// Single elements, at least this number.
    Elements(usize),
    /// A column that is written.
    Written,
    /// A column that is read and written.
    Updated,
    /// Signed distance in rows at which a column is read.
    Rotation,
    /// The number of rows.
    Rows,
    /// Another number.
    Number,
}

use Parameter::{Elements, Number, Prefix, Read, Rotated, Rotation, Rows, Updated, Written};

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $name:ident = $kernel:literal [$($parameter:expr),*];)*) => {
        /// Selects an operation on columns. Each variant lists the arguments in order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Operation {
            /// All operations.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the operation's parameters, in order.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(Self::$name => &[$($parameter),*],)*
                }
            }

            /// Returns the operation's kernel.
            pub(super) const fn kernel(self) -> &'static str {
                match self {
                    $(Self::$name => $kernel,)*
                }
            }
        }
    };
}

operations! {
    /// to = c. Arguments: to, c.
    Constant = "columns_constant" [Written, Elements(1)];
    /// to = the first `length` elements of from, then zeros. Arguments: from, to, length.
    Extend = "columns_extend" [Prefix, Written, Number];
    /// Multiplies row i by powers\[i mod period − 1\], except at multiples of the period. Arguments: values, powers,
    /// period.
    Periodic = "columns_periodic" [Updated, Elements(1), Number];
    /// to = a + b. Arguments: to, a, b, their rotations, rows.
    Sum = "columns_sum" [Written, Rotated, Rotated, Rotation, Rotation, Rows];
    /// to = a·b. Arguments: to, a, b, their rotations, rows.
    Product = "columns_product" [Written, Rotated, Rotated, Rotation, Rotation, Rows];
    /// to = a + c. Arguments: to, a, its rotation, c, rows.
    SumConstant = "columns_sum_constant" [Written, Rotated, Rotation, Elements(1), Rows];
    /// to = a·c. Arguments: to, a, its rotation, c, rows.
    ProductConstant = "columns_product_constant" [Written, Rotated, Rotation, Elements(1), Rows];
    /// to = a·c. Arguments: to, a, its rotation, rows, c.
    Scale = "columns_product_constant" [Written, Rotated, Rotation, Rows, Elements(1)];
    /// to = a + c. Arguments: to, a, its rotation, rows, c.
    Shift = "columns_sum_constant" [Written, Rotated, Rotation, Rows, Elements(1)];
    /// to = a·c + b. Arguments: to, a, b, their rotations, rows, c.
    ScaleAdd = "columns_scale_add" [Written, Rotated, Rotated, Rotation, Rotation, Rows, Elements(1)];
    /// to = (a + c)·b. Arguments: to, a, b, their rotations, rows, c.
    ShiftMul = "columns_shift_mul" [Written, Rotated, Rotated, Rotation, Rotation, Rows, Elements(1)];
    /// h = (h·y + (1 − first)·l₀)·y + (last² − last)·l_last. Arguments: h, first, last, l₀, l_last, l_active, (y).
    PermutationEnds = "columns_permutation_ends" [Updated, Read, Read, Read, Read, Read, Elements(1)];
    /// h = h·y + (z − before)·l₀. Arguments: h, z, before, l₀, (y), the rotation of `before`, rows.
    Link = "columns_link" [Updated, Read, Rotated, Read, Elements(1), Rotation, Rows];
    /// to = from. Arguments: to, from, its rotation, rows.
    Rotate = "columns_rotate" [Written, Rotated, Rotation, Rows];
    /// left·(β·σ + γ + v), right·(place + γ + v), place·δ. Arguments: left, right, v, σ, place, (y, β, γ, δ).
    PermutationFactors = "columns_permutation_factors" [Updated, Updated, Read, Read, Updated, Elements(4)];
    /// h = h·y + (left − right)·l_active. Arguments: h, left, right, l_active, (y).
    PermutationSides = "columns_permutation_sides" [Updated, Read, Read, Read, Elements(1)];
    /// Adds the terms z·l₀, last·l_last and (((z' − z)·table + m)·product − table·sum)·l_active to h, each after a
    /// product by y; z' is z at the other row. Arguments: h, table, product, sum, m, z, last, l₀, l_last, l_active,
    /// (y), the rotation, rows.
    Logup = "columns_logup"
        [Updated, Read, Read, Read, Read, Rotated, Read, Read, Read, Read, Elements(1), Rotation, Rows];
    /// h = h·y + ((z' − z)·product − sum)·l_active. Arguments: h, product, sum, z, l_active, (y), the rotation of z',
    /// rows.
    LogupMore = "columns_logup_more" [Updated, Read, Read, Rotated, Read, Elements(1), Rotation, Rows];
    /// Adds the terms (1 − z)·l₀, (z² − z)·l_last and (table·z' − input·z)·l_active to h, each after a product by y.
    /// Arguments: h, input, table, z, l₀, l_last, l_active, (y), the rotation of z', rows.
    Shuffle = "columns_shuffle" [Updated, Read, Read, Rotated, Read, Read, Read, Elements(1), Rotation, Rows];
    /// Writes, for each slot of rows, with the factors f = (permuted + β)·(beside + γ):
    /// - permuted = (input + β)·(table + γ), times f of the slot's other rows
    /// - beside = f, but at the slot's first row the product of f over all its rows
    ///
    /// Arguments: permuted, beside, input, table, (β, γ), rows, rows of a slot.
    LookupSlots = "columns_lookup_slots" [Updated, Updated, Read, Read, Elements(2), Rows, Number];
    /// Converts numbers below the modulus to elements. Arguments: values.
    ToMontgomery = "columns_to_montgomery" [Updated];
    /// Converts elements to numbers. Arguments: values.
    FromMontgomery = "columns_from_montgomery" [Updated];
    /// Does a step of a bitonic sort of numbers: steps 0 to `round` of all rounds below log₂ of the rows sort them. A
    /// work-item does two rows. Arguments: values, round, step.
    SortStep = "columns_sort_step" [Updated, Number, Number];
}

impl Operation {
    /// Returns the number of rows that a work-item writes.
    pub(super) const fn rows_of_item(self) -> usize {
        if matches!(self, Self::SortStep) { 2 } else { 1 }
    }
}
