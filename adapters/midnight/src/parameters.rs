//! A setup whose points stay on the devices.

use midnight_curves::{Bls12, Fq, G1Projective};
use midnight_proofs::poly::commitment::Params;
use midnight_proofs::poly::kzg::params::ParamsKZG;
use proofwarp::bytes::{ByteBases, CurveId};
use proofwarp::msm::{MsmOptions, ScalarForm, Scalars};
use proofwarp::{Accelerator, Error, Result};
use zeroize::Zeroize;

use crate::points::{as_bytes, read_tau_powers, to_affine_points, to_point};

/// Bytes that an element takes in memory, 32.
const ELEMENT: usize = size_of::<Fq>();

/// Holds a setup of midnight-proofs, with its 2 · 2^k points on the devices: 96 bytes each. Points that do not fit stay
/// on the host, and each commitment streams them.
///
/// It is `Send` and `Sync`: several proofs may use it at once.
#[derive(Debug)]
pub struct Parameters {
    stock: ParamsKZG<Bls12>,
    accelerator: Accelerator,
    coefficients: ByteBases<'static>,
    lagrange: ByteBases<'static>,
}

impl Parameters {
    /// Creates parameters from the setup `stock`, and uploads its points to the devices of `accelerator`. The points
    /// are trusted, as midnight-proofs trusts them.
    ///
    /// The setup exposes the powers of its secret only by writing them, one after the other. Points that are not
    /// normalized, such as those of `unsafe_setup`, take an inversion each: 20 s at 2^20. Points read from a file are
    /// normalized.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the setup cannot be written.
    /// - The error of a forced backend that has too little memory or failed.
    pub fn new(accelerator: &Accelerator, stock: ParamsKZG<Bls12>) -> Result<Self> {
        let unreadable = |error| Error::invalid("midnight", "setup", "points that can be written", error);
        let coefficients = read_tau_powers(&stock).map_err(unreadable)?;
        let lagrange = to_affine_points(stock.g_lagrange());
        let curve = CurveId::from_name("bls12_381_g1")?;
        let [coefficients, lagrange] = [coefficients, lagrange]
            .map(|points| ByteBases::shared(accelerator, curve, as_bytes(&points), MsmOptions::default()));
        Ok(Self { coefficients: coefficients?, lagrange: lagrange?, accelerator: accelerator.clone(), stock })
    }

    /// Returns midnight-proofs' own setup, for verifiers and for operations that stay on the host.
    pub fn stock(&self) -> &ParamsKZG<Bls12> {
        &self.stock
    }

    /// Returns the accelerator that computes commitments.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Commits to a polynomial by its `coefficients`, at most 2^k of them, the constant term first.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are more coefficients than points.
    /// - The error of a forced backend that failed.
    pub fn commit(&self, coefficients: &[Fq]) -> Result<G1Projective> {
        commit(&self.coefficients, self.point_count(), coefficients)
    }

    /// Commits to a polynomial by its `values` at the 2^k roots of unity, in the order of their exponents. Missing
    /// values at the end count as zero.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are more values than points.
    /// - The error of a forced backend that failed.
    pub fn commit_lagrange(&self, values: &[Fq]) -> Result<G1Projective> {
        commit(&self.lagrange, self.point_count(), values)
    }

    fn point_count(&self) -> usize {
        self.stock.g_lagrange().len()
    }
}

fn commit(bases: &ByteBases<'static>, points: usize, elements: &[Fq]) -> Result<G1Projective> {
    if elements.len() > points {
        return Err(Error::invalid(
            "midnight",
            "elements of a polynomial",
            format!("at most {points}"),
            elements.len(),
        ));
    }
    let sum = |elements: &[u8]| {
        let (sum, _) = bases.run(Scalars::from_bytes(elements, ScalarForm::Montgomery)?, None)?;
        to_point(&sum).ok_or_else(|| Error::invalid("midnight", "sum", "bytes of one point", sum.len()))
    };
    if elements.len() == points {
        return sum(as_bytes(elements));
    }
    let mut padded = Vec::with_capacity(points * ELEMENT);
    padded.extend_from_slice(as_bytes(elements));
    padded.resize(points * ELEMENT, 0);
    let outcome = sum(&padded);
    // The values may be a witness.
    padded.zeroize();
    outcome
}

impl Params for Parameters {
    fn max_k(&self) -> u32 {
        self.stock.max_k()
    }

    /// Reduces the setup to k = `new_k`, as midnight-proofs' own does, and uploads the points of the smaller setup.
    ///
    /// # Panics
    /// Panics if `new_k` is larger than `max_k`, or if a forced backend failed: the interface has no error.
    fn downsize(&mut self, new_k: u32) {
        if new_k == self.max_k() {
            return;
        }
        let mut stock = self.stock.clone();
        stock.downsize(new_k);
        *self =
            Self::new(&self.accelerator, stock).unwrap_or_else(|error| panic!("proofwarp-midnight: no setup: {error}"));
    }
}
