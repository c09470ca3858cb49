//! Proves with a key of one version of `ark-groth16`. `super` names the version.

use proofwarp::Accelerator;
use proofwarp::secret_vec::SecretVec;
use rand_core::{CryptoRng, RngCore};
use rayon::prelude::*;

use super::ark_ff::{FftField, UniformRand};
use super::ark_groth16;
use super::ark_pairing::ArkPairing;
use super::relations::{ConstraintSynthesizer, Matrix};
use super::synthesis::{synthesize_assignment, synthesize_constraints};
use crate::ark::{
    BatchBlinding, CIRCUIT, Constraints, KeyPoints, MatrixRow, ResidentKey, expect_count, from_point, to_point,
    to_points, to_scalar, to_scalars,
};
use crate::error::{Error, Result};
use crate::groth16::{Proof, VerificationKey};
use crate::prover::proving_key::{Blinding, ProveOptions};

/// Names the type of the engine's scalars.
type EngineScalar<E> = <<E as ArkPairing>::Engine as pairing::Engine>::Fr;

/// Holds a proving key of `ark-groth16` whose points and matrices are uploaded once, for any number of proofs.
///
/// Keys of `LibsnarkReduction`, which `Groth16<E>` takes, and of ark-circom's `CircomReduction` are told apart by their
/// number of points for the quotient. For equal r and s, a proof equals ark-groth16's.
///
/// Points stay on the host if they would leave too little device memory for proofs. The log then has a warning, and
/// every proof streams them. Proofs of a batch are spread over all devices of the accelerator.
#[derive(Debug)]
pub struct ProvingKey<E: ArkPairing>(ResidentKey<E::Engine>);

impl<E: ArkPairing> ProvingKey<E> {
    /// Converts `key` and the constraints of `circuit`, and uploads them to the first device of `accelerator`. Any other
    /// device gets its part with its first proof.
    ///
    /// The circuit is synthesised for a setup: it is asked for constraints, not for values. Points are checked to be on
    /// the curve; the subgroup is checked for the verification key only.
    ///
    /// # Errors
    /// - [`Error::Synthesis`]: the circuit gives an error.
    /// - [`Error::Unsupported`]: the circuit has constraints other than R1CS, or too many for the field's domains.
    /// - [`Error::Malformed`]: `key` belongs to a circuit of other sizes, or a point is not on the curve or not in the
    ///   subgroup.
    /// - [`Error::Engine`]: δ is zero, or a forced backend has too little memory or fails.
    pub fn new(
        accelerator: &Accelerator,
        key: &ark_groth16::ProvingKey<E>,
        circuit: impl ConstraintSynthesizer<E::ScalarField>,
    ) -> Result<Self> {
        let system = synthesize_constraints(circuit)?;
        let points = to_key_points(key)?;
        points.expect_circuit(system.inputs, system.witnesses)?;
        Self::from_points(accelerator, points, &system.constraints)
    }

    /// Converts `key` and the matrices A and B of its circuit, as [`Self::new`] does. It suits ark-circom, which reads
    /// matrices from a zkey. Entries are (coefficient, variable); inputs come before witness variables.
    ///
    /// # Errors
    /// - [`Error::Unsupported`]: the circuit has too many constraints for the field's domains.
    /// - [`Error::Malformed`]: the matrices differ in their numbers of rows, or `key` belongs to a circuit of another
    ///   size.
    /// - [`Error::Malformed`]: a point is not on the curve, or not in the subgroup.
    /// - [`Error::Engine`]: a variable is not the key's, δ is zero, or a forced backend has too little memory or fails.
    pub fn from_matrices(
        accelerator: &Accelerator,
        key: &ark_groth16::ProvingKey<E>,
        [a, b]: [&Matrix<E::ScalarField>; 2],
    ) -> Result<Self> {
        Self::from_points(accelerator, to_key_points(key)?, &Constraints { a: a.as_slice(), b: b.as_slice() })
    }

    fn from_points(
        accelerator: &Accelerator,
        points: KeyPoints<E::Engine>,
        constraints: &Constraints<impl AsRef<[MatrixRow<E::ScalarField>]>>,
    ) -> Result<Self> {
        let matrices =
            constraints.to_sparse_matrices::<E::Engine, E::ScalarField>(points.inputs(), points.variables())?;
        let root = |order| to_scalar::<E::Engine, _>(&E::ScalarField::get_root_of_unity(order)?);
        ResidentKey::new(accelerator, points, matrices, root).map(Self)
    }

    /// Returns the number of bytes that the key and its matrices take on all devices together.
    pub fn device_bytes(&self) -> u64 {
        self.0.device_bytes()
    }

    /// Proves `circuit`, and verifies the proof. It takes r and s from `rng` as ark-groth16 does: the same generator
    /// gives the same proof.
    ///
    /// # Errors
    /// Those of [`Self::prove_with`].
    pub fn prove(
        &self,
        circuit: impl ConstraintSynthesizer<E::ScalarField>,
        rng: &mut (impl RngCore + CryptoRng),
    ) -> Result<ark_groth16::Proof<E>> {
        let (r, s) = (E::ScalarField::rand(rng), E::ScalarField::rand(rng));
        let options = ProveOptions { blinding: Some(&[Blinding { r, s }]), ..ProveOptions::default() };
        let mut proofs = self.prove_with([circuit], options)?;
        proofs.pop().ok_or_else(|| Error::InvalidProof { file: CIRCUIT.to_owned() })
    }

    /// Proves each of `circuits`, spread over all devices, as `options` say. Returns the proofs in the same order.
    ///
    /// Each circuit is synthesised first, by the calling thread. It is asked for values, not for constraints.
    ///
    /// # Errors
    /// - [`Error::Synthesis`]: a circuit gives an error.
    /// - [`Error::Malformed`]: a circuit has other numbers of inputs or witness variables than the key's.
    /// - [`Error::InvalidProof`]: a proof does not verify, because its circuit's values do not satisfy the constraints.
    /// - [`Error::Randomness`]: the system has no random bytes.
    /// - [`Error::Engine`]: there are fewer or more pairs of random scalars than circuits, the hook aborted, or a
    ///   forced backend has too little memory or fails.
    pub fn prove_with<C: ConstraintSynthesizer<E::ScalarField>>(
        &self,
        circuits: impl IntoIterator<Item = C>,
        options: ProveOptions<'_, E::ScalarField>,
    ) -> Result<Vec<ark_groth16::Proof<E>>> {
        let assign =
            |circuit| synthesize_assignment(circuit)?.to_scalars::<E::Engine>(self.0.inputs(), self.0.witnesses());
        self.prove_scalars(&circuits.into_iter().map(assign).collect::<Result<Vec<_>>>()?, options)
    }

    /// Proves each of `assignments`, as [`Self::prove_with`] does. Each has the values of all variables: 1, the other
    /// inputs, then witness variables.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: an assignment has another number of values than the key has variables.
    /// - [`Self::prove_with`] lists the others.
    pub fn prove_assignments(
        &self,
        assignments: &[&[E::ScalarField]],
        options: ProveOptions<'_, E::ScalarField>,
    ) -> Result<Vec<ark_groth16::Proof<E>>> {
        let variables = self.0.inputs() + self.0.witnesses();
        let assign = |values: &&[E::ScalarField]| {
            expect_count("variables", variables, values.len())?;
            to_scalars::<E::Engine, _>("variables", values.par_iter().copied())
        };
        self.prove_scalars(&assignments.iter().map(assign).collect::<Result<Vec<_>>>()?, options)
    }

    fn prove_scalars(
        &self,
        assignments: &[SecretVec<EngineScalar<E>>],
        options: ProveOptions<'_, E::ScalarField>,
    ) -> Result<Vec<ark_groth16::Proof<E>>> {
        let blinding = to_blinding::<E>(options.blinding, assignments.len())?;
        let proofs = self.0.prove(assignments, &blinding, options.verify, options.abort)?;
        Ok(proofs.iter().map(from_proof::<E>).collect())
    }
}

/// Returns the random scalars of `count` proofs: those of `given`, or else random ones.
fn to_blinding<E: ArkPairing>(
    given: Option<&[Blinding<E::ScalarField>]>,
    count: usize,
) -> Result<BatchBlinding<E::Engine>> {
    Ok(match given {
        Some(pairs) => BatchBlinding {
            r: to_scalars::<E::Engine, _>("r", pairs.par_iter().map(|pair| pair.r))?,
            s: to_scalars::<E::Engine, _>("s", pairs.par_iter().map(|pair| pair.s))?,
        },
        None => BatchBlinding::random(count)?,
    })
}

fn from_proof<E: ArkPairing>(proof: &Proof<E::Engine>) -> ark_groth16::Proof<E> {
    ark_groth16::Proof { a: from_point(&proof.a), b: from_point(&proof.b), c: from_point(&proof.c) }
}

/// Converts the points of `key`.
///
/// # Errors
/// - [`Error::Malformed`]: a point is not on the curve.
fn to_key_points<E: ArkPairing>(key: &ark_groth16::ProvingKey<E>) -> Result<KeyPoints<E::Engine>> {
    let vk = &key.vk;
    Ok(KeyPoints {
        verification_key: VerificationKey {
            alpha1: to_point("vk.alpha_g1", &vk.alpha_g1)?,
            beta2: to_point("vk.beta_g2", &vk.beta_g2)?,
            gamma2: to_point("vk.gamma_g2", &vk.gamma_g2)?,
            delta2: to_point("vk.delta_g2", &vk.delta_g2)?,
            ic: to_points("vk.gamma_abc_g1", &vk.gamma_abc_g1)?,
        },
        beta1: to_point("beta_g1", &key.beta_g1)?,
        delta1: to_point("delta_g1", &key.delta_g1)?,
        a: to_points("a_query", &key.a_query)?,
        b1: to_points("b_g1_query", &key.b_g1_query)?,
        b2: to_points("b_g2_query", &key.b_g2_query)?,
        h: to_points("h_query", &key.h_query)?,
        l: to_points("l_query", &key.l_query)?,
    })
}
