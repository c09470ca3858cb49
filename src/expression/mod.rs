//! Evaluates polynomial expressions over columns with rotations, such as the constraints of PLONKish proofs.
//!
//! An [`Expression`] is a tree. A set of them is lowered to a [`Program`]: groups of instructions for an interpreter,
//! which runs them row by row. It runs on a device for columns that are there ([`Program::enqueue`]), or on any backend
//! for host slices ([`Program::run`]). Equal parts are computed once, and values that are the same in every row before
//! the rows.
//!
//! ```
//! use ff::Field;
//! use halo2curves::bn256::Fr;
//! use proofwarp::Accelerator;
//! use proofwarp::expression::{Coset, Expression, Program, Term};
//!
//! // y⁰·(a·b − c) + y¹·(c(ωX) − a) over 4 rows.
//! let column = |column, rotation| Expression::<Fr>::column(column, rotation);
//! let gate = Term { challenge: 0, expression: column(0, 0) * column(1, 0) - column(2, 0) };
//! let copy = Term { challenge: 1, expression: column(2, 1) - column(0, 0) };
//! let program = Program::lower_sum(&[gate, copy], 0);
//!
//! let row = |values: [u64; 4]| values.map(Fr::from);
//! let (a, b, c) = (row([2, 3, 4, 5]), row([1; 4]), row([2, 2, 3, 4]));
//! let mut sum = vec![Fr::ZERO; 4];
//! let challenges = [Fr::ONE, Fr::from(100)];
//! let coset = Coset { log_n: 2, shift: Fr::ONE };
//! let report = program.run(&Accelerator::from_env()?, &[&a, &b, &c], &challenges, coset, &mut [&mut sum], None)?;
//! assert_eq!(sum, [Fr::ZERO, Fr::ONE, Fr::ONE, Fr::ONE - Fr::from(300)]);
//! println!("{report}\n{}", program.explain());
//! # Ok::<(), proofwarp::Error>(())
//! ```

mod ast;
mod cpu;
mod enqueue;
mod explain;
mod host_columns;
mod lower;
mod program;

use std::sync::Arc;

pub use ast::{Expression, Query, Term};
pub use cpu::Coset;
pub use enqueue::DeviceColumn;
pub(crate) use enqueue::max_column_vectors;
pub use explain::{GroupExplanation, ProgramExplanation};
pub use program::{FusedOp, Group, Instruction, Operand, Program, REGISTERS, RowConstant, Target};

use crate::backend::{Abort, Device};
use crate::exec::{ExecCtx, Operation, execute};
use crate::field::NttField;
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};
use cpu::Inputs;
use program::ERROR_CONTEXT;

/// Evaluates a program on columns in host memory.
struct Evaluation<'a, 'o, F> {
    program: &'a Program<F>,
    inputs: Inputs<'a, F>,
    outputs: &'a mut [&'o mut [F]],
}

impl<F: NttField> Operation for Evaluation<'_, '_, F> {
    type Output = ();

    fn scope(&self) -> OpScope {
        let elements = self.inputs.coset.row_count() * self.program.output_count();
        OpScope { operation: format!("expression {}", F::NAME), elements }
    }

    fn on_devices(&mut self, devices: &[Arc<Device>], ctx: ExecCtx<'_>) -> Result<()> {
        host_columns::evaluate(&devices[0], self.program, self.inputs, self.outputs, ctx)
    }

    fn on_cpu(&mut self, ctx: ExecCtx<'_>) -> Result<()> {
        cpu::evaluate(self.program, self.inputs, self.outputs, ctx)
    }
}

impl<F: NttField> Program<F> {
    /// Lowers the sum Σ challenge·expression over `terms` to a program, which adds it to its only output. Terms are
    /// added in any order.
    ///
    /// A group reads at most `columns_at_once` different columns. They have to be on a device at once. A term that reads
    /// more columns by itself is an exception. If `columns_at_once` is 0, all terms are one group. Lowering
    /// takes time in proportion to the size of the trees, and to terms times groups.
    pub fn lower_sum(terms: &[Term<F>], columns_at_once: usize) -> Self {
        lower::lower_sum(terms, columns_at_once)
    }

    /// Lowers `expressions` to a program that sets output k to expression k. `columns_at_once` bounds groups as in
    /// [`Self::lower_sum`].
    pub fn lower_vectors(expressions: &[Expression<F>], columns_at_once: usize) -> Self {
        lower::lower_vectors(expressions, columns_at_once)
    }

    /// Returns the minimum number of columns that evaluation takes: the highest index of a column that is read, plus 1.
    pub fn column_count(&self) -> usize {
        self.groups().iter().filter_map(|group| group.columns().last()).max().map_or(0, |column| column + 1)
    }

    /// Evaluates the program on host slices. `columns[i]` is column i. Columns and outputs have one element per row of
    /// `coset`. Columns that are not read may be empty. The accelerator's first device does the work, if there is one,
    /// otherwise the host.
    ///
    /// # Errors
    /// - [`Error::Invalid`](crate::Error::Invalid): columns or challenges are missing.
    /// - [`Error::Invalid`](crate::Error::Invalid): there are not as many outputs as the program has.
    /// - [`Error::Invalid`](crate::Error::Invalid): a length is not the number of rows.
    /// - [`Error::Invalid`](crate::Error::Invalid): `log_n` is above the field's two-adicity or 31.
    /// - [`Error::Invalid`](crate::Error::Invalid): a device runs the program, and an instruction has a number beyond the
    ///   kernel's range.
    /// - [`Error::Aborted`](crate::Error::Aborted): the hook aborted.
    /// - [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Device`](crate::Error::Device): a forced backend
    ///   has too little memory, or fails.
    ///
    /// After an error, outputs are unchanged.
    pub fn run(
        &self,
        accelerator: &Accelerator,
        columns: &[&[F]],
        challenges: &[F],
        coset: Coset<F>,
        outputs: &mut [&mut [F]],
        abort: Abort<'_>,
    ) -> Result<Report> {
        let inputs = Inputs { columns, challenges, coset };
        self.check_slices(inputs, outputs)?;
        let mut operation = Evaluation { program: self, inputs, outputs };
        execute(accelerator, accelerator.devices(), &mut operation, abort).map(|((), report)| report)
    }

    fn check_slices(&self, inputs: Inputs<'_, F>, outputs: &[&mut [F]]) -> Result<()> {
        inputs.coset.check()?;
        self.check_challenges(inputs.challenges)?;
        self.check_columns(inputs.columns.len())?;
        self.check_outputs(outputs.len())?;
        let rows = inputs.coset.row_count();
        for column in self.groups().iter().flat_map(Group::columns) {
            Error::check_eq(ERROR_CONTEXT, format!("length of column {column}"), rows, inputs.columns[*column].len())?;
        }
        let mut lengths = outputs.iter().map(|output| output.len()).enumerate();
        lengths.try_for_each(|(number, length)| {
            Error::check_eq(ERROR_CONTEXT, format!("length of output {number}"), rows, length)
        })
    }
}
