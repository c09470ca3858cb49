//! Launches the kernels of `cl/plonk_*.cl`.

use std::ops::Range;
use std::sync::Arc;

use super::column_places_and_checks::DeviceColumn;
use crate::backend::{Buffer, Stream};
use crate::checked_size::product;
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::kernel_arguments::{In, Kernel};
use crate::kernels::plonk::{BANK_SHIFT, FAMILY, PLONK_GROUP, RowLaunch, TileLaunch};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Maximum number of device buffers that a launch reads columns from. The kernels take each by a name.
const BANKS: usize = 8;
/// Maximum number of work-groups of a launch whose work-items take several elements each.
const MAX_GROUPS: u64 = 1 << 16;

/// Queues `kernel` of the PLONK kernels for field `F` over at least `items` work-items.
pub(super) fn launch<F: NttField>(stream: &mut Stream, items: u64, kernel: impl Kernel) -> Result<()> {
    KernelModule::find(&FAMILY, F::NAME)?.run(stream, items, kernel)
}

/// Queues `kernel` of the PLONK kernels for field `F` over `groups` work-groups.
pub(super) fn launch_groups<F: NttField, K: Kernel>(stream: &mut Stream, groups: u64, kernel: K) -> Result<()> {
    launch::<F>(stream, groups * u64::from(K::GROUP_SIZE), kernel)
}

/// Queues `kernel` of the PLONK kernels for field `F` over `count` elements. With many, a work-item takes several.
pub(super) fn launch_strided<F: NttField, K: Kernel>(stream: &mut Stream, count: u64, kernel: K) -> Result<()> {
    launch::<F>(stream, count.min(MAX_GROUPS * u64::from(K::GROUP_SIZE)), kernel)
}

/// Uploads `elements`, followed by `words`, to one buffer. Returns the buffer and the number of elements, after which
/// the words start. Kernels take both as arguments.
pub(super) fn upload_params<F: NttField>(stream: &mut Stream, elements: &[F], words: &[u64]) -> Result<(Buffer, u32)> {
    let words_at = u32::try_from(elements.len())
        .map_err(|_| Error::invalid("plonk", "number of coefficients", "below 2^32", elements.len()))?;
    let mut bytes = as_bytes(elements).to_vec();
    bytes.extend_from_slice(bytemuck::cast_slice(words));
    let buffer = stream.allocate(bytes.len())?;
    stream.upload(&buffer, &bytes)?;
    Ok((buffer, words_at))
}

/// Describes one output of a launch, such as a sum of several columns. It matches `output_t` of `cl/plonk_buffers.cl`.
#[derive(Debug, Clone, PartialEq)]
struct LaunchOutput {
    number: usize,
    begun: bool,
    items: Range<usize>,
}

/// Holds the outputs of a step that one launch computes. An output combines several items, and each item is one or more
/// columns. A launch reads at most [`BANKS`] buffers.
pub(super) struct LaunchBatch<'a, F> {
    banks: Vec<&'a Arc<Buffer>>,
    outputs: Vec<LaunchOutput>,
    columns: Vec<DeviceColumn<'a, F>>,
    /// Items of all outputs of the launch, numbered over all launches of the step.
    pub items: Range<usize>,
}

impl<'a, F: NttField> LaunchBatch<'a, F> {
    fn new(first: usize) -> Self {
        Self { banks: Vec::new(), outputs: Vec::new(), columns: Vec::new(), items: first..first }
    }

    fn bank_index(&self, column: &DeviceColumn<'a, F>) -> Option<usize> {
        self.banks.iter().position(|bank| Arc::ptr_eq(bank, column.vector.buffer()))
    }

    fn has_room(&self, columns: &[DeviceColumn<'a, F>]) -> bool {
        let mut new: Vec<_> = columns.iter().filter(|column| self.bank_index(column).is_none()).collect();
        new.dedup_by_key(|column| Arc::as_ptr(column.vector.buffer()));
        self.banks.len() + new.len() <= BANKS
    }

    fn begin_output(&mut self, number: usize, begun: bool) {
        let none = self.items.len();
        self.outputs.push(LaunchOutput { number, begun, items: none..none });
    }

    /// Returns whether the last output has items in this launch or in an earlier one. If not, the output is removed
    /// here and left to the next launch.
    fn close_last_output(&mut self) -> bool {
        let empty = |output: &mut LaunchOutput| output.items.is_empty() && !output.begun;
        self.outputs.pop_if(empty).is_none()
    }

    fn add_item(&mut self, columns: &[DeviceColumn<'a, F>]) {
        for column in columns {
            if self.bank_index(column).is_none() {
                self.banks.push(column.vector.buffer());
            }
        }
        self.columns.extend_from_slice(columns);
        self.items.end += 1;
        if let Some(output) = self.outputs.last_mut() {
            output.items.end += 1;
        }
    }

    /// Returns the number of outputs of the launch.
    pub(super) fn output_count(&self) -> u64 {
        self.outputs.len() as u64
    }

    /// Returns the 64-bit words that kernels read after the elements: four for each output, then one for each column.
    /// `first_output` is added to the numbers of outputs. `more` returns an output's last word by its number in the
    /// step.
    pub(super) fn encode_param_words(&self, first_output: usize, more: impl Fn(usize) -> u64) -> Vec<u64> {
        let output = |output: &LaunchOutput| {
            let number = (first_output + output.number) as u64;
            [
                number << 1 | u64::from(output.begun),
                output.items.start as u64,
                output.items.end as u64,
                more(output.number),
            ]
        };
        let column = |column: &DeviceColumn<'a, F>| {
            (self.bank_index(column).unwrap_or_default() as u64) << BANK_SHIFT | column.first as u64
        };
        self.outputs.iter().flat_map(output).chain(self.columns.iter().map(column)).collect()
    }

    /// Returns the launch's buffers as kernel arguments. If they are fewer than [`BANKS`], `other` fills the rest. It
    /// may be any buffer.
    pub(super) fn bank_args<'b>(&'b self, other: &'b Buffer) -> [In<'b, F>; BANKS] {
        std::array::from_fn(|number| In::new(self.banks.get(number).map_or(other, |bank| bank)))
    }

    /// Describes a launch over `n` rows, one per work-item. The circuit uses `usable` of the rows. [`upload_params`]
    /// returned `words_at`.
    pub(super) fn row_launch(&self, n: u32, usable: u32, words_at: u32) -> RowLaunch {
        RowLaunch { n, usable, blocks: row_group_count(n), outputs: self.outputs.len() as u32, words_at }
    }

    /// Describes a launch over `tiles` tiles, one per work-group, of polynomials of `n` coefficients. [`upload_params`]
    /// returned `words_at`.
    pub(super) fn tile_launch(&self, n: u32, tiles: u32, words_at: u32) -> TileLaunch {
        TileLaunch { n, tiles, outputs: self.outputs.len() as u32, words_at }
    }
}

/// Splits the outputs of a step into launches. `outputs` has the number of items of each output. All items have `width`
/// columns, and `columns` lists those of all items in order.
pub(super) fn split_into_launches<'a, F: NttField>(
    columns: &[DeviceColumn<'a, F>],
    width: usize,
    outputs: impl IntoIterator<Item = usize>,
) -> Vec<LaunchBatch<'a, F>> {
    let (mut done, mut part, mut items) = (Vec::new(), LaunchBatch::new(0), columns.chunks(width));
    for (number, count) in outputs.into_iter().enumerate() {
        part.begin_output(number, false);
        for item in items.by_ref().take(count) {
            if !part.has_room(item) {
                let begun = part.close_last_output();
                let next = LaunchBatch::new(part.items.end);
                done.push(std::mem::replace(&mut part, next));
                part.begin_output(number, begun);
            }
            part.add_item(item);
        }
    }
    if !part.outputs.is_empty() {
        done.push(part);
    }
    done
}

/// Returns the number of work-groups of [`PLONK_GROUP`] work-items that cover `rows` rows.
fn row_group_count(rows: u32) -> u32 {
    rows.div_ceil(PLONK_GROUP)
}

/// Allocates a device vector of `count` columns of `n` elements each, uninitialised.
pub(super) fn allocate_columns<F: NttField>(stream: &Stream, count: usize, n: usize) -> Result<DeviceVector<F>> {
    DeviceVector::allocate_uninit(stream, product("plonk", "elements of the columns", &[count, n])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Accelerator;
    use crate::backend::BackendKind;

    type F = halo2curves::bn256::Fr;

    /// Checks that eight outputs of one vector each fit in a launch, and that the ninth starts the next launch. An
    /// output of nine vectors continues in the next launch.
    #[test]
    fn launches_know_eight_buffers() {
        let Ok(accelerator) = Accelerator::with_backend(BackendKind::OpenCl) else {
            return eprintln!("skipped: vectors need a device");
        };
        let stream = accelerator.devices()[0].stream().expect("stream");
        let vectors: Vec<_> = (0..9).map(|_| DeviceVector::<F>::allocate_uninit(&stream, 1).expect("memory")).collect();
        let columns: Vec<_> = vectors.iter().map(|vector| DeviceColumn::new(vector, 0)).collect();
        let outputs = |counts: &[usize]| {
            let of =
                |part: LaunchBatch<'_, F>| part.outputs.iter().map(|o| (o.number, o.begun, o.items.clone())).collect();
            split_into_launches(&columns, 1, counts.iter().copied()).into_iter().map(of).collect::<Vec<Vec<_>>>()
        };
        let each: Vec<_> = (0..8).map(|k| (k, false, k..k + 1)).collect();
        assert_eq!(outputs(&[1; 9]), [each, vec![(8, false, 0..1)]]);
        assert_eq!(outputs(&[9, 0]), [vec![(0, false, 0..8)], vec![(0, true, 0..1), (1, false, 1..1)]]);
        assert!(outputs(&[]).is_empty());
    }
}
