//! Declares the kernel of expressions.

use crate::kernels::spec::{Declarations, KernelFamily, Part, kernels, shared_constants, shared_struct, source};

shared_constants! {
    pub CONSTANTS:
    /// Number of work-items of a work-group: their slots fill 16 KiB of local memory.
    EXPRESSION_GROUP: u32 = 64;
    /// Number of slots of a row: the registers for values between instructions. Values that find no slot go to scratch
    /// memory.
    REGISTERS: u32 = 8;
    /// Number of bits of an operand's number. The operand's kind is above them.
    OPERAND_BITS: u32 = 28;
    /// Number of bits of a target's number. The target's kind is above them, in four bits.
    TARGET_BITS: u32 = 24;
    /// Lowest of the two bits that state how c is combined with the value, or 0 if not at all.
    COMBINE_SHIFT: u32 = 28;
    /// Bit that states whether a is multiplied by b.
    OPERATION_PRODUCT: u32 = 1 << 30;
    /// Kind of a slot, which instructions read and write.
    KIND_SLOT: u32 = 0;
    /// Kind of an element of scratch memory, which instructions read and write.
    KIND_SCRATCH: u32 = 1;
    /// Kind of an element that is equal in every row, which instructions read.
    KIND_VALUE: u32 = 2;
    /// Kind of a column's element, which instructions read.
    KIND_QUERY: u32 = 3;
    /// Kind of the row's point, which instructions read.
    KIND_X: u32 = 4;
    /// Kind of an output's element, which instructions read and write.
    KIND_OUTPUT: u32 = 5;
    /// Combination that yields value + c.
    COMBINE_ADD: u32 = 1;
    /// Combination that yields value − c.
    COMBINE_SUBTRACT: u32 = 2;
    /// Combination that yields c − value.
    COMBINE_SUBTRACT_FROM: u32 = 3;
    /// Value of `low_log` if no instruction reads the row's point.
    NO_POINTS: u32 = u32::MAX;
}

/// Stands for a quad of words: an instruction, or the place of a column or an output.
pub enum ExpressionQuad {}

shared_struct! {
    /// Holds the numbers of an evaluation.
    pub struct ExpressionParams as expression_params_t {
        /// Binary logarithm of the number of rows, at most 31.
        pub log_n: u32,
        /// Number of instructions, whose quads begin the table.
        pub instructions: u32,
        /// Index of the first query in the table, in quads.
        pub queries_at: u32,
        /// Index of the first output in the table, in quads.
        pub outputs_at: u32,
        /// Index of the elements that are equal in every row, in quads.
        pub values_at: u32,
        /// Number of a row's low bits that select a low point, or [`NO_POINTS`].
        pub low_log: u32,
    }
}

kernels! {
    pub KERNELS:
    /// Runs a group's instructions on all rows.
    expression_rows[EXPRESSION_GROUP] => Rows<F> {
        params: Value<ExpressionParams>,
        table: In<ExpressionQuad>,
        points: In<F>,
        from0: In<F>,
        from1: In<F>,
        from2: In<F>,
        from3: In<F>,
        to: Out<F>,
        scratch: Out<F>,
    }
}

/// Evaluates polynomial expressions over columns.
pub static FAMILY: KernelFamily = KernelFamily {
    constants: &[CONSTANTS],
    structures: &[ExpressionParams::definition],
    kernels: &[KERNELS],
    sources: &[Part::always(source!("cl/expression.cl"))],
    ..KernelFamily::new("expression")
};

/// Lists what this file declares.
pub const DECLARATIONS: Declarations = Declarations { families: &[&FAMILY], ..Declarations::NONE };
