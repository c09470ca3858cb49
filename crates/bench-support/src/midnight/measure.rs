//! Measures one size by midnight-proofs and by proofwarp, and compares the results.

use std::fmt;

use blake2b_simd::State;
use ff::Field;
use midnight_curves::{Bls12, Fq};
use midnight_proofs::plonk::{ProvingKey, create_proof, keygen_pk, keygen_vk_with_k, prepare};
use midnight_proofs::poly::EvaluationDomain;
use midnight_proofs::poly::commitment::{Guard, PolynomialCommitmentScheme};
use midnight_proofs::poly::kzg::KZGCommitmentScheme;
use midnight_proofs::poly::kzg::params::ParamsKZG;
use midnight_proofs::transcript::{CircuitTranscript, Transcript};
use proofwarp::Accelerator;
use proofwarp_midnight::{GpuKzgScheme, Parameters, retype};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::circuit::Filled;
use crate::Failure;
use crate::timing::timed;

type Stock = KZGCommitmentScheme<Bls12>;

/// Holds the times that midnight-proofs and proofwarp took for one operation.
pub struct Line {
    pub what: String,
    log_n: u32,
    /// Milliseconds of each.
    theirs: f64,
    ours: f64,
}

impl Line {
    pub fn cells(&self) -> [String; 5] {
        let Self { what, log_n, theirs, ours } = self;
        let [theirs_ms, ours_ms] = [theirs, ours].map(|time| format!("{time:.2}"));
        [what.clone(), log_n.to_string(), theirs_ms, ours_ms, format!("{:.1}", theirs / ours)]
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [what, log_n, theirs, ours, times] = self.cells();
        write!(f, "{what}, 2^{log_n}: {theirs} ms by midnight-proofs, {ours} by proofwarp, {times} times")
    }
}

/// Returns the median time of `runs`, after one that does not count, and the last result.
fn median<T>(runs: u32, run: impl FnMut() -> Result<T, Failure>) -> Result<(f64, T), Failure> {
    timed(runs, run).map(|(last, _, median)| (median, last))
}

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

fn line<T: PartialEq>(what: &str, log_n: u32, theirs: (f64, T), ours: (f64, T)) -> Result<Line, Failure> {
    if theirs.1 != ours.1 {
        return Err(format!("{what}, 2^{log_n}: results differ").into());
    }
    Ok(Line { what: what.to_owned(), log_n, theirs: theirs.0, ours: ours.0 })
}

/// Measures commitments to polynomials with 2^`k` random coefficients or values. Times are medians of `runs` runs.
pub fn commitments(accelerator: &Accelerator, k: u32, runs: u32) -> Result<Vec<Line>, Failure> {
    let stock = ParamsKZG::<Bls12>::unsafe_setup(k, rng());
    let parameters = Parameters::new(accelerator, stock)?;
    let domain = EvaluationDomain::<Fq>::new(1, k);
    let mut rng = rng();
    let values: Vec<Fq> = (0..1 << k).map(|_| Fq::random(&mut rng)).collect();
    let (coefficients, values) = (domain.coeff_from_vec(values.clone()), domain.lagrange_from_vec(values));
    Ok(vec![
        line(
            "commitment of coefficients",
            k,
            median(runs, || Ok(Stock::commit(parameters.stock(), &coefficients)))?,
            median(runs, || Ok(parameters.commit(&coefficients)?))?,
        )?,
        line(
            "commitment of values",
            k,
            median(runs, || Ok(Stock::commit_lagrange(parameters.stock(), &values)))?,
            median(runs, || Ok(parameters.commit_lagrange(&values)?))?,
        )?,
    ])
}

/// Measures a proof of the circuit that fills 2^`k` rows. midnight-proofs verifies it.
pub fn proofs(accelerator: &Accelerator, k: u32, runs: u32) -> Result<Vec<Line>, Failure> {
    let circuit = Filled::new(k, 3);
    let parameters = Parameters::new(accelerator, ParamsKZG::<Bls12>::unsafe_setup(k, rng()))?;
    let vk = keygen_vk_with_k::<_, Stock, _>(parameters.stock(), &circuit, k).map_err(said)?;
    let stock = keygen_pk(vk, &circuit).map_err(said)?;
    let ours: ProvingKey<Fq, GpuKzgScheme> = retype::<_, _, Filled>(&stock)?;
    let theirs = median(runs, || prove(parameters.stock(), &stock, &circuit))?;
    let ours = median(runs, || prove(&parameters, &ours, &circuit))?;
    verify(&parameters, &stock, &ours.1)?;
    Ok(vec![line("proof", k, theirs, ours)?])
}

fn said(error: impl fmt::Debug) -> Failure {
    format!("{error:?}").into()
}

fn prove<S>(parameters: &S::Parameters, key: &ProvingKey<Fq, S>, circuit: &Filled) -> Result<Vec<u8>, Failure>
where
    S: PolynomialCommitmentScheme<Fq, Commitment = midnight_curves::G1Projective>,
{
    let mut transcript = CircuitTranscript::<State>::init();
    create_proof(parameters, key, std::slice::from_ref(circuit), &[&[]], &mut transcript, rng()).map_err(said)?;
    Ok(transcript.finalize())
}

fn verify(parameters: &Parameters, key: &ProvingKey<Fq, Stock>, proof: &[u8]) -> Result<(), Failure> {
    let mut transcript = CircuitTranscript::<State>::init_from_bytes(proof);
    let guard = prepare::<_, Stock, _>(key.get_vk(), &[&[]], &mut transcript).map_err(said)?;
    guard.verify(&parameters.stock().verifier_params()).map_err(said)
}
