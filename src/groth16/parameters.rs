//! Defines the pairings that proofs support, proving parameters, and the quotient's form and domain.

use group::prime::PrimeCurveAffine;

use crate::curve::MsmCurve;
use crate::field::NttField;
use crate::msm::{self, BasePoints};
use crate::ntt::{NttDomain, NttOptions};
use crate::{Accelerator, Error, Result};

/// Marks a pairing engine whose groups and scalar field the kernels support: BLS12-381 (`blstrs::Bls12`), BN254
/// (`halo2curves::bn256::Bn256`).
pub trait Engine: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve> {}

impl<E: pairing::Engine<Fr: NttField, G1Affine: MsmCurve, G2Affine: MsmCurve>> Engine for E {}

/// Names the module in errors of its input checks.
pub(super) const ERROR_CONTEXT: &str = "groth16";

/// Holds the proving parameters that a circuit's setup makes, as Groth16 defines them ("On the Size of Pairing-based
/// Non-interactive Arguments", 2016). Points are in bellperson's order.
#[derive(Debug, Clone)]
pub struct Parameters<E: Engine> {
    /// α in G1.
    pub alpha_g1: E::G1Affine,
    /// β in G1.
    pub beta_g1: E::G1Affine,
    /// β in G2.
    pub beta_g2: E::G2Affine,
    /// δ in G1.
    pub delta_g1: E::G1Affine,
    /// δ in G2.
    pub delta_g2: E::G2Affine,
    /// Query of h, in G1: τⁱ·t(τ)/δ for i < m − 1, where m is the order of the evaluation domain.
    pub h: BasePoints<E::G1Affine>,
    /// Query of l, in G1: (β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ))/δ for each auxiliary variable i.
    pub l: BasePoints<E::G1Affine>,
    /// Query of A, in G1: uᵢ(τ) of every input, then of each auxiliary variable that occurs in A.
    pub a: BasePoints<E::G1Affine>,
    /// Query of B, in G1: vᵢ(τ) of each input, then of each auxiliary variable, that occurs in B.
    pub b_g1: BasePoints<E::G1Affine>,
    /// Query of B, in G2: vᵢ(τ) of the variables of `b_g1`, in the same order.
    pub b_g2: BasePoints<E::G2Affine>,
}

impl<E: Engine> Parameters<E> {
    /// Returns the number of bytes that all queries together take on one device.
    pub fn device_bytes(&self) -> u64 {
        let g1 = [&self.h, &self.l, &self.a, &self.b_g1].map(|query| affine_bytes::<E::G1Affine>(query.len()));
        g1.into_iter().fold(affine_bytes::<E::G2Affine>(self.b_g2.len()), u64::saturating_add)
    }

    /// Decodes all encoded points of the queries on the host. Later uploads copy the decoded points.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: an encoded point is invalid. Its source gives the point's name.
    /// - The bytes of encoded points have changed: the error of their source.
    pub fn decode(&self) -> Result<()> {
        [&self.h, &self.l, &self.a, &self.b_g1].into_iter().try_for_each(|query| query.on_host().map(drop))?;
        self.b_g2.on_host().map(drop)
    }

    /// Checks on `accelerator` that every point of the parameters is infinity or in the subgroup of prime order.
    pub(super) fn check_points(&self, accelerator: &Accelerator) -> Result<()> {
        let Self { alpha_g1, beta_g1, beta_g2, delta_g1, delta_g2, .. } = self;
        check_query(accelerator, "α, β and δ in G1", &[*alpha_g1, *beta_g1, *delta_g1])?;
        check_query(accelerator, "β and δ in G2", &[*beta_g2, *delta_g2])?;
        for (name, query) in [("h", &self.h), ("l", &self.l), ("a", &self.a), ("b_g1", &self.b_g1)] {
            check_query(accelerator, name, query.on_host()?)?;
        }
        check_query(accelerator, "b_g2", self.b_g2.on_host()?)
    }

    /// Checks the lengths of the queries for keys of `form`, and that δ is not zero. Returns the order of the
    /// evaluation domain.
    pub(super) fn check(&self, form: &QuotientForm<E::Fr>) -> Result<usize> {
        const ERROR_CONTEXT: &str = "groth16 key";
        let size = form.domain_size(self.h.len()).ok_or_else(|| {
            let expected = match form {
                QuotientForm::Coefficients { .. } => "a power of two, less one",
                QuotientForm::CosetValues { .. } => "a power of two",
            };
            Error::invalid(ERROR_CONTEXT, "length of h", expected, self.h.len())
        })?;
        if self.b_g1.len() != self.b_g2.len() {
            return Err(Error::invalid(ERROR_CONTEXT, "length of b_g2", self.b_g1.len(), self.b_g2.len()));
        }
        // With δ = 0 the maker of the key could learn the witness.
        if bool::from(self.delta_g1.is_identity() | self.delta_g2.is_identity()) {
            return Err(Error::invalid(ERROR_CONTEXT, "δ", "a point other than zero", "zero"));
        }
        Ok(size)
    }
}

/// Checks on `accelerator` that each of `points` is infinity or in the subgroup of prime order. The error contains
/// `name`, the name of the query.
fn check_query<C: MsmCurve>(accelerator: &Accelerator, name: &str, points: &[C]) -> Result<()> {
    msm::check(accelerator, points).map_err(|error| match error {
        Error::Invalid { place, what, expected, actual } => {
            Error::Invalid { place, what: format!("{what} of {name}"), expected, actual }
        }
        other => other,
    })
}

/// Returns the number of bytes of `points` points on a device, or `u64::MAX` if the product overflows.
pub(super) fn affine_bytes<C: MsmCurve>(points: usize) -> u64 {
    (points as u64).saturating_mul(C::AFFINE_BYTES as u64)
}

/// Selects the form of the quotient whose scalars multiply the query of h. The tool that made a key decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotientForm<F> {
    /// Coefficients of h = (a·b − c)/Z, one fewer than the domain has elements: the form of bellperson and of
    /// `ark-groth16`.
    Coefficients {
        /// Generator of the domain, a primitive root of unity. Row i of the matrices belongs to its i-th power. `None`
        /// selects a power of [`PrimeField::ROOT_OF_UNITY`](ff::PrimeField::ROOT_OF_UNITY).
        omega: Option<F>,
    },
    /// Values of a·b − c on the coset `shift`·H, where `omega` generates the domain H: snarkjs's form. The query has a
    /// base for each element of H, namely Lᵢ(τ)/δ. Lᵢ is the Lagrange polynomial of the points H ∪ `shift`·H that is
    /// 1 at `shift`·`omega`^i.
    CosetValues {
        /// Generator of the domain, a primitive root of unity. Row i of the matrices belongs to its i-th power.
        omega: F,
        /// Generator of the coset, an element outside the domain.
        shift: F,
    },
}

impl<F> Default for QuotientForm<F> {
    /// Returns bellperson's form.
    fn default() -> Self {
        Self::Coefficients { omega: None }
    }
}

impl<F: NttField> QuotientForm<F> {
    /// Returns the order of the evaluation domain of a key with `bases` bases in the query of h. Returns `None` if it
    /// is no power of two.
    pub(super) fn domain_size(&self, bases: usize) -> Option<usize> {
        let size = match self {
            Self::Coefficients { .. } => bases.checked_add(1)?,
            Self::CosetValues { .. } => bases,
        };
        size.is_power_of_two().then_some(size)
    }

    /// Creates the evaluation domain of order `2^log_n`, whose vectors the devices of `accelerator` transform.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity.
    /// - [`Error::Invalid`]: `omega` does not generate the domain, or `shift` is zero or an element of the domain.
    pub(super) fn domain(&self, accelerator: &Accelerator, log_n: u32) -> Result<NttDomain<F>> {
        let options = match *self {
            Self::Coefficients { omega } => NttOptions { omega, ..NttOptions::default() },
            Self::CosetValues { omega, shift } => {
                NttOptions { omega: Some(omega), coset: Some(shift), ..NttOptions::default() }
            }
        };
        let domain = NttDomain::with_options(accelerator, log_n, options)?;
        inverse_vanishing_value(&domain).map(|_| domain)
    }
}

/// Returns 1/Z on the coset of `domain` with generator g. The polynomial Z = xᵐ − 1 has the value gᵐ − 1 at every point
/// of the coset, where m is the domain's order.
pub(crate) fn inverse_vanishing_value<F: NttField>(domain: &NttDomain<F>) -> Result<F> {
    let power = (0..domain.log_n()).fold(domain.coset(), |power, _| power.square());
    let inverse: Option<F> = (power - F::ONE).invert().into();
    inverse
        .ok_or_else(|| Error::invalid(ERROR_CONTEXT, "generator of the coset", "one outside the domain", "one in it"))
}
