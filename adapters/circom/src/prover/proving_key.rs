//! Proves with a zkey whose points and matrices are on the devices.

use proofwarp::groth16::{Circuit, Densities, Parameters};
use proofwarp::rayon_waits::check_host_threads;
use proofwarp::secret_vec::SecretVec;
use proofwarp::{Abort, Accelerator};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::groth16::{Groth16Engine, Proof, VerificationKey};
use crate::prover::matrices::to_sparse_matrices;
use crate::prover::resident_prover::{BatchBlinding, ResidentProver};
use crate::prover::roots::quotient_form;
use crate::verify::PreparedVerificationKey;
use crate::witness::Witness;
use crate::zkey::Zkey;
use crate::zkey::header::ZkeyHeader;
use crate::zkey::points::RawPoints;

/// Holds a proving key whose points and matrices are uploaded once, for any number of proofs.
///
/// Points stay on the host if they would leave too little device memory for proofs. The log then has a warning, and
/// every proof streams them. Proofs of a batch are spread over all devices of the accelerator.
///
/// ```no_run
/// use halo2curves::bn256::Bn256;
/// use proofwarp::Accelerator;
/// use proofwarp_circom::{ProvingKey, Witness, Zkey, public_to_json};
///
/// let key = ProvingKey::<Bn256>::new(&Accelerator::from_env()?, &Zkey::open("circuit.zkey")?)?;
/// let witness = Witness::open("witness.wtns")?;
/// let proof = key.prove(&witness)?; // verified
/// std::fs::write("proof.json", proof.to_json())?;
/// std::fs::write("public.json", public_to_json::<Bn256>(&key.public_signals(&witness)?))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ProvingKey<E: Groth16Engine> {
    header: ZkeyHeader,
    prover: ResidentProver<E>,
    verification_key: VerificationKey<E>,
}

/// Holds the random scalars of a proof. A proof whose scalars are known, or those of another proof, may reveal the
/// witness.
#[derive(Clone, Copy)]
pub struct Blinding<F> {
    /// Multiplies δ in π_a.
    pub r: F,
    /// Multiplies δ in π_b.
    pub s: F,
}

/// Holds a caller's options for proofs.
#[derive(Clone, Copy)]
pub struct ProveOptions<'a, F> {
    /// Whether each proof is verified before it is returned. Without it, a witness that does not satisfy the circuit
    /// gives an invalid proof instead of an error.
    pub verify: bool,
    /// One pair of scalars for each witness, for tests. `None` draws them from the system's generator.
    pub blinding: Option<&'a [Blinding<F>]>,
    /// Hook that is called every few milliseconds, and may stop the proofs.
    pub abort: Abort<'a>,
}

impl<F> Default for ProveOptions<'_, F> {
    /// Verifies, draws random scalars, and never stops.
    fn default() -> Self {
        Self { verify: true, blinding: None, abort: None }
    }
}

impl<E: Groth16Engine> ProvingKey<E> {
    /// Converts `zkey` and uploads it to the first device of `accelerator`. Any other device gets its part with its
    /// first proof. All threads of rayon's pool take part.
    ///
    /// Time is linear in the file's size. Host memory beside the file is about as much again.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`]: `zkey` is of another curve than `E`.
    /// - [`Error::Malformed`]: a point is not on the curve, or a point of the verification key is not in the subgroup.
    /// - [`Error::Changed`]: `zkey` is mapped, and its file has changed.
    /// - [`Error::Engine`]: δ is zero, or a forced backend has too little memory or fails.
    pub fn new(accelerator: &Accelerator, zkey: &Zkey) -> Result<Self> {
        let verification_key = VerificationKey::from_zkey(zkey)?;
        let verifier = PreparedVerificationKey::with_name(zkey.file(), &verification_key)?;
        let converted = convert(zkey);
        // A change of the file may be the cause of an error.
        zkey.check_unchanged()?;
        let (parameters, circuit) = converted?;
        let form = quotient_form::<E>(zkey.header().domain_size.ilog2());
        let prover = ResidentProver::new(accelerator, (parameters, form), circuit, verifier)?;
        Ok(Self { header: *zkey.header(), prover, verification_key })
    }

    /// Returns curve and sizes.
    pub fn header(&self) -> &ZkeyHeader {
        &self.header
    }

    /// Returns the verification key.
    pub fn verification_key(&self) -> &VerificationKey<E> {
        &self.verification_key
    }

    /// Returns the number of bytes that the key and its matrices take on all devices together.
    pub fn device_bytes(&self) -> u64 {
        self.prover.device_bytes()
    }

    /// Returns the public signals of `witness`, which its proof is verified with.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`], [`Error::WitnessLength`]: `witness` does not belong to this key.
    pub fn public_signals(&self, witness: &Witness) -> Result<Vec<E::Fr>> {
        witness.check_against(&self.header)?;
        witness.public_signals::<E>(self.header.public_signals)
    }

    /// Proves `witness`, and verifies the proof.
    ///
    /// # Errors
    /// Those of [`Self::prove_with`].
    pub fn prove(&self, witness: &Witness) -> Result<Proof<E>> {
        let mut proofs = self.prove_with(&[witness], ProveOptions::default())?;
        proofs.pop().ok_or_else(|| Error::InvalidProof { file: witness.file().to_owned() })
    }

    /// Proves each of `witnesses`, spread over all devices, and verifies the proofs.
    ///
    /// # Errors
    /// Those of [`Self::prove_with`].
    pub fn prove_batch(&self, witnesses: &[Witness]) -> Result<Vec<Proof<E>>> {
        self.prove_with(&witnesses.iter().collect::<Vec<_>>(), ProveOptions::default())
    }

    /// Proves each of `witnesses`, spread over all devices, as `options` say. Returns the proofs in the same order.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`], [`Error::WitnessLength`]: a witness does not belong to this key.
    /// - [`Error::InvalidProof`]: a proof does not verify.
    /// - [`Error::Randomness`]: the system has no random bytes.
    /// - [`Error::Engine`]: there are fewer or more pairs of random scalars than witnesses, the hook aborted, or a
    ///   forced backend has too little memory or fails.
    pub fn prove_with(&self, witnesses: &[&Witness], options: ProveOptions<'_, E::Fr>) -> Result<Vec<Proof<E>>> {
        check_host_threads()?;
        witnesses.iter().try_for_each(|witness| witness.check_against(&self.header))?;
        let assignments = witnesses.iter().map(|witness| witness.to_scalars::<E>()).collect::<Result<Vec<_>>>()?;
        let blinding = match options.blinding {
            Some(pairs) => BatchBlinding {
                r: SecretVec(pairs.iter().map(|pair| pair.r).collect()),
                s: SecretVec(pairs.iter().map(|pair| pair.s).collect()),
            },
            None => BatchBlinding::random(witnesses.len())?,
        };
        let name = |index: usize| witnesses[index].file().to_owned();
        self.prover.prove(&assignments, &blinding, options.verify.then_some(&name), options.abort)
    }
}

/// Converts `zkey` to the engine's parameters and circuit.
fn convert<E: Groth16Engine>(zkey: &Zkey) -> Result<(Parameters<E>, Circuit<E::Fr>)> {
    let inputs = zkey.header().public_signals as usize + 1;
    // Every input has a base in the query of A, infinity or not.
    let mut in_a = nonzero(&zkey.a());
    in_a[..inputs].fill(true);
    let in_b: Vec<_> = nonzero(&zkey.b1()).into_iter().zip(nonzero(&zkey.b2())).map(|(b1, b2)| b1 | b2).collect();
    let densities = Densities { a_aux: &in_a[inputs..], b_inputs: &in_b[..inputs], b_aux: &in_b[inputs..] };
    let matrices = to_sparse_matrices(zkey.header(), &zkey.coefficients())?;
    let circuit = Circuit::from_two_matrices(densities, matrices)?;
    let parameters = Parameters {
        alpha_g1: zkey.alpha1().point(0)?,
        beta_g1: zkey.beta1().point(0)?,
        beta_g2: zkey.beta2().point(0)?,
        delta_g1: zkey.delta1().point(0)?,
        delta_g2: zkey.delta2().point(0)?,
        h: zkey.h().to_points()?.into(),
        l: zkey.c().to_points()?.into(),
        a: zkey.a().points_at(circuit.variables_of_a())?.into(),
        b_g1: zkey.b1().points_at(circuit.variables_of_b())?.into(),
        b_g2: zkey.b2().points_at(circuit.variables_of_b())?.into(),
    };
    Ok((parameters, circuit))
}

/// Returns, for each of `points`, whether it is not infinity.
fn nonzero(points: &RawPoints<'_>) -> Vec<bool> {
    points.par_encodings().map(|encoding| encoding.iter().any(|byte| *byte != 0)).collect()
}
