//! A setup whose points stay on the devices.

use blstrs::G1Affine;
use midnight_curves::{Bls12, Fq, G1Projective};
use midnight_proofs::poly::commitment::Params;
use midnight_proofs::poly::kzg::params::ParamsKZG;
use proofwarp::msm::{Msm, Options, Scalars};
use proofwarp::{Accelerator, Error, Result};
use zeroize::Zeroize;

use crate::points::{affine, as_montgomery, powers, theirs};

/// A setup of midnight-proofs, its 2 · 2^k points on the devices: 96 bytes each. Where they do not fit they stay on the host and
/// each commitment streams them.
///
/// It is `Send` and `Sync`: several proofs at once may use one.
#[derive(Debug)]
pub struct Parameters {
    stock: ParamsKZG<Bls12>,
    accelerator: Accelerator,
    coefficients: Msm<'static, G1Affine>,
    lagrange: Msm<'static, G1Affine>,
}

impl Parameters {
    /// Uploads a setup's points. They are trusted, as midnight-proofs trusts them.
    ///
    /// The setup shows the powers of its secret only by writing them, one after the other: for points that are not normalized,
    /// as those of `unsafe_setup`, this takes an inversion each, 20 s at 2^20. Those of a file are.
    ///
    /// # Errors
    /// The setup cannot be written, or a forced backend has too little memory, or failed.
    pub fn new(accelerator: &Accelerator, stock: ParamsKZG<Bls12>) -> Result<Self> {
        let unreadable = |error| Error::invalid("midnight", "setup", "points that can be written", error);
        let coefficients = powers(&stock).map_err(unreadable)?;
        let lagrange = affine(stock.g_lagrange());
        let [coefficients, lagrange] =
            [coefficients, lagrange].map(|points| Msm::shared(accelerator, points, Options::default()));
        Ok(Self { coefficients: coefficients?, lagrange: lagrange?, accelerator: accelerator.clone(), stock })
    }

    /// The setup itself, for verifiers and for what stays on the host.
    pub fn stock(&self) -> &ParamsKZG<Bls12> {
        &self.stock
    }

    /// Where commitments are computed.
    pub fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// The commitment of a polynomial by its coefficients, 2^k at most.
    ///
    /// # Errors
    /// There are more of them than points, or a forced backend failed.
    pub fn commit(&self, coefficients: &[Fq]) -> Result<G1Projective> {
        commit(&self.coefficients, self.points(), coefficients)
    }

    /// The commitment of a polynomial by its values at the 2^k roots of unity; what is missing at the end is zero.
    ///
    /// # Errors
    /// There are more of them than points, or a forced backend failed.
    pub fn commit_lagrange(&self, values: &[Fq]) -> Result<G1Projective> {
        commit(&self.lagrange, self.points(), values)
    }

    fn points(&self) -> usize {
        self.stock.g_lagrange().len()
    }
}

fn commit(bases: &Msm<'static, G1Affine>, points: usize, elements: &[Fq]) -> Result<G1Projective> {
    if elements.len() > points {
        return Err(Error::invalid(
            "midnight",
            "elements of a polynomial",
            format!("at most {points}"),
            elements.len(),
        ));
    }
    let sum = |elements: &[[u8; 32]]| bases.run(Scalars::montgomery(elements), None);
    let elements = as_montgomery(elements);
    if elements.len() == points {
        return Ok(theirs(&sum(elements)?.0));
    }
    let mut padded = Vec::with_capacity(points);
    padded.extend_from_slice(elements);
    padded.resize(points, [0; 32]);
    let outcome = sum(&padded);
    // It may be a witness.
    padded.zeroize();
    Ok(theirs(&outcome?.0))
}

impl Params for Parameters {
    fn max_k(&self) -> u32 {
        self.stock.max_k()
    }

    /// As midnight-proofs' own; the points of the smaller setup are uploaded.
    ///
    /// # Panics
    /// `new_k` is more than there is, or a forced backend failed: the interface has no error.
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
