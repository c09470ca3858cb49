//! Keeps a matrix on a device, and queues its products on streams.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::NoUninit;
use rayon::prelude::*;

use super::csr::Csr;
use super::explain_and_options::{SparseExplanation, SparseOptions};
use super::kernel_and_tiles::{Format, Kernel, Tiles, group_count, vectors_per_launch};
use crate::backend::{Buffer, Device, Stream};
use crate::exec::ExecCtx;
use crate::field::{NttField, as_bytes};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::csr::{Balanced, CSR_GROUP, CsrParams, FAMILY, Merge, Scalar, Vector};
use crate::module_launcher::KernelModule;
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

    /// Returns the vectors from number `start` on.
    fn skip(self, start: usize) -> Self {
        Self { first: self.first + start * self.stride, ..self }
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
    /// - [`Error::Invalid`]: the matrix lies in a file that has changed.
    /// - [`Error::OutOfMemory`], [`Error::Device`]: the device has too little memory, or its driver fails.
    pub fn new(device: &Arc<Device>, csr: &Csr<F>, options: SparseOptions) -> Result<Self> {
        Self::new_abortable(device, csr, options, ExecCtx::unreported(None))
    }

    /// Uploads `csr` to `device` and waits for the copy, unless the abort hook ends the upload.
    pub(crate) fn new_abortable(
        device: &Arc<Device>,
        csr: &Csr<F>,
        options: SparseOptions,
        ctx: ExecCtx<'_>,
    ) -> Result<Self> {
        csr.check_unchanged()?;
        let explanation = SparseExplanation::new(csr, options);
        let format = Format::new(csr.columns(), csr.dictionary().len());
        let mut to = Upload { stream: device.stream()?, ctx };
        let row_pointers = to.upload_bytes(bytemuck::cast_slice(csr.row_pointers()))?;
        let dictionary = to.upload_bytes(as_bytes(csr.dictionary()))?;
        let entries = to.upload_entries(csr, format)?;
        let indices = to.upload_indices(csr, format)?;
        let balanced = explanation.kernel == Kernel::Balanced;
        let tiles = balanced.then(|| DeviceTiles::new(&mut to, csr.tiles())).transpose()?;
        ctx.synchronize(&mut to.stream)?;
        csr.check_unchanged()?;
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
        let mut to = Upload { stream, ctx: ExecCtx::unreported(None) };
        let indices = to.upload_bytes(&[])?;
        let tiles = tiles.map(|tiles| DeviceTiles::new(&mut to, &tiles)).transpose()?;
        to.stream.synchronize(None)?;
        let device = to.stream.device().clone();
        Ok(Self { device, explanation, row_pointers, entries, indices, dictionary, tiles, field: PhantomData })
    }

    /// Returns an estimate of the bytes of device memory that `csr` takes.
    pub(crate) fn estimate_bytes(csr: &Csr<F>) -> u64 {
        let format = Format::new(csr.columns(), csr.dictionary().len());
        let nonzeros = csr.column_indices().len() as u64 * format.nonzero_bytes();
        nonzeros + (size_of_val(csr.row_pointers()) + size_of_val(csr.dictionary())) as u64
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
        let at_once = vectors_per_launch(self.group_count());
        for start in (0..count).step_by(at_once) {
            self.launch(stream, x.skip(start), y.skip(start), at_once.min(count - start) as u64)?;
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

    /// Returns the storage of non-zeros.
    pub(super) fn format(&self) -> Format {
        self.explanation.format
    }

    /// Returns the non-zeros as kernel arguments: entries, indices and dictionary.
    pub(super) fn nonzero_args(&self) -> (In<'_, u32>, In<'_, u32>, In<'_, F>) {
        (In::new(&self.entries), In::new(&self.indices), In::new(&self.dictionary))
    }

    /// Returns the number of tiles, or of rows if there are no tiles.
    fn units(&self) -> u32 {
        self.tiles.as_ref().map_or(self.rows(), |tiles| tiles.count)
    }

    /// Returns the number of work-groups that multiply the matrix by one vector.
    fn group_count(&self) -> u32 {
        group_count(self.explanation.kernel, self.units())
    }

    fn params(&self, x: DeviceVectors<'_>, y: DeviceVectors<'_>) -> CsrParams {
        let Format { column_bits, index_bits } = self.format();
        CsrParams {
            units: self.units(),
            blocks: self.group_count(),
            column_bits,
            index_bits,
            x_first: x.first as u64,
            x_stride: x.stride as u64,
            y_first: y.first as u64,
            y_stride: y.stride as u64,
        }
    }

    /// Queues the product of `count` vectors `x` into `y`, in one launch, or in two if rows are cut.
    fn launch(&self, stream: &mut Stream, x: DeviceVectors<'_>, y: DeviceVectors<'_>, count: u64) -> Result<()> {
        let module = csr_module::<F>()?;
        let numbers = self.params(x, y);
        let params = Value(&numbers);
        let pointers = In::new(&self.row_pointers);
        let (entries, indices, dictionary) = self.nonzero_args();
        let items = u64::from(numbers.blocks) * count * u64::from(CSR_GROUP);
        let (x, results) = (In::new(x.buffer), Out::new(y.buffer));
        let Some(tiles) = &self.tiles else {
            return if self.explanation.kernel == Kernel::Vector {
                module.run(stream, items, Vector { params, pointers, entries, indices, dictionary, x, y: results })
            } else {
                module.run(stream, items, Scalar { params, pointers, entries, indices, dictionary, x, y: results })
            };
        };
        let sums = tiles.allocate_partials::<F>(stream, count)?;
        let (starts, partials) = (In::new(&tiles.starts), Out::new(&sums));
        let balanced = Balanced { params, starts, pointers, partials, entries, indices, dictionary, x, y: results };
        module.run(stream, items, balanced)?;
        tiles.merge::<F>(stream, &sums, y, count)
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

    /// Allocates scratch memory for the sum of each tile and each of `count` vectors, or none if no rows are cut.
    fn allocate_partials<F>(&self, stream: &Stream, count: u64) -> Result<Buffer> {
        let bytes = u64::from(self.count) * count * size_of::<F>() as u64;
        stream.scratch(if self.long_count == 0 { 0 } else { bytes as usize })
    }

    /// Queues the addition of the `partials` of long rows into `count` vectors `y`.
    fn merge<F: NttField>(
        &self,
        stream: &mut Stream,
        partials: &Buffer,
        y: DeviceVectors<'_>,
        count: u64,
    ) -> Result<()> {
        let blocks = group_count(Kernel::Vector, self.long_count);
        let kernel = Merge::<F> {
            count: self.long_count,
            blocks,
            tiles: self.count,
            long_rows: In::new(&self.long_rows),
            partials: In::new(partials),
            y: Out::new(y.buffer),
            y_first: y.first as u64,
            y_stride: y.stride as u64,
        };
        csr_module::<F>()?.run(stream, u64::from(blocks) * count * u64::from(CSR_GROUP), kernel)
    }
}

/// Uploads the arrays of a matrix, and polls the abort hook between pieces.
struct Upload<'a> {
    stream: Stream,
    ctx: ExecCtx<'a>,
}

impl Upload<'_> {
    fn upload_bytes(&mut self, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.stream.allocate(bytes.len())?;
        self.stream.upload_abortable(&buffer, 0, bytes, self.ctx.abort())?;
        Ok(buffer)
    }

    /// Uploads `count` words chunk by chunk. `convert` writes the words of a range of indices.
    fn upload_chunks<W: NoUninit + Default + Send>(
        &mut self,
        count: usize,
        convert: impl Fn(Range<usize>, &mut [W]) + Sync,
    ) -> Result<Buffer> {
        let buffer = self.stream.allocate(size_of::<W>() * count)?;
        // One vector for all chunks: new memory would take as long as the conversion.
        let mut words = vec![W::default(); count.min(CHUNK)];
        for start in (0..count).step_by(CHUNK) {
            let range = start..count.min(start + CHUNK);
            let words = &mut words[..range.len()];
            install(|| convert(range, words));
            let bytes = bytemuck::cast_slice(words);
            self.stream.upload_abortable(&buffer, size_of::<W>() * start, bytes, self.ctx.abort())?;
        }
        Ok(buffer)
    }

    /// Uploads a 32-bit word for each non-zero. It holds the column and, if `format` has no separate index, the
    /// dictionary index in the bits above.
    fn upload_entries<F: NttField>(&mut self, csr: &Csr<F>, format: Format) -> Result<Buffer> {
        let (columns, indices) = (csr.column_indices(), csr.coefficient_indices());
        if format.index_bits != 0 {
            return self.upload_bytes(bytemuck::cast_slice(columns));
        }
        self.upload_chunks(columns.len(), |range, words| {
            let parts = columns[range.clone()].par_iter().zip(&indices[range]);
            words.par_iter_mut().zip(parts).for_each(|(word, (column, index))| {
                *word = column | index << format.column_bits;
            });
        })
    }

    /// Uploads the dictionary index of each non-zero, in 16 or 32 bits. The buffer is empty if `format` has no separate
    /// index.
    fn upload_indices<F: NttField>(&mut self, csr: &Csr<F>, format: Format) -> Result<Buffer> {
        let indices = csr.coefficient_indices();
        match format.index_bits {
            0 => self.upload_bytes(&[]),
            16 => self.upload_chunks(indices.len(), |range, words: &mut [u16]| {
                words.par_iter_mut().zip(&indices[range]).for_each(|(word, index)| *word = *index as u16);
            }),
            _ => self.upload_bytes(bytemuck::cast_slice(indices)),
        }
    }
}

/// Finds the module of the field `F`.
pub(super) fn csr_module<F: NttField>() -> Result<KernelModule> {
    KernelModule::find(&FAMILY, F::NAME)
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
