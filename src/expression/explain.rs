//! Explains to people how a program works on a row.

use std::fmt;

use super::program::{Group, Instruction, Operand, Program};
use crate::field::NttField;

/// Describes how a program works on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramExplanation {
    /// The field.
    pub field: &'static str,
    /// Bytes of an element.
    pub element: usize,
    /// Vectors that it writes.
    pub outputs: usize,
    /// Elements that are the same in every row.
    pub values: usize,
    /// Challenges that it takes at least.
    pub challenges: usize,
    /// Its groups.
    pub groups: Vec<GroupExplanation>,
}

/// Describes how a group works on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupExplanation {
    /// Instructions.
    pub instructions: usize,
    /// Products, including the one that makes X.
    pub products: usize,
    /// Slots.
    pub slots: u32,
    /// Elements of scratch memory.
    pub scratch: u32,
    /// Columns.
    pub columns: usize,
    /// Pairs of a column and a rotation.
    pub queries: usize,
    /// Reads of columns by instructions: each column and rotation as often as it is read.
    pub reads: usize,
}

impl GroupExplanation {
    fn new(group: &Group) -> Self {
        let operands = group.instructions().iter().flat_map(Instruction::operands);
        Self {
            instructions: group.instructions().len(),
            products: group.products() + usize::from(group.uses_x()),
            slots: group.slots(),
            scratch: group.scratch(),
            columns: group.columns().len(),
            queries: group.queries().len(),
            reads: operands.filter(|operand| matches!(operand, Operand::Query(_))).count(),
        }
    }

    /// Adds both, but takes the maximum of slots and scratch memory, which groups use one after the other.
    fn and(self, other: Self) -> Self {
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
    /// Returns all groups together: slots and scratch memory are those of the group that needs most.
    pub fn total(&self) -> GroupExplanation {
        self.groups.iter().copied().fold(GroupExplanation::default(), GroupExplanation::and)
    }
}

impl<F: NttField> Program<F> {
    /// Returns the instructions, products, slots, columns and bytes of a row.
    pub fn explain(&self) -> ProgramExplanation {
        ProgramExplanation {
            field: F::NAME,
            element: size_of::<F>(),
            outputs: self.outputs(),
            values: self.row_constants().len(),
            challenges: self.challenges(),
            groups: self.groups().iter().map(GroupExplanation::new).collect(),
        }
    }
}

impl fmt::Display for ProgramExplanation {
    /// Writes a line for each group. Bytes are those of columns read once, and those of all reads.
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
