//! Permutes, hashes and builds trees on a device.
//!
//! Rows that are on the host are uploaded in chunks, on two streams in turn, so that copies overlap kernels. Rows of
//! several matrices are absorbed matrix by matrix; the states of the sponges are in a buffer between them.

use std::sync::Arc;

use super::matrix::{Place, RowMajorMatrix};
use super::poseidon2::{Poseidon2, Poseidon2Field};
use super::sponge::{PaddingFreeSponge, TruncatedPermutation};
use super::tree_shape::{Layer, TreeShape};
use crate::backend::{Buffer, Device, Stream};
use crate::checked_size::{byte_len, product};
use crate::exec::ExecCtx;
use crate::field::{Element, as_bytes, as_bytes_mut};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::poseidon2::{
    CompressLayers, FIRST_MATRIX, GatherRuns, HashRows, LAST_MATRIX, MerkleLayer, POSEIDON2_GROUP, PermuteStates,
    SpongePass, family_of_width,
};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

const ERROR_CONTEXT: &str = "hash on a device";
/// Bytes of rows that are uploaded at a time, 32 MiB: a fraction of a large matrix, and more than two launches cost.
const CHUNK_BYTES: usize = 32 << 20;

/// Holds a permutation's kernels and constants on a device.
struct DevicePermutation {
    module: KernelModule,
    constants: Arc<Buffer>,
    outer: u32,
    inner: u32,
}

impl DevicePermutation {
    /// Finds the kernels of `permutation`, and its constants on the stream's device, which are uploaded at first use.
    fn new<F: Poseidon2Field<WIDTH>, const WIDTH: usize>(
        stream: &mut Stream,
        permutation: &Poseidon2<F, WIDTH>,
    ) -> Result<Self> {
        let family = family_of_width(WIDTH);
        let family =
            family.ok_or_else(|| Error::invalid(ERROR_CONTEXT, "elements of a state", "a known width", WIDTH))?;
        let module = KernelModule::find(family, F::NAME)?;
        let constants = permutation.kernel_constants();
        let key = [format!("poseidon2 {} {WIDTH} ", F::NAME).as_bytes(), as_bytes(&constants)].concat();
        let device = stream.device().clone();
        let constants = device.get_or_create_table(key, || {
            let buffer = stream.allocate(size_of_val(&constants[..]))?;
            stream.upload(&buffer, as_bytes(&constants))?;
            stream.synchronize(None)?;
            Ok(buffer)
        })?;
        let rounds = permutation.constants();
        Ok(Self { module, constants, outer: rounds.first.len() as u32, inner: rounds.internal.len() as u32 })
    }
}

/// Returns `number` as an argument of a kernel.
///
/// # Errors
/// - [`Error::Invalid`]: it has more than 32 bits. `what` names it.
fn word(what: &str, number: usize) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::invalid(ERROR_CONTEXT, what, "below 2^32", number))
}

/// Permutes each of `states` in place. They are unchanged after a failure.
pub(super) fn permute_many<F: Poseidon2Field<WIDTH>, const WIDTH: usize>(
    device: &Arc<Device>,
    permutation: &Poseidon2<F, WIDTH>,
    states: &mut [[F; WIDTH]],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let stream = &mut device.stream()?;
    let permutation = DevicePermutation::new(stream, permutation)?;
    let bytes = as_bytes(states.as_flattened());
    let buffer = stream.allocate(bytes.len())?.mark_secret();
    stream.upload(&buffer, bytes)?;
    stream.begin_timing()?;
    let DevicePermutation { module, outer, inner, ref constants } = permutation;
    let kernel = PermuteStates::<F> {
        outer,
        inner,
        constants: In::new(constants),
        count: word("states", states.len())?,
        states: Out::new(&buffer),
    };
    module.run(stream, states.len() as u64, kernel)?;
    stream.end_timing()?;
    let mut result = stream.allocate_pinned(bytes.len())?;
    if !states.is_empty() {
        stream.copy_to_pinned(&mut result, &buffer)?;
    }
    ctx.synchronize(stream)?;
    // SAFETY: the kernel leaves elements in the layout of host memory.
    result.drain_into(unsafe { as_bytes_mut(states.as_flattened_mut()) });
    ctx.record([&*stream]);
    Ok(())
}

/// Hashes rows on a device: a sponge, and the streams on which it runs in turn.
struct RowHasher {
    permutation: DevicePermutation,
    width: usize,
    rate: usize,
    digest: usize,
    streams: [Stream; 2],
}

/// Locates the digests of rows: the first in a buffer, and their number with zeros at the end.
#[derive(Clone, Copy)]
struct Digests<'a> {
    buffer: &'a Buffer,
    first: usize,
    padded: usize,
}

impl RowHasher {
    fn new<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize>(
        device: &Arc<Device>,
        sponge: &PaddingFreeSponge<F, WIDTH, RATE, OUT>,
    ) -> Result<Self> {
        let mut streams = [device.stream()?, device.stream()?];
        let permutation = DevicePermutation::new(&mut streams[0], sponge.permutation())?;
        Ok(Self { permutation, width: WIDTH, rate: RATE, digest: OUT, streams })
    }

    /// Allocates `count` digests of elements `F`.
    fn allocate<F>(&self, count: usize) -> Result<Buffer> {
        let elements = product(ERROR_CONTEXT, "elements of digests", &[count, self.digest])?;
        Ok(self.streams[0].allocate(byte_len::<F>(ERROR_CONTEXT, elements)?)?.mark_secret())
    }

    /// Queues the hashes of the rows of `matrices`, all of one height, to `digests`.
    fn hash<F: Element>(&mut self, matrices: &[RowMajorMatrix<'_, F>], digests: Digests<'_>) -> Result<()> {
        let rows = matrices.first().map_or(0, RowMajorMatrix::height);
        let uploaded = matrices.iter().filter(|matrix| matches!(matrix.place, Place::Host(_)));
        let bytes = uploaded.map(|matrix| matrix.width().saturating_mul(size_of::<F>())).sum::<usize>();
        let chunk = CHUNK_BYTES.checked_div(bytes).map_or(rows, |rows_of_chunk| rows_of_chunk.clamp(1, rows.max(1)));
        for (number, first) in (0..rows).step_by(chunk.max(1)).enumerate() {
            let count = chunk.min(rows - first);
            let padded = if first + count == rows { digests.padded - first } else { count };
            let digests = Digests { first: digests.first + first, padded, ..digests };
            self.hash_chunk(number % 2, matrices, (first, count), digests)?;
        }
        Ok(())
    }

    /// Queues the hashes of `count` rows from row `first` on, on stream number `stream`.
    fn hash_chunk<F: Element>(
        &mut self,
        stream: usize,
        matrices: &[RowMajorMatrix<'_, F>],
        (first, count): (usize, usize),
        digests: Digests<'_>,
    ) -> Result<()> {
        let DevicePermutation { module, outer, inner, ref constants } = self.permutation;
        let stream = &mut self.streams[stream];
        let state = if matrices.len() > 1 { self.width } else { 0 };
        let states =
            stream.allocate(byte_len::<F>(ERROR_CONTEXT, product(ERROR_CONTEXT, "states", &[count, state])?)?)?;
        let (states, mut filled) = (states.mark_secret(), 0);
        for (number, matrix) in matrices.iter().enumerate() {
            let (rows, first) = rows_on_device(stream, matrix, (first, count))?;
            let flags = if number == 0 { FIRST_MATRIX } else { 0 };
            let flags = if number + 1 == matrices.len() { flags | LAST_MATRIX } else { flags };
            let pass = SpongePass {
                rate: word("rate", self.rate)?,
                length: word("elements of a digest", self.digest)?,
                rows: word("rows", count)?,
                padded: word("digests", digests.padded)?,
                columns: word("columns", matrix.width())?,
                filled: word("elements of a block", filled)?,
                flags,
                first: word("first row", first)?,
                to: word("first digest", digests.first)?,
            };
            let kernel = HashRows::<F> {
                outer,
                inner,
                constants: In::new(constants),
                pass: Value(&pass),
                matrix: In::new(rows.buffer()),
                states: Out::new(&states),
                digests: Out::new(digests.buffer),
            };
            stream.order_write(digests.buffer)?;
            stream.begin_timing()?;
            module.run(stream, digests.padded as u64, kernel)?;
            stream.end_timing()?;
            filled = (filled + matrix.width()) % self.rate;
        }
        Ok(())
    }

    /// Waits for all work.
    fn finish(mut self, ctx: ExecCtx<'_>) -> Result<()> {
        self.streams.iter_mut().try_for_each(|stream| ctx.synchronize(stream))?;
        ctx.record(&self.streams);
        Ok(())
    }
}

/// Holds rows on a device, uploaded or of the caller's vector.
enum DeviceRows<'a> {
    Uploaded(Buffer),
    Resident(&'a Buffer),
}

impl DeviceRows<'_> {
    fn buffer(&self) -> &Buffer {
        match self {
            Self::Uploaded(buffer) => buffer,
            Self::Resident(buffer) => buffer,
        }
    }
}

/// Returns memory that has `count` rows of `matrix` from row `first` on, and the number of the first of them there.
fn rows_on_device<'a, F: Element>(
    stream: &mut Stream,
    matrix: &RowMajorMatrix<'a, F>,
    (first, count): (usize, usize),
) -> Result<(DeviceRows<'a>, usize)> {
    match matrix.place {
        Place::Device(values) => {
            values.wait_before_read(stream)?;
            Ok((DeviceRows::Resident(values.buffer()), first))
        }
        Place::Host(values) => {
            let rows = as_bytes(&values[first * matrix.width()..][..count * matrix.width()]);
            let buffer = stream.allocate(rows.len())?.mark_secret();
            stream.upload(&buffer, rows)?;
            Ok((DeviceRows::Uploaded(buffer), 0))
        }
    }
}

/// Returns the digest of each row of `matrix`.
pub(super) fn hash_rows<F: Poseidon2Field<WIDTH>, const WIDTH: usize, const RATE: usize, const OUT: usize>(
    device: &Arc<Device>,
    sponge: &PaddingFreeSponge<F, WIDTH, RATE, OUT>,
    matrix: RowMajorMatrix<'_, F>,
    ctx: ExecCtx<'_>,
) -> Result<Vec<[F; OUT]>> {
    let mut hasher = RowHasher::new(device, sponge)?;
    let rows = matrix.height();
    let buffer = hasher.allocate::<F>(rows)?;
    hasher.hash(&[matrix], Digests { buffer: &buffer, first: 0, padded: rows })?;
    let digests = download_digests(&mut hasher.streams[0], &buffer, 0, rows)?;
    hasher.finish(ctx)?;
    Ok(digests)
}

/// Returns `count` digests from number `first` of `buffer` on.
fn download_digests<F: Element, const DIGEST: usize>(
    stream: &mut Stream,
    buffer: &Buffer,
    first: usize,
    count: usize,
) -> Result<Vec<[F; DIGEST]>> {
    let mut digests = vec![[F::ZERO; DIGEST]; count];
    // SAFETY: kernels leave elements in the layout of host memory.
    let bytes = unsafe { as_bytes_mut(digests.as_flattened_mut()) };
    stream.download_at(bytes, buffer, first * size_of::<[F; DIGEST]>())?;
    Ok(digests)
}

/// Holds the digests of a tree on a device, layer by layer from the leaves on.
#[derive(Debug)]
pub(super) struct DeviceTree {
    device: Arc<Device>,
    digests: Buffer,
    module: KernelModule,
}

/// Holds the cap of a tree, and the tree.
pub(super) type CapAndTree<F, const DIGEST: usize> = (Vec<[F; DIGEST]>, DeviceTree);

/// Builds the tree of `shape` over `matrices`, with the cap at `cap_height`.
pub(super) fn build_tree<F, const WIDTH: usize, const RATE: usize, const NODE_WIDTH: usize, const DIGEST: usize>(
    device: &Arc<Device>,
    sponge: &PaddingFreeSponge<F, WIDTH, RATE, DIGEST>,
    compression: &TruncatedPermutation<F, DIGEST, NODE_WIDTH>,
    (shape, cap_height): (&TreeShape, usize),
    matrices: &[RowMajorMatrix<'_, F>],
    ctx: ExecCtx<'_>,
) -> Result<CapAndTree<F, DIGEST>>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE_WIDTH>,
{
    let mut hasher = RowHasher::new(device, sponge)?;
    let nodes = DevicePermutation::new(&mut hasher.streams[0], compression.permutation())?;
    let digests = hasher.allocate::<F>(shape.digest_count())?;
    let injected = hasher.allocate::<F>(shape.injected_count())?;
    let some = |numbers: &[usize]| numbers.iter().map(|number| matrices[*number]).collect::<Vec<_>>();
    hasher.hash(&some(&shape.leaves), Digests { buffer: &digests, first: 0, padded: shape.padded })?;
    for layer in shape.layers.iter().filter(|layer| layer.rows > 0) {
        let rows = Digests { buffer: &injected, first: layer.row_from, padded: layer.rows };
        hasher.hash(&some(&layer.matrices), rows)?;
    }
    let stream = &mut hasher.streams[0];
    stream.begin_timing()?;
    compress_layers::<F>(stream, &nodes, &shape.layers, DIGEST, [&digests, &injected])?;
    stream.end_timing()?;
    let (first, count) = shape.cap(cap_height)?;
    let cap = download_digests(stream, &digests, first, count)?;
    let tree = DeviceTree { device: device.clone(), digests, module: nodes.module };
    hasher.finish(ctx)?;
    Ok((cap, tree))
}

// SAFETY: the structure is seven words, which `repr(C)` puts one after the other.
unsafe impl bytemuck::NoUninit for MerkleLayer {}

/// Returns `layer` as kernels read it.
fn kernel_layer(layer: &Layer) -> MerkleLayer {
    // The shape has fewer than 2^32 digests.
    let [from, to, nodes, padded, row_from, rows] =
        [layer.from, layer.to, layer.nodes, layer.padded, layer.row_from, layer.rows].map(|number| number as u32);
    MerkleLayer { from, to, nodes, padded, row_from, rows, injections: u32::from(rows > 0) }
}

/// Queues the nodes of all `layers`, whose digests have `length` elements. The layers that fit in one group take one
/// launch together.
fn compress_layers<F: Element>(
    stream: &mut Stream,
    permutation: &DevicePermutation,
    layers: &[Layer],
    length: usize,
    [digests, injected]: [&Buffer; 2],
) -> Result<()> {
    let list: Vec<MerkleLayer> = layers.iter().map(kernel_layer).collect();
    let buffer = stream.allocate(size_of_val(&list[..]))?;
    stream.upload(&buffer, bytemuck::cast_slice(&list))?;
    stream.order_write(digests)?;
    stream.order_read(injected)?;
    let group = POSEIDON2_GROUP as usize;
    let small = layers.iter().position(|layer| layer.padded <= group).unwrap_or(layers.len());
    let single = (0..small).map(|number| (number, 1));
    let rest = (small < layers.len()).then(|| (small, layers.len() - small));
    for (first, count) in single.chain(rest) {
        // Several layers take one group, whose work-items wait for each other between layers.
        let items = if count == 1 { layers[first].padded } else { group };
        let kernel = CompressLayers::<F> {
            outer: permutation.outer,
            inner: permutation.inner,
            constants: In::new(&permutation.constants),
            length: word("elements of a digest", length)?,
            first: word("first layer", first)?,
            count: word("layers", count)?,
            layers: In::new(&buffer),
            digests: Out::new(digests),
            injected: In::new(injected),
        };
        permutation.module.run(stream, items as u64, kernel)?;
    }
    Ok(())
}

impl DeviceTree {
    /// Returns the digests with these `indices`.
    pub(super) fn digests<F: Element, const DIGEST: usize>(&self, indices: &[usize]) -> Result<Vec<[F; DIGEST]>> {
        let stream = &mut self.device.stream()?;
        stream.order_read(&self.digests)?;
        let gathered = self.gather::<F>(stream, (&self.digests, DIGEST), indices)?;
        download_digests(stream, &gathered, 0, indices.len())
    }

    /// Returns the rows of `matrix` with these `indices`, one after the other.
    pub(super) fn rows<F: Element>(&self, matrix: &RowMajorMatrix<'_, F>, indices: &[usize]) -> Result<Vec<F>> {
        match matrix.place {
            Place::Host(values) => {
                Ok(indices.iter().flat_map(|row| &values[row * matrix.width()..][..matrix.width()]).copied().collect())
            }
            Place::Device(values) => {
                let stream = &mut self.device.stream()?;
                values.wait_before_read(stream)?;
                let gathered = self.gather::<F>(stream, (values.buffer(), matrix.width()), indices)?;
                let mut rows = vec![F::ZERO; indices.len() * matrix.width()];
                // SAFETY: the kernel copies elements.
                stream.download(unsafe { as_bytes_mut(&mut rows) }, &gathered)?;
                Ok(rows)
            }
        }
    }

    /// Queues a copy of the runs of `length` elements of `from` with these `indices` to new memory, and returns it.
    fn gather<F: Element>(
        &self,
        stream: &mut Stream,
        (from, length): (&Buffer, usize),
        indices: &[usize],
    ) -> Result<Buffer> {
        let positions: Vec<u32> = indices.iter().map(|index| *index as u32).collect();
        let list = stream.allocate(size_of_val(&positions[..]))?;
        stream.upload(&list, bytemuck::cast_slice(&positions))?;
        let elements = product(ERROR_CONTEXT, "elements", &[indices.len(), length])?;
        let to = stream.allocate(byte_len::<F>(ERROR_CONTEXT, elements)?)?.mark_secret();
        let kernel = GatherRuns::<F> {
            length: word("elements of a row", length)?,
            count: word("rows", indices.len())?,
            positions: In::new(&list),
            from: In::new(from),
            to: Out::new(&to),
        };
        self.module.run(stream, elements as u64, kernel)?;
        Ok(to)
    }
}
