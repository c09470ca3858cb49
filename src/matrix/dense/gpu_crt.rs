//! Computes products by residues on a device: takes residues of both factors, multiplies them on tensor cores, and
//! reconstructs elements.

use std::sync::Arc;
use std::time::Duration;

use super::crt_params::{Basis, Constants, FieldParams, Operand};
use super::element_and_accumulator::ElementKind;
use super::layout::{DeviceView, View, enqueue_throttled};
use super::plan::{DensePlan, Problem, TENSOR_TILE, Tiling};
use super::tensor_core_kernels::TensorCoreKernels;
use crate::backend::{Buffer, Stream};
use crate::exec::ExecCtx;
use crate::kernel_arguments::{In, Kernel, Out, Value};
use crate::kernels;
use crate::kernels::gemm::{
    Int8ResiduesParams, Int8WordsParams, Reconstruct, Residues, ResiduesParams, ResiduesSmall, TRANSPOSE_ROWS,
    TRANSPOSE_WORDS, TransposeBytes,
};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Divisor of the device's memory. A product that takes at most the quotient starts without a query of free memory,
/// which takes 6 µs.
const MEMORY_QUERY_THRESHOLD_DIV: u64 = 64;
/// Multiplications of bytes per second with an H200's `mma.sync`, to estimate the time of queued work.
pub(super) const RATE: f64 = 500e12;

/// Holds the kernels, constants and sizes that all steps of a product by residues use.
struct CrtPass<'a> {
    program: KernelModule,
    tensor: TensorCoreKernels,
    basis: Basis,
    /// Whether both factors are bytes, which are their own residues.
    bytes: bool,
    pieces: Tiling,
    operands: [Operand; 2],
    /// Device buffers with the constants of the moduli and with the weights of residues.
    tables: [Arc<Buffer>; 2],
    ctx: ExecCtx<'a>,
}

/// Basis for products of bytes by bytes, which are their own residues modulo 256.
const IDENTITY_BASIS: Basis = Basis { moduli: 1, parts: 1, split: 128 };

/// Queues C = A·B by residues, in blocks of C whose residues fit in memory. `bytes` limits that memory. If it is
/// `None`, the limit is the free memory.
pub(super) fn multiply_crt(
    stream: &mut Stream,
    field: &str,
    [a, b, c]: [DeviceView<'_>; 3],
    (problem, plan, bytes): (&Problem, &DensePlan, Option<u64>),
    ctx: ExecCtx<'_>,
) -> Result<()> {
    let device = stream.device().clone();
    let basis = plan.basis.unwrap_or(IDENTITY_BASIS);
    let operands = [problem.a, problem.b];
    let raw = operands.iter().filter(|operand| operand.is_raw()).count();
    let tables = tables(stream, (field, &problem.prime), basis, raw)?;
    let (program, tensor) = (KernelModule::find(&kernels::gemm::FAMILY, field)?, TensorCoreKernels::new(&device)?);
    let most = bytes.unwrap_or(u64::MAX);
    let sizes = [a.view.rows, a.view.columns, b.view.columns];
    let within = |most| Tiling::new(sizes, basis.byte_product_count(), most, &device.info().name);
    let whole = within(most)?;
    let is_small = whole.bytes <= device.info().memory / MEMORY_QUERY_THRESHOLD_DIV;
    let pieces = if is_small { whole } else { within(most.min(device.free_memory()?))? };
    let mut work = CrtPass { program, tensor, basis, bytes: plan.basis.is_none(), pieces, operands, tables, ctx };
    match work.enqueue_blocks(stream, [a, b, c]) {
        Err(Error::OutOfMemory { .. }) if is_small => {
            work.pieces = within(most.min(device.free_memory()?))?;
            work.enqueue_blocks(stream, [a, b, c])
        }
        done => done,
    }
}

/// Returns the device buffers with the constants of the moduli and with the weights of residues. The device caches them
/// between calls. `raw` is the number of factors whose residues are of limbs as stored.
fn tables(
    stream: &mut Stream,
    (field, prime): (&str, &FieldParams),
    basis: Basis,
    raw: usize,
) -> Result<[Arc<Buffer>; 2]> {
    let device = stream.device().clone();
    let key = |which: &str| format!("{which} crt {field} {basis:?} {raw}").into_bytes();
    let mut kept = |which: &str, words: fn(Constants, Basis) -> Vec<u32>| {
        device.get_or_create_table(key(which), || {
            let words = words(Constants::new(prime, basis, raw), basis);
            let buffer = stream.allocate(4 * words.len())?;
            stream.upload(&buffer, bytemuck::cast_slice(&words))?;
            stream.synchronize(None)?;
            Ok(buffer)
        })
    };
    Ok([
        kept("moduli", |constants, _| constants.table)?,
        kept("counts", |constants, basis| constants.pack_weights(basis))?,
    ])
}

impl CrtPass<'_> {
    /// Queues the whole product C = A·B, block by block of columns, and within each block of columns block by block of
    /// rows.
    fn enqueue_blocks(&self, stream: &mut Stream, [a, b, c]: [DeviceView<'_>; 3]) -> Result<()> {
        let Tiling { rows, columns, depth, .. } = self.pieces;
        let products = self.basis.byte_product_count();
        let room = |side: usize| stream.scratch(products * side * depth);
        let (own_a, own_b) = (room(rows)?, room(columns)?);
        let of_c = stream.scratch(if c.kind == ElementKind::Word { 0 } else { products * rows * columns })?;
        for column in (0..b.view.columns).step_by(columns) {
            let range = column..(column + columns).min(b.view.columns);
            let b = DeviceView { view: b.view.block(0..b.view.rows, range.clone())?.transposed(), ..b };
            let of_b = self.residues_of(stream, b, (self.operands[1], columns), &own_b)?;
            for row in (0..a.view.rows).step_by(rows) {
                let down = row..(row + rows).min(a.view.rows);
                let of_a = self.residues_of(stream, a.slice_rows(down.clone())?, (self.operands[0], rows), &own_a)?;
                let c = DeviceView { view: c.view.block(down, range.clone())?, ..c };
                self.multiply(stream, [of_a, of_b, &of_c], c)?;
                if c.kind != ElementKind::Word {
                    self.reconstruct(stream, &of_c, c)?;
                }
            }
        }
        Ok(())
    }

    /// Returns a buffer with the residues of the rows of `a`, zero-padded to `padded` rows. If the memory of `a` has
    /// the layout that tensor cores read, it is that memory. Otherwise the residues are queued into `own`.
    fn residues_of<'b>(
        &self,
        stream: &mut Stream,
        a: DeviceView<'b>,
        (operand, padded): (Operand, usize),
        own: &'b Buffer,
    ) -> Result<&'b Buffer> {
        let depth = self.pieces.depth;
        let View { rows, columns, first, row_step, column_step } = a.view;
        if self.bytes && (rows, columns, first, row_step, column_step) == (padded, depth, 0, depth, 1) {
            return Ok(a.buffer);
        }
        if self.bytes && row_step == 1 {
            self.transpose_bytes(stream, a, padded, own)
        } else {
            self.to_residues(stream, a, operand, padded, own)
        }?;
        Ok(own)
    }

    /// Queues the transposition of the column-major bytes `a` into `to`, with rows zero-padded to `padded`.
    fn transpose_bytes(&self, stream: &mut Stream, a: DeviceView<'_>, padded: usize, to: &Buffer) -> Result<()> {
        let quads = self.pieces.depth / 4;
        let groups = padded / TRANSPOSE_ROWS * (quads / TRANSPOSE_WORDS);
        let items = groups as u64 * u64::from(TransposeBytes::GROUP_SIZE);
        enqueue_throttled(stream, Duration::ZERO, self.ctx, |stream| {
            let transpose = TransposeBytes {
                rows: a.view.rows as u32,
                inner: a.view.columns as u32,
                quads: quads as u32,
                a: a.as_in(),
                a_view: Value(&a.gemm_view()),
                out: Out::new(to),
            };
            self.program.run(stream, items, transpose)
        })
    }

    /// Queues the computation of the residues of `a`, with rows zero-padded to `padded`, into `to`.
    fn to_residues(
        &self,
        stream: &mut Stream,
        a: DeviceView<'_>,
        operand: Operand,
        padded: usize,
        to: &Buffer,
    ) -> Result<()> {
        let (numbers, view) = (self.residues_params(&a.view, operand, padded), a.gemm_view());
        let items = u64::from(numbers.padded) * u64::from(numbers.quads);
        let (params, a_view) = (Value(&numbers), Value(&view));
        let (table, out) = (In::new(&self.tables[0]), Out::new(to));
        enqueue_throttled(stream, Duration::ZERO, self.ctx, |stream| {
            if a.kind == ElementKind::Field {
                self.program.run(stream, items, Residues { params, a: a.as_in(), a_view, table, out })
            } else {
                let bytes = a.entry_bytes();
                self.program.run(stream, items, ResiduesSmall { params, bytes, a: a.as_in(), a_view, table, out })
            }
        })
    }

    fn residues_params(&self, a: &View, operand: Operand, padded: usize) -> ResiduesParams {
        let Basis { moduli, parts, split } = self.basis;
        ResiduesParams {
            rows: a.rows as u32,
            inner: a.columns as u32,
            padded: padded as u32,
            quads: (self.pieces.depth / 4) as u32,
            moduli: moduli as u32,
            parts: parts as u32,
            split,
            canonical: u32::from(!operand.is_raw()),
        }
    }

    /// Queues the tensor-core products of the residues `of_a` and `of_b`. Their residues go to `of_c`. If the factors
    /// are bytes, the sums of 32 bits are the product itself and go to `c`.
    fn multiply(&self, stream: &mut Stream, [of_a, of_b, of_c]: [&Buffer; 3], c: DeviceView<'_>) -> Result<()> {
        let Tiling { rows, columns, depth, .. } = self.pieces;
        let [tall, wide] = [rows / TENSOR_TILE[0], columns / TENSOR_TILE[1]];
        let sets = self.basis.byte_product_count();
        let time = Duration::from_secs_f64((sets * rows * columns) as f64 * depth as f64 / RATE);
        let [tall, wide, tiles, depth] = [tall, wide, sets * tall * wide, depth].map(|number| number as u32);
        enqueue_throttled(stream, time, self.ctx, |stream| {
            if c.kind == ElementKind::Word {
                let [rows, columns] = [c.view.rows, c.view.columns].map(|number| number as u32);
                let params = Int8WordsParams { tall, tiles, rows, columns, depth };
                self.tensor.launch_words(stream, &params, [of_a, of_b], c)
            } else {
                let params = Int8ResiduesParams { tall, wide, tiles, depth, moduli: self.basis.moduli as u32 };
                self.tensor.launch_residues(stream, &params, &self.tables[0], [of_a, of_b, of_c])
            }
        })
    }

    fn reconstruct(&self, stream: &mut Stream, residues: &Buffer, c: DeviceView<'_>) -> Result<()> {
        let quads = self.pieces.columns / 4;
        let reconstruct = Reconstruct {
            rows: c.view.rows as u32,
            columns: c.view.columns as u32,
            padded: self.pieces.rows as u32,
            quads: quads as u32,
            sets: self.basis.byte_product_count() as u32,
            residues: In::new(residues),
            table: In::new(&self.tables[1]),
            c: c.as_out(),
            c_view: Value(&c.gemm_view()),
        };
        self.program.run(stream, 4 * (c.view.rows * quads) as u64, reconstruct)
    }
}

/// Compares kernels, on any device, with products of residues computed on the host.
#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::Accelerator;
    use crate::field::{as_bytes, as_bytes_mut};
    use crate::kernels::gemm::{CRT_INVERSE, CRT_WORDS};
    use crate::matrix::dense::crt_params::MODULI;
    use crate::matrix::dense::element_and_accumulator::DenseField;

    const SIZES: [usize; 3] = [5, 7, 6];

    fn download_bytes(stream: &mut Stream, buffer: &Buffer) -> Vec<u8> {
        let mut bytes = vec![0; buffer.bytes()];
        stream.download(&mut bytes, buffer).expect("download");
        bytes
    }

    /// Computes y = Σ a·b·(M/m)⁻¹ mod m on the host, for each modulus m and each entry. The tensor cores leave the same
    /// numbers.
    fn host_products(a: &[u8], b: &[u8], basis: Basis, pieces: Tiling, table: &[u32]) -> Vec<u8> {
        let Tiling { rows, columns, depth, .. } = pieces;
        let mut y = Vec::new();
        for set in 0..basis.byte_product_count() {
            let number = set % basis.moduli;
            let (m, inverse) = (i64::from(MODULI[number]), i64::from(table[CRT_WORDS * number + CRT_INVERSE]));
            for row in 0..rows {
                let a = &a[(set * rows + row) * depth..][..depth];
                for column in 0..columns {
                    let b = &b[(set * columns + column) * depth..][..depth];
                    let sum: i64 =
                        a.iter().zip(b).map(|(a, b)| i64::from(a.cast_signed()) * i64::from(b.cast_signed())).sum();
                    y.push((sum.rem_euclid(m) * inverse % m) as u8);
                }
            }
        }
        y
    }

    fn upload<T: bytemuck::NoUninit>(stream: &mut Stream, values: &[T]) -> Buffer {
        let buffer = stream.allocate(size_of_val(values)).expect("buffer");
        stream.upload(&buffer, bytemuck::cast_slice(values)).expect("upload");
        buffer
    }

    /// Returns `count` elements. About half are random, and the others are 0, ±1 or ±1/2.
    fn random_elements<F: DenseField>(count: usize, seed: u64) -> Vec<F> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let extreme = [F::ZERO, F::ONE, -F::ONE, F::TWO_INV, -F::TWO_INV];
        (0..count).map(|_| if rng.gen_bool(0.5) { extreme[rng.gen_range(0..5)] } else { F::random(&mut rng) }).collect()
    }

    /// Checks that residues and reconstruction give the product of `a` and `b`. `bits` has the bound of each factor, or
    /// `None` for residues of limbs in Montgomery form.
    fn check_kernels<F: DenseField>(bits: [Option<u32>; 2], a: &[F], b: &[F]) {
        let accelerator = Accelerator::automatic().expect("settings are right");
        let Some(device) = accelerator.devices().first() else { return eprintln!("skipped: residues, no device") };
        let [rows, inner, columns] = SIZES;
        let program = KernelModule::find(&kernels::gemm::FAMILY, F::NAME).expect("module");
        let prime = FieldParams::new(program.modulus(), program.one());
        let operands = bits.map(|bits| Operand { kind: ElementKind::Field, bits });
        let basis = Basis::new(&prime.p, operands[0], operands[1], inner).expect("enough moduli");
        let pieces = Tiling { rows: 8, columns: 8, depth: 32, bytes: 0 };
        let raw = operands.iter().filter(|operand| operand.is_raw()).count();
        let constants = Constants::new(&prime, basis, raw);
        let mut stream = device.stream().expect("stream");
        let tables = tables(&mut stream, (F::NAME, &prime), basis, raw).expect("tables");
        // The tensor cores are not used.
        let tensor = TensorCoreKernels { program, local_bytes: 0, groups: 1 };
        let work =
            CrtPass { program, tensor, basis, bytes: false, pieces, operands, tables, ctx: ExecCtx::unreported(None) };
        let [of_a, of_b] = [as_bytes(a), as_bytes(b)].map(|bytes| upload(&mut stream, bytes));
        let lying = |buffer, view| DeviceView { buffer, view, kind: ElementKind::Field };
        let room = || device.stream().expect("stream").allocate(basis.byte_product_count() * 8 * 32).expect("buffer");
        let [to_a, to_b] = [room(), room()];
        work.to_residues(&mut stream, lying(&of_a, View::row_major(rows, inner)), operands[0], 8, &to_a)
            .expect("residues");
        let transposed = View::row_major(inner, columns).transposed();
        work.to_residues(&mut stream, lying(&of_b, transposed), operands[1], 8, &to_b).expect("residues");
        let (res_a, res_b) = (download_bytes(&mut stream, &to_a), download_bytes(&mut stream, &to_b));
        let y = upload(&mut stream, &host_products(&res_a, &res_b, basis, pieces, &constants.table));
        let of_c = stream.allocate(size_of::<F>() * rows * columns).expect("buffer");
        work.reconstruct(&mut stream, &y, lying(&of_c, View::row_major(rows, columns))).expect("join");
        let mut c = vec![F::ONE; rows * columns];
        // SAFETY: kernels leave reduced elements in Montgomery form.
        stream.download(unsafe { as_bytes_mut(&mut c) }, &of_c).expect("download");
        for (number, c) in c.iter().enumerate() {
            let (row, column) = (number / columns, number % columns);
            let expected: F = (0..inner).map(|k| a[row * inner + k] * b[k * columns + column]).sum();
            assert_eq!(*c, expected, "{row}, {column}, {basis:?}");
        }
    }

    /// Returns 1/R for the Montgomery factor R, which is the element with the stored limbs 1.
    fn inverse_radix<F: DenseField>() -> F {
        let r =
            as_bytes(&[F::ONE]).iter().rev().fold(F::ZERO, |sum, byte| sum * F::from(256) + F::from((*byte).into()));
        r.invert().expect("not zero")
    }

    fn check_field<F: DenseField>() {
        let [rows, inner, columns] = SIZES;
        let (a, b) = (random_elements::<F>(rows * inner, 1), random_elements::<F>(inner * columns, 2));
        check_kernels([None, None], &a, &b);
        // These are the bounds' worst cases: products as large as they get, with either sign.
        for worst in [F::TWO_INV, -F::TWO_INV, -F::ONE] {
            // The limbs of `raw` are the number `worst`.
            let raw = worst * inverse_radix::<F>();
            for value in [worst, raw] {
                check_kernels([None, None], &vec![value; rows * inner], &vec![raw; inner * columns]);
            }
        }
        let small = |count: usize| (0..count as u64).map(|i| if i % 3 == 0 { -F::from(i) } else { F::from(255 - i) });
        let (x, y): (Vec<F>, Vec<F>) = (small(rows * inner).collect(), small(inner * columns).collect());
        check_kernels([Some(8), None], &x, &b);
        check_kernels([None, Some(8)], &a, &y);
        check_kernels([Some(8), Some(8)], &x, &y);
    }

    /// Checks the tensor-core kernels of compute capability 8.0 and of 9.0, on several tiles of several pipeline
    /// stages.
    #[test]
    fn products_of_residues() {
        let accelerator = Accelerator::automatic().expect("settings are right");
        let Some(device) = accelerator.devices().first() else { return eprintln!("skipped: tensor cores, no device") };
        if !device.info().caps.int8_tensor_cores {
            return eprintln!("skipped: tensor cores, the device has none");
        }
        let tensors =
            [("8.0", TensorCoreKernels::load_ampere(device)), ("9.0", TensorCoreKernels::load_hopper(device))];
        for (instructions, tensor) in tensors {
            match tensor {
                // All tiles run at once, or each group takes several.
                Ok(tensor) => [usize::MAX, 4, 1]
                    .map(|groups| check_tensor_products(device, TensorCoreKernels { groups, ..tensor })),
                Err(error) => {
                    eprintln!("left out: tensor cores by instructions of {instructions}: {error}");
                    continue;
                }
            };
        }
    }

    fn check_tensor_products(device: &std::sync::Arc<crate::backend::Device>, tensor: TensorCoreKernels) {
        let [tile_rows, tile_columns, tile_depth] = TENSOR_TILE;
        let (basis, pieces) = (
            Basis { moduli: 3, parts: 1, split: 128 },
            Tiling { rows: 2 * tile_rows, columns: tile_columns, depth: 5 * tile_depth, bytes: 0 },
        );
        let program = KernelModule::find(&kernels::gemm::FAMILY, kernels::bn254::FR.name).expect("module");
        let prime = FieldParams::new(program.modulus(), program.one());
        let constants = Constants::new(&prime, basis, 0);
        let mut stream = device.stream().expect("stream");
        let tables = tables(&mut stream, (kernels::bn254::FR.name, &prime), basis, 0).expect("tables");
        let operands = [Operand { kind: ElementKind::Field, bits: None }; 2];
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut bytes =
            |count: usize| (0..count).map(|_| rng.r#gen::<i8>().max(-127).cast_unsigned()).collect::<Vec<u8>>();
        let (a, b) = (bytes(3 * pieces.rows * pieces.depth), bytes(3 * pieces.columns * pieces.depth));
        let [of_a, of_b] = [&a, &b].map(|bytes| upload(&mut stream, bytes));
        let of_c = stream.allocate(3 * pieces.rows * pieces.columns).expect("buffer");
        let c = DeviceView { buffer: &of_c, view: View::row_major(1, 1), kind: ElementKind::Field };
        let work =
            CrtPass { program, tensor, basis, bytes: false, pieces, operands, tables, ctx: ExecCtx::unreported(None) };
        work.multiply(&mut stream, [&of_a, &of_b, &of_c], c).expect("products");
        assert!(download_bytes(&mut stream, &of_c) == host_products(&a, &b, basis, pieces, &constants.table));
    }

    /// Checks that bytes in the kernels' layout are not copied, and that column-major bytes are transposed and padded
    /// with zeros.
    #[test]
    fn bytes_as_they_are_and_turned() {
        let accelerator = Accelerator::automatic().expect("settings are right");
        let Some(device) = accelerator.devices().first() else { return eprintln!("skipped: bytes, no device") };
        let program = KernelModule::find(&kernels::gemm::FAMILY, kernels::bn254::FR.name).expect("module");
        let prime = FieldParams::new(program.modulus(), program.one());
        let mut stream = device.stream().expect("stream");
        let tables = tables(&mut stream, (kernels::bn254::FR.name, &prime), IDENTITY_BASIS, 0).expect("tables");
        let operands = [Operand { kind: ElementKind::Byte, bits: None }; 2];
        let tensor = TensorCoreKernels { program, local_bytes: 0, groups: 1 };
        let pieces = Tiling { rows: 64, columns: 64, depth: 256, bytes: 0 };
        let work = CrtPass {
            program,
            tensor,
            basis: IDENTITY_BASIS,
            bytes: true,
            pieces,
            operands,
            tables,
            ctx: ExecCtx::unreported(None),
        };
        let bytes: Vec<u8> = (0..64 * 256u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
        let (there, own) = (upload(&mut stream, &bytes), stream.allocate(64 * 256).expect("buffer"));
        let lying = |view| DeviceView { buffer: &there, view, kind: ElementKind::Byte };
        let side = (operands[0], 64);
        let residues_of = work.residues_of(&mut stream, lying(View::row_major(64, 256)), side, &own).expect("bytes");
        assert!(std::ptr::eq(residues_of, &raw const there));
        for (rows, inner) in [(64, 256), (45, 200), (1, 3)] {
            let view = View::row_major(inner, rows).transposed();
            work.residues_of(&mut stream, lying(view), side, &own).expect("bytes");
            let inside = |row: usize, k: usize| if row < rows && k < inner { bytes[k * rows + row] } else { 0 };
            let expected: Vec<u8> = (0..64).flat_map(|row| (0..256).map(move |k| inside(row, k))).collect();
            assert!(download_bytes(&mut stream, &own) == expected, "{rows}, {inner}");
        }
    }

    #[test]
    fn residues_there_and_back() {
        check_field::<halo2curves::bn256::Fr>();
        check_field::<crate::curve::bls12_377::Fr>();
        check_field::<blstrs::Scalar>();
        check_field::<pasta_curves::Fp>();
        check_field::<pasta_curves::Fq>();
        #[cfg(feature = "plonky3")]
        {
            check_field::<crate::field::plonky3::Goldilocks>();
            check_field::<crate::field::plonky3::BabyBear>();
        }
    }
}
