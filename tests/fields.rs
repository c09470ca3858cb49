//! Every operation of every field on every backend, against the field's Rust type.

mod common;

use ff::Field;
use halo2curves::bn256;
use proofwarp::Accelerator;
use proofwarp::backend::Arg;
use proofwarp::curve::bls12_377;
use proofwarp::field::NttField;
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// One kernel of `cl/test_field.cl` with its definition on the host.
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
    let program = KernelModule::find(&kernels::test_kernels::VECTOR, name).expect("module exists");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let [x, y, out] = [(); 3].map(|()| stream.allocate(size_of_val(a)).expect("memory"));
    stream.upload(&x, bytes(a)).expect("upload");
    stream.upload(&y, bytes(b)).expect("upload");
    let [x, y, out_arg] = [&x, &y, &out].map(|buffer| Arg::Memory(buffer.handle()));
    // SAFETY: the arguments are those of the kernels of `cl/test_field.cl`.
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

/// Work-items of a group that inverts, `INVERSE_GROUP` of `cl/field_inverse_warp.cl`.
const INVERSE_GROUP: usize = 32;

/// Values to invert by groups: one kind in all places of a group, each kind in one place, powers of two and small
/// ones (whose digits are mostly zero), random ones; the last group is not full.
fn invertible<F: Field>() -> Vec<F> {
    let special: Vec<F> = samples::<F>(1, 4).into_iter().filter(|value| !bool::from(value.is_zero())).collect();
    let mut values: Vec<F> = special.iter().flat_map(|value| [*value; INVERSE_GROUP]).collect();
    let random = samples::<F>(INVERSE_GROUP * INVERSE_GROUP, 5).split_off(6);
    let replaced = |(i, value)| if i % INVERSE_GROUP == i / INVERSE_GROUP { special[i % special.len()] } else { value };
    values.extend(random.into_iter().enumerate().map(replaced));
    values.extend(std::iter::successors(Some(F::ONE), |power| Some(power.double())).take(400));
    values.extend(std::iter::successors(Some(F::ONE), |value| Some(*value + F::ONE)).take(300));
    values.extend(samples::<F>(1501, 6).split_off(6));
    values
}

/// The inverses of groups of values, again inverted so many times in all.
fn invert_groups<F: Field>(accelerator: &Accelerator, name: &str, values: &[F], rounds: u32) -> Vec<F> {
    let program = KernelModule::find(&kernels::test_kernels::VECTOR, name).expect("module exists");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let [from, to] = [(); 2].map(|()| stream.allocate(size_of_val(values)).expect("memory"));
    stream.upload(&from, bytes(values)).expect("upload");
    let memory = [&from, &to].map(|buffer| Arg::Memory(buffer.handle()));
    let args = [&[values.len() as u32, rounds].map(Arg::U32)[..], &memory].concat();
    let items = values.len().next_multiple_of(INVERSE_GROUP) as u64;
    // SAFETY: the arguments are those of the kernel of `cl/test_field.cl`.
    unsafe { program.launch(&mut stream, "vector_invert_groups", items, INVERSE_GROUP as u32, &args) }.expect("launch");
    let mut result = vec![F::ZERO; values.len()];
    stream.download(bytes_mut(&mut result), &to).expect("download");
    result
}

fn check_groups<F: Field>(name: &str) {
    let values = invertible::<F>();
    assert!(!values.len().is_multiple_of(INVERSE_GROUP));
    for accelerator in common::accelerators_with_devices() {
        for rounds in [1, 2, 3] {
            let got = invert_groups(&accelerator, name, &values, rounds);
            for (i, (value, got)) in values.iter().zip(got).enumerate() {
                let expected = if rounds == 2 { *value } else { value.invert().expect("not zero") };
                assert_eq!(got, expected, "{rounds} inversions in {name}: number {i}, {value:?}");
            }
        }
    }
}

macro_rules! field_tests {
    ($($test:ident: $type:ty, $name:literal;)*) => {
        $(#[test] fn $test() {
            check::<$type>($name);
            check_groups::<$type>($name);
        })*
    };
}

field_tests! {
    bls12_377_fr: bls12_377::Fr, "bls12_377_fr";
    bls12_377_fq: bls12_377::Fq, "bls12_377_fq";
    bls12_377_fq2: bls12_377::Fq2, "bls12_377_fq2";
    bls12_381_fr: blstrs::Scalar, "bls12_381_fr";
    bls12_381_fq: blstrs::Fp, "bls12_381_fq";
    bls12_381_fq2: blstrs::Fp2, "bls12_381_fq2";
    bn254_fr: bn256::Fr, "bn254_fr";
    bn254_fq: bn256::Fq, "bn254_fq";
    bn254_fq2: bn256::Fq2, "bn254_fq2";
    pasta_fp: pasta_curves::Fp, "pasta_fp";
    pasta_fq: pasta_curves::Fq, "pasta_fq";
}

/// The modulus itself is no element, and what is one less is.
fn the_modulus_is_refused<F: NttField>() {
    let mut bytes = (-F::ONE).to_repr().as_ref().to_vec();
    let mut elements = vec![F::ONE; 5];
    for (expected, number) in [(None, 0), (Some("field: element 3: expected limbs below the modulus, got others"), 1)] {
        bytes[0] += number;
        bytes_mut(&mut elements[3..4]).copy_from_slice(&bytes);
        let error = proofwarp::field::check_reduced(&elements).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{}", F::NAME);
    }
}

#[test]
fn moduli() {
    the_modulus_is_refused::<bls12_377::Fr>();
    the_modulus_is_refused::<blstrs::Scalar>();
    the_modulus_is_refused::<bn256::Fr>();
    the_modulus_is_refused::<pasta_curves::Fp>();
    the_modulus_is_refused::<pasta_curves::Fq>();
}
