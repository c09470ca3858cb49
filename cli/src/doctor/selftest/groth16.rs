//! Proves x·x = 35² by a setup whose secrets are known, and checks the pairings that the proof has to satisfy.

use std::sync::Arc;

use ff::Field;
use group::prime::PrimeCurveAffine;
use proofwarp::groth16::{Circuit, Engine, Parameters, Proof, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp::ntt::NttDomain;
use proofwarp::{Accelerator, Result};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Answer, inverse, timed};

/// Holds the secrets of a setup, and values derived from them; γ is 1.
struct Setup<F> {
    alpha: F,
    beta: F,
    delta: F,
    /// β·uᵢ(τ) + α·vᵢ(τ) + wᵢ(τ) of the variables 1, y and x.
    k: [F; 3],
    u: [F; 3],
    v: [F; 3],
    /// Powers of τ times the vanishing polynomial at τ, over δ.
    h: Vec<F>,
}

impl<F: proofwarp::field::NttField> Setup<F> {
    /// Creates a setup of the constraints x·x = y, and input·0 = 0 for each input, in a domain of four.
    fn new(rng: &mut ChaCha8Rng) -> Result<Self> {
        let [tau, alpha, beta, delta] = [(); 4].map(|()| F::random(&mut *rng));
        let omega = NttDomain::<F>::new(&Accelerator::with_backend(proofwarp::BackendKind::Cpu)?, 2)?.omega();
        let vanishing = tau.pow_vartime([4]) - F::ONE;
        let lagrange = |i: u64| {
            let at = omega.pow_vartime([i]);
            Ok(at * vanishing * inverse(F::from(4) * (tau - at))?)
        };
        let [l0, l1, l2] = [lagrange(0)?, lagrange(1)?, lagrange(2)?];
        let (u, v, w) = ([l1, l2, l0], [F::ZERO, F::ZERO, l0], [F::ZERO, l0, F::ZERO]);
        let k = [0, 1, 2].map(|i| beta * u[i] + alpha * v[i] + w[i]);
        let by_delta = vanishing * inverse(delta)?;
        let h = (0..3).map(|i| tau.pow_vartime([i]) * by_delta).collect();
        Ok(Self { alpha, beta, delta, k, u, v, h })
    }

    fn parameters<E: Engine<Fr = F>>(&self) -> Result<Parameters<E>> {
        let l = self.k[2] * inverse(self.delta)?;
        Ok(Parameters {
            alpha_g1: g1::<E>(self.alpha),
            beta_g1: g1::<E>(self.beta),
            beta_g2: g2::<E>(self.beta),
            delta_g1: g1::<E>(self.delta),
            delta_g2: g2::<E>(self.delta),
            h: self.h.iter().map(|h| g1::<E>(*h)).collect::<Vec<_>>().into(),
            l: vec![g1::<E>(l)].into(),
            a: self.u.map(g1::<E>).to_vec().into(),
            b_g1: vec![g1::<E>(self.v[2])].into(),
            b_g2: vec![g2::<E>(self.v[2])].into(),
        })
    }

    /// Returns whether `proof` is valid for the input `y`: e(A, B) = e(α, β) · e(Σ inputs, 1) · e(C, δ).
    fn verifies<E: Engine<Fr = F>>(&self, proof: &Proof<E>, y: F) -> bool {
        let inputs = g1::<E>(self.k[0] + y * self.k[1]);
        let right = E::pairing(&g1::<E>(self.alpha), &g2::<E>(self.beta))
            + E::pairing(&inputs, &g2::<E>(F::ONE))
            + E::pairing(&proof.c, &g2::<E>(self.delta));
        E::pairing(&proof.a, &proof.b) == right
    }
}

fn g1<E: Engine>(scalar: E::Fr) -> E::G1Affine {
    (E::G1Affine::generator() * scalar).into()
}

fn g2<E: Engine>(scalar: E::Fr) -> E::G2Affine {
    (E::G2Affine::generator() * scalar).into()
}

pub fn test<E: Engine>(accelerator: &Accelerator, _: u32) -> Result<Answer> {
    let one = E::Fr::ONE;
    let rows = |rows: [Vec<(usize, E::Fr)>; 3]| Csr::from_rows(3, rows).map(Arc::new);
    let a = rows([vec![(2, one)], vec![(0, one)], vec![(1, one)]])?;
    let b = rows([vec![(2, one)], vec![], vec![]])?;
    let c = rows([vec![(1, one)], vec![], vec![]])?;
    let circuit = Circuit::from_matrices(2, [a, b, c])?;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let setup = Setup::new(&mut rng)?;
    let key = ProvingKeyOnDevice::<E>::new(accelerator, setup.parameters()?)?;
    let (x, y) = ([E::Fr::from(35)], E::Fr::from(35 * 35));
    let witness = Witness { inputs: &[one, y], aux: (&x).into(), evaluations: None };
    let [r, s] = [(); 2].map(|()| [E::Fr::random(&mut rng)]);
    let run = || prove(&key, &circuit, &[witness], &r, &s, None);
    run()?;
    let ((proofs, report), time) = timed(run)?;
    Ok(Answer { report, time, is_right: proofs.iter().all(|proof| setup.verifies(proof, y)) && proofs.len() == 1 })
}
