//! Describes where a matrix's entries are in its memory, on the host and as kernels take it. Queues work within the
//! device's queue limit.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::element_and_accumulator::ElementKind;
use crate::backend::{Buffer, Device, Stream};
use crate::exec::ExecCtx;
use crate::kernel_arguments::{In, Out};
use crate::kernels::gemm::GemmView;
use crate::{Error, Result};

/// Names this module in errors.
pub(super) const ERROR_CONTEXT: &str = "dense";
/// Maximum number of rows, and of columns. Kernels have 32-bit counters that step past the end.
const LIMIT: usize = 1 << 30;

/// Describes a matrix in memory: entry (r, c) is `first + r·row_step + c·column_step` entries after the start.
///
/// No two entries overlap: each row ends before the next one starts, or each column does.
///
/// ```
/// use proofwarp::matrix::dense::View;
///
/// let view = View::row_major(3, 4);
/// assert_eq!((view.entry_index(2, 1), view.transposed().entry_index(1, 2)), (9, 9));
/// assert_eq!(view.block(1..3, 2..4)?.entry_index(0, 0), 6);
/// assert!(view.block(1..3, 2..5).is_err());
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Index of entry (0, 0) in the memory.
    pub first: usize,
    /// Distance, in entries, from an entry to the one below it.
    pub row_step: usize,
    /// Distance, in entries, from an entry to the next one in its row.
    pub column_step: usize,
}

impl View {
    /// Creates a row-major view of `rows` and `columns`, from the start of memory and without gaps.
    pub fn row_major(rows: usize, columns: usize) -> Self {
        Self { rows, columns, first: 0, row_step: columns, column_step: 1 }
    }

    /// Creates a column-major view of `rows` and `columns`, from the start of memory and without gaps.
    pub fn column_major(rows: usize, columns: usize) -> Self {
        Self::row_major(columns, rows).transposed()
    }

    /// Returns the view with rows that start `row_step` entries apart.
    #[must_use]
    pub fn with_row_step(self, row_step: usize) -> Self {
        Self { row_step, ..self }
    }

    /// Returns the view of the transposed matrix in the same memory.
    #[must_use]
    pub fn transposed(self) -> Self {
        let Self { rows, columns, first, row_step, column_step } = self;
        Self { rows: columns, columns: rows, first, row_step: column_step, column_step: row_step }
    }

    /// Returns the view of a block: the half-open ranges `rows` and `columns`, counted within this view.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a range is not inside.
    pub fn block(self, rows: Range<usize>, columns: Range<usize>) -> Result<Self> {
        check_range("rows of a block", &rows, self.rows)?;
        check_range("columns of a block", &columns, self.columns)?;
        let first = self.entry_index(rows.start, columns.start);
        Ok(Self { rows: rows.len(), columns: columns.len(), first, ..self })
    }

    /// Returns the index of entry (`row`, `column`) in the memory, or `usize::MAX` if it overflows.
    pub fn entry_index(&self, row: usize, column: usize) -> usize {
        let down = row.saturating_mul(self.row_step);
        self.first.saturating_add(down).saturating_add(column.saturating_mul(self.column_step))
    }

    /// Returns the number of entries, or `usize::MAX` if it overflows.
    pub fn len(&self) -> usize {
        self.rows.saturating_mul(self.columns)
    }

    /// Returns whether the view has no entries.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0
    }

    /// Returns the index after the last entry in the memory. It is 0 for an empty view, and `None` if it overflows.
    pub fn end(&self) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let down = self.row_step.checked_mul(self.rows - 1)?;
        let across = self.column_step.checked_mul(self.columns - 1)?;
        self.first.checked_add(down)?.checked_add(across)?.checked_add(1)
    }

    /// Returns whether the view is row-major without gaps, from any first index.
    pub(super) fn is_compact(&self) -> bool {
        *self == Self { first: self.first, ..Self::row_major(self.rows, self.columns) }
    }

    /// Checks that the view is valid for a memory of `memory` entries.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: rows or columns exceed 2^30.
    /// - [`Error::Invalid`]: entries overlap.
    /// - [`Error::Invalid`]: the last entry is beyond the end of memory.
    pub(super) fn check(&self, memory: usize) -> Result<()> {
        for (what, number) in [("rows", self.rows), ("columns", self.columns)] {
            if number > LIMIT {
                return Err(Error::invalid(ERROR_CONTEXT, what, format!("at most {LIMIT}"), number));
            }
        }
        self.check_steps()?;
        match self.end() {
            Some(end) if end <= memory => Ok(()),
            end => {
                let expected = end.map_or("fewer entries than memory has".to_owned(), |end| format!("at least {end}"));
                Err(Error::invalid(ERROR_CONTEXT, "number of entries", expected, memory))
            }
        }
    }

    fn check_steps(&self) -> Result<()> {
        let apart = |step: usize, count: usize, inner: usize, of_inner: usize| {
            count <= 1 || of_inner.checked_mul(inner).is_some_and(|length| step >= length)
        };
        let [row, column] = [(self.row_step, self.rows), (self.column_step, self.columns)];
        let within = |step: (usize, usize)| step.1 <= 1 || step.0 > 0;
        let rows_apart = apart(row.0, row.1, column.0, column.1) && within(column);
        let columns_apart = apart(column.0, column.1, row.0, row.1) && within(row);
        if rows_apart || columns_apart || self.is_empty() {
            return Ok(());
        }
        let expected = format!("at least {}", self.columns.saturating_mul(self.column_step.max(1)));
        Err(Error::invalid(ERROR_CONTEXT, "stride of rows", expected, self.row_step))
    }
}

/// Returns the product of `numbers`, after checking that memory can hold this number of entries of type `T`.
///
/// # Errors
/// - [`Error::Invalid`]: the product exceeds the address space.
pub(super) fn checked_entry_count<T>(numbers: &[usize]) -> Result<usize> {
    let most = isize::MAX.unsigned_abs() / size_of::<T>().max(1);
    let entries = numbers.iter().try_fold(1usize, |product, number| product.checked_mul(*number));
    entries.filter(|entries| *entries <= most).ok_or_else(|| {
        let actual = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        Error::invalid(ERROR_CONTEXT, "entries of the product", format!("at most {most}"), actual)
    })
}

fn check_range(what: &'static str, range: &Range<usize>, there: usize) -> Result<()> {
    if range.start <= range.end && range.end <= there {
        return Ok(());
    }
    Err(Error::invalid(ERROR_CONTEXT, what, format!("within 0..{there}"), format!("{range:?}")))
}

/// Describes a matrix in a device buffer: its memory, its layout and the kind of its entries.
#[derive(Clone, Copy)]
pub(super) struct DeviceView<'a> {
    pub buffer: &'a Buffer,
    pub view: View,
    pub kind: ElementKind,
}

impl<'a> DeviceView<'a> {
    /// Returns the memory as an argument that a kernel reads.
    pub(super) fn as_in<T>(&self) -> In<'a, T> {
        In::new(self.buffer)
    }

    /// Returns the memory as an argument that a kernel writes.
    pub(super) fn as_out<T>(&self) -> Out<'a, T> {
        Out::new(self.buffer)
    }

    /// Returns the layout as kernels take it.
    pub(super) fn gemm_view(&self) -> GemmView {
        let View { first, row_step, column_step, .. } = self.view;
        GemmView { first: first as u64, row_step: row_step as u64, column_step: column_step as u64 }
    }

    /// Returns the view of the half-open range `rows`, in the same memory.
    pub(super) fn slice_rows(self, rows: std::ops::Range<usize>) -> Result<Self> {
        Ok(Self { view: self.view.block(rows, 0..self.view.columns)?, ..self })
    }

    /// Returns the bytes of an integer entry, 1 or 4.
    pub(super) fn entry_bytes(&self) -> u32 {
        if self.kind == ElementKind::Byte { 1 } else { 4 }
    }
}

/// Queues `work`, which takes about `time` on the device. If an abort hook is set, first waits until the queue is short
/// enough for a prompt abort.
pub(super) fn enqueue_throttled(
    stream: &mut Stream,
    time: Duration,
    ctx: ExecCtx<'_>,
    work: impl FnOnce(&mut Stream) -> Result<()>,
) -> Result<()> {
    ctx.check_abort()?;
    let device = stream.device().clone();
    let turn = device.acquire_queue_permit(stream, time, ctx.abort())?;
    work(stream)?;
    if let Some(turn) = turn {
        turn.release_on(Arc::new(stream.record_event()?));
    }
    Ok(())
}

/// Describes the matrix in `buffer` with the layout `view` and entries of `kind`.
///
/// # Errors
/// - [`Error::Invalid`]: `buffer` is on another device than `device`.
pub(super) fn device_view<'a>(
    device: &Device,
    buffer: &'a Buffer,
    view: View,
    kind: ElementKind,
) -> Result<DeviceView<'a>> {
    if device.owns(buffer) {
        return Ok(DeviceView { buffer, view, kind });
    }
    Err(Error::invalid(
        ERROR_CONTEXT,
        "device",
        format!("memory of {}", device.info().name),
        "memory of another device",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_blocks() {
        let view = View::column_major(3, 5);
        assert_eq!((view.entry_index(1, 0), view.entry_index(0, 1), view.end()), (1, 3, Some(15)));
        let block = view.block(1..3, 2..5).expect("inside").transposed();
        assert_eq!((block.rows, block.columns, block.entry_index(2, 1)), (3, 2, view.entry_index(2, 4)));
        assert!(view.block(2..4, 0..1).is_err() && view.block(0..1, 4..6).is_err());
        assert_eq!(View::row_major(0, 7).end(), Some(0));
    }

    #[test]
    fn steps_that_share_places_are_refused() {
        let text = |view: View, memory: usize| view.check(memory).expect_err("refused").to_string();
        assert!(View::row_major(3, 4).with_row_step(6).check(16).is_ok());
        assert_eq!(
            text(View::row_major(3, 4).with_row_step(3), 99),
            "dense: stride of rows: expected at least 4, got 3"
        );
        assert_eq!(text(View::row_major(3, 4), 11), "dense: number of entries: expected at least 12, got 11");
        assert!(View::row_major(1, 4).with_row_step(0).check(4).is_ok());
        assert!(View::row_major(2, 4).with_row_step(0).check(4).is_err());
        let far = View::row_major(3, 4).with_row_step(usize::MAX);
        assert!(text(far, 5).contains("fewer entries than memory has"));
        assert!(text(View::row_major(LIMIT + 1, 1), 5).starts_with("dense: rows: expected at most"));
    }

    /// Checks that no arithmetic wraps or panics, for any view.
    #[test]
    fn views_of_any_numbers() {
        let most = usize::MAX;
        for (first, row_step, column_step) in [(most, most, most), (0, most, 1), (most, 0, 0), (1, 1 << 63, 2)] {
            let view = View { rows: most, columns: most, first, row_step, column_step };
            assert_eq!(view.len(), most);
            let block = view.block(most - 5..most, most - 7..most).expect("inside");
            assert!(block.check(most).is_err() && view.check(most).is_err());
            assert!(View { columns: 0, ..view }.block(3..5, 0..0).expect("inside").is_empty());
            assert!(view.entry_index(most, most) >= first);
        }
    }
}
