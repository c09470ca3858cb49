//! Queues programs on a stream, for columns on its device.

use std::sync::Arc;

use super::cpu::Coset;
use super::program::{ERROR_CONTEXT, FusedOp, Group, Instruction, Operand, Program, Target};
use crate::backend::{Buffer, MemoryHandle, Stream, UNIFIED_ALIGN};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::expression::{
    COMBINE_ADD, COMBINE_SHIFT, COMBINE_SUBTRACT, COMBINE_SUBTRACT_FROM, EXPRESSION_GROUP, ExpressionParams, FAMILY,
    KIND_OUTPUT, KIND_QUERY, KIND_SCRATCH, KIND_SLOT, KIND_VALUE, KIND_X, NO_POINTS, OPERAND_BITS, OPERATION_PRODUCT,
    Rows, TARGET_BITS,
};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Maximum work-items of a launch, 2^20, some ten times as many as a large GPU runs at once. It limits memory, since
/// each work-item has scratch memory of its own.
const MAX_ITEMS: usize = 1 << 20;
/// Maximum number of device vectors that hold a group's columns, 4: the kernel has a parameter for each.
const VECTORS: usize = 4;

/// Refers to a column on a device: consecutive elements of a vector, one per row. Elements are reduced and in
/// Montgomery form.
#[derive(Debug)]
pub struct DeviceColumn<'a, F> {
    /// Vector that contains the column. It may contain many columns.
    pub vector: &'a DeviceVector<F>,
    /// Index, in the vector, of the column's element for row 0.
    pub first: usize,
}

impl<F> Clone for DeviceColumn<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for DeviceColumn<'_, F> {}

impl<F: NttField> DeviceColumn<'_, F> {
    fn handle(&self) -> MemoryHandle {
        self.vector.buffer().handle()
    }

    fn overlaps(&self, other: &Self, rows: usize) -> bool {
        self.handle() == other.handle() && self.first.abs_diff(other.first) < rows
    }

    fn check_range(&self, stream: &Stream, what: impl FnOnce() -> String, rows: usize) -> Result<()> {
        self.vector.wait_before_read(stream)?;
        match self.first.checked_add(rows) {
            Some(end) if end <= self.vector.len() => Ok(()),
            _ => {
                let expected = format!("{rows} elements within {}", self.vector.len());
                Err(Error::invalid(ERROR_CONTEXT, what(), expected, format!("from element {} on", self.first)))
            }
        }
    }
}

/// Holds the arguments of one group's evaluation on a device.
#[derive(Clone, Copy)]
struct GroupArguments<'a, F> {
    columns: &'a [DeviceColumn<'a, F>],
    values: &'a [F],
    coset: Coset<F>,
    outputs: &'a [DeviceColumn<'a, F>],
}

impl<F: NttField> Program<F> {
    /// Returns the bytes of scratch memory that an evaluation of `2^log_n` rows takes, while it runs, for values that
    /// find no slot. It is 0 for most programs. An evaluation also takes a few KiB. If the program reads X, the device
    /// keeps two tables of about `2^(log_n/2)` elements.
    pub fn scratch_bytes(&self, log_n: u32) -> u64 {
        self.groups().iter().map(|group| scratch_bytes::<F>(group, log_n)).max().unwrap_or(0)
    }

    /// Queues the evaluation of all groups on `stream`. `columns[i]` is column i. The call does not wait, except for a
    /// table of the points X at its first use.
    ///
    /// A program from [`Self::lower_sum`] adds to its output. A program from [`Self::lower_vectors`] overwrites its outputs.
    ///
    /// The caller lays out columns on the stream's device:
    /// - A column is 2^log_n consecutive elements of some vector.
    /// - All columns of a group lie in at most four different vectors, and all outputs in one. On a device with unified
    ///   addresses, columns whose elements' size divides 256 bytes lie in any vectors.
    /// - An output overlaps no other output, and no column that is read.
    ///
    /// Kernels run after the work that other streams have queued on the vectors.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column or challenge is missing.
    /// - [`Error::Invalid`]: columns or outputs have another number, place or device.
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity or 31.
    /// - [`Error::Invalid`]: an instruction of the program has a number beyond the kernel's range.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    ///
    /// After an error of the last two items, outputs are undefined. After any other error, they are unchanged.
    pub fn enqueue(
        &self,
        stream: &mut Stream,
        columns: &[DeviceColumn<'_, F>],
        challenges: &[F],
        coset: Coset<F>,
        outputs: &[DeviceColumn<'_, F>],
    ) -> Result<()> {
        self.check_columns(columns.len())?;
        let of_group = |group: &Group| -> Vec<DeviceColumn<'_, F>> {
            group.columns().iter().map(|column| columns[*column]).collect()
        };
        let columns: Vec<_> = self.groups().iter().map(of_group).collect();
        let calls = self.groups().iter().zip(&columns);
        calls.clone().try_for_each(|(group, columns)| {
            self.check_group_arguments(stream, group, columns, challenges, coset, outputs)
        })?;
        let values = self.evaluate_row_constants(challenges);
        calls.into_iter().try_for_each(|(group, columns)| {
            enqueue_group_kernel(stream, group, GroupArguments { columns, values: &values, coset, outputs })
        })
    }

    /// Queues the evaluation of group number `group`. `columns` are those of [`Group::columns`], in the same order, so
    /// that only these need to be on the device. `outputs` are all outputs of the program. Groups may be queued in any
    /// order, since they write different outputs or add to the same one.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no such group.
    /// - Other errors are those of [`Self::enqueue`].
    pub fn enqueue_group(
        &self,
        stream: &mut Stream,
        group: usize,
        columns: &[DeviceColumn<'_, F>],
        challenges: &[F],
        coset: Coset<F>,
        outputs: &[DeviceColumn<'_, F>],
    ) -> Result<()> {
        let none = || Error::invalid(ERROR_CONTEXT, "group", format!("below {}", self.groups().len()), group);
        let group = self.groups().get(group).ok_or_else(none)?;
        self.check_group_arguments(stream, group, columns, challenges, coset, outputs)?;
        enqueue_group_kernel(
            stream,
            group,
            GroupArguments { columns, values: &self.evaluate_row_constants(challenges), coset, outputs },
        )
    }

    fn check_group_arguments(
        &self,
        stream: &Stream,
        group: &Group,
        columns: &[DeviceColumn<'_, F>],
        challenges: &[F],
        coset: Coset<F>,
        outputs: &[DeviceColumn<'_, F>],
    ) -> Result<()> {
        coset.check()?;
        self.check_challenges(challenges)?;
        self.check_outputs(outputs.len())?;
        Error::check_eq(ERROR_CONTEXT, "number of columns of the group", group.columns().len(), columns.len())?;
        let rows = coset.row_count();
        for (number, column) in group.columns().iter().zip(columns) {
            column.check_range(stream, || format!("column {number}"), rows)?;
        }
        for (number, output) in outputs.iter().enumerate() {
            output.check_range(stream, || format!("output {number}"), rows)?;
            output.vector.wait_before_write(stream)?;
            check_output_vector(number, output, outputs)?;
            let others = columns.iter().chain(&outputs[..number]);
            if others.into_iter().any(|other| output.overlaps(other, rows)) {
                let expected = "one that overlaps no column and no other output";
                return Err(Error::invalid(ERROR_CONTEXT, format!("output {number}"), expected, "one that does"));
            }
        }
        ColumnVectors::new(stream, columns).map(|_| ())
    }
}

fn check_output_vector<F: NttField>(
    number: usize,
    output: &DeviceColumn<'_, F>,
    outputs: &[DeviceColumn<'_, F>],
) -> Result<()> {
    if output.handle() == outputs[0].handle() {
        return Ok(());
    }
    Err(Error::invalid(ERROR_CONTEXT, format!("vector of output {number}"), "that of output 0", "another"))
}

/// Returns the maximum number of device vectors that hold a group's columns. It is unlimited if kernels of `stream` can
/// address elements of any vector from another vector. That requires unified addresses, and distances between
/// allocations that are whole numbers of elements.
pub(crate) fn max_column_vectors<F>(stream: &Stream) -> usize {
    let unified = stream.device().info().caps.unified_addresses && UNIFIED_ALIGN.is_multiple_of(size_of::<F>());
    if unified { usize::MAX } else { VECTORS }
}

/// Holds the buffers of the vectors that contain a group's columns, each once. Kernels address columns from these.
struct ColumnVectors<'a> {
    buffers: Vec<&'a Buffer>,
}

impl<'a> ColumnVectors<'a> {
    /// Finds the vectors of `columns`. If they are more than [`VECTORS`], kernels address all columns from the vector at
    /// the lowest address, if [`max_column_vectors`] allows as many.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are more than [`max_column_vectors`].
    fn new<F: NttField>(stream: &Stream, columns: &[DeviceColumn<'a, F>]) -> Result<Self> {
        let mut buffers: Vec<&Buffer> = Vec::new();
        for column in columns {
            if buffers.iter().all(|buffer| buffer.handle() != column.handle()) {
                buffers.push(column.vector.buffer());
            }
        }
        if buffers.len() <= VECTORS {
            return Ok(Self { buffers });
        }
        if buffers.len() <= max_column_vectors::<F>(stream) {
            buffers.sort_by_key(|buffer| buffer.handle().0);
            buffers.truncate(1);
            return Ok(Self { buffers });
        }
        let what = "different vectors with columns of a group";
        Err(Error::invalid(ERROR_CONTEXT, what, format!("at most {VECTORS}"), buffers.len()))
    }

    /// Returns the number of the vector from which kernels address `column`, and the index of the column's first element
    /// from that vector's start on.
    fn locate<F: NttField>(&self, column: &DeviceColumn<'_, F>) -> (u32, u64) {
        let position = self.buffers.iter().position(|buffer| buffer.handle() == column.handle());
        let distance = || (column.handle().0 - self.buffers[0].handle().0) / size_of::<F>();
        let (number, before) = position.map_or_else(|| (0, distance()), |number| (number, 0));
        (number as u32, (before + column.first) as u64)
    }

    /// Returns vector `number` as an argument of a kernel. If there are fewer, `other` fills its place, which no kernel
    /// reads.
    fn argument<'b, F>(&'b self, number: usize, other: &'b Buffer) -> In<'b, F> {
        In::new(self.buffers.get(number).copied().unwrap_or(other))
    }
}

fn scratch_bytes<F>(group: &Group, log_n: u32) -> u64 {
    let rows = 1usize.checked_shl(log_n).unwrap_or(MAX_ITEMS);
    let items = MAX_ITEMS.min(rows).next_multiple_of(EXPRESSION_GROUP as usize);
    u64::from(group.scratch_element_count()) * items as u64 * size_of::<F>() as u64
}

/// Queues the kernel that evaluates `group` on `stream` with the arguments `call`. The caller has checked that columns
/// and outputs lie in their vectors. The table names only parts of the program, and each work-item has scratch memory.
fn enqueue_group_kernel<F: NttField>(stream: &mut Stream, group: &Group, call: GroupArguments<'_, F>) -> Result<()> {
    let Some(to) = call.outputs.first() else { return Ok(()) };
    let vectors = ColumnVectors::new(stream, call.columns)?;
    let encoded = EncodedGroup::new(group, &call, &vectors)?;
    let table = stream.allocate(encoded.bytes.len())?;
    stream.upload(&table, &encoded.bytes)?;
    let (points, low_log) = match group.uses_x() {
        true => find_or_compute_points(stream, call.coset).map(|points| (Some(points), call.coset.log_n / 2))?,
        false => (None, NO_POINTS),
    };
    let scratch = stream.scratch(scratch_bytes::<F>(group, call.coset.log_n) as usize)?;
    let from = |number: usize| vectors.argument(number, &table);
    let kernel = Rows {
        params: Value(&encoded.params(group, call.coset.log_n, low_log)),
        table: In::new(&table),
        points: In::new(points.as_deref().unwrap_or(&table)),
        from0: from(0),
        from1: from(1),
        from2: from(2),
        from3: from(3),
        to: to.vector.as_out(),
        scratch: Out::new(&scratch),
    };
    let items = call.coset.row_count().min(MAX_ITEMS) as u64;
    KernelModule::find(&FAMILY, F::NAME)?.run(stream, items, kernel)
}

/// Returns a device's table of points: ω^i for the low half of the bits of a row's index, then shift·ω^(i·2^low) for
/// the high half. A kernel gets X with one multiplication per row. A column of X would take as many for each coset,
/// memory for a column, and reads from memory.
fn find_or_compute_points<F: NttField>(stream: &mut Stream, coset: Coset<F>) -> Result<Arc<Buffer>> {
    let mut key = format!("expression points {} {} ", F::NAME, coset.log_n).into_bytes();
    key.extend_from_slice(as_bytes(&[coset.shift]));
    let device = stream.device().clone();
    let table = device.get_or_create_table(key, || {
        let low_log = coset.log_n / 2;
        let omega = coset.omega();
        let high_omega = (0..low_log).fold(omega, |power, _| power.square());
        let powers = |start: F, ratio: F, log: u32| {
            std::iter::successors(Some(start), move |power| Some(*power * ratio)).take(1 << log)
        };
        let low = powers(F::ONE, omega, low_log);
        let all: Vec<F> = low.chain(powers(coset.shift, high_omega, coset.log_n - low_log)).collect();
        let table = stream.allocate(size_of_val(all.as_slice()))?;
        stream.upload(&table, as_bytes(&all))?;
        stream.synchronize(None)?;
        Ok(table)
    })?;
    stream.retain_buffer(table.clone());
    Ok(table)
}

/// Holds a group's instructions, queries, outputs and values in the kernel's encoding.
struct EncodedGroup {
    bytes: Vec<u8>,
    /// Offsets of the queries, the outputs and the values, in units of four 32-bit words.
    starts: [u32; 3],
}

impl EncodedGroup {
    fn new<F: NttField>(group: &Group, call: &GroupArguments<'_, F>, vectors: &ColumnVectors<'_>) -> Result<Self> {
        let rows = call.coset.row_count();
        let query = |query: &super::Query| {
            let place = group.columns().partition_point(|column| *column < query.column);
            let column = &call.columns[place];
            let (number, first) = vectors.locate(column);
            encode_column_location(number, query.rotated_row(0, rows) as u32, first)
        };
        let mut quads = group.instructions().iter().map(encode_instruction).collect::<Result<Vec<_>>>()?;
        let queries = quads.len() as u32;
        quads.extend(group.queries().iter().map(query));
        let outputs = quads.len() as u32;
        quads.extend(call.outputs.iter().map(|output| encode_column_location(0, 0, output.first as u64)));
        let values = quads.len() as u32;
        let bytes = [bytemuck::cast_slice(&quads), as_bytes(call.values)].concat();
        Ok(Self { bytes, starts: [queries, outputs, values] })
    }

    /// Returns the numbers of an evaluation of `group`, whose encoding this is. [`ExpressionParams`] explains `log_n`
    /// and `low_log`.
    fn params(&self, group: &Group, log_n: u32, low_log: u32) -> ExpressionParams {
        let [queries_at, outputs_at, values_at] = self.starts;
        let instructions = group.instructions().len() as u32;
        ExpressionParams { log_n, instructions, queries_at, outputs_at, values_at, low_log }
    }
}

fn encode_column_location(vector: u32, rotation: u32, first: u64) -> [u32; 4] {
    [vector, rotation, first as u32, (first >> 32) as u32]
}

/// Returns `instruction` in the kernel's encoding, four 32-bit words. Returns an error if a number is too large for it.
fn encode_instruction(instruction: &Instruction) -> Result<[u32; 4]> {
    let product = if instruction.b.is_some() { OPERATION_PRODUCT } else { 0 };
    let combination = instruction.c.map_or(0, |(combination, _)| match combination {
        FusedOp::Add => COMBINE_ADD,
        FusedOp::Subtract => COMBINE_SUBTRACT,
        FusedOp::SubtractFrom => COMBINE_SUBTRACT_FROM,
    });
    let operand = |operand: Option<Operand>| operand.map_or(Ok(0), encode_operand);
    let third = instruction.c.map(|(_, operand)| operand);
    let operation = product | combination << COMBINE_SHIFT | encode_target(instruction.target)?;
    Ok([operation, encode_operand(instruction.a)?, operand(instruction.b)?, operand(third)?])
}

fn encode_target(target: Target) -> Result<u32> {
    let (kind, number) = match target {
        Target::Slot(number) => (KIND_SLOT, number),
        Target::Scratch(number) => (KIND_SCRATCH, number),
        Target::Output(number) => (KIND_OUTPUT, number),
    };
    check_below("number of a target", number, 1 << TARGET_BITS).map(|number| kind << TARGET_BITS | number)
}

fn encode_operand(operand: Operand) -> Result<u32> {
    let (kind, number) = match operand {
        Operand::Slot(number) => (KIND_SLOT, number),
        Operand::Scratch(number) => (KIND_SCRATCH, number),
        Operand::Value(number) => (KIND_VALUE, number),
        Operand::Query(number) => (KIND_QUERY, number),
        Operand::X => (KIND_X, 0),
        Operand::Output(number) => (KIND_OUTPUT, number),
    };
    check_below("number of an operand", number, 1 << OPERAND_BITS).map(|number| kind << OPERAND_BITS | number)
}

fn check_below(what: &str, number: u32, bound: u32) -> Result<u32> {
    if number < bound { Ok(number) } else { Err(Error::invalid(ERROR_CONTEXT, what, format!("below {bound}"), number)) }
}
