//! T7 and GHASH's field are the same field in different bases. The map from one to the other is linear over GF(2), and
//! takes products to products.
//!
//! X_k maps to a root of Y² + Y·X_(k−1) + 1. There are two roots; the smaller number is taken, from X_0 on.
//!
//! ```
//! use proofwarp::field::ghash::Ghash;
//! use proofwarp::field::tower::Tower;
//!
//! let (a, b) = (Tower(0x1234 << 100), Tower(0x5678 << 77));
//! assert_eq!(Ghash::from(a * b), Ghash::from(a) * Ghash::from(b));
//! assert_eq!(Tower::from(Ghash::from(a)), a);
//! ```

use std::sync::LazyLock;

use ff::Field;

use super::ghash::Ghash;
use super::linear::{EchelonBasis, LinearMap};
use super::tower::{LEVELS, Tower};

/// Holds the isomorphism from T7 to GHASH's field, and its inverse.
struct Maps {
    to_ghash: LinearMap,
    to_tower: LinearMap,
}

static MAPS: LazyLock<Maps> = LazyLock::new(|| {
    let to_ghash = LinearMap::new(tower_basis_images());
    // A homomorphism of fields maps only zero to zero.
    let to_tower = to_ghash.inverse().unwrap_or_else(|| LinearMap::new([0; 128]));
    Maps { to_ghash, to_tower }
});

/// Returns the isomorphism from T7 to GHASH's field, as a map of an element's bits.
pub fn to_ghash() -> &'static LinearMap {
    &MAPS.to_ghash
}

/// Returns the isomorphism from GHASH's field to T7, as a map of an element's bits.
pub fn to_tower() -> &'static LinearMap {
    &MAPS.to_tower
}

impl From<Tower> for Ghash {
    fn from(element: Tower) -> Self {
        Self(to_ghash().apply(element.0))
    }
}

impl From<Ghash> for Tower {
    fn from(element: Ghash) -> Self {
        Self(to_tower().apply(element.0))
    }
}

/// Returns the image of each bit of T7 in GHASH's field. Bit i of T7 is the product of those X_k for which bit k of i
/// is set.
fn tower_basis_images() -> [u128; 128] {
    let mut images = vec![Ghash::ONE];
    for root in tower_generator_images() {
        let with_root: Vec<Ghash> = images.iter().map(|image| *image * root).collect();
        images.extend(with_root);
    }
    std::array::from_fn(|bit| images[bit].0)
}

/// Returns the images of X_0, …, X_6 in GHASH's field. Let Y = X_(k−1)·Z. Then Z² + Z = 1/X_(k−1)², which is linear
/// over GF(2).
fn tower_generator_images() -> Vec<Ghash> {
    let span = EchelonBasis::from_vectors(&std::array::from_fn(|bit| (Ghash(1 << bit).square() + Ghash(1 << bit)).0));
    let next = |last: Ghash| {
        let z = span.coordinates(last.invert().unwrap_or(Ghash::ZERO).square().0)?;
        [z, z ^ 1].map(|z| last * Ghash(z)).into_iter().min_by_key(|root| root.0)
    };
    std::iter::successors(next(Ghash::ONE), |last| next(*last)).take(LEVELS as usize).collect()
}
