//! Keeps a matrix on a device, and queues its products on streams.

use std::marker::PhantomData;
use std::sync::Arc;

use rayon::prelude::*;

use super::csr::Csr;
use super::explain_and_options::{SparseExplanation, SparseOptions};
use super::kernel_and_tiles::{Format, GROUP, Kernel, Tiles, group_count, vectors_per_launch};
use crate::backend::{Abort, Arg, Buffer, Device, Stream};
use crate::field::{NttField, as_bytes};
use crate::kernels;
use crate::module_launcher::{KernelModule, buffer_arg};
use crate::rayon_waits::install;
use crate::{Error, Result};

/// Maximum number of non-zeros that are converted to the device's format at a time.
const CHUNK: usize = 1 << 22;

/// Describes vectors in a device buffer, whose elements are reduced and in Montgomery form. Vector k starts at element
/// `first + k · stride` of the buffer.
#[derive(Debug, Clone, Copy)]
pub struct DeviceVectors<'a> {
    /// Buffer that holds the vectors.
    pub buffer: &'a Buffer,
    /// Index, in elements, at which the first vector starts.
    pub first: usize,
    /// Distance, in elements, from the start of a vector to the start of the next.
    pub stride: usize,
}

impl<'a> DeviceVectors<'a> {
    /// Describes one vector, which starts at the start of `buffer`.
    pub fn one(buffer: &'a Buffer) -> Self {
        Self { buffer, first: 0, stride: 0 }
    }

    /// Returns the index after the last element of `count` vectors, of `length` elements each; `None` if it overflows.
    fn end_index(&self, length: usize, count: usize) -> Option<usize> {
        let last = count.saturating_sub(1).checked_mul(self.stride)?;
        self.first.checked_add(last)?.checked_add(length)
    }
}

/// Holds a sparse matrix in compressed rows in the memory of one device.
#[derive(Debug)]
pub struct CsrOnDevice<F> {
    device: Arc<Device>,
    explanation: SparseExplanation,
    row_pointers: Buffer,
    entries: Buffer,
    /// Dictionary index of each non-zero. It is empty if `entries` hold the indices or there are none.
    indices: Buffer,
    dictionary: Buffer,
    tiles: Option<DeviceTiles>,
    field: PhantomData<F>,
}

/// Holds the tiles of the balanced kernel in device memory.
#[derive(Debug)]
struct DeviceTiles {
    count: u32,
    starts: Buffer,
    long_count: u32,
    long_rows: Buffer,
}

impl<F: NttField> CsrOnDevice<F> {
    /// Uploads `csr` to `device` and waits for the copy. `csr` is not needed afterwards.
    ///
    /// # Errors
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub fn new(device: &Arc<Device>, csr: &Csr<F>, options: SparseOptions) -> Result<Self> {
        Self::new_abortable(device, csr, options, None)
    }

    /// Uploads `csr` to `device` and waits for the copy, unless the hook `abort` ends the upload.
    pub(crate) fn new_abortable(
        device: &Arc<Device>,
        csr: &Csr<F>,
        options: SparseOptions,
        abort: Abort<'_>,
    ) -> Result<Self> {
        let explanation = SparseExplanation::new(csr, options);
        let format = Format::new(csr.columns(), csr.dictionary().len());
        let mut to = Upload { stream: device.stream()?, abort };
        let row_pointers = to.upload_bytes(bytemuck::cast_slice(csr.row_pointers()))?;
        let dictionary = to.upload_bytes(as_bytes(csr.dictionary()))?;
        let entries = to.upload_entries(csr, format)?;
        let indices = to.upload_indices(csr, format)?;
        let balanced = explanation.kernel == Kernel::Balanced;
        let tiles = balanced.then(|| DeviceTiles::new(&mut to, &Tiles::new(csr.row_pointers()))).transpose()?;
        to.stream.synchronize(abort)?;
        Ok(Self {
            device: device.clone(),
            explanation,
            row_pointers,
            entries,
            indices,
            dictionary,
            tiles,
            field: PhantomData,
        })
    }

    /// Creates a matrix from device buffers and the host `tiles` of the balanced kernel. Coefficients are in the order
    /// of non-zeros. Waits for all work on `stream`.
    pub(super) fn with_parts(
        stream: Stream,
        explanation: SparseExplanation,
        [row_pointers, entries, dictionary]: [Buffer; 3],
        tiles: Option<Tiles>,
    ) -> Result<Self> {
        let mut to = Upload { stream, abort: None };
        let indices = to.upload_bytes(&[])?;
        let tiles = tiles.map(|tiles| DeviceTiles::new(&mut to, &tiles)).transpose()?;
        to.stream.synchronize(None)?;
        let device = to.stream.device().clone();
        Ok(Self { device, explanation, row_pointers, entries, indices, dictionary, tiles, field: PhantomData })
    }

    /// Returns the device that holds the matrix.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Explains which kernel multiplies the matrix, and why.
    pub fn explain(&self) -> &SparseExplanation {
        &self.explanation
    }

    /// Returns the bytes of device memory that the matrix takes.
    pub fn bytes(&self) -> u64 {
        self.buffers().map(|buffer| buffer.bytes() as u64).sum()
    }

    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let tiles = self.tiles.iter().flat_map(|tiles| [&tiles.starts, &tiles.long_rows]);
        [&self.row_pointers, &self.entries, &self.indices, &self.dictionary].into_iter().chain(tiles)
    }

    /// Queues y = A·x on `stream` for `count` vectors, where A is this matrix, and does not wait.
    ///
    /// The kernels run after the work that other streams have queued on both buffers.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the stream or a buffer is on another device, or a buffer is too short.
    /// - [`Error::Invalid`]: results overlap each other, or lie between the vectors.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails. Then `y` may
    ///   have been changed.
    pub fn enqueue(&self, stream: &mut Stream, x: DeviceVectors<'_>, y: DeviceVectors<'_>, count: usize) -> Result<()> {
        self.check(stream, &x, &y, count)?;
        if self.rows() == 0 {
            return Ok(());
        }
        self.buffers().try_for_each(|buffer| stream.order_read(buffer))?;
        stream.order_read(x.buffer)?;
        stream.order_write(y.buffer)?;
        let units = self.tiles.as_ref().map_or(self.rows(), |tiles| tiles.count);
        let at_once = vectors_per_launch(group_count(self.explanation.kernel, units));
        for start in (0..count).step_by(at_once) {
            let skip = |v: &DeviceVectors<'_>| (v.first + start * v.stride) as u64;
            let place = |v: &DeviceVectors<'_>| [buffer_arg(v.buffer), Arg::U64(skip(v)), Arg::U64(v.stride as u64)];
            self.launch(stream, &place(&x), &place(&y), at_once.min(count - start) as u64)?;
        }
        Ok(())
    }

    pub(super) fn rows(&self) -> u32 {
        self.explanation.statistics.rows as u32
    }

    pub(in crate::matrix) fn nonzeros(&self) -> usize {
        self.explanation.statistics.nonzeros as usize
    }

    /// Returns the number of non-zeros for which there is memory.
    pub(super) fn capacity(&self) -> usize {
        self.entries.bytes() / 4
    }

    pub(super) fn row_pointers(&self) -> &Buffer {
        &self.row_pointers
    }

    /// Returns the non-zeros as kernel arguments: both bit counts of the format, then the buffers.
    pub(super) fn matrix_args(&self) -> Vec<Arg> {
        let Format { column_bits, index_bits } = self.explanation.format;
        let numbers = [column_bits, index_bits].map(Arg::U32);
        [&numbers[..], &[&self.entries, &self.indices, &self.dictionary].map(buffer_arg)].concat()
    }

    /// Queues the product for `vectors` vectors, in one launch, or in two if rows are cut. `x` and `y` are the kernel
    /// arguments of the vectors.
    fn launch(&self, stream: &mut Stream, x: &[Arg], y: &[Arg], vectors: u64) -> Result<()> {
        let program = KernelModule::find(&kernels::csr::FAMILY, F::NAME)?;
        let kernel = self.explanation.kernel;
        let rest = [&self.matrix_args()[..], x, y].concat();
        let Some(tiles) = &self.tiles else {
            let blocks = group_count(kernel, self.rows());
            let name = if kernel == Kernel::Vector { "csr_vector" } else { "csr_scalar" };
            let first = [Arg::U32(self.rows()), Arg::U32(blocks), buffer_arg(&self.row_pointers)];
            let items = u64::from(blocks) * vectors * u64::from(GROUP);
            // SAFETY: the arguments match both kernels; columns and row pointers of a `Csr` are in range, and the
            // vectors were checked to be inside their buffers.
            return unsafe { program.launch(stream, name, items, GROUP, &[&first[..], &rest].concat()) };
        };
        let partial = u64::from(tiles.count) * vectors * size_of::<F>() as u64;
        let partials = stream.scratch(if tiles.long_count == 0 { 0 } else { partial as usize })?;
        let first =
            [Arg::U32(tiles.count), buffer_arg(&tiles.starts), buffer_arg(&self.row_pointers), buffer_arg(&partials)];
        let items = u64::from(tiles.count) * vectors * u64::from(GROUP);
        // SAFETY: as above; tiles are those of the row pointers, and there is a partial sum for each if rows are cut.
        unsafe { program.launch(stream, "csr_balanced", items, GROUP, &[&first[..], &rest].concat())? };
        let blocks = group_count(Kernel::Vector, tiles.long_count);
        let numbers = [tiles.long_count, blocks, tiles.count].map(Arg::U32);
        let args = [&numbers[..], &[buffer_arg(&tiles.long_rows), buffer_arg(&partials)], y].concat();
        let items = u64::from(blocks) * vectors * u64::from(GROUP);
        // SAFETY: the arguments match `csr_merge`; long rows name rows and tiles that exist.
        unsafe { program.launch(stream, "csr_merge", items, GROUP, &args) }
    }

    fn check(&self, stream: &Stream, x: &DeviceVectors<'_>, y: &DeviceVectors<'_>, count: usize) -> Result<()> {
        let (rows, columns) = (self.rows() as usize, self.explanation.columns);
        expect_device("stream", Arc::ptr_eq(stream.device(), &self.device), &self.device)?;
        expect_vectors::<F>(&self.device, "buffer of x", x, columns, count)?;
        expect_vectors::<F>(&self.device, "buffer of y", y, rows, count)?;
        if count > 1 && y.stride < rows {
            return Err(Error::invalid("csr", "stride of y", format!("at least {rows}"), y.stride));
        }
        let ends = [x.end_index(columns, count), y.end_index(rows, count)].map(|end| end.unwrap_or(usize::MAX));
        if x.buffer.handle() == y.buffer.handle() && x.first < ends[1] && y.first < ends[0] {
            let expected = format!("vectors that do not overlap x ({} to {})", x.first, ends[0]);
            return Err(Error::invalid("csr", "y", expected, format!("{} to {}", y.first, ends[1])));
        }
        Ok(())
    }
}

impl DeviceTiles {
    fn new(to: &mut Upload<'_>, tiles: &Tiles) -> Result<Self> {
        let starts = to.upload_bytes(bytemuck::cast_slice(&tiles.starts))?;
        let long_rows = to.upload_bytes(bytemuck::cast_slice(&tiles.long_rows))?;
        Ok(Self { count: tiles.count(), starts, long_count: tiles.long_rows.len() as u32, long_rows })
    }
}

/// Uploads the arrays of a matrix, and polls the abort hook between pieces.
struct Upload<'a> {
    stream: Stream,
    abort: Abort<'a>,
}

impl Upload<'_> {
    fn upload_bytes(&mut self, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.stream.allocate(bytes.len())?;
        self.stream.upload_abortable(&buffer, 0, bytes, self.abort)?;
        Ok(buffer)
    }

    /// Uploads a 32-bit word for each non-zero. It holds the column and, if `format` has no separate index, the
    /// dictionary index in the bits above.
    fn upload_entries<F: NttField>(&mut self, csr: &Csr<F>, format: Format) -> Result<Buffer> {
        let columns = csr.column_indices();
        if format.index_bits != 0 {
            return self.upload_bytes(bytemuck::cast_slice(columns));
        }
        let pack = |(column, index): (&u32, &u32)| column | index << format.column_bits;
        let entries = self.stream.allocate(4 * columns.len())?;
        let chunks = columns.chunks(CHUNK).zip(csr.coefficient_indices().chunks(CHUNK));
        for (number, (columns, indices)) in chunks.enumerate() {
            let words: Vec<u32> = install(|| columns.par_iter().zip(indices).map(pack).collect());
            self.stream.upload_abortable(&entries, 4 * CHUNK * number, bytemuck::cast_slice(&words), self.abort)?;
        }
        Ok(entries)
    }

    /// Uploads the dictionary index of each non-zero, in 16 or 32 bits. The buffer is empty if `format` has no separate
    /// index.
    fn upload_indices<F: NttField>(&mut self, csr: &Csr<F>, format: Format) -> Result<Buffer> {
        let indices = csr.coefficient_indices();
        match format.index_bits {
            0 => self.upload_bytes(&[]),
            16 => {
                let buffer = self.stream.allocate(2 * indices.len())?;
                for (number, indices) in indices.chunks(CHUNK).enumerate() {
                    let short: Vec<u16> = install(|| indices.par_iter().map(|index| *index as u16).collect());
                    self.stream.upload_abortable(
                        &buffer,
                        2 * CHUNK * number,
                        bytemuck::cast_slice(&short),
                        self.abort,
                    )?;
                }
                Ok(buffer)
            }
            _ => self.upload_bytes(bytemuck::cast_slice(indices)),
        }
    }
}

fn expect_device(what: &'static str, right: bool, device: &Device) -> Result<()> {
    let expected = || format!("one of {}", device.info().name);
    if right { Ok(()) } else { Err(Error::invalid("csr", what, expected(), "one of another device")) }
}

fn expect_vectors<F>(
    device: &Device,
    what: &'static str,
    vectors: &DeviceVectors<'_>,
    length: usize,
    count: usize,
) -> Result<()> {
    expect_device(what, device.owns(vectors.buffer), device)?;
    let there = vectors.buffer.bytes() / size_of::<F>();
    match vectors.end_index(length, count) {
        Some(end) if end <= there => Ok(()),
        end => {
            let expected = end.map_or("fewer elements than memory has".to_owned(), |end| format!("{end} elements"));
            Err(Error::invalid("csr", what, expected, there))
        }
    }
}
