//! Lowered expressions: instructions for an interpreter, plain data.
//!
//! An instruction is `target = a`, or `target = a·b`, and either may be combined with a third operand c: `a·b + c`,
//! `a·b − c`, `c − a·b`. All rows run the same instructions; row i reads row (i + rotation) mod n of columns.

use ff::Field;

use super::tree::Query;

/// What errors name.
pub(super) const PLACE: &str = "expression";

/// Values between instructions that a row has at hand, `EXPRESSION_SLOTS` of `cl/expression.cl`; the rest goes to scratch
/// memory.
pub const SLOTS: u32 = 8;

/// What an instruction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value kept at hand.
    Slot(u32),
    /// A value kept in scratch memory.
    Scratch(u32),
    /// One of [`Program::values`]: the same in every row.
    Value(u32),
    /// One of [`Group::queries`].
    Query(u32),
    /// The point of the row.
    X,
    /// What an output of the program has in this row: what it had before, if the group did not write it.
    Output(u32),
}

/// What an instruction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// A value kept at hand.
    Slot(u32),
    /// A value kept in scratch memory.
    Scratch(u32),
    /// An output of the program, in this row.
    Output(u32),
}

/// How a third operand c goes with a·b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combination {
    /// a·b + c.
    Add,
    /// a·b − c.
    Subtract,
    /// c − a·b.
    SubtractFrom,
}

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Where the result goes.
    pub target: Target,
    /// The first operand.
    pub a: Operand,
    /// What it is multiplied by.
    pub b: Option<Operand>,
    /// What that is combined with.
    pub c: Option<(Combination, Operand)>,
}

impl Instruction {
    /// What it reads.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        [Some(self.a), self.b, self.c.map(|(_, operand)| operand)].into_iter().flatten()
    }
}

/// An element that is the same in every row; numbers are those of values before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<F> {
    /// Known beforehand.
    Constant(F),
    /// Known at evaluation, by the challenge's number.
    Challenge(usize),
    /// A sum.
    Sum(u32, u32),
    /// A difference.
    Difference(u32, u32),
    /// A product.
    Product(u32, u32),
}

/// Terms that are evaluated together, by one launch on a device: it reads no columns but its own.
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
    /// What it does in a row, in order.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The columns that it reads and how far off, each once.
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// The columns that it reads, each once, in ascending order: evaluation takes them in this order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The outputs that it writes, in ascending order.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Slots of a row that it uses, at most [`SLOTS`].
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Elements of scratch memory that a row needs.
    pub fn scratch(&self) -> u32 {
        self.scratch
    }

    /// Whether it reads X.
    pub fn uses_x(&self) -> bool {
        self.instructions.iter().any(|instruction| instruction.operands().any(|operand| operand == Operand::X))
    }

    /// Products of a row.
    pub fn products(&self) -> usize {
        self.instructions.iter().filter(|instruction| instruction.b.is_some()).count()
    }
}

/// Expressions lowered to instructions: [`Program::sum`] and [`Program::vectors`] make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program<F> {
    pub(super) values: Vec<Value<F>>,
    pub(super) groups: Vec<Group>,
    pub(super) outputs: usize,
    pub(super) challenges: usize,
}

impl<F: Field> Program<F> {
    /// Elements that are the same in every row: constants, challenges, and what is made of these alone.
    pub fn values(&self) -> &[Value<F>] {
        &self.values
    }

    /// The groups, in any order of which they may be evaluated.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Vectors that it writes.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Challenges that evaluation takes at least.
    pub fn challenges(&self) -> usize {
        self.challenges
    }

    /// The elements that are the same in every row, for these challenges, at least [`Self::challenges`].
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
