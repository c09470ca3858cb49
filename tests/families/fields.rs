//! `vector_…`: arithmetic of fields, and inverses by groups.

use ff::Field;
use halo2curves::bn256;
use proofwarp::Accelerator;
use proofwarp::backend::Arg;
use proofwarp::curve::bls12_377;
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;

use crate::common::{accelerators_with_devices, rng};

/// Work-items of a group that does one operation each.
const GROUP: u32 = 128;
/// Work-items of a group that inverts, `INVERSE_GROUP` of `cl/field_inverse_warp.cl`.
const INVERSE_GROUP: u32 = 32;

/// One kernel of `cl/test_field.cl` with its definition on the host.
type Operation<F> = (&'static str, fn(F, F) -> F);

fn operations<F: Field>() -> [Operation<F>; 4] {
    [
        ("vector_add", |x, y| x + y),
        ("vector_mul", |x, y| x * y),
        ("vector_sqr", |x, _| x.square()),
        ("vector_div", |x, y| x * y.invert().unwrap_or(F::ZERO)),
    ]
}

fn bytes<F>(values: &[F]) -> &[u8] {
    // SAFETY: the fields' types are arrays of u64 without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_mut<F>(values: &mut [F]) -> &mut [u8] {
    // SAFETY: as above, and every pattern is a value that can be compared.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// A kernel's result on vectors, with numbers ahead of them.
fn launch<F: Field>(
    accelerator: &Accelerator,
    (name, kernel, group): (&str, &str, u32),
    numbers: &[u32],
    inputs: &[&[F]],
) -> Vec<F> {
    let program = KernelModule::find(&kernels::test_kernels::VECTOR, name).expect("module exists");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let size = size_of_val(inputs[0]);
    let buffers: Vec<_> = (0..=inputs.len()).map(|_| stream.allocate(size).expect("memory")).collect();
    for (buffer, input) in buffers.iter().zip(inputs) {
        stream.upload(buffer, bytes(input)).expect("upload");
    }
    let memory = buffers.iter().map(|buffer| Arg::Memory(buffer.handle()));
    let args: Vec<Arg> = numbers.iter().copied().map(Arg::U32).chain(memory).collect();
    let items = inputs[0].len().next_multiple_of(group as usize) as u64;
    // SAFETY: the arguments are those of the kernels of `cl/test_field.cl`.
    unsafe { program.launch(&mut stream, kernel, items, group, &args) }.expect("launch");
    let mut result = vec![F::ZERO; inputs[0].len()];
    stream.download(bytes_mut(&mut result), &buffers[inputs.len()]).expect("download");
    result
}

fn check<F: Field>(name: &str) {
    let mut rng = rng(1);
    let mut values = || (0..45).map(|_| F::random(&mut rng)).chain([F::ONE, -F::ONE]).collect::<Vec<F>>();
    let (a, b) = (values(), values());
    let count = a.len() as u32;
    for accelerator in accelerators_with_devices() {
        for (kernel, expected) in operations::<F>() {
            let found = launch(&accelerator, (name, kernel, GROUP), &[count], &[&a, &b]);
            assert!(found.into_iter().eq(a.iter().zip(&b).map(|(x, y)| expected(*x, *y))), "{kernel} of {name}");
        }
        let found = launch(&accelerator, (name, "vector_invert_groups", INVERSE_GROUP), &[count, 1], &[&a]);
        assert!(found.into_iter().eq(a.iter().map(|value| value.invert().expect("not zero"))), "{name}");
    }
}

macro_rules! tests {
    ($($test:ident: $type:ty;)*) => { $(#[test] fn $test() { check::<$type>(stringify!($test)); })* };
}

tests! {
    bls12_377_fr: bls12_377::Fr;
    bls12_377_fq: bls12_377::Fq;
    bls12_377_fq2: bls12_377::Fq2;
    bls12_381_fr: blstrs::Scalar;
    bls12_381_fq: blstrs::Fp;
    bls12_381_fq2: blstrs::Fp2;
    bn254_fr: bn256::Fr;
    bn254_fq: bn256::Fq;
    bn254_fq2: bn256::Fq2;
    pasta_fp: pasta_curves::Fp;
    pasta_fq: pasta_curves::Fq;
}
