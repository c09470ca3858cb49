//! Shares one large product among devices: each computes some rows of C = A·B. The first device holds the factors and
//! receives the result; the others get copies of B and of their rows of A.

use std::ops::Range;
use std::sync::Arc;

use super::gpu::{self, DeviceProduct};
use super::gpu_crt;
use super::layout::{DeviceView, View, checked_entry_count};
use super::plan::{Method, Problem, TENSOR_TILE};
use super::shared_launches::ProductTask;
use crate::Result;
use crate::backend::{Buffer, Device, Stream};
use crate::exec::{ExecCtx, fan_out};
use crate::secret_vec::SecretVec;

/// Bytes that a device sends to others per second over the NVLink of an H200, 390 GB/s (benches/notes/kernels.md, section
/// 47).
const PEER_RATE: f64 = 390e9;
/// Bytes that go from a device through the host to another one per second, 10 GB/s: two copies over PCIe.
const HOST_RATE: f64 = 10e9;
/// Minimum estimated speedup, 1.2, for which devices share a product: it costs memory and threads.
const MIN_SPEEDUP: f64 = 1.2;

/// Divides the rows of the product of `task` among `devices`, so that they end at the same time. Returns the rows of
/// each device that takes part, the first device's first. `wanted` devices take part, or the number that a cost model
/// finds fastest. Entries of the factors have `sizes` bytes, and those of the product `size`.
pub(super) fn divide_rows(
    devices: &[Arc<Device>],
    task: &ProductTask<'_>,
    (sizes, size): ([usize; 2], usize),
    wanted: Option<usize>,
) -> Vec<Range<usize>> {
    let linked = devices.iter().skip(1).all(|device| device.has_p2p_link(&devices[0]));
    let cost = Cost::new(task, (sizes, size), if linked { PEER_RATE } else { HOST_RATE });
    let rows = task.problem.rows;
    let most = devices.len().min(rows).max(1);
    let count = wanted.map_or_else(|| cost.fastest_count(rows, most), |wanted| wanted.clamp(1, most));
    let away = cost.rows_away(rows, count).clamp(1.0, (rows / count).max(1) as f64) as usize;
    let away = if away > TENSOR_TILE[0] { away / TENSOR_TILE[0] * TENSOR_TILE[0] } else { away };
    let home = rows - (count - 1) * away;
    let others = (1..count).map(|number| home + (number - 1) * away..home + number * away);
    std::iter::once(0..home).chain(others).collect()
}

/// Holds the estimated seconds of parts of a shared product.
struct Cost {
    /// One device computes one row.
    row: f64,
    /// A row of the first factor and one of the product are copied.
    copied_row: f64,
    /// The second factor is copied.
    copied_factor: f64,
}

impl Cost {
    /// Estimates the parts of the product of `task`. `rate` is in bytes that the first device sends per second.
    fn new(task: &ProductTask<'_>, (sizes, size): ([usize; 2], usize), rate: f64) -> Self {
        let Problem { inner, columns, prime, .. } = &task.problem;
        let row = match task.plan.method {
            Method::Crt => task.plan.basis.map_or(1, |basis| basis.byte_product_count()) as f64 / gpu_crt::RATE,
            _ => (prime.words * prime.words) as f64 / gpu::RATE,
        };
        let [terms, inner, columns] = [inner * columns, *inner, *columns].map(|number| number as f64);
        Self {
            row: terms * row,
            copied_row: (inner * sizes[0] as f64 + columns * size as f64) / rate,
            copied_factor: terms * sizes[1] as f64 / rate,
        }
    }

    /// Returns the number of `rows` rows that each device but the first computes, if `count` devices end at the same
    /// time. Copies for all devices share the link of the first. The number is negative if sharing does not pay.
    fn rows_away(&self, rows: usize, count: usize) -> f64 {
        let others = count as f64 - 1.0;
        let saved = rows as f64 * self.row - others * self.copied_factor;
        saved / (self.row + others * (self.row + self.copied_row))
    }

    /// Returns the number of devices, `most` at most, that compute `rows` rows in the least time. It is 1 if the
    /// speedup is below [`MIN_SPEEDUP`].
    fn fastest_count(&self, rows: usize, most: usize) -> usize {
        let at_home = |count: usize| rows as f64 - (count as f64 - 1.0) * self.rows_away(rows, count).max(0.0);
        let pays = |count: &usize| at_home(*count) * MIN_SPEEDUP <= rows as f64;
        (2..=most).filter(pays).min_by(|a, b| at_home(*a).total_cmp(&at_home(*b))).unwrap_or(1)
    }
}

/// Describes a product that devices share.
pub(super) struct SharedProduct<'a> {
    /// The devices. The first one holds the factors.
    pub devices: &'a [Arc<Device>],
    /// The rows that each device computes.
    pub rows: Vec<Range<usize>>,
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
        // The devices write disjoint rows.
        let to = DeviceView { buffer: &buffer, view, kind: entries.kind };
        let shares = self.devices.iter().zip(&self.rows).enumerate();
        let parts = fan_out("dense", shares, |(number, (device, rows))| {
            if number == 0 { self.compute_at_home(device, rows, to) } else { self.compute_away(device, rows, to) }
        });
        parts.into_iter().collect::<Result<()>>()?;
        Ok((Arc::new(buffer), 0))
    }

    fn compute_at_home(&self, device: &Arc<Device>, rows: &Range<usize>, to: DeviceView<'_>) -> Result<()> {
        let [a, b] = self.task.factors;
        let mut stream = device.stream()?;
        self.enqueue(&mut stream, [a.slice_rows(rows.clone())?, b, to.slice_rows(rows.clone())?])?;
        self.ctx.synchronize(&mut stream)?;
        self.ctx.record([&stream]);
        Ok(())
    }

    fn compute_away(&self, device: &Arc<Device>, rows: &Range<usize>, to: DeviceView<'_>) -> Result<()> {
        let [a, b] = self.task.factors;
        let mut stream = device.stream()?;
        let (of_a, a) = self.copy_factor(&mut stream, 0, a.slice_rows(rows.clone())?)?;
        let (of_b, b) = self.copy_factor(&mut stream, 1, b)?;
        let (a, b) = (DeviceView { buffer: &of_a, ..a }, DeviceView { buffer: &of_b, ..b });
        let part = View::row_major(rows.len(), to.view.columns);
        let bytes = checked_entry_count::<u8>(&[part.len(), self.product.size])?;
        let result = Arc::new(stream.allocate(bytes)?.mark_secret());
        self.enqueue(&mut stream, [a, b, DeviceView { buffer: &result, view: part, kind: to.kind }])?;
        let first = rows.start * to.view.columns * self.product.size;
        let mut home = self.devices[0].stream()?;
        self.copy_between((&mut home, to.buffer, first), (&mut stream, &result, 0), bytes)?;
        self.ctx.synchronize(&mut home)?;
        self.ctx.synchronize(&mut stream)?;
        self.ctx.record([&stream, &home]);
        Ok(())
    }

    fn enqueue(&self, stream: &mut Stream, factors: [DeviceView<'_>; 3]) -> Result<()> {
        stream.begin_timing()?;
        gpu::enqueue_product(stream, self.field, self.task, factors, self.product.bytes, self.ctx)?;
        stream.end_timing()
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

    /// Queues a copy of `bytes` to memory of one device from memory of another. Both are given by a stream, a buffer and
    /// an offset. If the devices can't access each other, the bytes go through the host, and the call waits for them.
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
            return to_stream.copy_from_peer((to, to_offset), (from, &source, from_offset), bytes, &ready);
        }
        self.ctx.synchronize(from_stream)?;
        let mut host = SecretVec(vec![0; bytes]);
        from_stream.download_at(&mut host, from, from_offset)?;
        to_stream.upload_abortable(to, to_offset, &host, self.ctx.abort())?;
        self.ctx.synchronize(to_stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of 4096³ over BN254 by residues: 14.8 ms on an H200, and copies of half a gigabyte.
    const COST: Cost = Cost { row: 3.6e-6, copied_row: 0.9e-6, copied_factor: 1.8e-3 };

    #[test]
    fn devices_end_at_the_same_time() {
        let rows = 4096;
        for count in 2..5 {
            let (others, away) = (count as f64 - 1.0, COST.rows_away(rows, count));
            let home = (rows as f64 - others * away) * COST.row;
            let end = away * COST.row + others * (away * COST.copied_row + COST.copied_factor);
            assert!((home - end).abs() < 1e-9, "{count} devices: {home} s and {end} s");
        }
        assert_eq!(COST.fastest_count(rows, 2), 2);
    }

    #[test]
    fn slow_copies_do_not_pay() {
        let slow = Cost { copied_factor: 20e-3, ..COST };
        assert_eq!(slow.fastest_count(4096, 8), 1);
        assert!(slow.rows_away(4096, 2) < 0.0);
    }
}
