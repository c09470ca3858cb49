//! Creates proofs, with halo2-axiom's signatures.

use halo2_axiom::plonk::{AdviceColumns, Circuit as StockCircuit, Error, ProvingKey};
use halo2_axiom::poly::commitment::Prover;
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::secret_vec::SecretVec;
use rand_core::RngCore;

use crate::check::prove_checked;
use crate::opening::{Opening, Scheme};
use crate::options::Options;
use crate::random::Seed;
use crate::schedule::{InTurn, OnAllCores, Schedule};
use crate::task::Task;
use crate::witness::{Advice, Circuits};

/// Proves `circuits`, all for the key `pk`, as `halo2_axiom::plonk::create_proof` does, and writes the proof to
/// `transcript`. `instances` has one instance per circuit, with one slice of values per instance column. Rows after the
/// slice are zero.
///
/// A witness that breaks a constraint, or looks up a value that its table lacks, gives a proof that does not verify.
/// For such a lookup the log names the lookup and the row, at warn. All blinding, including the random polynomial,
/// follows from 256 bits of `rng`, so a seeded `rng` gives the same proof again. Instances of all circuits are hashed
/// before all witnesses, as verifiers do.
///
/// A proof that a device worked on is verified before this returns ([`Options::check`]). After an error `transcript`
/// has the messages of an unfinished proof, and is of no further use.
///
/// # Errors
/// - `InvalidInstances`: the numbers of circuits and instances differ.
/// - `InvalidInstances`: an instance's number of columns is not the key's.
/// - `InvalidInstances`: there is no circuit.
/// - `InstanceTooLarge`: an instance has more values than usable rows.
/// - `NotEnoughRowsAvailable`: the setup has fewer rows than the key.
/// - `NotEnoughRowsAvailable`: a circuit assigns a row that does not exist, or reads an unusable instance row.
/// - `BoundsFailure`: the setup has more rows than the key, or its number of bases is not its number of rows.
/// - `BoundsFailure`: the circuit has other columns or challenges than the key.
/// - `BoundsFailure`: a circuit reads an instance value that was not given.
/// - `Synthesis`: a value is unknown when it is needed, or the circuit returned this error.
/// - `ConstraintSystemFailure`: a column is queried at two rotations that are congruent modulo the number of rows. No
///   proof can have these; the log names them.
/// - `Transcript`: the transcript failed, for example on a commitment that is infinity.
/// - `Transcript`: a setting is malformed, a forced backend failed, or a device gave a wrong result.
/// - Others are the circuit's.
pub fn create_proof<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: StockCircuit<S::Scalar>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    circuits: &[ConcreteCircuit],
    instances: &[&[&'a [S::Scalar]]],
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let options = Options::default();
    create_proof_with::<S, P, E, R, T, ConcreteCircuit>(&options, params, pk, circuits, instances, rng, transcript)
}

/// Creates a proof as [`create_proof`] does, with `options`.
///
/// # Errors
/// - The errors of [`create_proof`].
/// - `Transcript`: the abort hook said stop. It holds [`proofwarp::Error::Aborted`].
pub fn create_proof_with<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: StockCircuit<S::Scalar>,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    circuits: &[ConcreteCircuit],
    instances: &[&[&'a [S::Scalar]]],
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let source = Circuits::new(options, circuits, instances, InTurn)?;
    prove_circuits::<S, P, E, R, T, ConcreteCircuit>(options, params, pk, source, rng, transcript)
}

/// Creates a proof as [`create_proof_with`] does. Several circuits are synthesized on all cores, while a device commits
/// to those that are ready. The proof is the same. `configure` runs on these cores too, once per circuit and phase.
///
/// halo2-axiom's circuits need not be `Sync`, so [`create_proof`] synthesizes them on one core.
///
/// # Errors
/// Returns the errors of [`create_proof_with`].
///
/// # Panics
/// No thread can be started.
pub fn create_proof_in_parallel<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: StockCircuit<S::Scalar> + Sync,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    circuits: &[ConcreteCircuit],
    instances: &[&[&'a [S::Scalar]]],
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let source = Circuits::new(options, circuits, instances, OnAllCores)?;
    prove_circuits::<S, P, E, R, T, ConcreteCircuit>(options, params, pk, source, rng, transcript)
}

/// Proves the circuits of `source`.
fn prove_circuits<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
    ConcreteCircuit: StockCircuit<S::Scalar>,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    mut source: Circuits<'_, 'a, ConcreteCircuit, impl Schedule<ConcreteCircuit>>,
    mut rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let task = Task { options, params, pk, instances: source.instances, seed: Seed::new(&mut rng) };
    prove_checked::<P, E, T>(&task, transcript, &mut source)
}

/// Proves one circuit of one phase from `advice`, the values of its advice columns, as
/// `halo2_axiom::plonk::create_proof_from_advice` does. Each column has n values. Those in blinding rows are
/// overwritten.
///
/// # Errors
/// - The errors of [`create_proof`].
/// - `Synthesis`: the circuit has several phases (halo2-axiom panics).
/// - `BoundsFailure`: the number of columns or rows is wrong (halo2-axiom panics).
pub fn create_proof_from_advice<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: AdviceColumns<S::Scalar>,
    rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let options = Options::default();
    create_proof_from_advice_with::<S, P, E, R, T>(&options, params, pk, instances, advice, rng, transcript)
}

/// Creates a proof as [`create_proof_from_advice`] does, with `options`.
///
/// # Errors
/// Returns the errors of [`create_proof_from_advice`] and [`create_proof_with`].
pub fn create_proof_from_advice_with<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: AdviceColumns<S::Scalar>,
    mut rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let mut source = Advice { columns: advice.into_iter().map(SecretVec).collect(), stays: options.may_check()? };
    let task = Task { options, params, pk, instances: &[instances], seed: Seed::new(&mut rng) };
    prove_checked::<P, E, T>(&task, transcript, &mut source)
}
