//! Defines the operations and their parameters.

use std::fmt::{self, Write};

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

/// Passes all operations to the macro `$define`: the name of each, its kernel, and its arguments in order. An argument
/// has its kind and the kernel's parameter that it becomes. The number of rows becomes the parameter `rows`, which
/// every kernel has.
macro_rules! for_each_operation {
    ($define:ident) => {
        $define! {
            /// Sets every row of `to` to the constant `c`. Arguments: to, c.
            Constant = Constant [Written to, Elements(1) c];
            /// Writes the first `length` elements of `from` to `to`, then zeros. Arguments: from, to, length.
            Extend = Extend [Prefix from, Written to, Number length];
            /// Multiplies row i of `values` by `powers`\[(i mod period) − 1\]. Rows at multiples of `period` stay
            /// unchanged. Arguments: values, powers, period.
            Periodic = Periodic [Updated values, Elements(1) powers, Number period];
            /// Writes a + b to `to`, row by row. Arguments: to, a, b, rotation of a, rotation of b, rows.
            Sum = Sum [Written to, Rotated a, Rotated b, Rotation rotation_a, Rotation rotation_b, Rows];
            /// Writes a·b to `to`, row by row. Arguments: to, a, b, rotation of a, rotation of b, rows.
            Product = Product [Written to, Rotated a, Rotated b, Rotation rotation_a, Rotation rotation_b, Rows];
            /// Writes a + c to `to` for a constant `c`. Arguments: to, a, rotation of a, c, rows.
            SumConstant = SumConstant [Written to, Rotated a, Rotation rotation, Elements(1) c, Rows];
            /// Writes a·c to `to` for a constant `c`. Arguments: to, a, rotation of a, c, rows.
            ProductConstant = ProductConstant [Written to, Rotated a, Rotation rotation, Elements(1) c, Rows];
            /// Writes a·c to `to` for a constant `c`, like [`Operation::ProductConstant`] with another order of
            /// arguments. Arguments: to, a, rotation of a, rows, c.
            Scale = ProductConstant [Written to, Rotated a, Rotation rotation, Rows, Elements(1) c];
            /// Writes a + c to `to` for a constant `c`, like [`Operation::SumConstant`] with another order of
            /// arguments. Arguments: to, a, rotation of a, rows, c.
            Shift = SumConstant [Written to, Rotated a, Rotation rotation, Rows, Elements(1) c];
            /// Writes a·c + b to `to` for a constant `c`. Arguments: to, a, b, rotation of a, rotation of b, rows, c.
            ScaleAdd = ScaleAdd
                [Written to, Rotated a, Rotated b, Rotation rotation_a, Rotation rotation_b, Rows, Elements(1) c];
            /// Writes (a + c)·b to `to` for a constant `c`. Arguments: to, a, b, rotation of a, rotation of b, rows, c.
            ShiftMul = ShiftMul
                [Written to, Rotated a, Rotated b, Rotation rotation_a, Rotation rotation_b, Rows, Elements(1) c];
            /// Sets `h` to (h·y + (1 − first)·l₀)·y + (last² − last)·l_last, the terms at both ends of a permutation
            /// argument. It does not read `l_active`. Arguments: h, first, last, l₀, l_last, l_active, (y).
            PermutationEnds = PermutationEnds
                [Updated h, Read first, Read last, Read l0, Read l_last, Read l_active, Elements(1) challenges];
            /// Sets `h` to h·y + (z − before)·l₀, the term by which the product `z` starts where the product `before`
            /// ended. Arguments: h, z, before, l₀, (y), rotation of before, rows.
            Link = Link [Updated h, Read z, Rotated before, Read l0, Elements(1) challenges, Rotation rotation, Rows];
            /// Copies `from` to `to`, rotated. Arguments: to, from, rotation of from, rows.
            Rotate = Rotate [Written to, Rotated from, Rotation rotation, Rows];
            /// Multiplies the factors of one column into both sides of a permutation argument. It sets `left` to
            /// left·(β·σ + γ + v), `right` to right·(place + γ + v) and `place` to place·δ. Arguments: left, right, v,
            /// σ, place, (y, β, γ, δ).
            PermutationFactors = PermutationFactors
                [Updated left, Updated right, Read values, Read sigma, Updated places, Elements(4) challenges];
            /// Sets `h` to h·y + (left − right)·l_active, the term that compares both sides of a permutation argument.
            /// Arguments: h, left, right, l_active, (y).
            PermutationSides = PermutationSides
                [Updated h, Read left, Read right, Read l_active, Elements(1) challenges];
            /// Adds three terms of a LogUp lookup to `h`, which is multiplied by y before each. The terms are z·l₀,
            /// last·l_last and (((z' − z)·table + m)·product − table·sum)·l_active, where z' is z at row + rotation.
            /// Arguments: h, table, product, sum, m, z, last, l₀, l_last, l_active, (y), rotation, rows.
            Logup = Logup
                [Updated h, Read table, Read product, Read sum, Read m, Rotated first, Read last, Read l0, Read l_last,
                 Read l_active, Elements(1) challenges, Rotation rotation, Rows];
            /// Sets `h` to h·y + ((z' − z)·product − sum)·l_active, the term of a further sum of a LogUp lookup. z' is
            /// z at row + rotation. Arguments: h, product, sum, z, l_active, (y), rotation, rows.
            LogupMore = LogupMore
                [Updated h, Read product, Read sum, Rotated z, Read l_active, Elements(1) challenges,
                 Rotation rotation, Rows];
            /// Adds three terms of a shuffle argument to `h`, which is multiplied by y before each. The terms are (1 −
            /// z)·l₀, (z² − z)·l_last and (table·z' − input·z)·l_active, where z' is z at row + rotation. Arguments: h,
            /// input, table, z, l₀, l_last, l_active, (y), rotation, rows.
            Shuffle = Shuffle
                [Updated h, Read input, Read table, Rotated z, Read l0, Read l_last, Read l_active,
                 Elements(1) challenges, Rotation rotation, Rows];
            /// Prepares a lookup's quotients (input + β)·(table + γ)/f for one division per slot, which is a block of
            /// consecutive rows. With f = (permuted + β)·(beside + γ) of the old values, it writes:
            /// - permuted = (input + β)·(table + γ), times f of the slot's other rows
            /// - beside = f, but at the slot's first row the product of f over all rows of the slot
            ///
            /// Arguments: permuted, beside, input, table, (β, γ), rows, number of rows per slot.
            LookupSlots = LookupSlots
                [Updated permuted, Updated beside, Read input, Read table, Elements(2) challenges, Rows, Number slot];
            /// Converts each row of `values` from a canonical number below the modulus to Montgomery form. Arguments:
            /// values.
            ToMontgomery = ToMontgomery [Updated values];
            /// Converts each row of `values` from Montgomery form to its canonical number. Arguments: values.
            FromMontgomery = FromMontgomery [Updated values];
            /// Runs one step of an ascending bitonic sort, which compares the raw limbs of `values` as numbers. Steps 0
            /// to `round` of each round below log₂ of the number of rows sort all rows. A work-item compares two rows.
            /// Arguments: values, round, step.
            SortStep = SortStep [Updated values, Number round, Number step];
        }
    };
}
pub(super) use for_each_operation;

macro_rules! define_operations {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident = $kernel:ident [$($kind:ident $(($count:literal))? $($parameter:ident)?),*];
    )*) => {
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
                    $(Self::$name => &[$(Parameter::$kind $(($count))?),*],)*
                }
            }

            const fn identifier(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

for_each_operation!(define_operations);

/// Writes the operation's name as words, such as "sort step".
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, letter) in self.identifier().char_indices() {
            if place > 0 && letter.is_ascii_uppercase() {
                f.write_char(' ')?;
            }
            f.write_char(letter.to_ascii_lowercase())?;
        }
        Ok(())
    }
}

impl Operation {
    /// Returns the number of rows per work-item: 2 for a sort step, else 1. For [`Self::LookupSlots`] the last argument
    /// gives the number instead.
    pub(super) const fn rows_per_item(self) -> usize {
        if matches!(self, Self::SortStep) { 2 } else { 1 }
    }
}
