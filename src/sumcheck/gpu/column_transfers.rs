//! Says where columns are on a device, brings them there, and copies them back for the host's check of the device.
#![deny(clippy::arithmetic_side_effects)]

use std::sync::Arc;

use crate::backend::{Buffer, PinnedBuffer, Stream};
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, Element, as_bytes, as_bytes_mut, bitslice};
use crate::kernel_arguments::{In, Out};
use crate::kernels::sumcheck::{SLICE_GROUP, Unslice};
use crate::module_launcher::KernelModule;
use crate::secret_vec::SecretVec;
use crate::sumcheck::caller_columns::{Columns, HostColumn, HostSlices, unbitslice_column};
use crate::sumcheck::claim::ERROR_CONTEXT;
use crate::sumcheck::field::{ComputeField, SumcheckField};
use crate::sumcheck::rounds::{ColumnOwnership, bytes, product};
use crate::{Error, Result};

/// Refers to columns in device memory, one after the other. `stride` is the number of elements from one column's start
/// to the next's.
#[derive(Clone)]
pub(crate) struct DeviceColumns {
    pub buffer: Arc<Buffer>,
    pub stride: u64,
}

impl DeviceColumns {
    fn from_vector<E: Element>(vector: &DeviceVector<E>, stride: u64) -> Self {
        Self { buffer: vector.buffer().clone(), stride }
    }

    /// Returns the columns, of elements of `T`, as an argument of a kernel that reads them.
    pub(super) fn as_in<T>(&self) -> In<'_, T> {
        In::new(&self.buffer)
    }

    /// Returns the columns, of elements of `T`, as an argument of a kernel that writes them.
    pub(super) fn as_out<T>(&self) -> Out<'_, T> {
        Out::new(&self.buffer)
    }
}

/// Returns where `columns`, of `rows` rows each, are on the stream's device. Host columns are uploaded first, to `own`
/// or, if they are over the base field, to a new vector.
pub(crate) fn locate_or_upload<F: SumcheckField>(
    stream: &mut Stream,
    columns: &Columns<'_, F>,
    (own, rows): (Option<&DeviceColumns>, u64),
    ctx: ExecCtx<'_>,
) -> Result<DeviceColumns> {
    match columns {
        Columns::Host(columns) => {
            let missing = || Error::invalid(ERROR_CONTEXT, "memory for columns of the host", "some", "none");
            upload(stream, own.ok_or_else(missing)?.clone(), columns, ctx)
        }
        Columns::HostBase(columns) => {
            let vector = DeviceVector::<F::Base>::allocate_uninit(stream, product(columns.len(), rows as usize)?)?;
            upload(stream, DeviceColumns::from_vector(&vector, rows), columns, ctx)
        }
        Columns::Kept(vector) | Columns::KeptSliced(vector) => {
            vector.wait_before_read(stream).map(|()| DeviceColumns::from_vector(vector, rows))
        }
        Columns::KeptBase(vector) => vector.wait_before_read(stream).map(|()| DeviceColumns::from_vector(vector, rows)),
        Columns::Consumed(vector) => {
            vector.wait_before_write(stream).map(|()| DeviceColumns::from_vector(vector, rows))
        }
    }
}

/// Uploads `columns` to `to`, and returns `to` once all columns have been read.
fn upload<E: Element>(
    stream: &mut Stream,
    to: DeviceColumns,
    columns: &[HostColumn<'_, E>],
    ctx: ExecCtx<'_>,
) -> Result<DeviceColumns> {
    for (number, column) in columns.iter().enumerate() {
        let offset = product(number, bytes::<E>(to.stride as usize)?)?;
        match column {
            HostColumn::Slice(elements) => {
                stream.upload_abortable(&to.buffer, offset, as_bytes(elements), ctx.abort())?;
            }
            HostColumn::Pinned(vector) => {
                stream.copy_from_pinned_abortable(&to.buffer, offset, vector.buffer(), ctx.abort())?;
            }
        }
    }
    if columns.iter().any(|column| matches!(column, HostColumn::Pinned(_))) {
        ctx.synchronize(stream)?;
    }
    Ok(to)
}

/// Returns the [`ColumnOwnership`] of `columns`: where they are, in which form, and whether they stay unchanged.
pub(crate) fn ownership<F: SumcheckField>(columns: &Columns<'_, F>) -> ColumnOwnership {
    match columns {
        Columns::Host(_) => ColumnOwnership::Host,
        Columns::HostBase(_) => ColumnOwnership::HostBase,
        Columns::Kept(_) => ColumnOwnership::Kept,
        Columns::KeptSliced(_) => ColumnOwnership::KeptSliced,
        Columns::KeptBase(_) => ColumnOwnership::KeptBase,
        Columns::Consumed(_) => ColumnOwnership::Consumed,
    }
}

/// Queues the conversion of `columns` bit-sliced columns of `rows` rows each, at `from`. It writes their elements to
/// `to`, one column after the other, which has room for all of them. Rows fill tiles. `program` is a module of
/// [`SLICED`](crate::kernels::sumcheck::SLICED).
#[allow(clippy::arithmetic_side_effects, reason = "the plan bounds rows and columns")]
pub(crate) fn enqueue_unbitslice(
    stream: &mut Stream,
    program: KernelModule,
    (columns, rows): (usize, u64),
    from: &DeviceColumns,
    to: &Buffer,
) -> Result<()> {
    let tiles = rows / bitslice::TILE as u64;
    let items = tiles * columns as u64 * u64::from(SLICE_GROUP);
    let unslice = Unslice {
        tiles: tiles as u32,
        columns: columns as u32,
        from_stride: from.stride,
        from: from.as_in(),
        to: Out::new(to),
    };
    program.run(stream, items, unslice)
}

/// Returns `count` elements that kernels wrote to the host memory `from`, from byte `at` on.
pub(crate) fn read_elements<E: Element>(from: &PinnedBuffer, at: usize, count: usize) -> Vec<E> {
    let mut elements = vec![E::ZERO; count];
    // SAFETY: the bytes written are elements, which kernels left.
    let bytes = unsafe { as_bytes_mut(&mut elements) };
    bytes.copy_from_slice(&from.as_slice()[at..][..bytes.len()]);
    elements
}

/// Holds a copy of a device's columns in host memory, one column after the other. They are over the field F or its base
/// field.
pub(crate) enum HostCopy<F: SumcheckField> {
    Own(SecretVec<F>),
    Base(SecretVec<F::Base>),
}

impl<F: SumcheckField> HostCopy<F> {
    /// Copies `columns`, of `rows` rows each, from their device to host memory.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the columns are not kept on a device.
    /// - [`Error::Aborted`]: the abort hook aborted.
    /// - [`Error::Device`] or another device error: the copy failed.
    pub(crate) fn new(columns: &Columns<'_, F>, rows: usize, ctx: ExecCtx<'_>) -> Result<Self> {
        let there = || Error::invalid(ERROR_CONTEXT, "columns", "kept on a device", "others");
        let mut stream = columns.device_of().ok_or_else(there)?.stream()?;
        match columns {
            Columns::Kept(vector) => download(&mut stream, vector, ctx).map(Self::Own),
            Columns::KeptBase(vector) => download(&mut stream, vector, ctx).map(Self::Base),
            Columns::KeptSliced(vector) => unbitslice_all(&download(&mut stream, vector, ctx)?, rows).map(Self::Own),
            Columns::Host(_) | Columns::HostBase(_) | Columns::Consumed(_) => Err(there()),
        }
    }

    /// Returns the columns as slices of `rows` rows each.
    pub(crate) fn slices(&self, rows: usize) -> HostSlices<'_, F> {
        match self {
            Self::Own(elements) => HostSlices::Own(elements.0.chunks(rows).map(HostColumn::Slice).collect()),
            Self::Base(elements) => HostSlices::Base(elements.0.chunks(rows).map(HostColumn::Slice).collect()),
        }
    }
}

fn download<E: Element>(stream: &mut Stream, vector: &DeviceVector<E>, ctx: ExecCtx<'_>) -> Result<SecretVec<E>> {
    let mut elements = SecretVec(vec![E::ZERO; vector.len()]);
    // SAFETY: the bytes written are elements, which kernels left.
    stream.download_abortable(unsafe { as_bytes_mut(&mut elements.0) }, vector.buffer(), ctx.abort())?;
    Ok(elements)
}

/// Converts `columns`, bit-sliced columns of the tower of `rows` rows each, to ordinary elements, one column after the
/// other.
fn unbitslice_all<F: SumcheckField>(columns: &SecretVec<F>, rows: usize) -> Result<SecretVec<F>> {
    let mut all = SecretVec(Vec::with_capacity(columns.0.len()));
    for column in columns.0.chunks(rows) {
        let words: Vec<u32> = as_bytes(column).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let elements = unbitslice_column(&words, rows)?;
        let there = elements.into_iter().map(|element| F::Compute::from_tower(element).map(F::from_compute_field));
        all.0.extend(there.collect::<Option<Vec<F>>>().ok_or_else(|| Error::internal(ERROR_CONTEXT))?);
    }
    Ok(all)
}
