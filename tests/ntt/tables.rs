//! Tables of fixed factors, made on the device, against the CPU: value and quotient of each.

use ff::PrimeField;
use proofwarp::Accelerator;
use proofwarp::backend::{Arg, Buffer, Stream};
use proofwarp::field::{TransformField, as_bytes};
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use rand::Rng;

use crate::common::ntt::{of_every_field, omega, power, reverse};
use crate::common::{accelerators, rng};

/// Orders up to which every factor is compared; above, samples. Less where OpenCL runs on the host's processor.
const FULL: u32 = 20;
const FULL_ON_A_CPU: u32 = 16;
/// Samples of a larger table.
const SAMPLES: usize = 1000;

/// What `cl/ntt_twiddles.cl` numbers.
const FACTOR_IN: u32 = 1;
const FACTOR_OUT: u32 = 2;
const FACTOR_SCALE: u32 = 4;

type Words = [u64; 4];

fn words(bytes: &[u8]) -> Words {
    std::array::from_fn(|i| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().expect("8 bytes")))
}

fn modulus<F: PrimeField>() -> Words {
    // p is odd: p − 1 ends in 0.
    let mut p = words((-F::ONE).to_repr().as_ref());
    p[0] += 1;
    p
}

/// Whether `factor` is b's canonical form followed by ⌊b·2^256/p⌋: b·2^256 = quotient·p + (b·2^256 mod p), the last
/// being what the host has in memory.
fn is_factor_of<F: TransformField>(factor: &[u8], b: F, p: &Words) -> bool {
    let (value, quotient) = (words(&factor[..32]), words(&factor[32..]));
    let mut sum = [0u64; 8];
    sum[..4].copy_from_slice(&words(as_bytes(&[b])));
    for i in 0..4 {
        let mut carry = 0u128;
        for j in 0..4 {
            carry += u128::from(sum[i + j]) + u128::from(quotient[i]) * u128::from(p[j]);
            sum[i + j] = carry as u64;
            carry >>= 64;
        }
        sum[i + 4] = carry as u64;
    }
    value == words(b.to_repr().as_ref()) && sum[..4] == [0; 4] && sum[4..] == value
}

struct Maker<'a, F> {
    accelerator: &'a Accelerator,
    stream: Stream,
    params: Buffer,
    p: Words,
    elements: [F; 4],
}

impl<'a, F: TransformField> Maker<'a, F> {
    /// Uploads towers of ω, the shifts in and out, and the scale.
    fn new(accelerator: &'a Accelerator, log_n: u32) -> Self {
        let elements = [omega(log_n), F::MULTIPLICATIVE_GENERATOR, -F::from(3), F::from(1 << 50).square()];
        let tower = |base: F| std::iter::successors(Some(base), |power| Some(power.square())).take(32);
        let params: Vec<F> = elements[..3].iter().flat_map(|base| tower(*base)).chain([elements[3]]).collect();
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let buffer = stream.allocate(size_of_val(params.as_slice())).expect("memory");
        stream.upload(&buffer, as_bytes(&params)).expect("upload");
        Self { accelerator, stream, params: buffer, p: modulus::<F>(), elements }
    }

    fn make(&mut self, kernel: &str, numbers: &[u32]) -> Vec<u8> {
        let count = numbers[numbers.len() - 1];
        let table = self.stream.allocate(64 * count as usize).expect("memory");
        let mem = |buffer: &Buffer| Arg::Memory(buffer.handle());
        let numbers = numbers.iter().map(|number| Arg::U32(*number));
        let args: Vec<Arg> = [mem(&self.params)].into_iter().chain(numbers).chain([mem(&table)]).collect();
        let program = KernelModule::find(&kernels::ntt::FAMILY, F::NAME).expect("module");
        // SAFETY: the arguments are those of the kernels of `cl/ntt_twiddles.cl`, and the table has `count` factors.
        unsafe { program.launch(&mut self.stream, kernel, u64::from(count), 128, &args) }.expect("launch");
        let mut bytes = vec![0; 64 * count as usize];
        self.stream.download(&mut bytes, &table).expect("download");
        bytes
    }

    fn check(&self, what: &str, table: &[u8], at: usize, expected: F) {
        let good = is_factor_of(&table[64 * at..64 * at + 64], expected, &self.p);
        assert!(good, "{what}, factor {at}, {:?}", self.accelerator);
    }
}

fn full(accelerator: &Accelerator) -> u32 {
    if !accelerator.devices()[0].info().is_cpu {
        return FULL;
    }
    eprintln!("left out: all of 2^{} to 2^{FULL}, since {accelerator:?} is the host's processor", FULL_ON_A_CPU + 1);
    FULL_ON_A_CPU
}

/// Which of so many factors are compared.
fn chosen(count: usize, every: bool) -> Vec<usize> {
    if every {
        return (0..count).collect();
    }
    let mut rng = rng(count as u64);
    (0..SAMPLES).map(|_| rng.gen_range(0..count)).chain([0, count - 1]).collect()
}

/// All nodes of the trees of every order: node 2^d + b is g^h·ω^(h·reversed b), h = n/2^(d + 1).
fn nodes<F: TransformField>() {
    for accelerator in accelerators().iter().filter(|accelerator| !accelerator.devices().is_empty()) {
        let full = full(accelerator);
        for log_n in (1..=full).chain([24, F::S.min(28)]) {
            let mut maker = Maker::<F>::new(accelerator, log_n);
            // Of large orders the first nodes, which are those in use.
            let count_log = log_n.min(full);
            let table = maker.make("ntt_twiddle_tree", &[log_n, 1 << count_log]);
            maker.check("the node that is not used", &table, 0, F::ONE);
            for depth in 0..count_log {
                let half_log = log_n - depth - 1;
                let root = (0..half_log).fold(maker.elements[0], |root, _| root.square());
                let shift = (0..half_log).fold(maker.elements[1], |shift, _| shift.square());
                let every = log_n <= full;
                let powers: Vec<F> = match every {
                    true => std::iter::successors(Some(shift), |power| Some(*power * root)).take(1 << depth).collect(),
                    false => Vec::new(),
                };
                for block in chosen(1 << depth, every) {
                    let exponent = reverse(block, depth);
                    let expected = if every { powers[exponent] } else { shift * power(root, exponent) };
                    maker.check(&format!("nodes of 2^{log_n}"), &table, (1 << depth) + block, expected);
                }
            }
        }
    }
}

/// Every factor of tables as the last pass has them: ω^(k·i·2^shift) times powers of the shifts and the scale.
fn factors<F: TransformField>() {
    for accelerator in accelerators().iter().filter(|accelerator| !accelerator.devices().is_empty()) {
        let full = full(accelerator);
        for log_n in (0..=full).chain([24, F::S.min(28)]) {
            let mut maker = Maker::<F>::new(accelerator, log_n);
            let width_log = log_n.div_ceil(2).min(8);
            let rows_log = (log_n - width_log).min(full - width_log);
            for (shift, which) in [(0, FACTOR_IN | FACTOR_SCALE), (log_n - width_log - rows_log, FACTOR_OUT), (0, 0)] {
                let table = maker.make("ntt_twiddles", &[width_log, shift, which, 1 << (rows_log + width_log)]);
                let [omega, shift_in, shift_out, scale] = maker.elements;
                let if_set = |flag: u32, value: F| if which & flag == 0 { F::ONE } else { value };
                for k in chosen(1 << rows_log, log_n <= full) {
                    let exponent = k << shift;
                    let step = power(omega, exponent) * if_set(FACTOR_IN, shift_in);
                    let mut expected = if_set(FACTOR_SCALE, scale) * power(if_set(FACTOR_OUT, shift_out), exponent);
                    for i in 0..1usize << width_log {
                        maker.check("factors", &table, k << width_log | i, expected);
                        expected *= step;
                    }
                }
            }
        }
    }
}

of_every_field! {
    multi-limb:
    nodes
    factors
}
