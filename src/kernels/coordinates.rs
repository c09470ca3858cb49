//! Computes with coordinates and points of curves, by big integers: enough to derive the constants of a curve.

use num_bigint::BigUint;

use super::fields::{FieldDescription, from_hex};
use super::spec::{CurveSpec, FieldKind};

/// Represents an element c0 + c1·u of F_p² by its coefficients; c1 is 0 in F_p.
pub(super) type Coordinate = [BigUint; 2];

/// Holds what the arithmetic of coordinates needs.
pub(super) struct CoordinateField {
    description: FieldDescription,
    modulus: BigUint,
    /// Number n with u² = −n; `None` for a prime field.
    nonresidue: Option<u32>,
}

impl CoordinateField {
    /// Returns the field of the coordinates of `curve`.
    pub(super) fn of(curve: &CurveSpec) -> Self {
        let description = FieldDescription::new(curve.coordinates);
        let nonresidue = match curve.coordinates.kind {
            FieldKind::Quadratic { nonresidue, .. } => Some(nonresidue),
            _ => None,
        };
        Self { modulus: BigUint::from_slice(&description.modulus), description, nonresidue }
    }

    /// Returns whether the field is F_p² rather than F_p.
    pub(super) fn is_quadratic(&self) -> bool {
        self.nonresidue.is_some()
    }

    /// Returns the characteristic p.
    pub(super) fn modulus(&self) -> &BigUint {
        &self.modulus
    }

    /// Returns the element that the literals `coefficients` of a declaration write.
    pub(super) fn element(coefficients: &[&str]) -> Coordinate {
        [0, 1].map(|i| coefficients.get(i).map(|digits| from_hex(digits)).unwrap_or_default())
    }

    /// Returns the Montgomery form of all coefficients, as little-endian 32-bit limbs.
    pub(super) fn montgomery_limbs(&self, element: &Coordinate) -> Vec<u32> {
        let coefficients = if self.is_quadratic() { &element[..] } else { &element[..1] };
        coefficients.iter().flat_map(|number| self.description.to_montgomery(number)).collect()
    }

    pub(super) fn add(&self, a: &Coordinate, b: &Coordinate) -> Coordinate {
        [0, 1].map(|i| (&a[i] + &b[i]) % &self.modulus)
    }

    pub(super) fn sub(&self, a: &Coordinate, b: &Coordinate) -> Coordinate {
        [0, 1].map(|i| (&a[i] + &self.modulus - &b[i]) % &self.modulus)
    }

    pub(super) fn mul(&self, a: &Coordinate, b: &Coordinate) -> Coordinate {
        let Some(nonresidue) = self.nonresidue else {
            return [&a[0] * &b[0] % &self.modulus, BigUint::default()];
        };
        let high = &a[1] * &b[1] % &self.modulus * nonresidue % &self.modulus;
        let low = (&a[0] * &b[0] + &self.modulus - high) % &self.modulus;
        [low, (&a[0] * &b[1] + &a[1] * &b[0]) % &self.modulus]
    }

    pub(super) fn square(&self, a: &Coordinate) -> Coordinate {
        self.mul(a, a)
    }

    /// Returns aᵖ: the conjugate in F_p², since u is a square root and thus uᵖ = −u.
    pub(super) fn frobenius(&self, a: &Coordinate) -> Coordinate {
        [a[0].clone(), (&self.modulus - &a[1]) % &self.modulus]
    }

    /// Returns a⁻¹ for `a` ≠ 0: aᵖ divided by the norm a·aᵖ, which is in F_p.
    pub(super) fn inverse(&self, a: &Coordinate) -> Coordinate {
        let norm = self.mul(a, &self.frobenius(a));
        let of_norm = |norm: &BigUint| norm.modpow(&(&self.modulus - 2u32), &self.modulus);
        match self.nonresidue {
            None => [of_norm(&a[0]), BigUint::default()],
            Some(_) => self.mul(&self.frobenius(a), &[of_norm(&norm[0]), BigUint::default()]),
        }
    }

    /// Returns the coordinates x and y of `factor`·(x, y), for a factor from 1 to the point's order − 1.
    pub(super) fn multiple(&self, point: &[Coordinate; 2], factor: &BigUint) -> [Coordinate; 2] {
        let one = [BigUint::from(1u32), BigUint::default()];
        let mut sum = [point[0].clone(), point[1].clone(), one];
        for bit in (0..factor.bits() - 1).rev() {
            sum = self.double(&sum);
            if factor.bit(bit) {
                sum = self.add_affine(&sum, point);
            }
        }
        let [x, y, z] = sum;
        let inverse = self.inverse(&z);
        let square = self.square(&inverse);
        [self.mul(&x, &square), self.mul(&y, &self.mul(&square, &inverse))]
    }

    /// Doubles a point in Jacobian coordinates (`dbl-2009-l` of the Explicit-Formulas Database).
    fn double(&self, [x, y, z]: &[Coordinate; 3]) -> [Coordinate; 3] {
        let twice = |a: &Coordinate| self.add(a, a);
        let (a, b) = (self.square(x), self.square(y));
        let c = self.square(&b);
        let d = twice(&self.sub(&self.sub(&self.square(&self.add(x, &b)), &a), &c));
        let e = self.add(&twice(&a), &a);
        let x3 = self.sub(&self.square(&e), &twice(&d));
        let y3 = self.sub(&self.mul(&e, &self.sub(&d, &x3)), &twice(&twice(&twice(&c))));
        [x3, y3, twice(&self.mul(y, z))]
    }

    /// Adds an affine point to one in Jacobian coordinates (`madd`). The points are neither equal nor opposite, and none is
    /// infinity: a proper multiple of a point of prime order is not.
    fn add_affine(&self, [x, y, z]: &[Coordinate; 3], point: &[Coordinate; 2]) -> [Coordinate; 3] {
        let square = self.square(z);
        let h = self.sub(&self.mul(&point[0], &square), x);
        let r = self.sub(&self.mul(&point[1], &self.mul(&square, z)), y);
        let h2 = self.square(&h);
        let (h3, v) = (self.mul(&h2, &h), self.mul(x, &h2));
        let x3 = self.sub(&self.sub(&self.square(&r), &h3), &self.add(&v, &v));
        let y3 = self.sub(&self.mul(&r, &self.sub(&v, &x3)), &self.mul(y, &h3));
        [x3, y3, self.mul(z, &h)]
    }
}
