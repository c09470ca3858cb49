//! Every item of the interface by the types that the fork passes: it compiles, and does something.

// Lines are as the fork has them.
#![allow(missing_docs, clippy::unwrap_used, clippy::useless_vec, clippy::linkedlist, clippy::unnecessary_to_owned)]

mod common;

use std::collections::LinkedList;
use std::rc::Rc;
use std::sync::Arc;

use common::bn254::{Fq, Fr, G1, G1Affine};
use ec_gpu_gen::fft::{FftKernel, SingleFftKernel};
use ec_gpu_gen::multiexp::{MultiexpKernel, SingleMultiexpKernel};
use ec_gpu_gen::rust_gpu_tools::cuda::{Buffer, Kernel, Program};
use ec_gpu_gen::rust_gpu_tools::{self, Device, GPUError, LocalBuffer, program_closures};
use ec_gpu_gen::threadpool::Worker;
use ec_gpu_gen::{EcError, EcResult, SourceBuilder, generate};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;

/// A build script's lines.
#[test]
fn sources() {
    let builder = SourceBuilder::new().add_fft::<Fr>().add_multiexp::<G1Affine, Fq>();
    generate(&builder);
}

/// Buffers that are shared, cached and recycled by generic code, as in the evaluation of expressions.
struct Helper<F: PrimeField> {
    origin: Rc<Buffer<F>>,
    constant: Rc<Buffer<F>>,
}

fn helper<F: PrimeField>(program: &Program, c: F) -> EcResult<Helper<F>> {
    let constant = Rc::new(program.create_buffer_from_slice(&vec![c])?);
    // SAFETY: it is zero.
    let origin = Rc::new(unsafe { program.create_buffer::<F>(128)? });
    Ok(Helper { origin, constant })
}

fn evaluate<F: PrimeField>(
    program: &Program,
    values: &[F],
    allocator: &mut LinkedList<Buffer<F>>,
    helper: &mut Helper<F>,
) -> EcResult<(Rc<Buffer<F>>, i32)> {
    let size = 128u32;
    // SAFETY: it is zero.
    let to = allocator.pop_front().unwrap_or_else(|| unsafe { program.create_buffer::<F>(size as usize).unwrap() });
    let origin = Rc::get_mut(&mut helper.origin).unwrap();
    program.write_from_buffer(origin, &values.to_vec())?;
    let kernel: Kernel<'_> =
        program.create_kernel(&format!("{}_eval_scale", "Bn256_Fr"), (size / 128) as usize, 128usize)?;
    kernel.arg(&to).arg(origin).arg(&0).arg(&size).arg(helper.constant.as_ref()).run()?;
    let res = Rc::new(to);
    allocator.push_back(program.create_buffer_from_slice(values)?);
    Ok((res, 0))
}

/// A closure that captures, with a mutable slice, run by the first of an `FftKernel`'s kernels.
fn run<F: PrimeField>(device: &Device, values: &mut [F], c: F) {
    let closures =
        ec_gpu_gen::rust_gpu_tools::program_closures!(|program, input: &mut [F]| -> ec_gpu_gen::EcResult<()> {
            let mut helper = helper(program, c)?;
            let (res, _) = evaluate(program, &*input, &mut LinkedList::new(), &mut helper)?;
            program.read_into_buffer(&res, input)?;
            Ok(())
        });
    let programs = vec![ec_gpu_gen::program!(device).unwrap()];
    let kern = FftKernel::<Fr>::create(programs).expect("Cannot initialize kernel!");
    kern.kernels[0].program.run(closures, &mut values[..]).unwrap();
}

#[test]
fn generic_code() {
    let devices = Device::all();
    let device = devices[3 % devices.len()];
    let mut values: Vec<_> = (0..128).map(Fr::from).collect();
    run(device, &mut values, Fr::from(5));
    assert!(values.iter().zip(0..).all(|(value, i)| *value == Fr::from(5 * i)));
    assert!(device.compute_units() > 0 && !device.name().is_empty());
}

/// A tuple as argument, and buffers whose type is told by what is read into.
#[test]
fn tuples() {
    let devices = Device::all();
    let device = devices[0];
    let closures = program_closures!(|program, args: (&mut [Fr], usize, &[G1Affine])| -> EcResult<usize> {
        let (input, number, points) = args;
        // SAFETY: it is zero.
        let values = unsafe { program.create_buffer(input.len())? };
        let c = program.create_buffer_from_slice(&[Fr::from(number as u64)])?;
        let kernel = program.create_kernel("Bn256_Fr_eval_constant", input.len() / 128, 128)?;
        kernel.arg(&values).arg(&c).run()?;
        program.read_into_buffer(&values, input)?;
        Ok(points.len())
    });
    let program: rust_gpu_tools::Program = ec_gpu_gen::program!(device).unwrap();
    let mut values = vec![Fr::zero(); 256];
    assert_eq!(program.run(closures, (&mut values[..], 7, &[G1Affine::generator()][..])).unwrap(), 1);
    assert!(values.iter().all(|value| *value == Fr::from(7)));
    let _ = LocalBuffer::<Fr>::new(1 << 7);
}

/// Kernels made as the fork makes them.
#[test]
fn whole_operations() {
    let devices = Device::all();
    let programs = devices.iter().map(|device| ec_gpu_gen::program!(device)).collect::<Result<_, _>>();
    let mut kern = MultiexpKernel::<G1Affine>::create(programs.expect("Cannot create programs!"), &devices).unwrap();
    let (bases, coeffs) = (Arc::new(vec![G1Affine::generator(); 2]), Arc::new(vec![Fr::one(); 2]));
    let a: [G1; 1] = [kern.multiexp(&Worker::new(), bases.clone(), coeffs.clone(), 0).unwrap()];
    let device = devices[0];
    let kern = SingleMultiexpKernel::<G1Affine>::create(ec_gpu_gen::program!(device).unwrap(), device, None).unwrap();
    let b: [G1; 1] = [kern.multiexp_bound(&bases, &coeffs, 254).unwrap()];
    assert_eq!(a, b);
    let (omega, divisor) = (-Fr::one(), Fr::from(2).invert().unwrap());
    let mut values = coeffs.to_vec();
    assert_eq!(kern.multiexp_bound_and_ifft(&bases, &mut values, 1, &omega, &divisor, 1).unwrap(), a[0]);
    assert_eq!(values, [Fr::one(), Fr::zero()]);
    let mut kern = SingleFftKernel::<Fr>::create(ec_gpu_gen::program!(device).unwrap(), None).unwrap();
    kern.radix_fft(&mut values, &omega, 1).unwrap();
    kern.radix_ifft(&mut values, &omega, &divisor, 1).unwrap();
    assert_eq!(values, [Fr::one(), Fr::zero()]);
}

/// What a closure's `?` converts.
#[test]
fn errors() {
    let error: EcError = GPUError::KernelNotFound("Bn256_Fr_none".to_owned()).into();
    assert!(error.to_string().contains("Bn256_Fr_none"));
}

/// Elements of other fields are refused, where the crate that is replaced has no kernel of their name.
#[test]
fn other_types() {
    let devices = Device::all();
    let program = || ec_gpu_gen::program!(devices[0]).unwrap();
    let text = SingleFftKernel::<Fq>::create(program(), None).err().expect("refused").to_string();
    assert!(text.contains("Fq"), "{text}");
}
