//! Represents lowered expressions: instructions for an interpreter, as plain data. Checks the arguments that a program
//! is run with.
//!
//! An instruction is `target = a`, or `target = a·b`, and either may be combined with a third operand c: `a·b + c`,
//! `a·b − c`, `c − a·b`. All rows run the same instructions; row i reads row (i + rotation) mod n of columns.

use ff::Field;

use super::ast::Query;
use crate::field::NttField;
pub use crate::kernels::expression::REGISTERS;
use crate::{Error, Result};

/// Names this module in errors.
pub(super) const ERROR_CONTEXT: &str = "expression";

/// Identifies an operand that an instruction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The value in the slot of this index.
    Slot(u32),
    /// The value in scratch memory at this index.
    Scratch(u32),
    /// The element at this index of `Program::row_constants`, the same in every row.
    Value(u32),
    /// The column's value for the query at this index of [`Group::queries`].
    Query(u32),
    /// The point of the row, shift·ω^i in row i.
    X,
    /// The value in this row of the output of this index. It is the previous value if the group has not written it.
    Output(u32),
}

/// Identifies the target that an instruction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// The slot of this index.
    Slot(u32),
    /// The element of scratch memory at this index.
    Scratch(u32),
    /// The output of this index, in this row.
    Output(u32),
}

/// Selects how an instruction combines its third operand c with a·b, or with a if it has no b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FusedOp {
    /// a·b + c.
    Add,
    /// a·b − c.
    Subtract,
    /// c − a·b.
    SubtractFrom,
}

/// Describes one instruction: `a` or a·b, optionally combined with `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Target of the result.
    pub target: Target,
    /// First operand.
    pub a: Operand,
    /// Second factor of the product a·b, if there is one.
    pub b: Option<Operand>,
    /// Third operand, if there is one, and how it is combined with the product.
    pub c: Option<(FusedOp, Operand)>,
}

impl Instruction {
    /// Returns the operands that the instruction reads, in the order a, b, c.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        [Some(self.a), self.b, self.c.map(|(_, operand)| operand)].into_iter().flatten()
    }
}

/// Describes an element that is the same in every row. Operands are indices of earlier elements in
/// [`Program::row_constants`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowConstant<F> {
    /// An element that is known when the program is made.
    Constant(F),
    /// The challenge of this index, known at evaluation.
    Challenge(usize),
    /// The sum of two earlier elements.
    Sum(u32, u32),
    /// The difference of two earlier elements, the first minus the second.
    Difference(u32, u32),
    /// The product of two earlier elements.
    Product(u32, u32),
}

/// Holds the instructions for terms or outputs that are evaluated together, by one kernel launch on a device. The
/// launch needs only the group's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub(super) instructions: Vec<Instruction>,
    pub(super) queries: Vec<Query>,
    pub(super) columns: Vec<usize>,
    pub(super) outputs: Vec<u32>,
    pub(super) slots: u32,
    pub(super) scratch: u32,
}

impl Group {
    /// Returns the instructions, in the order in which each row runs them.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the pairs of a column and a rotation that the group reads, each once.
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// Returns the indices of the columns that the group reads, each once, in ascending order. Evaluation takes columns
    /// in this order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns the indices of the outputs that the group writes, in ascending order.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Returns the number of slots that the group uses for values between instructions, at most [`REGISTERS`].
    pub fn slot_count(&self) -> u32 {
        self.slots
    }

    /// Returns the number of elements of scratch memory that a row needs, for values that find no slot.
    pub fn scratch_element_count(&self) -> u32 {
        self.scratch
    }

    /// Returns whether an instruction of the group reads X, the point of the row.
    pub fn uses_x(&self) -> bool {
        self.instructions.iter().any(|instruction| instruction.operands().any(|operand| operand == Operand::X))
    }

    /// Returns the number of multiplications per row, without the one that computes X.
    pub fn product_count(&self) -> usize {
        self.instructions.iter().filter(|instruction| instruction.b.is_some()).count()
    }
}

/// Holds expressions lowered to instructions. [`Program::lower_sum`] and [`Program::lower_vectors`] create it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program<F> {
    pub(super) values: Vec<RowConstant<F>>,
    pub(super) groups: Vec<Group>,
    pub(super) outputs: usize,
    pub(super) challenges: usize,
}

impl<F: Field> Program<F> {
    /// Returns the elements that are the same in every row: constants, challenges, and results computed from these alone.
    pub fn row_constants(&self) -> &[RowConstant<F>] {
        &self.values
    }

    /// Returns the groups, which may be evaluated in any order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the number of output vectors that the program writes.
    pub fn output_count(&self) -> usize {
        self.outputs
    }

    /// Returns the minimum number of challenges that evaluation takes: the highest index of a challenge that is read,
    /// plus 1.
    pub fn challenge_count(&self) -> usize {
        self.challenges
    }

    /// Returns the values of [`Self::row_constants`], in the same order, for the given `challenges`. Panics if there
    /// are fewer than [`Self::challenge_count`].
    pub(super) fn evaluate_row_constants(&self, challenges: &[F]) -> Vec<F> {
        self.values.iter().fold(Vec::with_capacity(self.values.len()), |mut values: Vec<F>, value| {
            let of = |number: &u32| values[*number as usize];
            let next = match value {
                RowConstant::Constant(value) => *value,
                RowConstant::Challenge(number) => challenges[*number],
                RowConstant::Sum(a, b) => of(a) + of(b),
                RowConstant::Difference(a, b) => of(a) - of(b),
                RowConstant::Product(a, b) => of(a) * of(b),
            };
            values.push(next);
            values
        })
    }
}

impl<F: NttField> Program<F> {
    /// Checks that `challenges` has an element for every challenge that the program reads.
    pub(super) fn check_challenges(&self, challenges: &[F]) -> Result<()> {
        check_at_least("number of challenges", self.challenge_count(), challenges.len())
    }

    /// Checks that `columns`, the number of columns, is enough for every column that the program reads.
    pub(super) fn check_columns(&self, columns: usize) -> Result<()> {
        check_at_least("number of columns", self.column_count(), columns)
    }

    /// Checks that `outputs`, the number of output vectors, is the number that the program writes.
    pub(super) fn check_outputs(&self, outputs: usize) -> Result<()> {
        Error::check_eq(ERROR_CONTEXT, "number of outputs", self.output_count(), outputs)
    }
}

fn check_at_least(what: &str, expected: usize, actual: usize) -> Result<()> {
    if actual >= expected {
        Ok(())
    } else {
        Err(Error::invalid(ERROR_CONTEXT, what, format!("at least {expected}"), actual))
    }
}
