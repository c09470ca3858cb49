//! Every operation of every field on every backend, against the field's Rust type.

mod common;

use ff::Field;
use halo2curves::bn256;
use proofwarp::Accelerator;
use proofwarp::backend::Arg;
use proofwarp::program::Program;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// One kernel of `cl/vector.cl` with its definition on the host.
type Operation<F> = (&'static str, fn(F, F) -> F);

/// The operations; `vector_div` gives zero for a zero divisor, as Fermat's inversion does.
fn operations<F: Field>() -> [Operation<F>; 7] {
    [
        ("vector_add", |x, y| x + y),
        ("vector_sub", |x, y| x - y),
        ("vector_mul", |x, y| x * y),
        ("vector_sqr", |x, _| x.square()),
        ("vector_mul_sub_mul", |x, y| x * y - (x + y) * (x - y)),
        ("vector_neg_add", |x, y| y.double() - x),
        ("vector_div", |x, y| x * y.invert().unwrap_or(F::ZERO)),
    ]
}

/// 0, 1, −1, 2, 1/2 (in Montgomery form and as integers these lie at the ends of the range), then random.
fn samples<F: Field>(count: usize, seed: u64) -> Vec<F> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let two = F::ONE.double();
    let mut values = vec![F::ZERO, F::ONE, -F::ONE, two, two.invert().unwrap_or(F::ZERO), -two];
    values.extend((0..count).map(|_| F::random(&mut rng)));
    values
}

/// All pairs of special values, then random pairs.
fn pairs<F: Field>() -> (Vec<F>, Vec<F>) {
    let special = samples::<F>(2, 1);
    let (mut a, mut b): (Vec<F>, Vec<F>) = special.iter().flat_map(|x| special.iter().map(move |y| (*x, *y))).unzip();
    a.extend(samples::<F>(5000, 2));
    b.extend(samples::<F>(5000, 3));
    (a, b)
}

fn bytes<F>(values: &[F]) -> &[u8] {
    // SAFETY: the fields' types are arrays of u64 without padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_mut<F>(values: &mut [F]) -> &mut [u8] {
    // SAFETY: as above, and every pattern is a value that can be compared.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

fn apply<F: Field>(accelerator: &Accelerator, name: &str, kernel: &str, a: &[F], b: &[F]) -> Vec<F> {
    let program = Program::find("vector", name).expect("module exists");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let [x, y, out] = [(); 3].map(|()| stream.allocate(size_of_val(a)).expect("memory"));
    stream.upload(&x, bytes(a)).expect("upload");
    stream.upload(&y, bytes(b)).expect("upload");
    let [x, y, out_arg] = [&x, &y, &out].map(|buffer| Arg::Memory(buffer.handle()));
    // SAFETY: the arguments are those of the kernels of `cl/vector.cl`.
    unsafe { program.launch(&mut stream, kernel, a.len() as u64, 128, &[Arg::U32(a.len() as u32), x, y, out_arg]) }
        .expect("launch");
    let mut result = vec![F::ZERO; a.len()];
    stream.download(bytes_mut(&mut result), &out).expect("download");
    result
}

fn check<F: Field>(name: &str) {
    let (a, b) = pairs::<F>();
    for accelerator in common::accelerators_with_devices() {
        for (kernel, expected) in operations::<F>() {
            let got = apply(&accelerator, name, kernel, &a, &b);
            for ((x, y), got) in a.iter().zip(&b).zip(got) {
                assert_eq!(got, expected(*x, *y), "{kernel} of {name}: {x:?}, {y:?}");
            }
        }
    }
}

macro_rules! field_tests {
    ($($test:ident: $type:ty, $name:literal;)*) => {
        $(#[test] fn $test() { check::<$type>($name); })*
    };
}

field_tests! {
    bls12_381_fr: blstrs::Scalar, "bls12_381_fr";
    bls12_381_fq: blstrs::Fp, "bls12_381_fq";
    bls12_381_fq2: blstrs::Fp2, "bls12_381_fq2";
    bn254_fr: bn256::Fr, "bn254_fr";
    bn254_fq: bn256::Fq, "bn254_fq";
    bn254_fq2: bn256::Fq2, "bn254_fq2";
    pasta_fp: pasta_curves::Fp, "pasta_fp";
    pasta_fq: pasta_curves::Fq, "pasta_fq";
}
