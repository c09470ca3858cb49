//! Points and scalars that tests of multiplications share.

use ff::{Field, PrimeField};
use group::{Curve, Group};
use proofwarp::Accelerator;
use proofwarp::curve::MsmCurve;
use proofwarp::field::{ScalarField, as_bytes};
use proofwarp::msm::msm;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Curves whose points can be made affine, and whose scalars the kernels know.
pub trait TestCurve: MsmCurve<Scalar: ScalarField, Curve: Curve<AffineRepr = Self>> {}
impl<C: MsmCurve<Scalar: ScalarField, Curve: Curve<AffineRepr = C>>> TestCurve for C {}

/// Bases with their discrete logarithms, so that Σ sᵢ·Pᵢ = (Σ sᵢ·lᵢ)·G is one product.
#[derive(Clone, Debug)]
pub struct Bases<C: TestCurve> {
    pub points: Vec<C>,
    pub logarithms: Vec<C::Scalar>,
}

impl<C: TestCurve> Bases<C> {
    pub fn new(logarithms: Vec<C::Scalar>) -> Self {
        let points: Vec<C::Curve> = logarithms.iter().map(|l| C::Curve::generator() * l).collect();
        Self { points: to_affine(&points), logarithms }
    }

    /// Consecutive multiples of the generator from a random one: quick to make.
    pub fn consecutive(count: usize, rng: &mut ChaCha8Rng) -> Self {
        let start = C::Scalar::random(rng);
        let logarithms: Vec<C::Scalar> = (0..count).map(|i| start + C::Scalar::from(i as u64)).collect();
        let first = C::Curve::generator() * start;
        let sums = std::iter::successors(Some(first), |point| Some(*point + C::generator()));
        Self { points: to_affine(&sums.take(count).collect::<Vec<_>>()), logarithms }
    }

    /// Infinity, equal points, P and −P side by side, and others, mixed.
    pub fn special(count: usize, rng: &mut ChaCha8Rng) -> Self {
        let random = C::Scalar::random(&mut *rng);
        let choices = [C::Scalar::ZERO, random, -random, random.double(), C::Scalar::ONE, -C::Scalar::ONE];
        let points: Vec<C> = Self::new(choices.to_vec()).points;
        let picks: Vec<usize> = (0..count).map(|i| if i < 12 { i % 6 } else { rng.gen_range(0..6) }).collect();
        Self {
            points: picks.iter().map(|pick| points[*pick]).collect(),
            logarithms: picks.iter().map(|pick| choices[*pick]).collect(),
        }
    }

    pub fn truncated(&self, count: usize) -> Self {
        Self { points: self.points[..count].to_vec(), logarithms: self.logarithms[..count].to_vec() }
    }

    pub fn expected(&self, scalars: &[C::Scalar]) -> C::Curve {
        let sum: C::Scalar = self.logarithms.iter().zip(scalars).map(|(l, s)| *l * s).sum();
        C::Curve::generator() * sum
    }

    pub fn check(&self, accelerator: &Accelerator, scalars: &[C::Scalar], what: &str) {
        let (sum, report) = msm(accelerator, &self.points, &bytes(scalars), None).expect("msm");
        assert_eq!(report.elements, scalars.len());
        assert!(report.fallbacks.is_empty(), "{report}");
        assert!(sum == self.expected(scalars), "{} of {} points, {what}: {report}", C::NAME, scalars.len());
    }
}

/// With one inversion for all points, where the curve's type does so.
fn to_affine<C: TestCurve>(points: &[C::Curve]) -> Vec<C> {
    let mut affine = vec![C::identity(); points.len()];
    C::Curve::batch_normalize(points, &mut affine);
    affine
}

pub fn bytes<S: PrimeField>(scalars: &[S]) -> Vec<[u8; 32]> {
    scalars.iter().map(|scalar| scalar.to_repr().as_ref().try_into().expect("32 bytes")).collect()
}

pub fn random<S: Field>(count: usize, rng: &mut ChaCha8Rng) -> Vec<S> {
    (0..count).map(|_| S::random(&mut *rng)).collect()
}

/// Scalars as provers have them, and the ends of their range.
pub fn distributions<S: PrimeField>(count: usize, rng: &mut ChaCha8Rng) -> Vec<(&'static str, Vec<S>)> {
    let [one, other]: [S; 2] = [S::random(&mut *rng), S::random(&mut *rng)];
    let small = (0..count).map(|_| S::from(rng.gen_range(0..256))).collect();
    let mixed = (0..count).map(|i| [S::ZERO, S::ONE, -S::ONE, one, S::from(2), -other][i * 7 % 6]).collect();
    vec![
        ("0", vec![S::ZERO; count]),
        ("1", vec![S::ONE; count]),
        ("r - 1", vec![-S::ONE; count]),
        ("all equal", vec![one; count]),
        ("below 2^8", small),
        ("two values", (0..count).map(|i| if i % 2 == 0 { one } else { other }).collect()),
        ("mixed", mixed),
        ("random", random(count, rng)),
    ]
}

/// Montgomery form, 32 bytes each.
pub fn montgomery<S: ScalarField>(scalars: &[S]) -> Vec<[u8; 32]> {
    as_bytes(scalars).as_chunks().0.to_vec()
}

/// A uniform scalar below 2^bits.
pub fn below<S: PrimeField>(bits: u32, rng: &mut ChaCha8Rng) -> S {
    if bits >= S::NUM_BITS {
        return S::random(rng);
    }
    (0..bits).fold(S::ZERO, |number, _| number.double() + S::from(rng.gen_range(0..2)))
}
