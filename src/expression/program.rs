//! Represents lowered expressions: instructions for an interpreter, as plain data.
//!
//! An instruction is `target = a`, or `target = a·b`, and either may be combined with a third operand c: `a·b + c`,
//! `a·b − c`, `c − a·b`. All rows run the same instructions; row i reads row (i + rotation) mod n of columns.

use ff::Field;

use super::ast::Query;

/// Names this module in errors.
pub(super) const ERROR_CONTEXT: &str = "expression";

/// Slots of a row, the registers for values between instructions: `EXPRESSION_SLOTS` of `cl/expression.cl`. Other
/// values go to scratch memory.
pub const REGISTERS: u32 = 8;

/// Names an operand that an instruction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value in a slot.
    Slot(u32),
    /// A value in scratch memory.
    Scratch(u32),
    /// One of `Program::row_constants`: the same in every row.
    Value(u32),
    /// One of [`Group::queries`].
    Query(u32),
    /// The point of the row.
    X,
    /// Value of an output of the program in this row; its previous value if the group has not written it.
    Output(u32),
}

/// Names the target that an instruction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A value in a slot.
    Slot(u32),
    /// A value in scratch memory.
    Scratch(u32),
    /// An output of the program, in this row.
    Output(u32),
}

/// Says how a third operand c is combined with a·b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FusedOp {
    /// a·b + c.
    Add,
    /// a·b − c.
    Subtract,
    /// c − a·b.
    SubtractFrom,
}

/// Describes one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Target of the result.
    pub target: Target,
    /// The first operand.
    pub a: Operand,
    /// Second factor, if there is one.
    pub b: Option<Operand>,
    /// Third operand, if there is one, and how it is combined with the product.
    pub c: Option<(FusedOp, Operand)>,
}

impl Instruction {
    /// Returns the operands that it reads.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        [Some(self.a), self.b, self.c.map(|(_, operand)| operand)].into_iter().flatten()
    }
}

/// Describes an element that is the same in every row. Numbers are those of values before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<F> {
    /// Constant.
    Constant(F),
    /// Challenge by its number, known at evaluation.
    Challenge(usize),
    /// A sum.
    Sum(u32, u32),
    /// A difference.
    Difference(u32, u32),
    /// A product.
    Product(u32, u32),
}

/// Holds terms that are evaluated together, by one launch on a device, which reads the group's columns only.
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
    /// Returns the instructions of a row, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the columns that it reads and their rotations, each pair once.
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// Returns the columns that it reads, each once, in ascending order. Evaluation takes them in this order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns the outputs that it writes, in ascending order.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Returns the number of slots that it uses, at most [`REGISTERS`].
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Returns the number of elements of scratch memory that a row needs.
    pub fn scratch(&self) -> u32 {
        self.scratch
    }

    /// Returns whether it reads X.
    pub fn uses_x(&self) -> bool {
        self.instructions.iter().any(|instruction| instruction.operands().any(|operand| operand == Operand::X))
    }

    /// Returns the number of products of a row.
    pub fn products(&self) -> usize {
        self.instructions.iter().filter(|instruction| instruction.b.is_some()).count()
    }
}

/// Holds expressions lowered to instructions. [`Program::sum`] and [`Program::vectors`] make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program<F> {
    pub(super) values: Vec<Value<F>>,
    pub(super) groups: Vec<Group>,
    pub(super) outputs: usize,
    pub(super) challenges: usize,
}

impl<F: Field> Program<F> {
    /// Returns the elements that are the same in every row: constants, challenges, and values made of these alone.
    pub fn row_constants(&self) -> &[Value<F>] {
        &self.values
    }

    /// Returns the groups, which may be evaluated in any order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the number of vectors that it writes.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the minimum number of challenges that evaluation takes.
    pub fn challenges(&self) -> usize {
        self.challenges
    }

    /// Returns the elements that are the same in every row. There have to be at least [`Self::challenges`]
    /// `challenges`.
    pub(super) fn values_for(&self, challenges: &[F]) -> Vec<F> {
        self.values.iter().fold(Vec::with_capacity(self.values.len()), |mut values: Vec<F>, value| {
            let of = |number: &u32| values[*number as usize];
            let next = match value {
                Value::Constant(value) => *value,
                Value::Challenge(number) => challenges[*number],
                Value::Sum(a, b) => of(a) + of(b),
                Value::Difference(a, b) => of(a) - of(b),
                Value::Product(a, b) => of(a) * of(b),
            };
            values.push(next);
            values
        })
    }
}
