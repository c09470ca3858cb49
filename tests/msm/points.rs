//! Point additions and doublings of every curve on every backend, exceptional cases included.

use group::{Curve, Group, prime::PrimeCurveAffine};
use proofwarp::Accelerator;
use proofwarp::backend::Arg;
use proofwarp::curve::MsmCurve;
use proofwarp::kernels;
use proofwarp::module_launcher::KernelModule;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

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

/// All pairs of infinity, G, −G, 2G, −2G, 3G and two random points: equal points, opposite points and
/// doublings within additions are among them for each operation.
fn pairs<A: PrimeCurveAffine>() -> Vec<(A, A)>
where
    A::Curve: Curve<AffineRepr = A>,
{
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let g = A::Curve::generator();
    let random = [A::Curve::random(&mut rng), A::Curve::random(&mut rng)];
    let points = [A::Curve::identity(), g, -g, g.double(), -g.double(), g.double() + g, random[0], random[1]];
    points.iter().flat_map(|p| points.iter().map(|q| (p.to_affine(), q.to_affine()))).collect()
}

fn apply<A: MsmCurve>(accelerator: &Accelerator, kernel: &str, pairs: &[(A, A)]) -> Vec<A::Curve> {
    let program = KernelModule::find(&kernels::test_kernels::POINTS, A::NAME).expect("module exists");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let (p, q): (Vec<A>, Vec<A>) = pairs.iter().copied().unzip();
    let [x, y] = [p, q].map(|points| {
        let buffer = stream.allocate(points.len() * A::AFFINE_BYTES).expect("memory");
        stream.upload(&buffer, &A::to_device(&points)).expect("upload");
        buffer
    });
    let jacobian = 3 * A::AFFINE_BYTES / 2;
    let out = stream.allocate(pairs.len() * jacobian).expect("memory");
    let args =
        [Arg::U32(pairs.len() as u32), Arg::Memory(x.handle()), Arg::Memory(y.handle()), Arg::Memory(out.handle())];
    // SAFETY: the arguments are those of the kernels of `cl/test_curve.cl`.
    unsafe { program.launch(&mut stream, kernel, pairs.len() as u64, 64, &args) }.expect("launch");
    let mut bytes = vec![0; pairs.len() * jacobian];
    stream.download(&mut bytes, &out).expect("download");
    bytes.chunks_exact(jacobian).map(A::from_device).collect()
}

fn check<A: MsmCurve>()
where
    A::Curve: Curve<AffineRepr = A>,
{
    let pairs = pairs::<A>();
    for accelerator in crate::common::accelerators_with_devices() {
        for (kernel, expected) in operations::<A::Curve>() {
            let got = apply(&accelerator, kernel, &pairs);
            for ((p, q), got) in pairs.iter().zip(got) {
                assert_eq!(got, expected(p.to_curve(), q.to_curve()), "{kernel} of {}: {p:?}, {q:?}", A::NAME);
            }
        }
    }
}

crate::common::every_curve!(check);
