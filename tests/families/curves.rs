//! `points_…` and `msm_…`: additions of points, sums of every plan, and points that devices decode and check.

use ff::Field;
use group::{Group, UncompressedEncoding};
use proofwarp::Accelerator;
use proofwarp::backend::Arg;
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use proofwarp::msm::{Msm, MsmOptions, PointChecks, Scalars, decode};

use crate::common::points::{Bases, TestCurve, random};
use crate::common::{accelerators_with_devices, every_curve, rng};

/// One kernel of `cl/test_curve.cl` with its definition on the host.
type Operation<C> = (&'static str, fn(C, C) -> C);

fn operations<C: Group>() -> [Operation<C>; 4] {
    [
        ("points_add_affine", |p, q| p + q),
        ("points_double_add_affine", |p, q| p.double() + q),
        ("points_add", |p, q| p.double() + q.double()),
        ("points_double", |p, _| p.double().double()),
    ]
}

fn apply<C: TestCurve>(accelerator: &Accelerator, kernel: &str, p: &[C], q: &[C]) -> Vec<C::Curve> {
    let program = KernelModule::find(&kernels::test_kernels::POINTS, C::NAME).expect("module exists");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let [x, y] = [p, q].map(|points| {
        let buffer = stream.allocate(points.len() * C::AFFINE_BYTES).expect("memory");
        stream.upload(&buffer, &C::to_device(points)).expect("upload");
        buffer
    });
    let jacobian = 3 * C::AFFINE_BYTES / 2;
    let out = stream.allocate(p.len() * jacobian).expect("memory");
    let memory = [&x, &y, &out].map(|buffer| Arg::Memory(buffer.handle()));
    let args = [&[Arg::U32(p.len() as u32)][..], &memory].concat();
    // SAFETY: the arguments are those of the kernels of `cl/test_curve.cl`.
    unsafe { program.launch(&mut stream, kernel, p.len() as u64, 64, &args) }.expect("launch");
    let mut bytes = vec![0; p.len() * jacobian];
    stream.download(&mut bytes, &out).expect("download");
    bytes.chunks_exact(jacobian).map(C::from_device).collect()
}

mod points {
    super::every_curve!(additions);
    use super::additions;
}

fn additions<C: TestCurve>() {
    let p = Bases::<C>::special(12, &mut rng(1)).points;
    let q: Vec<C> = p.iter().cycle().skip(5).take(12).copied().collect();
    for accelerator in accelerators_with_devices() {
        for (kernel, expected) in operations::<C::Curve>() {
            let found = apply(&accelerator, kernel, &p, &q);
            let expected = p.iter().zip(&q).map(|(p, q)| expected(p.to_curve(), q.to_curve()));
            assert!(found.into_iter().eq(expected), "{kernel} of {}", C::NAME);
        }
    }
}

mod msm {
    super::every_curve!(sums);
    use super::sums;
}

/// Narrow windows, so that there are few buckets: whole and halved scalars, copies of bases, affine rounds, a batch as one matrix.
fn sums<C: TestCurve>() {
    let narrow = MsmOptions { window: 4, ..MsmOptions::default() };
    let plans = [
        MsmOptions { halved: Some(false), ..narrow },
        MsmOptions { halved: Some(true), ..narrow },
        MsmOptions { precompute: 2, ..narrow },
        MsmOptions { affine_rounds: Some(1), halved: Some(false), ..narrow },
    ];
    let mut rng = rng(2);
    let bases = Bases::<C>::special(70, &mut rng);
    let [first, second]: [Vec<C::Scalar>; 2] = [random(70, &mut rng), random(70, &mut rng)];
    let expected = [bases.expected(&first), bases.expected(&second)];
    for accelerator in accelerators_with_devices() {
        for options in plans {
            let msm = Msm::with_options(&accelerator, &bases.points, options).expect("bases");
            let vectors = [Scalars::elements(&first), Scalars::elements(&second)];
            let (sums, _) = msm.run_batch(&vectors, None).expect("sums");
            assert!(sums == expected, "{} {options:?}", C::NAME);
        }
    }
}

/// Encodings, then points on the curve, in the subgroup.
fn decoded<C: TestCurve + UncompressedEncoding>() {
    let points = Bases::<C>::consecutive(9, &mut rng(3)).points;
    let bytes: Vec<u8> = points.iter().flat_map(|point| point.to_uncompressed().as_ref().to_vec()).collect();
    for accelerator in accelerators_with_devices() {
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let buffer = stream.allocate(bytes.len()).expect("memory");
        let expected = PointChecks { in_subgroup: true, not_infinity: true };
        decode::<C>(&mut stream, &buffer, &bytes, expected).expect("good points");
        let mut found = vec![0; bytes.len()];
        stream.download(&mut found, &buffer).expect("download");
        assert!(found == *C::to_device(&points), "{}", C::NAME);
    }
}

#[test]
fn decoded_bls12_381_g1() {
    decoded::<blstrs::G1Affine>();
}

#[test]
fn decoded_bls12_381_g2() {
    decoded::<blstrs::G2Affine>();
}

/// Bases that somebody has to look at first.
fn checked<C: TestCurve>() {
    let mut rng = rng(4);
    let bases = Bases::<C>::consecutive(20, &mut rng);
    let scalars = vec![C::Scalar::ONE; 20];
    for accelerator in accelerators_with_devices() {
        let msm = Msm::checked(&accelerator, &bases.points, MsmOptions { window: 4, ..MsmOptions::default() })
            .expect("bases");
        assert!(msm.run(Scalars::elements(&scalars), None).expect("a sum").0 == bases.expected(&scalars));
    }
}

mod checks {
    super::every_curve!(checked);
    use super::checked;
}
