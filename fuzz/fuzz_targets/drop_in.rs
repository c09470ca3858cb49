//! Slices of any lengths for the drop-in of ec-gpu-gen: an error, or the sum and the transform of the definition.
#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use blstrs::{G1Affine, G1Projective, Scalar};
use ec_gpu_gen::fft::FftKernel;
use ec_gpu_gen::multiexp::MultiexpKernel;
use ec_gpu_gen::multiexp_cpu::{DensityTracker, FullDensity, multiexp_cpu};
use ec_gpu_gen::rust_gpu_tools::{Device, Program};
use ec_gpu_gen::threadpool::Worker;
use ff::{Field, PrimeField};
use group::{Curve, Group};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input {
    bases: Vec<u8>,
    exponents: Vec<[u8; 32]>,
    skip: u8,
    density: Option<Vec<bool>>,
    values: Vec<u64>,
    log_n: u8,
    log_omega: u8,
}

fuzz_target!(|input: Input| {
    let bases: Vec<G1Affine> =
        input.bases.iter().map(|n| (G1Projective::generator() * Scalar::from(u64::from(*n))).to_affine()).collect();
    let bases = Arc::new(bases);
    let exponents = Arc::new(input.exponents.clone());
    on_the_cpu(&input, &bases, &exponents);
    let programs = || Device::all().into_iter().map(|device| Program::new(device, None, None).expect("a program"));
    if let Ok(mut kernel) = MultiexpKernel::<G1Affine>::create(programs().collect(), &Device::all()) {
        let skip = usize::from(input.skip);
        let sum = kernel.multiexp(&Worker::new(), bases.clone(), exponents.clone(), skip);
        let expected = bases.get(skip..skip + exponents.len()).map(|bases| by_definition(bases, &exponents));
        assert_eq!(sum.ok(), expected, "on devices");
    }
    if let Ok(mut kernel) = FftKernel::<Scalar>::create(programs().collect()) {
        let mut values: Vec<_> = input.values.iter().copied().map(Scalar::from).collect();
        let (before, omega) = (values.clone(), root(input.log_omega));
        match kernel.radix_fft(&mut values, &omega, u32::from(input.log_n)) {
            Ok(()) => assert_eq!(values, transformed(&before, omega)),
            Err(_) => assert_eq!(values, before),
        }
    }
});

fn on_the_cpu(input: &Input, bases: &Arc<Vec<G1Affine>>, exponents: &Arc<Vec<[u8; 32]>>) {
    let source = (bases.clone(), usize::from(input.skip));
    let worker = Worker::new();
    let _outcome = match &input.density {
        None => multiexp_cpu(&worker, source, FullDensity, exponents.clone()).wait(),
        Some(bits) => {
            let total_density = bits.iter().filter(|bit| **bit).count();
            let density = DensityTracker { bv: bits.iter().collect(), total_density };
            multiexp_cpu(&worker, source, Arc::new(density), exponents.clone()).wait()
        }
    };
}

/// Exponents of any 256 bits.
fn by_definition(bases: &[G1Affine], exponents: &[[u8; 32]]) -> G1Projective {
    let multiple = |(base, exponent): (&G1Affine, &[u8; 32])| {
        let bits = exponent.iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
        bits.fold(G1Projective::identity(), |sum, bit| if bit { sum.double() + base } else { sum.double() })
    };
    bases.iter().zip(exponents).map(multiple).sum()
}

fn root(log_n: u8) -> Scalar {
    (u32::from(log_n)..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
}

fn transformed(values: &[Scalar], omega: Scalar) -> Vec<Scalar> {
    let power = |exponent: usize| omega.pow_vartime([exponent as u64]);
    (0..values.len()).map(|j| values.iter().enumerate().map(|(i, x)| *x * power(i * j)).sum()).collect()
}
