//! Computes products on a device, by unreduced sums or by residues, and copies, converts and checks entries.

use std::sync::Arc;
use std::time::Duration;

use super::element_and_accumulator::ElementKind;
use super::gpu_crt::multiply_crt;
use super::layout::{DeviceView, ERROR_CONTEXT, View, checked_entry_count, enqueue_throttled};
use super::plan::{GemvShape, Method, tile_shape};
use super::shared_launches::{ProductBatch, ProductTask, batches};
use super::tensor_core_kernels::TensorCoreKernels;
use crate::Result;
use crate::backend::{Buffer, Device, Stream};
use crate::checked_size::product;
use crate::exec::ExecCtx;
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels;
use crate::kernels::gemm::{
    Batched, Bytes, CopyEntries, FAMILY, FindOutOfRange, GEMM_GROUP, GEMV_GROUP, GemmBatchParams, GemmSizes, GemvLazy,
    GemvParams, GemvSmall, Lazy, Montgomery, ReducePartials, SmallLazy, ToField,
};
use crate::module_launcher::KernelModule;

/// Multiplications of 32-bit words per second of an H200, to estimate times. They decide how work is split into
/// launches if an abort hook is set.
pub(super) const RATE: f64 = 14e9 * 64.0;
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

/// Describes the entries of a product, and limits the memory of its residues.
#[derive(Clone, Copy)]
pub(super) struct ProductEntries {
    /// Bytes of an entry.
    pub size: usize,
    pub kind: ElementKind,
    /// Maximum bytes of device memory for residues; `None` allows all free memory.
    pub bytes: Option<u64>,
}

/// Computes the row-major product C = A·B of each of `tasks`, in order, with the entries that the third argument
/// describes. All work is queued before the device waits once. Products of one
/// launch share a buffer.
pub(super) fn multiply(
    device: &Arc<Device>,
    field: &str,
    tasks: &[ProductTask<'_>],
    ProductEntries { size, kind, bytes }: ProductEntries,
    ctx: ExecCtx<'_>,
) -> Result<Vec<DeviceProduct>> {
    let mut stream = device.stream()?;
    let mut made = Vec::with_capacity(tasks.len());
    stream.begin_timing()?;
    for batch in batches(tasks, size, device.info().caps.unified_addresses) {
        let task = &tasks[batch.tasks[0]];
        let ([a, b], view) = (task.factors, task.result_view());
        let all = checked_entry_count::<u8>(&[batch.tasks.len(), view.len(), size])?;
        let buffer = Arc::new(stream.allocate(all)?.mark_secret());
        let c = DeviceView { buffer: &buffer, view, kind };
        match batch.tasks.len() {
            _ if view.is_empty() => {}
            1 => enqueue_product(&mut stream, field, task, [a, b, c], bytes, ctx)?,
            _ => multiply_batched(&mut stream, field, (task, &batch), c, ctx)?,
        }
        let places = batch.tasks.iter().enumerate();
        made.extend(places.map(|(place, number)| (*number, (buffer.clone(), place * view.len()))));
    }
    stream.end_timing()?;
    ctx.synchronize(&mut stream)?;
    ctx.record([&stream]);
    drop(stream);
    made.sort_unstable_by_key(|(number, _)| *number);
    Ok(made.into_iter().map(|(_, made)| made).collect())
}

/// Queues the product C = A·B of the factors `[a, b, c]`, which are those of `task` or some rows of them. `bytes` limits
/// the memory for residues.
pub(super) fn enqueue_product(
    stream: &mut Stream,
    field: &str,
    task: &ProductTask<'_>,
    factors: [DeviceView<'_>; 3],
    bytes: Option<u64>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    match task.plan.method {
        Method::Crt => multiply_crt(stream, field, factors, (&task.problem, &task.plan, bytes), ctx),
        method => multiply_direct(stream, field, factors, method, ctx),
    }
}

/// Queues the products of `batch`, which go one after the other into the memory of `c`. It takes one launch, or several
/// if an abort hook is set.
fn multiply_batched(
    stream: &mut Stream,
    field: &str,
    (task, batch): (&ProductTask<'_>, &ProductBatch),
    c: DeviceView<'_>,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let module = KernelModule::find(&FAMILY, field)?;
    let [a, b] = task.factors;
    let words = module.modulus().len();
    let one = estimate_time(&a.view, &b.view, RATE / (words * words) as f64);
    let firsts = stream.allocate(size_of_val(&batch.offsets_from[..]))?;
    stream.upload_abortable(&firsts, 0, bytemuck::cast_slice(&batch.offsets_from), ctx.abort())?;
    let groups = task.group_count(c.kind);
    let (count, step) = (batch.tasks.len(), products_per_launch(one, ctx));
    for first in (0..count).step_by(step) {
        let some = step.min(count - first);
        let items = (some * groups) as u64 * u64::from(GEMM_GROUP);
        let params = batch_params([&a.view, &b.view], groups, first);
        enqueue_throttled(stream, one * some as u32, ctx, |stream| {
            let batched = Batched {
                params: Value(&params),
                firsts: In::new(&firsts),
                a: a.as_in(),
                a_start: Value(&a.gemm_view()),
                b: b.as_in(),
                b_start: Value(&b.gemm_view()),
                c: c.as_out(),
                c_start: Value(&c.gemm_view()),
            };
            module.run(stream, items, batched)
        })?;
    }
    Ok(())
}

/// Returns the numbers of a launch from product number `first` on, each by `groups` work-groups.
fn batch_params([a, b]: [&View; 2], groups: usize, first: usize) -> GemmBatchParams {
    GemmBatchParams {
        groups: groups as u32,
        pair: first as u32,
        rows: a.rows as u32,
        inner: a.columns as u32,
        columns: b.columns as u32,
    }
}

/// Returns the maximum number of products per launch, where each takes the time `one`. They take about [`LAUNCH`]
/// seconds if an abort hook is set. Otherwise the number is [`MAX_BATCH`].
fn products_per_launch(one: Duration, ctx: ExecCtx<'_>) -> usize {
    let most = if ctx.is_abortable() { LAUNCH / one.as_secs_f64().max(f64::MIN_POSITIVE) } else { f64::INFINITY };
    (most as usize).clamp(1, MAX_BATCH)
}

/// Queues C = A·B as sums of products of entries, without residues. It takes one launch, or one per block of rows if an
/// abort hook is set.
fn multiply_direct(
    stream: &mut Stream,
    field: &str,
    [a, b, c]: [DeviceView<'_>; 3],
    method: Method,
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let module = KernelModule::find(&FAMILY, field)?;
    let words = module.modulus().len();
    let rate = RATE / (words * words) as f64;
    let step = rows_per_launch(&a.view, &b.view, (rate, tile_shape(c.kind, words)[0]), ctx);
    for first in (0..a.view.rows).step_by(step) {
        let rows = first..(first + step).min(a.view.rows);
        let (a, c) = (a.slice_rows(rows.clone())?, c.slice_rows(rows)?);
        let time = estimate_time(&a.view, &b.view, rate);
        enqueue_throttled(stream, time, ctx, |stream| launch_direct(module, stream, [a, b, c], method))?;
    }
    Ok(())
}

/// Queues C = A·B as [`multiply_direct`] does, in one launch.
fn launch_direct(
    module: KernelModule,
    stream: &mut Stream,
    [a, b, c]: [DeviceView<'_>; 3],
    method: Method,
) -> Result<()> {
    let sizes = GemmSizes { rows: a.view.rows as u32, inner: a.view.columns as u32, columns: b.view.columns as u32 };
    let [tall, wide] = tile_shape(c.kind, module.modulus().len());
    let groups = c.view.rows.div_ceil(tall) as u64 * c.view.columns.div_ceil(wide) as u64;
    let [a_view, b_view, c_view] = [a, b, c].map(|factor| factor.gemm_view());
    // These kernels differ in the types of entries alone, and in the size of integers.
    macro_rules! run {
        ($kernel:ident $(, $bytes:ident)?) => {{
            let (sizes, a_view, b_view, c_view) = (Value(&sizes), Value(&a_view), Value(&b_view), Value(&c_view));
            let (a, b, c) = (a.as_in(), b.as_in(), c.as_out());
            let kernel = $kernel { sizes, $($bytes,)? a, a_view, b, b_view, c, c_view };
            module.run(stream, groups * u64::from(GEMM_GROUP), kernel)
        }};
    }
    let bytes = a.entry_bytes();
    match (a.kind, b.kind, method) {
        (ElementKind::Byte, ElementKind::Byte, _) => run!(Bytes),
        (ElementKind::Field, _, Method::Montgomery) => run!(Montgomery),
        (ElementKind::Field, ..) => run!(Lazy),
        _ => run!(SmallLazy, bytes),
    }
}

fn estimate_time(a: &View, b: &View, rate: f64) -> Duration {
    Duration::from_secs_f64(a.len() as f64 * b.columns as f64 / rate)
}

/// Returns the number of rows of `a` per launch, in multiples of `tile`. They take about [`LAUNCH`] seconds if an abort
/// hook is set. Otherwise all rows are in one launch.
fn rows_per_launch(a: &View, b: &View, (rate, tile): (f64, usize), ctx: ExecCtx<'_>) -> usize {
    let row = (a.columns as f64 * b.columns as f64 / rate).max(f64::MIN_POSITIVE);
    let rows = if ctx.is_abortable() { (LAUNCH / row) as usize } else { usize::MAX };
    rows.clamp(tile, a.rows.max(tile)).next_multiple_of(tile)
}

/// Computes y = A·x for a matrix `x` of one column, and returns y in a new buffer. `size` is the number of bytes per
/// element.
pub(super) fn times_vector(
    device: &Arc<Device>,
    field: &str,
    [a, x]: [DeviceView<'_>; 2],
    size: usize,
    ctx: ExecCtx<'_>,
) -> Result<Buffer> {
    let mut stream = device.stream()?;
    let (rows, inner) = (a.view.rows, a.view.columns);
    let y = stream.allocate(product(ERROR_CONTEXT, "bytes", &[rows, size])?)?.mark_secret();
    if rows == 0 {
        return Ok(y);
    }
    let module = KernelModule::find(&FAMILY, field)?;
    let shape = GemvShape::new(rows, inner, a.view.column_step == 1);
    let pieces = shape.pieces;
    let part_bytes = if pieces == 1 { 0 } else { product(ERROR_CONTEXT, "bytes", &[pieces as usize, rows, size])? };
    let parts = stream.scratch(part_bytes)?;
    stream.begin_timing()?;
    launch_gemv(module, &mut stream, [a, x], shape, if pieces == 1 { &y } else { &parts })?;
    if pieces > 1 {
        let rows = rows as u32;
        let reduce = ReducePartials { rows, pieces, parts: In::new(&parts), y: Out::new(&y) };
        module.run(&mut stream, rows.into(), reduce)?;
    }
    stream.end_timing()?;
    ctx.synchronize(&mut stream)?;
    ctx.record([&stream]);
    drop((parts, stream));
    Ok(y)
}

/// Queues the sums of the pieces of rows of A·x into `y`, one for each row and piece.
fn launch_gemv(
    module: KernelModule,
    stream: &mut Stream,
    [a, x]: [DeviceView<'_>; 2],
    GemvShape { lanes, pieces }: GemvShape,
    y: &Buffer,
) -> Result<()> {
    let params = GemvParams {
        rows: a.view.rows as u32,
        inner: a.view.columns as u32,
        lanes,
        pieces,
        x_first: x.view.first as u64,
        x_step: x.view.row_step as u64,
    };
    let groups = params.rows.div_ceil(GEMV_GROUP / lanes);
    let items = u64::from(groups) * u64::from(pieces) * u64::from(GEMV_GROUP);
    let view = a.gemm_view();
    let (params, a_view, x, y) = (Value(&params), Value(&view), x.as_in(), Out::new(y));
    if a.kind == ElementKind::Field {
        module.run(stream, items, GemvLazy { params, a: a.as_in(), a_view, x, y })
    } else {
        module.run(stream, items, GemvSmall { params, bytes: a.entry_bytes(), a: a.as_in(), a_view, x, y })
    }
}

/// Copies the entries of `from`, of `size` bytes each, to `to`, which has the same shape. Waits for the copy.
pub(super) fn copy(device: &Arc<Device>, from: DeviceView<'_>, to: DeviceView<'_>, size: usize) -> Result<()> {
    let mut stream = device.stream()?;
    if from.view.is_empty() {
        return Ok(());
    }
    let words = size / 4;
    let copy = CopyEntries {
        rows: from.view.rows as u32,
        columns: from.view.columns as u32,
        words: words as u32,
        from: from.as_in(),
        from_view: Value(&from.gemm_view()),
        to: to.as_out(),
        to_view: Value(&to.gemm_view()),
    };
    let module = KernelModule::find(&FAMILY, kernels::bn254::FR.name)?;
    module.run(&mut stream, (from.view.len() * words) as u64, copy)?;
    stream.synchronize(None)
}

/// Converts the integers of `from` to elements of `field`, which have `size` bytes each. Returns them row-major in a
/// new buffer.
pub(super) fn to_field(
    device: &Arc<Device>,
    field: &str,
    from: DeviceView<'_>,
    size: usize,
    ctx: ExecCtx<'_>,
) -> Result<Buffer> {
    let mut stream = device.stream()?;
    let to = stream.allocate(from.view.len() * size)?.mark_secret();
    if !from.view.is_empty() {
        let to_field = ToField {
            rows: from.view.rows as u32,
            columns: from.view.columns as u32,
            bytes: from.entry_bytes(),
            from: from.as_in(),
            from_view: Value(&from.gemm_view()),
            to: Out::new(&to),
        };
        KernelModule::find(&FAMILY, field)?.run(&mut stream, from.view.len() as u64, to_field)?;
        ctx.synchronize(&mut stream)?;
    }
    ctx.record([&stream]);
    drop(stream);
    Ok(to)
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
    let module = KernelModule::find(&FAMILY, field)?;
    let least = stream.allocate(4)?;
    for start in (0..from.view.len()).step_by(LOOKED_AT) {
        let count = LOOKED_AT.min(from.view.len() - start);
        stream.upload(&least, &u32::MAX.to_le_bytes())?;
        let find = FindOutOfRange {
            columns: from.view.columns as u32,
            bits,
            start: start as u64,
            count: count as u32,
            from: from.as_in(),
            from_view: Value(&from.gemm_view()),
            least: Out::new(&least),
        };
        module.run(&mut stream, count as u64, find)?;
        let mut found = [0; 4];
        stream.download(&mut found, &least)?;
        match u32::from_le_bytes(found) {
            u32::MAX => {}
            number => return Ok(Some(start + number as usize)),
        }
    }
    Ok(None)
}
