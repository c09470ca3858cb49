//! Converts the points of a key of `ark-groth16`, and checks their numbers.

use group::prime::PrimeCurveAffine;
use proofwarp::groth16::{Parameters, QuotientForm};
use rayon::prelude::*;

use super::montgomery_form::{MontgomeryForm, decode_point};
use crate::curves::affine_point::{AffinePoint, PointFault};
use crate::error::{Error, FileSection, Result};
use crate::groth16::{Groth16Engine, VerificationKey};

/// Names the key in errors.
pub(crate) const KEY: &str = "proving key";

/// Minimum points that a thread converts at a time: some tens of microseconds of work.
const MIN_POINTS: usize = 1 << 8;

/// The points of a key. The queries of A and B have a point for each variable, which may be infinity.
pub(crate) struct KeyPoints<E: Groth16Engine> {
    pub verification_key: VerificationKey<E>,
    pub beta1: E::G1Affine,
    pub delta1: E::G1Affine,
    pub a: Vec<E::G1Affine>,
    pub b1: Vec<E::G1Affine>,
    pub b2: Vec<E::G2Affine>,
    pub h: Vec<E::G1Affine>,
    pub l: Vec<E::G1Affine>,
}

/// Tells, for each variable, whether a query has a base for it.
pub(super) struct Occurrence {
    pub a: Vec<bool>,
    pub b: Vec<bool>,
}

impl<E: Groth16Engine> KeyPoints<E> {
    /// Returns the number of inputs, with the constant one.
    pub(crate) fn inputs(&self) -> usize {
        self.verification_key.ic.len()
    }

    /// Returns the number of inputs and witness variables.
    pub(crate) fn variables(&self) -> usize {
        self.inputs() + self.l.len()
    }

    /// Checks that the key belongs to a circuit with these numbers of inputs and witness variables.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: it belongs to another circuit.
    pub(crate) fn expect_circuit(&self, inputs: usize, witnesses: usize) -> Result<()> {
        expect_length("vk.gamma_abc_g1", inputs, "inputs of the circuit", self.inputs())?;
        expect_length("l_query", witnesses, "witness variables of the circuit", self.l.len())
    }

    /// Checks that the queries of A and B have a point for each variable.
    pub(super) fn check_lengths(&self) -> Result<()> {
        let variables = "variables of vk.gamma_abc_g1 and l_query";
        expect_length("a_query", self.variables(), variables, self.a.len())?;
        expect_length("b_g1_query", self.variables(), variables, self.b1.len())?;
        expect_length("b_g2_query", self.variables(), variables, self.b2.len())
    }

    /// Returns the form of the quotient on a domain of `domain` elements, from the number of points of its query.
    /// `LibsnarkReduction` makes a key with one point fewer than elements, `CircomReduction` with as many. `root`
    /// returns a primitive root of unity of an order, as arkworks has it.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: the query has another length.
    /// - [`Error::Unsupported`]: the field has no root of the order that is needed.
    pub(super) fn quotient_form(
        &self,
        domain: usize,
        root: impl Fn(u64) -> Option<E::Fr>,
    ) -> Result<QuotientForm<E::Fr>> {
        let place = FileSection { file: KEY, section: "h_query" };
        let root = |order: u64| {
            let expected = || format!("an order up to 2^{}", E::CURVE.two_adicity());
            root(order).ok_or_else(|| place.unsupported("domain", expected(), order))
        };
        let order = domain as u64;
        if self.h.len() + 1 == domain {
            Ok(QuotientForm::Coefficients { omega: Some(root(order)?) })
        } else if self.h.len() == domain {
            Ok(QuotientForm::CosetValues { omega: root(order)?, shift: root(2 * order)? })
        } else {
            let expected = format!("{} points (LibsnarkReduction) or {domain} (CircomReduction)", domain - 1);
            Err(place.malformed("length", expected, self.h.len()))
        }
    }

    /// Returns the engine's parameters, without the points at infinity of queries, and the variables that have points.
    pub(super) fn into_parameters(self) -> (Parameters<E>, Occurrence) {
        let inputs = self.inputs();
        // Every input has a base in the query of A, infinity or not.
        let in_a = self.a.par_iter().enumerate().map(|(variable, point)| variable < inputs || !is_infinity(point));
        let in_b = self.b1.par_iter().zip(&self.b2).map(|(b1, b2)| !(is_infinity(b1) && is_infinity(b2)));
        let occurrence = Occurrence { a: in_a.collect(), b: in_b.collect() };
        let parameters = Parameters {
            alpha_g1: self.verification_key.alpha1,
            beta_g1: self.beta1,
            beta_g2: self.verification_key.beta2,
            delta_g1: self.delta1,
            delta_g2: self.verification_key.delta2,
            a: select(self.a, &occurrence.a).into(),
            b_g1: select(self.b1, &occurrence.b).into(),
            b_g2: select(self.b2, &occurrence.b).into(),
            h: self.h.into(),
            l: self.l.into(),
        };
        (parameters, occurrence)
    }
}

/// Returns `point`, the field `field` of a key, as a point of the engine.
///
/// # Errors
/// - [`Error::Malformed`]: it is not on the curve.
pub(crate) fn to_point<P: AffinePoint, A: MontgomeryForm>(field: &str, point: &A) -> Result<P> {
    decode_point(point).map_err(|fault| point_error::<P>(field, 0, fault))
}

/// Returns `points`, the field `field` of a key, as points of the engine. All threads of rayon's pool take part.
///
/// # Errors
/// - [`Error::Malformed`]: a point is not on the curve.
pub(crate) fn to_points<P: AffinePoint, A: MontgomeryForm>(field: &str, points: &[A]) -> Result<Vec<P>> {
    let decode = |(index, point)| decode_point(point).map_err(|fault| (index, fault));
    let points: std::result::Result<Vec<P>, _> =
        points.par_iter().with_min_len(MIN_POINTS).enumerate().map(decode).collect();
    points.map_err(|(index, fault)| point_error::<P>(field, index, fault))
}

fn point_error<P: AffinePoint>(field: &str, index: usize, fault: PointFault) -> Error {
    let expected = format!("a point of {} of {}", P::GROUP, P::CURVE);
    FileSection { file: KEY, section: field }.malformed(format!("point {index}"), expected, fault)
}

fn expect_length(field: &str, expected: usize, reason: &str, actual: usize) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    let expected = format!("{expected}, the number of {reason}");
    Err(FileSection { file: KEY, section: field }.malformed("length", expected, actual))
}

fn is_infinity<P: PrimeCurveAffine>(point: &P) -> bool {
    point.is_identity().into()
}

/// Returns those of `points` that `chosen` marks, in order.
fn select<P: AffinePoint>(points: Vec<P>, chosen: &[bool]) -> Vec<P> {
    points.into_par_iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(point, _)| point).collect()
}
