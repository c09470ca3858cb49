//! Multi-exponentiation through the public interface, on the CPU and on whatever devices there are.
#![cfg(any(feature = "cuda", feature = "opencl"))]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, RwLock};

use blstrs::{G1Affine, G2Affine, Scalar};
use common::{Patience, assert_soon, exclusive, fail_after, programs};
use ec_gpu::GpuName;
use ec_gpu_gen::EcError;
use ec_gpu_gen::multiexp::{MultiexpKernel, SingleMultiexpKernel};
use ec_gpu_gen::multiexp_cpu::{DensityTracker, FullDensity, QueryDensity, multiexp_cpu};
use ec_gpu_gen::rust_gpu_tools::Device;
use ec_gpu_gen::threadpool::Worker;
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

type Repr = [u8; 32];

/// A curve whose scalars are BLS12-381's.
trait Bls: PrimeCurveAffine<Scalar = Scalar> + GpuName {}
impl Bls for G1Affine {}
impl Bls for G2Affine {}

/// Points with known exponents: the generator's multiples by 1, 3, 5, …, with some at infinity, some
/// equal, and some the negative of their neighbour.
fn bases<G: Bls>(count: usize) -> (Vec<G>, Vec<Scalar>) {
    let logarithm = |i: usize| match i % 16 {
        5 => Scalar::ZERO,
        8 => -Scalar::from(2 * (i as u64 - 1) + 1),
        10 | 11 => Scalar::from(77),
        _ => Scalar::from(2 * i as u64 + 1),
    };
    let logarithms: Vec<Scalar> = (0..count).map(logarithm).collect();
    (logarithms.iter().map(|log| (G::generator() * log).to_affine()).collect(), logarithms)
}

fn scalars(count: usize) -> Vec<Scalar> {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let scalar = |i: usize| match i % 8 {
        1 => Scalar::ZERO,
        2 => Scalar::ONE,
        3 => -Scalar::ONE,
        4 => Scalar::from(i as u64 % 256),
        _ => Scalar::random(&mut rng),
    };
    (0..count).map(scalar).collect()
}

fn reprs(scalars: &[Scalar]) -> Vec<Repr> {
    scalars.iter().map(PrimeField::to_repr).collect()
}

fn expected<G: Bls>(logarithms: &[Scalar], scalars: &[Scalar]) -> G::Curve {
    G::generator() * logarithms.iter().zip(scalars).map(|(log, scalar)| *log * scalar).sum::<Scalar>()
}

fn kernel<'a, G: Bls>() -> Option<MultiexpKernel<'a, G>> {
    match MultiexpKernel::create(programs(), &Device::all()) {
        Ok(kernel) => Some(kernel),
        Err(error) => {
            assert!(programs().is_empty(), "{error}");
            None
        }
    }
}

fn devices_equal_the_definition<G: Bls>(counts: &[usize]) {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel::<G>() else { return };
    for count in counts {
        let (mut points, logarithms) = bases::<G>(*count);
        let scalars = scalars(*count);
        // Three points before the first that counts.
        points.splice(0..0, [G::generator(); 3]);
        let sum = kernel.multiexp(&Worker::new(), Arc::new(points), Arc::new(reprs(&scalars)), 3).unwrap();
        assert_eq!(sum, expected::<G>(&logarithms, &scalars), "{count} points");
    }
}

#[test]
fn devices_equal_the_definition_on_g1() {
    devices_equal_the_definition::<G1Affine>(&[0, 1, 2, 3, 255, 256, 257, 3000]);
}

#[test]
fn devices_equal_the_definition_on_g2() {
    devices_equal_the_definition::<G2Affine>(&[0, 1, 2, 3, 127, 128, 129, 1000]);
}

#[test]
fn one_device_equals_the_definition() {
    let _exclusive = exclusive();
    let (points, logarithms) = bases::<G1Affine>(100);
    let scalars = scalars(100);
    for (program, device) in programs().into_iter().zip(Device::all()) {
        let kernel = SingleMultiexpKernel::create(program, device, None).unwrap();
        let sum = kernel.multiexp(&points, &reprs(&scalars)).unwrap();
        assert_eq!(sum, expected::<G1Affine>(&logarithms, &scalars));
    }
}

#[test]
fn a_failure_anywhere_is_an_error_and_a_retry_works() {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel::<G1Affine>() else { return };
    let (points, logarithms) = bases::<G1Affine>(300);
    let scalars = scalars(300);
    let (points, exponents) = (Arc::new(points), Arc::new(reprs(&scalars)));
    let before = (points.clone(), exponents.to_vec());
    let mut failures = 0;
    let sum = loop {
        fail_after(Some(failures));
        match kernel.multiexp(&Worker::new(), points.clone(), exponents.clone(), 0) {
            Ok(sum) => break sum,
            Err(error) => assert!(matches!(error, EcError::GpuTools(_)), "launch {failures}: {error}"),
        }
        failures += 1;
        assert!(failures < 10_000, "every call fails");
    };
    fail_after(None);
    assert!(failures > 3, "only {failures} launches");
    assert_eq!(sum, expected::<G1Affine>(&logarithms, &scalars));
    assert!(before == (points, exponents.to_vec()));
}

#[test]
fn an_abort_anywhere_is_soon_and_a_retry_works() {
    let _exclusive = exclusive();
    if programs().is_empty() {
        return;
    }
    let (points, logarithms) = bases::<G1Affine>(300);
    let scalars = scalars(300);
    let (points, exponents) = (Arc::new(points), Arc::new(reprs(&scalars)));
    let before = (points.clone(), exponents.to_vec());
    // PoCL compiles a kernel when it is first launched, which nothing can stop.
    if let Some(mut kernel) = kernel::<G1Affine>() {
        kernel.multiexp(&Worker::new(), points.clone(), exponents.clone(), 0).expect("nobody aborts");
    }
    for questions in 0..1000 {
        let patience = Patience::new(questions);
        let hook = || patience.ended();
        let mut kernel = MultiexpKernel::create_with_abort(programs(), &Device::all(), &hook).unwrap();
        let result = kernel.multiexp(&Worker::new(), points.clone(), exponents.clone(), 0);
        let time = patience.since();
        match result {
            Ok(sum) => {
                assert!(questions > 0, "the hook was not asked");
                return assert_eq!(sum, expected::<G1Affine>(&logarithms, &scalars));
            }
            Err(error) => assert!(matches!(error, EcError::Aborted), "{error}"),
        }
        assert_soon(time.unwrap(), format_args!("after question {questions}"));
        assert!(before == (points.clone(), exponents.to_vec()), "aborted at question {questions}, and inputs changed");
    }
    panic!("never finished");
}

/// The panic is the caller's, not the pool's: its threads are all there afterwards.
#[test]
fn a_panic_of_the_hook_goes_on() {
    let _exclusive = exclusive();
    let Some(mut whole) = kernel::<G1Affine>() else { return };
    let (points, logarithms) = bases::<G1Affine>(300);
    let scalars = scalars(300);
    let (points, exponents) = (Arc::new(points), Arc::new(reprs(&scalars)));
    // The second time the pool has to be as good as before. A fast device asks but once.
    for time in 0..2 {
        let hook = || panic!("words of the caller, {time}");
        let mut kernel = MultiexpKernel::create_with_abort(programs(), &Device::all(), &hook).unwrap();
        let mut run = || kernel.multiexp(&Worker::new(), points.clone(), exponents.clone(), 0);
        let panic = catch_unwind(AssertUnwindSafe(&mut run)).expect_err("the hook panics");
        let text = panic.downcast_ref::<String>().map(String::as_str);
        assert_eq!(text, Some(&*format!("words of the caller, {time}")));
        let sum = whole.multiexp(&Worker::new(), points.clone(), exponents.clone(), 0).unwrap();
        assert_eq!(sum, expected::<G1Affine>(&logarithms, &scalars));
    }
}

#[test]
fn bad_input_is_an_error() {
    let _exclusive = exclusive();
    let Some(mut kernel) = kernel::<G1Affine>() else { return };
    let (points, exponents) = (Arc::new(bases::<G1Affine>(4).0), Arc::new(reprs(&scalars(4))));
    for skip in [1, 5, usize::MAX] {
        assert!(kernel.multiexp(&Worker::new(), points.clone(), exponents.clone(), skip).is_err(), "skip {skip}");
    }
    let mut run = |points: &[G1Affine], exponents: &[Repr], results: usize| {
        let mut results = vec![<G1Affine as PrimeCurveAffine>::Curve::identity(); results];
        let error = Arc::new(RwLock::new(Ok(())));
        Worker::new().scoped(|scope| kernel.parallel_multiexp(scope, points, exponents, &mut results, error.clone()));
        Arc::into_inner(error).unwrap().into_inner().unwrap()
    };
    let devices = Device::all().len();
    assert!(run(&points[..3], &exponents, devices).is_err());
    assert!(run(&points, &exponents[..3], devices).is_err());
    assert!(run(&points, &exponents, devices - 1).is_err());
    assert!(run(&[], &[], devices).is_ok());
    assert!(run(&points, &exponents, devices).is_ok());
}

#[test]
fn without_programs_there_is_no_kernel() {
    assert!(MultiexpKernel::<G1Affine>::create(Vec::new(), &[]).is_err());
}

/// Exponents of 256 bits that no scalar has: the CPU and the devices take them modulo the order.
fn exponents_of_256_bits<G: Bls>() {
    let _exclusive = exclusive();
    let (points, logarithms) = bases::<G>(4);
    let top = |low: u8| std::array::from_fn(|i| if i == 0 { low } else { u8::from(i == 31) << 7 });
    let exponents: Vec<Repr> = vec![[0xff; 32], top(0), top(9), (-Scalar::ONE).to_repr()];
    let value = |exponent: &Repr| {
        exponent.iter().rev().fold(Scalar::ZERO, |sum, byte| sum * Scalar::from(256) + Scalar::from(u64::from(*byte)))
    };
    let expected = expected::<G>(&logarithms, &exponents.iter().map(value).collect::<Vec<_>>());
    let (points, exponents) = (Arc::new(points), Arc::new(exponents));
    let on_cpu =
        multiexp_cpu::<FullDensity, _, G, _>(&Worker::new(), (points.clone(), 0), FullDensity, exponents.clone());
    assert_eq!(on_cpu.wait().unwrap(), expected);
    if let Some(mut kernel) = kernel::<G>() {
        assert_eq!(kernel.multiexp(&Worker::new(), points, exponents, 0).unwrap(), expected);
    }
}

#[test]
fn exponents_of_256_bits_on_g1() {
    exponents_of_256_bits::<G1Affine>();
}

#[test]
fn exponents_of_256_bits_on_g2() {
    exponents_of_256_bits::<G2Affine>();
}

fn on_cpu<Q, D>(points: &[G1Affine], density: D, exponents: &[Scalar]) -> Result<blstrs::G1Projective, EcError>
where
    for<'a> &'a Q: QueryDensity,
    D: Send + Sync + 'static + Clone + AsRef<Q>,
{
    multiexp_cpu(&Worker::new(), (Arc::new(points.to_vec()), 1), density, Arc::new(reprs(exponents))).wait()
}

#[test]
fn the_cpu_equals_the_definition() {
    for count in [0, 1, 2, 31, 32, 33, 1000] {
        let scalars = scalars(count);
        let points: Vec<G1Affine> =
            (0..=count as u64).map(|i| (G1Affine::generator() * Scalar::from(i + 1)).into()).collect();
        let sum = on_cpu::<FullDensity, _>(&points, FullDensity, &scalars).unwrap();
        let total: Scalar = (2..).zip(&scalars).map(|(log, scalar)| Scalar::from(log) * scalar).sum();
        assert_eq!(sum, G1Affine::generator() * total, "{count} points");
    }
}

/// Each second of six exponents has a base.
fn sparse() -> Arc<DensityTracker> {
    let mut density = DensityTracker::new();
    (0..6).for_each(|_| density.add_element());
    for index in [1, 3, 5] {
        density.inc(index);
    }
    Arc::new(density)
}

#[test]
fn the_cpu_takes_a_base_for_each_marked_exponent() {
    let points: Vec<G1Affine> =
        [0u64, 10, 20, 30].map(|log| (G1Affine::generator() * Scalar::from(log)).into()).to_vec();
    let scalars: Vec<Scalar> = (1..=6).map(Scalar::from).collect();
    let sum = on_cpu::<DensityTracker, _>(&points, sparse(), &scalars).unwrap();
    assert_eq!(sum, G1Affine::generator() * Scalar::from(10 * 2 + 20 * 4 + 30 * 6));
}

#[test]
fn the_cpu_refuses_what_stock_refuses() {
    let one = G1Affine::generator();
    let scalars: Vec<Scalar> = (1..=6).map(Scalar::from).collect();
    let too_few = on_cpu::<DensityTracker, _>(&[one; 3], sparse(), &scalars).unwrap_err();
    assert!(matches!(&too_few, EcError::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof), "{too_few}");
    let none = on_cpu::<FullDensity, _>(&[], FullDensity, &scalars).unwrap_err();
    assert!(matches!(&none, EcError::Io(_)), "{none}");
    let identity = on_cpu::<DensityTracker, _>(&[one, one, G1Affine::identity(), one], sparse(), &scalars).unwrap_err();
    assert!(matches!(identity, EcError::Simple("Encountered an identity element in the CRS.")), "{identity}");
    let length = on_cpu::<DensityTracker, _>(&[one; 7], sparse(), &scalars[..5]).unwrap_err();
    assert!(matches!(length, EcError::Simple(_)), "{length}");
}

#[test]
fn the_cpu_accepts_a_point_at_infinity_that_is_not_used() {
    let points = [G1Affine::generator(), G1Affine::identity(), G1Affine::generator()];
    let sum = on_cpu::<FullDensity, _>(&points, FullDensity, &[Scalar::ZERO, Scalar::from(9)]).unwrap();
    assert_eq!(sum, G1Affine::generator() * Scalar::from(9));
}
