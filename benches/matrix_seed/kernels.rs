//! The kernels of `cuda/experiments.cu`, by events.

use std::sync::Arc;

use bench_support::protocol::Answer;
use bench_support::results::Outcome;
use bench_support::sampling::median;
use bench_support::{Failure, inputs};
use ff::{Field, PrimeField};
use halo2curves::bn256::Fr;
use num_bigint::BigUint;
use proofwarp::backend::Arg;
use proofwarp::field::as_bytes;
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use proofwarp::{Accelerator, Buffer, Device, Stream};

use crate::{LOG_SIDE, check};

/// Work-items of a group, `EXPERIMENT_GROUP`, and words of local memory, `EXPERIMENT_WORDS`.
const GROUP: u32 = 256;
const WORDS: u32 = 8192;
/// Work-items of what has no matrix, and what each does.
const ITEMS: usize = 1 << 20;
const ROUNDS: u32 = 1000;
/// A prime below 2^63.
const MODULUS: u64 = (1 << 61) - 1;
/// What entries are below, so that sums are exact.
const ENTRIES: u32 = 4;

/// Kernels of floating point numbers, what they are called, and how many entries a work-item makes.
pub const FLOATS: [(&str, &str, usize); 6] = [
    ("experiment_plain_half", "plain, 16 bits", 1),
    ("experiment_plain", "plain", 1),
    ("experiment_tiled", "tiled", 4),
    ("experiment_packed", "packed", 4),
    ("experiment_packed_tensor", "packed, tensor cores, 16 bits", 32),
    ("experiment_tensor", "tensor cores, 16 bits", 32),
];

/// Neighbours' words so far apart.
pub fn stride(cuda: &Accelerator, stride: u32) -> Result<Outcome, Failure> {
    let mut run = Run::new(cuda)?;
    let out = run.stream.allocate(4 * ITEMS)?;
    let args = [Arg::U32(stride), Arg::U32(ROUNDS), Arg::Memory(out.handle())];
    run.launch("experiment_stride", &args)?;
    let found: Vec<u32> = run.words(&out, ITEMS)?;
    let sum = |item: u32| (0..ROUNDS).map(|round| (item * stride + 32 * round) % WORDS).sum::<u32>();
    let sums: Vec<u32> = (0..GROUP).map(sum).collect();
    check(found.chunks(GROUP as usize).all(|group| group == sums))?;
    run.time("experiment_stride", &args)
}

/// C = A·B of whole numbers, which floating point numbers are exact for.
pub fn floats(cuda: &Accelerator, (kernel, entries_of_item): (&str, usize)) -> Result<Outcome, Failure> {
    let side = 1usize << LOG_SIDE;
    let entry = |i: usize, seed: usize| (i.wrapping_mul(0x9e37_79b9 + 2 * seed) >> 11) as u32 % ENTRIES;
    let [a, b] = [1, 2].map(|seed| (0..side * side).map(|i| entry(i, seed)).collect::<Vec<u32>>());
    let mut run = Run::new(cuda)?;
    // Tensor cores take B by its columns.
    let columns: Vec<u32> = (0..side * side).map(|i| b[i % side * side + i / side]).collect();
    let (of_a, of_b) = match (kernel.ends_with("tensor"), kernel.ends_with("half")) {
        (true, _) => (run.upload(&halves(&a))?, run.upload(&halves(&columns))?),
        (_, true) => (run.upload(&halves(&a))?, run.upload(&halves(&b))?),
        _ => (run.upload(&singles(&a))?, run.upload(&singles(&b))?),
    };
    let of_c = run.stream.allocate(4 * side * side)?;
    let args =
        [&[Arg::U32(side as u32)][..], &[&of_a, &of_b, &of_c].map(|buffer| Arg::Memory(buffer.handle()))].concat();
    run.items = side * side / entries_of_item;
    run.launch(kernel, &args)?;
    let found: Vec<u32> = run.words(&of_c, side * side)?;
    for row in [0, 1, 77, side / 2 + 5, side - 1] {
        for column in 0..side {
            let sum: u32 = (0..side).map(|k| a[row * side + k] * columns[column * side + k]).sum();
            check(found[row * side + column] == (sum as f32).to_bits())?;
        }
    }
    run.time(kernel, &args)
}

fn singles(numbers: &[u32]) -> Vec<f32> {
    numbers.iter().map(|number| *number as f32).collect()
}

/// Small whole numbers as pairs of 16 bits.
fn halves(numbers: &[u32]) -> Vec<u32> {
    let bits = |number: u32| [0, 0x3c00, 0x4000, 0x4200][number as usize % 4];
    numbers.chunks(2).map(|pair| bits(pair[0]) | bits(pair[1]) << 16).collect()
}

/// So many products modulo 64 bits for each work-item.
pub fn modulo(cuda: &Accelerator, montgomery: bool) -> Result<Outcome, Failure> {
    let mut run = Run::new(cuda)?;
    let numbers: Vec<u64> = (1..=ITEMS as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % MODULUS).collect();
    let (x, out) = (run.upload(&numbers)?, run.stream.allocate(8 * ITEMS)?);
    let buffers = [&x, &out].map(|buffer| Arg::Memory(buffer.handle()));
    // Newton's iteration.
    let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(MODULUS.wrapping_mul(x))));
    let (kernel, factor) = match montgomery {
        true => ("experiment_montgomery", [Arg::U64(inverse.wrapping_neg())].to_vec()),
        false => ("experiment_remainder", Vec::new()),
    };
    let args = [&[Arg::U32(ROUNDS), Arg::U64(MODULUS)][..], &factor, &buffers].concat();
    run.launch(kernel, &args)?;
    let found: Vec<u64> = run.words(&out, ITEMS)?;
    let times = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64;
    // 1/R = 2^(61·2 − 64), since 2^61 is 1.
    let scale = if montgomery { 1 << 58 } else { 1 };
    for number in (0..ITEMS).step_by(4001) {
        let x = numbers[number];
        let expected = (0..ROUNDS).fold(x, |value, _| times(times(value, x), scale));
        check(found[number] == expected)?;
    }
    run.time(kernel, &args)
}

/// The same of elements of BN254's scalar field, of 254 bits.
pub fn modulo_long(cuda: &Accelerator, montgomery: bool) -> Result<Outcome, Failure> {
    let mut run = Run::new(cuda)?;
    run.items = ITEMS / 8;
    let elements: Vec<Fr> = inputs::coefficients(run.items);
    // In Montgomery form, as they lie, or as numbers.
    let bytes = |elements: &[Fr]| match montgomery {
        true => as_bytes(elements).to_vec(),
        false => elements.iter().flat_map(|element| element.to_repr().as_ref().to_vec()).collect(),
    };
    let modulus = BigUint::from_bytes_le((-Fr::ONE).to_repr().as_ref()) + 1u32;
    let low = modulus.iter_u32_digits().next().ok_or("a modulus without digits")?;
    let inverse = (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(low.wrapping_mul(x))));
    let shift = 256 - modulus.bits() as u32;
    let (kernel, number, words) = match montgomery {
        true => ("experiment_montgomery_long", inverse.wrapping_neg(), modulus.to_u32_digits()),
        false => ("experiment_remainder_long", shift, (modulus << shift).to_u32_digits()),
    };
    let (words, x) = (run.upload(&words)?, run.upload(&bytes(&elements))?);
    let out = run.stream.allocate(32 * run.items)?;
    let buffers = [&words, &x, &out].map(|buffer| Arg::Memory(buffer.handle()));
    let args = [&[Arg::U32(ROUNDS), Arg::U32(number)][..], &buffers].concat();
    run.launch(kernel, &args)?;
    let found: Vec<[u8; 32]> = run.words(&out, run.items)?;
    let some = (0..run.items).step_by(501);
    let expected: Vec<Fr> = some.clone().map(|item| elements[item].pow_vartime([u64::from(ROUNDS) + 1])).collect();
    check(some.flat_map(|item| found[item]).eq(bytes(&expected)))?;
    run.time(kernel, &args)
}

/// A stream of a device, and launches on it.
struct Run {
    stream: Stream,
    program: KernelModule,
    items: usize,
}

impl Run {
    fn new(cuda: &Accelerator) -> Result<Self, Failure> {
        let device: &Arc<Device> = cuda.devices().first().ok_or("no device")?;
        Ok(Self {
            stream: device.stream()?,
            program: KernelModule::find(&kernels::test_kernels::EXPERIMENTS, "seed")?,
            items: ITEMS,
        })
    }

    fn upload<T: bytemuck::NoUninit>(&mut self, values: &[T]) -> Result<Buffer, Failure> {
        let buffer = self.stream.allocate(size_of_val(values))?;
        self.stream.upload(&buffer, bytemuck::cast_slice(values))?;
        Ok(buffer)
    }

    fn words<T: bytemuck::Pod>(&mut self, buffer: &Buffer, count: usize) -> Result<Vec<T>, Failure> {
        let mut words = vec![T::zeroed(); count];
        self.stream.download(bytemuck::cast_slice_mut(&mut words), buffer)?;
        Ok(words)
    }

    fn launch(&mut self, kernel: &str, args: &[Arg]) -> Result<(), Failure> {
        // SAFETY: the arguments are those of the kernel, whose buffers have room for all items.
        unsafe { self.program.launch(&mut self.stream, kernel, self.items as u64, GROUP, args)? };
        Ok(())
    }

    fn time(&mut self, kernel: &str, args: &[Arg]) -> Result<Outcome, Failure> {
        median(|iterations| {
            let start = self.stream.stats().kernels;
            self.stream.begin_timing()?;
            (0..iterations).try_for_each(|_| self.launch(kernel, args))?;
            self.stream.end_timing()?;
            self.stream.synchronize(None)?;
            Ok(Answer { time: self.stream.stats().kernels.saturating_sub(start), note: "by events".to_owned() })
        })
    }
}
