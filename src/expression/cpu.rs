//! Runs programs on the host's cores, a block of rows at a time, so that an instruction is decoded once for all of
//! them. Computes the points of rows for them.

use rayon::prelude::*;

use super::program::{ERROR_CONTEXT, FusedOp, Group, Instruction, Operand, Program, Target};
use crate::exec::ExecCtx;
use crate::field::NttField;
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

/// Number of rows of a block, 128: 8 slots of them fit a core's L1 cache.
const BLOCK: usize = 128;

/// Holds the inputs of an evaluation on host slices. `columns[i]` is column i. Every column that the program reads has
/// one element per row.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, F> {
    pub columns: &'a [&'a [F]],
    pub challenges: &'a [F],
    pub coset: Coset<F>,
}

/// Evaluates `program` on the host's cores. Writes `outputs` once all results are computed; after an error they are
/// unchanged.
pub(super) fn evaluate<F: NttField>(
    program: &Program<F>,
    inputs: Inputs<'_, F>,
    outputs: &mut [&mut [F]],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let mut results: Vec<SecretVec<F>> = outputs.iter().map(|output| SecretVec(output.to_vec())).collect();
    let values = program.evaluate_row_constants(inputs.challenges);
    for group in program.groups() {
        let rows = GroupEvaluator { group, values: &values, inputs };
        install(|| rows.evaluate(&mut results, ctx))?;
    }
    ctx.check_abort()?;
    outputs.iter_mut().zip(&results).for_each(|(output, result)| output.copy_from_slice(result));
    Ok(())
}

/// Evaluates the instructions of one group on all rows, block by block.
struct GroupEvaluator<'a, F> {
    group: &'a Group,
    values: &'a [F],
    inputs: Inputs<'a, F>,
}

/// Holds the memory for one block of rows: two operands, X, slots and spilled values.
struct BlockScratch<F: NttField> {
    a: SecretVec<F>,
    b: SecretVec<F>,
    x: SecretVec<F>,
    slots: Vec<SecretVec<F>>,
    scratch: Vec<SecretVec<F>>,
}

impl<F: NttField> BlockScratch<F> {
    fn new(group: &Group) -> Self {
        let block = || SecretVec(vec![F::ZERO; BLOCK]);
        let blocks = |count: u32| (0..count).map(|_| block()).collect();
        let (slots, scratch) = (blocks(group.slot_count()), blocks(group.scratch_element_count()));
        Self { a: block(), b: block(), x: block(), slots, scratch }
    }
}

/// Holds the elements of each output in one block of rows.
type BlockOutputs<'a, F> = Vec<&'a mut [F]>;

impl<F: NttField> GroupEvaluator<'_, F> {
    fn evaluate(&self, outputs: &mut [SecretVec<F>], ctx: ExecCtx<'_>) -> Result<()> {
        let count = self.inputs.coset.row_count().div_ceil(BLOCK);
        let mut blocks: Vec<BlockOutputs<'_, F>> = (0..count).map(|_| Vec::new()).collect();
        for output in outputs {
            blocks.iter_mut().zip(output.0.chunks_mut(BLOCK)).for_each(|(block, part)| block.push(part));
        }
        let blocks = blocks.into_par_iter().enumerate();
        blocks.try_for_each_init(
            || BlockScratch::new(self.group),
            |room, (number, mut outputs)| {
                ctx.check_abort()?;
                self.evaluate_block(room, number * BLOCK, &mut outputs);
                Ok::<_, Error>(())
            },
        )
    }

    fn evaluate_block(&self, room: &mut BlockScratch<F>, first: usize, outputs: &mut BlockOutputs<'_, F>) {
        if self.group.uses_x() {
            let points = self.inputs.coset.points(first, BLOCK);
            room.x.iter_mut().zip(points).for_each(|(x, point)| *x = point);
        }
        for instruction in self.group.instructions() {
            self.run_instruction(room, first, outputs, instruction);
        }
    }

    fn run_instruction(
        &self,
        room: &mut BlockScratch<F>,
        first: usize,
        outputs: &mut BlockOutputs<'_, F>,
        instruction: &Instruction,
    ) {
        self.copy_operand_block(room, first, outputs, instruction.a);
        if let Some(b) = instruction.b {
            self.read_second_operand(room, first, outputs, b);
            combine_operands(room, |a, b| a * b);
        }
        if let Some((combination, c)) = instruction.c {
            self.read_second_operand(room, first, outputs, c);
            match combination {
                FusedOp::Add => combine_operands(room, |a, c| a + c),
                FusedOp::Subtract => combine_operands(room, |a, c| a - c),
                FusedOp::SubtractFrom => combine_operands(room, |a, c| c - a),
            }
        }
        match instruction.target {
            Target::Slot(slot) => std::mem::swap(&mut room.a, &mut room.slots[slot as usize]),
            Target::Scratch(number) => std::mem::swap(&mut room.a, &mut room.scratch[number as usize]),
            Target::Output(output) => {
                let output = &mut outputs[output as usize];
                output.copy_from_slice(&room.a[..output.len()]);
            }
        }
    }

    fn read_second_operand(
        &self,
        room: &mut BlockScratch<F>,
        first: usize,
        outputs: &BlockOutputs<'_, F>,
        operand: Operand,
    ) {
        std::mem::swap(&mut room.a, &mut room.b);
        self.copy_operand_block(room, first, outputs, operand);
        std::mem::swap(&mut room.a, &mut room.b);
    }

    /// Copies the values of `operand`, in the rows of a block from row `first` on, to `room.a`.
    fn copy_operand_block(
        &self,
        room: &mut BlockScratch<F>,
        first: usize,
        outputs: &BlockOutputs<'_, F>,
        operand: Operand,
    ) {
        let BlockScratch { a, x, slots, scratch, .. } = room;
        match operand {
            Operand::Slot(slot) => a.copy_from_slice(&slots[slot as usize]),
            Operand::Scratch(number) => a.copy_from_slice(&scratch[number as usize]),
            Operand::Value(number) => a.fill(self.values[number as usize]),
            Operand::Query(number) => self.read_column(a, first, number),
            Operand::X => a.copy_from_slice(x),
            Operand::Output(output) => {
                let output = &outputs[output as usize];
                a[..output.len()].copy_from_slice(output);
            }
        }
    }

    /// Copies the values of query `number`, in the rows from row `first` on, to `to`. Wraps around at the column's end.
    fn read_column(&self, to: &mut [F], first: usize, number: u32) {
        let query = self.group.queries()[number as usize];
        let column = self.inputs.columns[query.column];
        let mut row = query.rotated_row(first, column.len());
        let mut rest = to;
        while !rest.is_empty() {
            let (part, others) = rest.split_at_mut(rest.len().min(column.len() - row));
            part.copy_from_slice(&column[row..row + part.len()]);
            (rest, row) = (others, 0);
        }
    }
}

/// Sets each element of `room.a` to the result of `operation` for it and the same element of `room.b`.
fn combine_operands<F: NttField>(room: &mut BlockScratch<F>, operation: impl Fn(F, F) -> F) {
    room.a.iter_mut().zip(room.b.iter()).for_each(|(a, b)| *a = operation(*a, *b));
}

/// Maximum `log_n`, 31: a row's index has 32 bits, with room to add a rotation.
const MAX_LOG_N: u32 = 31;

/// Describes a coset of `2^log_n` points, one per row. Row i has the point shift·ω^i, where ω is that of
/// [`NttDomain`](crate::ntt::NttDomain) of the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coset<F> {
    /// Binary logarithm of the number of rows.
    pub log_n: u32,
    /// Point of row 0; 1 for the subgroup itself.
    pub shift: F,
}

impl<F: NttField> Coset<F> {
    /// Returns the number of rows, `2^log_n`. [`Self::check`] has succeeded before.
    pub(super) fn row_count(&self) -> usize {
        1 << self.log_n
    }

    /// Returns ω, a primitive `2^log_n`-th root of unity.
    pub(super) fn omega(&self) -> F {
        (self.log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square())
    }

    /// Returns the points of `count` rows from row `first` on, in order.
    pub(super) fn points(&self, first: usize, count: usize) -> impl Iterator<Item = F> {
        let omega = self.omega();
        let start = self.shift * omega.pow_vartime([first as u64]);
        std::iter::successors(Some(start), move |point| Some(*point * omega)).take(count)
    }

    pub(super) fn check(&self) -> Result<()> {
        let most = F::S.min(MAX_LOG_N);
        if self.log_n <= most {
            return Ok(());
        }
        Err(Error::invalid(ERROR_CONTEXT, "log_n of the coset", format!("at most {most}"), self.log_n))
    }
}
