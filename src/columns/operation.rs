//! The operations, and what each takes.

/// What an argument of an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// A column that is read at the row that is written.
    Read,
    /// A column that is read at another row, or at both: the first one by the first of the rotations, and so on.
    Rotated,
    /// A column that is read from its start on, as many elements as the next number says.
    Prefix,
    /// Single elements, at least so many.
    Elements(usize),
    /// A column that is written.
    Written,
    /// A column that is read and written.
    Updated,
    /// How many rows away a column is read, of either sign.
    Rotation,
    /// The number of rows.
    Rows,
    /// Another number.
    Number,
}

use Parameter::{Elements, Number, Prefix, Read, Rotated, Rotation, Rows, Updated, Written};

macro_rules! operations {
    ($($(#[doc = $doc:literal])* $name:ident = $kernel:literal [$($parameter:expr),*];)*) => {
        /// What is done to columns. Its arguments are named in their order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Operation {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// What it takes, in order.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self {
                    $(Self::$name => &[$($parameter),*],)*
                }
            }

            /// The kernel that does it.
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
    /// The first `length` elements, then zeros. Arguments: from, to, length.
    Extend = "columns_extend" [Prefix, Written, Number];
    /// Row i by powers\[i mod period − 1\], but for multiples of the period. Arguments: values, powers, period.
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
    /// Terms z·l₀, last·l_last, (((z' − z)·table + m)·product − table·sum)·l_active of h, each after a product by y; z' is z at
    /// the other row. Arguments: h, table, product, sum, m, z, last, l₀, l_last, l_active, (y), the rotation, rows.
    Logup = "columns_logup"
        [Updated, Read, Read, Read, Read, Rotated, Read, Read, Read, Read, Elements(1), Rotation, Rows];
    /// h = h·y + ((z' − z)·product − sum)·l_active. Arguments: h, product, sum, z, l_active, (y), the rotation of z', rows.
    LogupMore = "columns_logup_more" [Updated, Read, Read, Rotated, Read, Elements(1), Rotation, Rows];
    /// Terms (1 − z)·l₀, (z² − z)·l_last, (table·z' − input·z)·l_active of h, each after a product by y. Arguments: h, input,
    /// table, z, l₀, l_last, l_active, (y), the rotation of z', rows.
    Shuffle = "columns_shuffle" [Updated, Read, Read, Rotated, Read, Read, Read, Elements(1), Rotation, Rows];
    /// In slots of rows: to `permuted` each row's (input + β)·(table + γ) by the other rows' (permuted + β)·(beside + γ), to
    /// `beside` at the slot's first row the product of these, elsewhere each. Arguments: permuted, beside, input, table, (β, γ),
    /// rows, rows of a slot.
    LookupSlots = "columns_lookup_slots" [Updated, Updated, Read, Read, Elements(2), Rows, Number];
    /// Numbers below the modulus to elements. Arguments: values.
    ToMontgomery = "columns_to_montgomery" [Updated];
    /// Elements to numbers. Arguments: values.
    FromMontgomery = "columns_from_montgomery" [Updated];
    /// A step of a bitonic sort of numbers: all steps 0 to `round` of all rounds below log₂ of the rows sort them. A
    /// work-item does two rows. Arguments: values, round, step.
    SortStep = "columns_sort_step" [Updated, Number, Number];
}

impl Operation {
    /// Rows that a work-item writes.
    pub(super) const fn rows_of_item(self) -> usize {
        if matches!(self, Self::SortStep) { 2 } else { 1 }
    }
}
