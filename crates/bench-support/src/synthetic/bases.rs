//! Computes points whose logarithms are in geometric or arithmetic progression, by affine formulas with shared
//! inversions.

use blstrs::{Fp, Fp2, G1Affine, G2Affine, Scalar};
use ff::{BatchInverter, Field};
use group::Curve;
use group::prime::PrimeCurveAffine;
use rayon::prelude::*;

use crate::Failure;

/// Points of a lane, 1024, computed one after another. The first is a scalar multiplication, which costs as much as
/// some hundreds of the others.
const LANE: usize = 1024;
/// Lanes of a task that share inversions.
const LANES: usize = 128;

/// A curve y² = x³ + b with points by their coordinates.
pub trait Point: PrimeCurveAffine<Scalar = Scalar, Curve: Curve<AffineRepr = Self>> {
    /// Coordinates.
    type Coordinate: Field;

    /// Returns x and y. The point must not be infinity.
    fn coordinates(&self) -> [Self::Coordinate; 2];

    /// Returns the point with `coordinates`, which are not checked.
    fn from_coordinates(coordinates: [Self::Coordinate; 2]) -> Self;
}

macro_rules! point {
    ($point:ty, $coordinate:ty) => {
        impl Point for $point {
            type Coordinate = $coordinate;

            fn coordinates(&self) -> [$coordinate; 2] {
                [self.x(), self.y()]
            }

            fn from_coordinates([x, y]: [$coordinate; 2]) -> Self {
                Self::from_raw_unchecked(x, y, false)
            }
        }
    };
}

point!(G1Affine, Fp);
point!(G2Affine, Fp2);

/// Logarithms of points by their numbers.
#[derive(Debug, Clone, Copy)]
pub enum Progression {
    /// 2^i.
    Powers,
    /// first + i·step.
    Multiples {
        /// Logarithm of point 0.
        first: Scalar,
        /// Distance from a logarithm to the next.
        step: Scalar,
    },
}

impl Progression {
    /// Returns the logarithm of the point with `number`.
    pub fn at(self, number: usize) -> Scalar {
        match self {
            Self::Powers => Scalar::from(2).pow_vartime([number as u64]),
            Self::Multiples { first, step } => first + Scalar::from(number as u64) * step,
        }
    }

    /// Returns the points of the first `count` logarithms.
    ///
    /// # Errors
    /// Returns an error if two points to be added have equal x: one is ± the other.
    pub fn points<P: Point>(self, count: usize) -> Result<Vec<P>, Failure> {
        // All cores touch the memory first: one alone would take longer for that than they for the points.
        let mut points: Vec<P> = rayon::iter::repeat_n(P::identity(), count).collect();
        let step = match self {
            Self::Powers => None,
            Self::Multiples { step, .. } => Some((P::generator() * step).to_affine().coordinates()),
        };
        let blocks = points.par_chunks_mut(LANES * LANE).enumerate();
        blocks.try_for_each(|(number, block)| Lanes::start(self, number, block.len()).fill(block, step))?;
        Ok(points)
    }
}

/// The current points of neighbouring lanes.
struct Lanes<P: Point> {
    points: Vec<[P::Coordinate; 2]>,
    inverses: Vec<P::Coordinate>,
    scratch: Vec<P::Coordinate>,
}

impl<P: Point> Lanes<P> {
    /// Creates the lanes of `block`, each at its first point. The block has `points` points of `progression`.
    fn start(progression: Progression, block: usize, points: usize) -> Self {
        let first = |lane: usize| P::generator() * progression.at(LANE * (LANES * block + lane));
        let firsts: Vec<P::Curve> = (0..points.div_ceil(LANE)).map(first).collect();
        let mut affine = vec![P::identity(); firsts.len()];
        P::Curve::batch_normalize(&firsts, &mut affine);
        let zeros = vec![P::Coordinate::ZERO; firsts.len()];
        Self { points: affine.iter().map(P::coordinates).collect(), inverses: zeros.clone(), scratch: zeros }
    }

    fn fill(&mut self, block: &mut [P], step: Option<[P::Coordinate; 2]>) -> Result<(), Failure> {
        let length = LANE.min(block.len());
        for i in 0..length {
            for (lane, point) in block.chunks_mut(LANE).zip(&self.points) {
                if let Some(place) = lane.get_mut(i) {
                    *place = P::from_coordinates(*point);
                }
            }
            if i + 1 < length {
                self.advance(step)?;
            }
        }
        Ok(())
    }

    /// Adds the point `step` to the point of every lane, or doubles these if `step` is `None`.
    fn advance(&mut self, step: Option<[P::Coordinate; 2]>) -> Result<(), Failure> {
        for (denominator, [x, y]) in self.inverses.iter_mut().zip(&self.points) {
            *denominator = step.map_or_else(|| y.double(), |[step, _]| *x - step);
            if denominator.is_zero_vartime() {
                return Err("bases: expected points of different x, got the same".into());
            }
        }
        BatchInverter::invert_with_external_scratch(&mut self.inverses, &mut self.scratch);
        for ([x, y], inverse) in self.points.iter_mut().zip(&self.inverses) {
            let (numerator, other) =
                step.map_or_else(|| (tripled_square(x), *x), |[step_x, step_y]| (*y - step_y, step_x));
            let slope = numerator * inverse;
            let sum = slope.square() - *x - other;
            *y = slope * (*x - sum) - *y;
            *x = sum;
        }
        Ok(())
    }
}

/// Returns 3`x`², the numerator of the slope of the curve's tangent. The denominator is 2y.
fn tripled_square<F: Field>(x: &F) -> F {
    let square = x.square();
    square.double() + square
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees<P: Point>(progression: Progression) {
        let counts = [0, 1, 2, LANE, LANE + 1, 3 * LANE - 1, LANES * LANE + LANE + 5];
        for count in counts {
            let points: Vec<P> = progression.points(count).expect("points");
            assert_eq!(points.len(), count);
            let places = [0, 1, LANE - 1, LANE, 2 * LANE + 77, LANES * LANE - 1, LANES * LANE, count.saturating_sub(1)];
            for place in places.into_iter().filter(|place| *place < count) {
                let expected = (P::generator() * progression.at(place)).to_affine();
                assert!(points[place] == expected, "point {place} of {count}, {progression:?}");
            }
        }
    }

    #[test]
    fn points_have_their_logarithms() {
        let multiples = Progression::Multiples { first: -Scalar::from(1 << 40), step: Scalar::from(12345).square() };
        for progression in [Progression::Powers, multiples] {
            agrees::<G1Affine>(progression);
            agrees::<G2Affine>(progression);
        }
    }

    #[test]
    fn a_progression_that_doubles_is_refused() {
        let step = Scalar::from(7);
        assert!(Progression::Multiples { first: step, step }.points::<G1Affine>(2).is_err());
    }
}
