//! Computes products on a device, by unreduced sums or by residues, and copies, converts and checks entries.

use std::sync::Arc;
use std::time::Duration;

use super::element_and_accumulator::ElementKind;
use super::gpu_crt::{TensorCoreKernels, multiply_crt};
use super::layout::{DeviceView, ERROR_CONTEXT, View, checked_entry_count, enqueue_throttled};
use super::plan::{GemvShape, Method, VECTOR_GROUP, tile_shape};
use super::shared_launches::{ProductBatch, ProductTask, batches};
use crate::Result;
use crate::backend::{Abort, Arg, Buffer, Device, Stream, StreamStats};
use crate::checked_size::product;
use crate::kernels;
use crate::module_launcher::{KernelModule, buffer_arg};

/// Number of work-items per work-group. Equals `GEMM_GROUP` of `cl/gemm.cl`.
const GROUP: u32 = 256;
/// Multiplications of 32-bit words per second of an H200, to estimate times. They decide how work is split into
/// launches if an abort hook is set.
const RATE: f64 = 14e9 * 64.0;
/// Maximum estimated seconds of work per launch if an abort hook is set.
const LAUNCH: f64 = 0.025;
/// Maximum number of small products per launch. Each has fewer than 1024 work-groups, so together they stay below the
/// limit of 2^31 per launch.
const MAX_BATCH: usize = 1 << 20;

/// Checks that `device` has tensor cores that the kernels support. The error is the reason why not.
pub(super) fn tensor_core_support(device: &Device) -> std::result::Result<(), String> {
    TensorCoreKernels::new(device).map(drop).map_err(|error| error.to_string())
}

/// Holds the buffer with a computed product, and the index of its first entry in the buffer.
pub(super) type DeviceProduct = (Arc<Buffer>, usize);

/// Computes the row-major product C = A·B of each of `tasks`, in order. Entries of C have `size` bytes and are of
/// `kind`. `bytes` limits the memory for residues. All work is queued before the device waits once. Products of one
/// launch share a buffer.
pub(super) fn multiply(
    device: &Arc<Device>,
    field: &str,
    tasks: &[ProductTask<'_>],
    (size, kind, bytes): (usize, ElementKind, Option<u64>),
    abort: Abort<'_>,
) -> Result<(Vec<DeviceProduct>, StreamStats)> {
    let mut stream = device.stream()?;
    let mut made = Vec::with_capacity(tasks.len());
    stream.begin_timing()?;
    for batch in batches(tasks, size, device.info().caps.unified_addresses) {
        let task = &tasks[batch.tasks[0]];
        let ([a, b], view) = (task.factors, task.result_view());
        let all = checked_entry_count::<u8>(&[batch.tasks.len(), view.len(), size])?;
        let buffer = Arc::new(stream.allocate(all)?.mark_secret());
        let c = DeviceView { buffer: &buffer, view, kind };
        match task.plan.method {
            _ if view.is_empty() => {}
            Method::Crt => multiply_crt(&mut stream, field, [a, b, c], (&task.problem, &task.plan, bytes), abort)?,
            _ if batch.tasks.len() > 1 => multiply_batched(&mut stream, field, (task, &batch), c, abort)?,
            method => multiply_direct(&mut stream, field, [a, b, c], method, abort)?,
        }
        let places = batch.tasks.iter().enumerate();
        made.extend(places.map(|(place, number)| (*number, (buffer.clone(), place * view.len()))));
    }
    stream.end_timing()?;
    stream.synchronize(abort)?;
    let traffic = stream.stats();
    drop(stream);
    made.sort_unstable_by_key(|(number, _)| *number);
    Ok((made.into_iter().map(|(_, made)| made).collect(), traffic))
}

/// Queues the products of `batch`, which go one after the other into the memory of `c`. It takes one launch, or several
/// if an abort hook is set.
fn multiply_batched(
    stream: &mut Stream,
    field: &str,
    (task, batch): (&ProductTask<'_>, &ProductBatch),
    c: DeviceView<'_>,
    abort: Abort<'_>,
) -> Result<()> {
    let program = KernelModule::find(&kernels::gemm::FAMILY, field)?;
    let [a, b] = task.factors;
    let words = program.modulus().len();
    let one = estimate_time(&a.view, &b.view, RATE / (words * words) as f64);
    let firsts = stream.allocate(size_of_val(&batch.offsets_from[..]))?;
    stream.upload_abortable(&firsts, 0, bytemuck::cast_slice(&batch.offsets_from), abort)?;
    let groups = task.group_count(c.kind);
    let sizes = [a.view.rows, a.view.columns, b.view.columns].map(|number| Arg::U32(number as u32));
    let views = [a.args(), b.args(), c.args()].concat();
    let (count, step) = (batch.tasks.len(), products_per_launch(one, abort));
    for first in (0..count).step_by(step) {
        let some = step.min(count - first);
        let numbers = [groups, first].map(|number| Arg::U32(number as u32));
        let args = [&numbers[..], &[buffer_arg(&firsts)], &sizes, &views].concat();
        let items = (some * groups) as u64 * u64::from(GROUP);
        // SAFETY: the arguments match the kernel; views of all pairs were checked to be inside their buffers, which
        // share one address space, and C has room for all products.
        enqueue_throttled(stream, one * some as u32, abort, |stream| unsafe {
            program.launch(stream, "gemm_batched", items, GROUP, &args)
        })?;
    }
    Ok(())
}

/// Returns the maximum number of products per launch, where each takes the time `one`. They take about [`LAUNCH`]
/// seconds if an abort hook is set. Otherwise the number is [`MAX_BATCH`].
fn products_per_launch(one: Duration, abort: Abort<'_>) -> usize {
    let most = if abort.is_none() { f64::INFINITY } else { LAUNCH / one.as_secs_f64().max(f64::MIN_POSITIVE) };
    (most as usize).clamp(1, MAX_BATCH)
}

/// Queues C = A·B as sums of products of entries, without residues. It takes one launch, or one per block of rows if an
/// abort hook is set.
fn multiply_direct(
    stream: &mut Stream,
    field: &str,
    [a, b, c]: [DeviceView<'_>; 3],
    method: Method,
    abort: Abort<'_>,
) -> Result<()> {
    let program = KernelModule::find(&kernels::gemm::FAMILY, field)?;
    let kernel = match (a.kind, b.kind, method) {
        (ElementKind::Byte, ElementKind::Byte, _) => "gemm_bytes",
        (ElementKind::Field, _, Method::Montgomery) => "gemm_montgomery",
        (ElementKind::Field, ..) => "gemm_lazy",
        _ => "gemm_small_lazy",
    };
    let words = program.modulus().len();
    let tile = tile_shape(c.kind, words);
    let rate = RATE / (words * words) as f64;
    let step = rows_per_launch(&a.view, &b.view, (rate, tile[0]), abort);
    for first in (0..a.view.rows).step_by(step) {
        let rows = first..(first + step).min(a.view.rows);
        let (a, c) = (a.slice_rows(rows.clone())?, c.slice_rows(rows)?);
        let mut args = [a.view.rows, a.view.columns, b.view.columns].map(|number| Arg::U32(number as u32)).to_vec();
        if kernel == "gemm_small_lazy" {
            args.push(a.entry_bytes_arg());
        }
        args.extend([a.args(), b.args(), c.args()].concat());
        let groups = c.view.rows.div_ceil(tile[0]) as u64 * c.view.columns.div_ceil(tile[1]) as u64;
        let items = groups * u64::from(GROUP);
        // SAFETY: the arguments match the kernel; views were checked to be inside their buffers.
        enqueue_throttled(stream, estimate_time(&a.view, &b.view, rate), abort, |stream| unsafe {
            program.launch(stream, kernel, items, GROUP, &args)
        })?;
    }
    Ok(())
}

fn estimate_time(a: &View, b: &View, rate: f64) -> Duration {
    Duration::from_secs_f64(a.len() as f64 * b.columns as f64 / rate)
}

/// Returns the number of rows of `a` per launch, in multiples of `tile`. They take about [`LAUNCH`] seconds if an abort
/// hook is set. Otherwise all rows are in one launch.
fn rows_per_launch(a: &View, b: &View, (rate, tile): (f64, usize), abort: Abort<'_>) -> usize {
    let row = (a.columns as f64 * b.columns as f64 / rate).max(f64::MIN_POSITIVE);
    let rows = if abort.is_none() { usize::MAX } else { (LAUNCH / row) as usize };
    rows.clamp(tile, a.rows.max(tile)).next_multiple_of(tile)
}

/// Computes y = A·x for a matrix `x` of one column, and returns y in a new buffer. `size` is the number of bytes per
/// element.
pub(super) fn times_vector(
    device: &Arc<Device>,
    field: &str,
    [a, x]: [DeviceView<'_>; 2],
    size: usize,
    abort: Abort<'_>,
) -> Result<(Buffer, StreamStats)> {
    let mut stream = device.stream()?;
    let (rows, inner) = (a.view.rows, a.view.columns);
    let y = stream.allocate(product(ERROR_CONTEXT, "bytes", &[rows, size])?)?.mark_secret();
    if rows == 0 {
        return Ok((y, stream.stats()));
    }
    let program = KernelModule::find(&kernels::gemm::FAMILY, field)?;
    let GemvShape { lanes, pieces } = GemvShape::new(rows, inner, a.view.column_step == 1);
    let part_bytes = if pieces == 1 { 0 } else { product(ERROR_CONTEXT, "bytes", &[pieces as usize, rows, size])? };
    let parts = stream.scratch(part_bytes)?;
    let mut args = [rows as u32, inner as u32, lanes, pieces].map(Arg::U32).to_vec();
    let small = a.kind != ElementKind::Field;
    if small {
        args.push(a.entry_bytes_arg());
    }
    args.extend(a.args());
    args.extend([buffer_arg(x.buffer), Arg::U64(x.view.first as u64), Arg::U64(x.view.row_step as u64)]);
    args.push(buffer_arg(if pieces == 1 { &y } else { &parts }));
    let groups = rows.div_ceil((VECTOR_GROUP / lanes) as usize) as u64 * u64::from(pieces);
    let kernel = if small { "gemv_small" } else { "gemv_lazy" };
    stream.begin_timing()?;
    // SAFETY: the arguments match the kernel; views are inside their buffers, and there is a sum for each row and
    // piece.
    unsafe { program.launch(&mut stream, kernel, groups * u64::from(VECTOR_GROUP), VECTOR_GROUP, &args)? };
    if pieces > 1 {
        let args = [Arg::U32(rows as u32), Arg::U32(pieces), buffer_arg(&parts), buffer_arg(&y)];
        // SAFETY: as above.
        unsafe { program.launch(&mut stream, "gemv_reduce_partials", rows as u64, VECTOR_GROUP, &args)? };
    }
    stream.end_timing()?;
    stream.synchronize(abort)?;
    let traffic = stream.stats();
    drop((parts, stream));
    Ok((y, traffic))
}

/// Copies the entries of `from`, of `size` bytes each, to `to`, which has the same shape. Waits for the copy.
pub(super) fn copy(device: &Arc<Device>, from: DeviceView<'_>, to: DeviceView<'_>, size: usize) -> Result<StreamStats> {
    let mut stream = device.stream()?;
    if from.view.is_empty() {
        return Ok(stream.stats());
    }
    let words = size / 4;
    let args = [from.view.rows, from.view.columns, words].map(|number| Arg::U32(number as u32));
    let args = [&args[..], &from.args(), &to.args()].concat();
    let items = (from.view.len() * words) as u64;
    let program = KernelModule::find(&kernels::gemm::FAMILY, kernels::bn254::FR.name)?;
    // SAFETY: the arguments match the kernel, and both views are inside their buffers.
    unsafe { program.launch(&mut stream, "gemm_copy", items, VECTOR_GROUP, &args)? };
    stream.synchronize(None)?;
    Ok(stream.stats())
}

/// Converts the integers of `from` to elements of `field`, which have `size` bytes each. Returns them row-major in a
/// new buffer.
pub(super) fn to_field(
    device: &Arc<Device>,
    field: &str,
    from: DeviceView<'_>,
    size: usize,
) -> Result<(Buffer, StreamStats)> {
    let mut stream = device.stream()?;
    let to = stream.allocate(from.view.len() * size)?.mark_secret();
    if !from.view.is_empty() {
        let numbers = [from.view.rows, from.view.columns].map(|number| Arg::U32(number as u32));
        let args = [&numbers[..], &[from.entry_bytes_arg()], &from.args(), &[buffer_arg(&to)]].concat();
        let (program, items) = (KernelModule::find(&kernels::gemm::FAMILY, field)?, from.view.len() as u64);
        // SAFETY: the arguments match the kernel, the view is inside its buffer, and there is room for all entries.
        unsafe { program.launch(&mut stream, "gemm_to_field", items, VECTOR_GROUP, &args)? };
        stream.synchronize(None)?;
    }
    let traffic = stream.stats();
    drop(stream);
    Ok((to, traffic))
}

/// Maximum number of entries that one launch checks.
const LOOKED_AT: usize = 1 << 30;

/// Returns the row-major index of the first element whose representative of least absolute value exceeds 2^bits − 1, or
/// `None` if there is none.
pub(super) fn find_out_of_range(
    device: &Arc<Device>,
    field: &str,
    from: DeviceView<'_>,
    bits: u32,
) -> Result<Option<usize>> {
    let mut stream = device.stream()?;
    let program = KernelModule::find(&kernels::gemm::FAMILY, field)?;
    let least = stream.allocate(4)?;
    for start in (0..from.view.len()).step_by(LOOKED_AT) {
        let count = LOOKED_AT.min(from.view.len() - start);
        stream.upload(&least, &u32::MAX.to_le_bytes())?;
        let numbers =
            [Arg::U32(from.view.columns as u32), Arg::U32(bits), Arg::U64(start as u64), Arg::U32(count as u32)];
        let args = [&numbers[..], &from.args(), &[buffer_arg(&least)]].concat();
        // SAFETY: the arguments match the kernel, and the view is inside its buffer.
        unsafe { program.launch(&mut stream, "gemm_find_out_of_range", count as u64, VECTOR_GROUP, &args)? };
        let mut found = [0; 4];
        stream.download(&mut found, &least)?;
        match u32::from_le_bytes(found) {
            u32::MAX => {}
            number => return Ok(Some(start + number as usize)),
        }
    }
    Ok(None)
}
