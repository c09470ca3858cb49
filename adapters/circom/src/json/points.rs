//! Reads and writes points as snarkjs does: x, y and z, where z is 1, and 0 at infinity.

use num_bigint::BigUint;

use crate::curves::affine_point::AffinePoint;
use crate::error::{FileSection, Result};
use crate::json::number::Number;

/// Holds x, y and z.
pub(crate) type G1Json = [Number; 3];
/// Holds x, y and z, each as c0 and c1.
pub(crate) type G2Json = [[Number; 2]; 3];

/// Returns the point of G1 with the coordinates `json`.
///
/// # Errors
/// - [`Error::Malformed`](crate::Error::Malformed): z is neither 0 nor 1, a coordinate is at least q, or the point is
///   not on the curve.
pub(crate) fn read_g1<P: AffinePoint>(place: FileSection<'_>, json: &G1Json) -> Result<P> {
    let [x, y, z] = json;
    read_point(place, [x, y], [z])
}

/// Returns the point of G2 with the coordinates `json`.
///
/// # Errors
/// [`read_g1`] lists them.
pub(crate) fn read_g2<P: AffinePoint>(place: FileSection<'_>, json: &G2Json) -> Result<P> {
    let [[x0, x1], [y0, y1], [z0, z1]] = json;
    read_point(place, [x0, x1, y0, y1], [z0, z1])
}

fn read_point<P: AffinePoint, const N: usize, const D: usize>(
    place: FileSection<'_>,
    coordinates: [&Number; N],
    z: [&Number; D],
) -> Result<P> {
    let mut numbers = coordinates.map(|number| number.0.clone());
    let expected = format!("a point of {} of {}", P::GROUP, P::CURVE);
    let is_zero = |number: &BigUint| *number == BigUint::ZERO;
    let is_infinity = z.iter().all(|part| is_zero(&part.0));
    let is_one = z.iter().enumerate().all(|(index, part)| part.0 == BigUint::from(u8::from(index == 0)));
    if !is_infinity && !is_one {
        return Err(place.malformed("z", "1, or 0 at infinity", &z[0].0));
    }
    if is_infinity {
        numbers.fill(BigUint::ZERO);
    } else if numbers.iter().all(is_zero) {
        return Err(place.malformed("point", expected, "one with x = y = 0 and z = 1"));
    }
    P::from_integers(&numbers).map_err(|fault| place.malformed("point", expected, fault))
}

/// Returns the coordinates of a point of G1.
pub(crate) fn write_g1(point: &impl AffinePoint) -> G1Json {
    let [x, y, z] = write_point(point);
    [x[0].clone(), y[0].clone(), z[0].clone()]
}

/// Returns the coordinates of a point of G2.
pub(crate) fn write_g2(point: &impl AffinePoint) -> G2Json {
    write_point(point)
}

/// Returns x, y and z; in G1, only the first part of each counts.
fn write_point(point: &impl AffinePoint) -> [[Number; 2]; 3] {
    let integers = point.to_integers();
    let is_infinity = integers.iter().all(|number| *number == BigUint::ZERO);
    let one = || [Number(BigUint::from(1_u8)), Number(BigUint::ZERO)];
    let zero = || [Number(BigUint::ZERO), Number(BigUint::ZERO)];
    if is_infinity {
        return [zero(), one(), zero()];
    }
    let degree = integers.len() / 2;
    let part = |index: usize| Number(integers.get(index).cloned().unwrap_or_default());
    [[part(0), part(1)], [part(degree), part(degree + 1)], one()]
}
