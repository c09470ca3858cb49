//! Moves columns to where they are worked on.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::backend::{Event, Stream};
use crate::checked_size::product;
use crate::expression::max_column_vectors;
use crate::field::{DeviceVector, NttField, as_bytes, as_bytes_mut};
use crate::msm::{DeviceScalars, ScalarForm, Scalars};
use crate::plonk::column_places_and_checks::{DeviceColumn, StridedColumns};
use crate::plonk::columns_layout_and_key::{ColumnView, DeviceSlice, ViewStorage};
use crate::secret_vec::{SecretCow, SecretVec};
use crate::{Error, Result};

/// Downloads the elements of `column` from the device to new host memory.
pub(crate) fn download<F: NttField>(stream: &mut Stream, column: &DeviceSlice<F>) -> Result<SecretVec<F>> {
    let mut elements = SecretVec(allocate_zeros(column.len));
    download_into(stream, column, &mut elements)?;
    Ok(elements)
}

/// Downloads `column` from the device into `elements`, which has the same length. It allocates no device memory, so
/// that the host can take over if there is none.
pub(crate) fn download_into<F: NttField>(
    stream: &mut Stream,
    column: &DeviceSlice<F>,
    elements: &mut [F],
) -> Result<()> {
    if column.len != elements.len() {
        return Err(Error::invalid("plonk", "length of a column", column.len, elements.len()));
    }
    let from = column.first * size_of::<F>();
    // SAFETY: kernels leave reduced elements in Montgomery form.
    stream.download_at(unsafe { as_bytes_mut(elements) }, column.vector.buffer(), from)
}

/// Returns `count` zeros. All cores touch the memory's pages first, since the system takes longer to provide pages than
/// a download takes to fill them.
pub(crate) fn allocate_zeros<F: NttField>(count: usize) -> Vec<F> {
    (0..count).into_par_iter().map(|_| F::ZERO).collect()
}

/// Queues a copy of `column` into the vector `to` from element `first` on.
fn enqueue_copy<F: NttField>(
    stream: &mut Stream,
    to: &DeviceVector<F>,
    first: usize,
    column: ColumnView<'_, F>,
) -> Result<()> {
    let at = first * size_of::<F>();
    match column.0 {
        ViewStorage::Host(elements) => stream.upload_at(to.buffer(), at, as_bytes(elements)),
        ViewStorage::Device(from) => {
            let bytes = from.len * size_of::<F>();
            stream.copy((to.buffer(), at), (from.vector.buffer(), from.first * size_of::<F>()), bytes)
        }
    }
}

/// Queues copies of `columns`, of `n` elements each, one after the other into a new vector, and returns it.
pub(crate) fn enqueue_copies<F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[ColumnView<'_, F>],
) -> Result<DeviceVector<F>> {
    check_column_lengths(n, columns)?;
    let vector =
        DeviceVector::allocate_uninit(stream, product("plonk", "elements of the columns", &[columns.len(), n])?)?;
    columns.iter().enumerate().try_for_each(|(k, column)| enqueue_copy(stream, &vector, k * n, *column))?;
    Ok(vector)
}

/// Queues copies of `columns`, of `n` elements each, one after the other into a new vector, and returns it. The columns
/// are in host memory, or on a device that the stream can access. Copies from a device wait for the event `mark`.
pub(crate) fn enqueue_peer_copies<F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[ColumnView<'_, F>],
    mark: &Event,
) -> Result<DeviceVector<F>> {
    let vector =
        DeviceVector::allocate_uninit(stream, product("plonk", "elements of the columns", &[columns.len(), n])?)?;
    for (k, column) in columns.iter().enumerate() {
        let ViewStorage::Device(from) = column.0 else {
            enqueue_copy(stream, &vector, k * n, *column)?;
            continue;
        };
        let [to, at] = [k * n, from.first].map(|first| first * size_of::<F>());
        let from = (from.vector.buffer(), &**from.vector.device(), at);
        stream.copy_from_peer((vector.buffer(), to), from, n * size_of::<F>(), mark)?;
    }
    Ok(vector)
}

/// Checks that `columns` have `n` elements each.
pub(crate) fn check_column_lengths<F>(n: usize, columns: &[ColumnView<'_, F>]) -> Result<()> {
    match columns.iter().find(|column| column.len() != n) {
        Some(column) => Err(Error::invalid("plonk", "length of a column", n, column.len())),
        None => Ok(()),
    }
}

/// Returns the columns with the given `numbers`, in this order. The first of `columns` has the number `first`.
pub(crate) fn select_columns<'v, F>(
    columns: &[ColumnView<'v, F>],
    numbers: &[usize],
    first: usize,
) -> Result<Vec<ColumnView<'v, F>>> {
    let missing = |number| Error::invalid("plonk", "number of a column", format!("below {}", columns.len()), number);
    let view = |number: &usize| columns.get(number - first).copied().ok_or_else(|| missing(number - first));
    numbers.iter().map(view).collect()
}

/// Returns the number of columns that a step uploads for `column`: 1 if it is in host memory, 0 if it is on a device.
pub(crate) fn count_uploads<F>(column: &ColumnView<'_, F>) -> usize {
    usize::from(matches!(column.0, ViewStorage::Host(_)))
}

/// Returns `columns` as slices of device vectors. A column in host memory is uploaded, and only once if it occurs
/// several times.
pub(crate) fn ensure_on_device<F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[ColumnView<'_, F>],
) -> Result<Vec<DeviceSlice<F>>> {
    check_column_lengths(n, columns)?;
    let mut copied = HashMap::new();
    let mut resident = |column: &ColumnView<'_, F>| match column.0 {
        ViewStorage::Device(resident) => Ok(resident.clone()),
        ViewStorage::Host(elements) => match copied.entry(elements.as_ptr()) {
            Entry::Occupied(copy) => Ok(DeviceSlice::clone(copy.get())),
            Entry::Vacant(place) => {
                let vector = DeviceVector::upload(stream, elements)?.into();
                Ok(place.insert(DeviceSlice { vector, first: 0, len: n }).clone())
            }
        },
    };
    columns.iter().map(&mut resident).collect()
}

/// Returns a device vector that holds `columns` one after the other, of `n` elements each, and their place in it.
/// Columns that are so already are borrowed, others are copied.
pub(crate) fn ensure_contiguous<'a, F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[ColumnView<'a, F>],
) -> Result<(Cow<'a, DeviceSlice<F>>, StridedColumns)> {
    let packed = StridedColumns::packed(n, columns.len());
    if let Some(ViewStorage::Device(start)) = columns.first().map(|column| column.0) {
        let follows = |(k, column): (usize, &ColumnView<'_, F>)| match column.0 {
            ViewStorage::Device(one) => {
                Arc::ptr_eq(&one.vector, &start.vector) && one.first == start.first + k * n && one.len == n
            }
            ViewStorage::Host(_) => false,
        };
        if columns.iter().enumerate().all(follows) {
            return Ok((Cow::Borrowed(start), StridedColumns { first: start.first, ..packed }));
        }
    }
    let vector = enqueue_copies(stream, n, columns)?;
    let len = vector.len();
    Ok((Cow::Owned(DeviceSlice { vector: vector.into(), first: 0, len }), packed))
}

/// Converts `resident` to the column type that the functions of steps take.
pub(crate) fn to_step_column<F: NttField>(resident: &DeviceSlice<F>) -> DeviceColumn<'_, F> {
    DeviceColumn::new(&resident.vector, resident.first)
}

/// Returns `columns` as slices of at most [`max_column_vectors`] device vectors, since programs can address no more. If the
/// columns are in more vectors, copies all of them into one.
pub(crate) fn ensure_few_vectors<F: NttField>(
    stream: &mut Stream,
    n: usize,
    columns: &[ColumnView<'_, F>],
) -> Result<Vec<DeviceSlice<F>>> {
    let vectors = columns.iter().map(|column| match column.0 {
        ViewStorage::Host(elements) => elements.as_ptr().cast::<u8>(),
        ViewStorage::Device(resident) => Arc::as_ptr(&resident.vector).cast(),
    });
    if vectors.collect::<HashSet<_>>().len() <= max_column_vectors::<F>(stream) {
        return ensure_on_device(stream, n, columns);
    }
    let vector = Arc::new(enqueue_copies(stream, n, columns)?);
    Ok((0..columns.len()).map(|k| DeviceSlice { vector: vector.clone(), first: k * n, len: n }).collect())
}

/// Holds the elements of columns as MSM scalars, one vector of scalars for each column.
pub(crate) struct ColumnScalars<'v, F: NttField>(pub(crate) Vec<ScalarStorage<'v, F>>);

/// Holds a column's MSM scalars in host memory or on the device, wherever the column is.
pub(crate) enum ScalarStorage<'v, F: NttField> {
    OnHost(SecretCow<'v, F>),
    OnDevice(DeviceScalars),
}

impl<F: NttField> ScalarStorage<'_, F> {
    pub(crate) fn as_scalars(&self) -> Scalars<'_> {
        match self {
            Self::OnHost(column) => Scalars::elements(column),
            Self::OnDevice(column) => Scalars::from(column),
        }
    }
}

/// Returns `column` as MSM scalars. They are ready once `stream` has done the work that is queued on it now.
pub(crate) fn column_scalars<'v, F: NttField>(
    stream: &mut Stream,
    column: ColumnView<'v, F>,
) -> Result<ScalarStorage<'v, F>> {
    match column.0 {
        ViewStorage::Host(elements) => Ok(ScalarStorage::OnHost(SecretCow::Borrowed(elements))),
        ViewStorage::Device(resident) => device_scalars(stream, resident).map(ScalarStorage::OnDevice),
    }
}

/// Returns `column`, which is on the device, as MSM scalars. They are ready once `stream` has done the work that is
/// queued on it now.
pub(crate) fn device_scalars<F: NttField>(stream: &mut Stream, column: &DeviceSlice<F>) -> Result<DeviceScalars> {
    let DeviceSlice { vector, first, len } = column;
    let range = *first..first + len;
    let scalars = DeviceScalars::from_range(vector.device(), vector.buffer().clone(), range, ScalarForm::Montgomery)?;
    Ok(scalars.ready_after(Arc::new(stream.record_event()?)))
}
