//! Explains to people how a program works on a row.

use std::fmt;

use super::program::{Group, Instruction, Operand, Program};
use crate::field::NttField;

/// Describes the work and memory of a program per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramExplanation {
    /// Name of the field, such as `bn254_fr`.
    pub field: &'static str,
    /// Number of bytes of an element.
    pub element: usize,
    /// Number of vectors that the program writes.
    pub outputs: usize,
    /// Number of elements that are the same in every row.
    pub values: usize,
    /// Minimum number of challenges that evaluation takes.
    pub challenges: usize,
    /// Work and memory of each group, in order.
    pub groups: Vec<GroupExplanation>,
}

/// Describes the work and memory of a group per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupExplanation {
    /// Number of instructions.
    pub instructions: usize,
    /// Number of multiplications, including one that computes X if it is read.
    pub products: usize,
    /// Number of slots, the registers for values between instructions.
    pub slots: u32,
    /// Number of elements of scratch memory, for values that find no slot.
    pub scratch: u32,
    /// Number of columns that are read.
    pub columns: usize,
    /// Number of different pairs of a column and a rotation that are read.
    pub queries: usize,
    /// Number of times that instructions read a column, repeated reads included.
    pub reads: usize,
}

impl GroupExplanation {
    fn new(group: &Group) -> Self {
        let operands = group.instructions().iter().flat_map(Instruction::operands);
        Self {
            instructions: group.instructions().len(),
            products: group.product_count() + usize::from(group.uses_x()),
            slots: group.slot_count(),
            scratch: group.scratch_element_count(),
            columns: group.columns().len(),
            queries: group.queries().len(),
            reads: operands.filter(|operand| matches!(operand, Operand::Query(_))).count(),
        }
    }

    /// Returns the sums of the counts of both, but the maxima of slots and scratch memory, which groups use one after
    /// the other.
    fn merge(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            products: self.products + other.products,
            slots: self.slots.max(other.slots),
            scratch: self.scratch.max(other.scratch),
            columns: self.columns + other.columns,
            queries: self.queries + other.queries,
            reads: self.reads + other.reads,
        }
    }
}

impl ProgramExplanation {
    /// Returns the sums of the counts of all groups, but the maxima of slots and scratch memory.
    pub fn total(&self) -> GroupExplanation {
        self.groups.iter().copied().fold(GroupExplanation::default(), GroupExplanation::merge)
    }
}

impl<F: NttField> Program<F> {
    /// Returns the numbers of instructions, multiplications, slots and column reads per row, for each group.
    pub fn explain(&self) -> ProgramExplanation {
        ProgramExplanation {
            field: F::NAME,
            element: size_of::<F>(),
            outputs: self.output_count(),
            values: self.row_constants().len(),
            challenges: self.challenge_count(),
            groups: self.groups().iter().map(GroupExplanation::new).collect(),
        }
    }
}

impl fmt::Display for ProgramExplanation {
    /// Writes a line for each group and one for all. `bytes once` counts each column once, and `bytes read` counts
    /// every read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, outputs, values, challenges, .. } = self;
        writeln!(f, "expression {field}, {outputs} outputs, {values} values of at least {challenges} challenges")?;
        write!(f, "  a row   instructions  products  slots  scratch  columns  queries  reads  bytes once  bytes read")?;
        let numbered = self.groups.iter().enumerate().map(|(number, group)| (format!("group {number}"), *group));
        for (name, group) in numbered.chain([("all".to_owned(), self.total())]) {
            let GroupExplanation { instructions, products, slots, scratch, columns, queries, reads } = group;
            let (once, read) = (columns * self.element, reads * self.element);
            write!(
                f,
                "\n  {name:9} {instructions:>10} {products:>9} {slots:>6} {scratch:>8} {columns:>8} {queries:>8}"
            )?;
            write!(f, " {reads:>6} {once:>11} {read:>11}")?;
        }
        Ok(())
    }
}
