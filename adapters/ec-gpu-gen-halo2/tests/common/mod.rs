//! What tests share: the program of the first device, and numbers that are the same in every run.

#![allow(dead_code, reason = "each test file is a crate of its own and uses what it needs")]

pub mod bn254;

use bn254::Fr;
use ec_gpu_gen::rust_gpu_tools::cuda::{Buffer, Program as OnDevice};
use ec_gpu_gen::rust_gpu_tools::{Device, LocalBuffer, Program};
use ec_gpu_gen::{EcResult, program};
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

pub fn rng(seed: u8) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed.into())
}

pub fn random(length: usize, seed: u8) -> Vec<Fr> {
    let mut rng = rng(seed);
    (0..length).map(|_| Fr::random(&mut rng)).collect()
}

/// A program of the first device.
pub fn first() -> Program {
    let devices = Device::all();
    let device = devices[0];
    program!(device).expect("a program")
}

/// Runs a body on a program's device.
pub fn on<T>(program: &Program, body: impl FnOnce(&OnDevice) -> EcResult<T>) -> EcResult<T> {
    program.run((|program: &OnDevice, ()| body(program), ()), ())
}

/// A primitive root of unity of order 2^log_n.
pub fn root(log_n: u32) -> Fr {
    (log_n..Fr::S).fold(Fr::root_of_unity(), |root, _| root.square())
}

/// What callers make for the rounds of a transform: powers of ω's (n / 2^max)-th power, and ω to the powers 2^i.
pub struct Tables {
    pub pq: Buffer<Fr>,
    pub omegas: Buffer<Fr>,
}

const MAX_DEGREE: u32 = 8;

impl Tables {
    pub fn new(program: &OnDevice, log_n: u32, omega: Fr) -> EcResult<Self> {
        let max_degree = MAX_DEGREE.min(log_n);
        let step = omega.pow_vartime([1u64 << (log_n - max_degree)]);
        let pq: Vec<_> =
            std::iter::successors(Some(Fr::one()), |power| Some(*power * step)).take(1 << max_degree >> 1).collect();
        let omegas: Vec<_> = std::iter::successors(Some(omega), |power| Some(power.square())).take(32).collect();
        Ok(Self { pq: program.create_buffer_from_slice(&pq)?, omegas: program.create_buffer_from_slice(&omegas)? })
    }
}

/// Transforms as callers do, round by round; the buffer with the result, and the other one.
pub fn rounds<F: PrimeField>(
    program: &OnDevice,
    values: Buffer<F>,
    log_n: u32,
    (pq, omegas): (&Buffer<F>, &Buffer<F>),
) -> EcResult<[Buffer<F>; 2]> {
    let (n, max_degree) = (1u32 << log_n, MAX_DEGREE.min(log_n));
    // SAFETY: it is zero.
    let mut pair = [values, unsafe { program.create_buffer::<F>(n as usize)? }];
    let mut log_p = 0u32;
    while log_p < log_n {
        let degree = max_degree.min(log_n - log_p);
        let group_size = 1usize << (degree - 1).min(7);
        let kernel = program.create_kernel("Bn256_Fr_radix_fft", (n >> degree) as usize, group_size)?;
        kernel
            .arg(&pair[0])
            .arg(&pair[1])
            .arg(pq)
            .arg(omegas)
            .arg(&LocalBuffer::<F>::new(1 << degree))
            .arg(&n)
            .arg(&log_p)
            .arg(&degree)
            .arg(&max_degree)
            .run()?;
        log_p += degree;
        pair.swap(0, 1);
    }
    Ok(pair)
}

/// The value of a polynomial by its coefficients.
pub fn horner(coefficients: &[Fr], x: Fr) -> Fr {
    coefficients.iter().rev().fold(Fr::zero(), |sum, coefficient| sum * x + coefficient)
}
