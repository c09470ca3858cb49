//! Shares one large product among devices: each computes some rows of C = A·B. The first device holds the factors and
//! receives the result; the others get copies of B and of their rows of A.

use std::ops::Range;
use std::sync::Arc;

use super::gpu::{self, DeviceProduct};
use super::layout::{DeviceView, View, checked_entry_count};
use super::plan::{Method, Problem};
use super::shared_launches::ProductTask;
use crate::Result;
use crate::backend::{Buffer, Device, Stream};
use crate::exec::{ExecCtx, fan_out};
use crate::field::SecretBytes;

/// Bytes that a device copies from another one's memory per second, 150 GB/s: half of an NVLink of an H200, since
/// several devices copy at the same time.
const PEER_RATE: f64 = 150e9;
/// Bytes that go from a device through the host to another one per second, 10 GB/s: two copies over PCIe.
const HOST_RATE: f64 = 10e9;
/// Multiplications of 32-bit words per second of an H200 with residues, measured: 4096³ products of 64 words each in
/// 14.8 ms.
const CRT_RATE: f64 = 4096.0 * 4096.0 * 4096.0 * 64.0 / 14.8e-3;
/// Sharing must save at least `1/MIN_GAIN` of the time that the copies take.
const MIN_GAIN: f64 = 2.0;

/// Returns how many of `devices` share the product `problem`, computed by `method`: `wanted` of them, or as many as the
/// model says. Entries of the factors have `sizes` bytes, and those of the product `size`.
pub(super) fn device_count(
    devices: &[Arc<Device>],
    problem: &Problem,
    method: Method,
    (sizes, size): ([usize; 2], usize),
    wanted: Option<usize>,
) -> usize {
    let most = devices.len().min(problem.rows).max(1);
    if let Some(wanted) = wanted {
        return wanted.clamp(1, most);
    }
    let rate = if method == Method::Crt { CRT_RATE } else { gpu::RATE };
    let words = (problem.prime.words * problem.prime.words) as f64;
    let time = problem.multiplication_count() as f64 * words / rate;
    let linked = devices.iter().skip(1).all(|device| device.has_p2p_link(&devices[0]));
    let copied = problem.inner * problem.columns * sizes[1];
    let shared = problem.rows * (problem.inner * sizes[0] + problem.columns * size);
    let pays = |count: usize| {
        let bytes = copied as f64 + shared as f64 / count as f64;
        let copies = bytes / if linked { PEER_RATE } else { HOST_RATE };
        time * (count - 1) as f64 / count as f64 >= MIN_GAIN * copies
    };
    (2..=most).rev().find(|count| pays(*count)).unwrap_or(1)
}

/// Describes a product that devices share.
pub(super) struct SharedProduct<'a> {
    /// The devices. The first one holds the factors.
    pub devices: &'a [Arc<Device>],
    pub field: &'a str,
    pub task: &'a ProductTask<'a>,
    /// Memory of each factor.
    pub memory: [&'a Arc<Buffer>; 2],
    /// Bytes of an entry of each factor.
    pub sizes: [usize; 2],
    /// Bytes of an entry of the product, and its kind.
    pub product: gpu::ProductEntries,
    pub ctx: ExecCtx<'a>,
}

impl SharedProduct<'_> {
    /// Computes the product, row-major, into new memory of the first device.
    pub(super) fn run(&self) -> Result<DeviceProduct> {
        let (view, entries) = (self.task.result_view(), self.product);
        let mut home = self.devices[0].stream()?;
        let buffer = home.allocate(checked_entry_count::<u8>(&[view.len(), entries.size])?)?.mark_secret();
        // The memory may be that of earlier work on this stream, and other streams write it.
        home.synchronize(None)?;
        let share = view.rows.div_ceil(self.devices.len());
        let shares = self.devices.iter().enumerate().map(|(number, device)| {
            let rows = (number * share).min(view.rows)..((number + 1) * share).min(view.rows);
            (number, device, rows)
        });
        // The devices write disjoint rows.
        let to = DeviceView { buffer: &buffer, view, kind: entries.kind };
        let parts = fan_out("dense", shares.filter(|(_, _, rows)| !rows.is_empty()), |(number, device, rows)| {
            if number == 0 { self.compute_at_home(device, rows, to) } else { self.compute_away(device, rows, to) }
        });
        parts.into_iter().collect::<Result<()>>()?;
        Ok((Arc::new(buffer), 0))
    }

    fn compute_at_home(&self, device: &Arc<Device>, rows: Range<usize>, to: DeviceView<'_>) -> Result<()> {
        let [a, b] = self.task.factors;
        let mut stream = device.stream()?;
        let factors = [a.slice_rows(rows.clone())?, b, to.slice_rows(rows)?];
        gpu::enqueue_product(&mut stream, self.field, self.task, factors, self.product.bytes, self.ctx)?;
        self.ctx.synchronize(&mut stream)?;
        self.ctx.record([&stream]);
        Ok(())
    }

    fn compute_away(&self, device: &Arc<Device>, rows: Range<usize>, to: DeviceView<'_>) -> Result<()> {
        let [a, b] = self.task.factors;
        let mut stream = device.stream()?;
        let (of_a, a) = self.copy_factor(&mut stream, 0, a.slice_rows(rows.clone())?)?;
        let (of_b, b) = self.copy_factor(&mut stream, 1, b)?;
        let (a, b) = (DeviceView { buffer: &of_a, ..a }, DeviceView { buffer: &of_b, ..b });
        let part = View::row_major(rows.len(), to.view.columns);
        let bytes = checked_entry_count::<u8>(&[part.len(), self.product.size])?;
        let result = Arc::new(stream.allocate(bytes)?.mark_secret());
        let c = DeviceView { buffer: &result, view: part, kind: to.kind };
        gpu::enqueue_product(&mut stream, self.field, self.task, [a, b, c], self.product.bytes, self.ctx)?;
        self.ctx.synchronize(&mut stream)?;
        let first = rows.start * to.view.columns * self.product.size;
        self.copy_between((&mut self.devices[0].stream()?, to.buffer, first), (&mut stream, &result, 0), bytes)?;
        self.ctx.record([&stream]);
        Ok(())
    }

    /// Copies the memory that `factor`, number `number`, spans to new memory of the device of `stream`. Returns that
    /// memory, and the factor's view of it.
    fn copy_factor<'v>(
        &self,
        stream: &mut Stream,
        number: usize,
        factor: DeviceView<'v>,
    ) -> Result<(Buffer, DeviceView<'v>)> {
        let (size, view) = (self.sizes[number], factor.view);
        let entries = view.end().unwrap_or(0).saturating_sub(view.first);
        let bytes = checked_entry_count::<u8>(&[entries, size])?;
        let copy = stream.allocate(bytes)?.mark_secret();
        let mut home = self.devices[0].stream()?;
        self.copy_between((stream, &copy, 0), (&mut home, self.memory[number], view.first * size), bytes)?;
        let view = View { first: 0, ..view };
        Ok((copy, DeviceView { view, ..factor }))
    }

    /// Copies `bytes` to memory of one device from memory of another, and waits for the copy. Both are given by a
    /// stream, a buffer and an offset. The copy goes through the host if the devices can't access each other.
    fn copy_between(
        &self,
        (to_stream, to, to_offset): (&mut Stream, &Buffer, usize),
        (from_stream, from, from_offset): (&mut Stream, &Arc<Buffer>, usize),
        bytes: usize,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let source = from_stream.device().clone();
        if to_stream.device().can_access(&source) {
            let ready = from_stream.record_event()?;
            to_stream.copy_from_peer((to, to_offset), (from, &source, from_offset), bytes, &ready)?;
            return self.ctx.synchronize(to_stream);
        }
        let mut host = SecretBytes(vec![0; bytes]);
        from_stream.download_at(&mut host.0, from, from_offset)?;
        to_stream.upload_abortable(to, to_offset, &host.0, self.ctx.abort())?;
        self.ctx.synchronize(to_stream)
    }
}
