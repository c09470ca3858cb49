//! Checks products against the definition.

use bytemuck::TransparentWrapper;
use ff::Field;

use super::*;

/// Multiplies `a` and `b` bit by bit, as the definition says.
fn multiply_bitwise(a: Ghash, b: Ghash) -> Ghash {
    (0..128).rev().fold(Ghash(0), |sum, bit| sum.times_x() + Ghash(a.0 * (b.0 >> bit & 1)))
}

fn samples(seed: u64) -> Vec<Ghash> {
    use rand::SeedableRng;
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let bits = (0..128).map(|bit| Ghash(1 << bit));
    let mut samples: Vec<Ghash> =
        [0, 1, 2, 0x87, u128::MAX, u128::MAX >> 1].map(Ghash).into_iter().chain(bits).collect();
    samples.extend((0..200).map(|_| Ghash::random(&mut rng)));
    samples
}

#[test]
fn all_multipliers_multiply() {
    let (a, b) = (samples(1), samples(2));
    assert_eq!(Multiplier::available().last(), Some(&Multiplier::fastest()));
    for multiplier in Multiplier::available() {
        for x in &a {
            let expected: Vec<Ghash> = b.iter().map(|y| multiply_bitwise(*x, *y)).collect();
            let mut products = vec![*x; b.len()];
            multiplier.multiply(Ghash::peel_slice_mut(&mut products), Ghash::peel_slice(&b));
            assert_eq!(products, expected, "{multiplier:?}");
            assert_eq!(multiplier.product(x.0, b[9].0), expected[9].0, "{multiplier:?}");
        }
    }
}

/// Checks any length, including lengths that fill no register.
#[test]
fn all_multipliers_fold_and_sum() {
    let (a, b) = (samples(3), samples(4));
    let factor = a[300];
    for multiplier in Multiplier::available() {
        for length in (0..20).chain([a.len()]) {
            let (a, b) = (&a[a.len() - length..], &b[b.len() - length..]);
            let sum: Ghash = a.iter().zip(b).map(|(a, b)| multiply_bitwise(*a, *b)).sum();
            assert_eq!(multiplier.sum_of_products(Ghash::peel_slice(a), Ghash::peel_slice(b)), sum.0, "{multiplier:?}");
            let mut folded = a.to_vec();
            multiplier.fold(Ghash::peel_slice_mut(&mut folded), Ghash::peel_slice(b), factor.0);
            let expected = a.iter().zip(b).map(|(a, b)| *a + multiply_bitwise(*b - a, factor));
            assert!(folded.iter().copied().eq(expected), "{multiplier:?}");
        }
    }
}

#[test]
fn inverses_and_roots() {
    assert!(bool::from(Ghash::ZERO.invert().is_none()));
    for a in samples(5) {
        if a != Ghash::ZERO {
            assert_eq!(a * a.invert().unwrap_or(Ghash::ZERO), Ghash::ONE);
        }
        assert_eq!(a.square().sqrt().unwrap_or(Ghash::ONE), a);
        assert_eq!((0..128).fold(a, |a, _| a.square()), a, "Frobenius");
    }
}
