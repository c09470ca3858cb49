//! Runs a proving call, with the cached prover of its parameters or with a new one.
//!
//! Circuits are proved by their own constraints' values, as in bellperson. A call reuses only a key's points on the
//! devices, and only if its circuits have the same variables in A and in B. So no circuit's proof depends on earlier
//! proofs.

use std::sync::Arc;

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use pairing::MultiMillerLoop;
use proofwarp::field::NttField;
use proofwarp::groth16::{self, Engine, Parameters, ProvingKeyOnDevice};
use proofwarp::rayon_waits::block_in_place;
use proofwarp::secret_vec::SecretVec;
use proofwarp::settings::Settings;
use proofwarp::{Accelerator, Error};

use crate::cached_prover::CachedProver;
use crate::device_lease::{DeviceLease, accelerator};
use crate::evaluations::{EvaluatedAssignment, evaluate_circuits};
use crate::file_identity::FileIdentity;
use crate::key::parameters;
use crate::mapped_params::{Samples, as_mapped_parameters};
use crate::prover::Prover;
use crate::verify::{is_refusal, verifies, with_batch_index};
use crate::{cache, to_synthesis_error};

/// Holds the inputs of a proving call, except its circuits.
pub(crate) struct ProveRequest<'a, E: Engine, P> {
    accelerator: Accelerator,
    params: &'a P,
    r: &'a [E::Fr],
    s: &'a [E::Fr],
    priority: bool,
}

impl<'a, E: Engine + MultiMillerLoop, P: ParameterSource<E>> ProveRequest<'a, E, P> {
    /// Creates a request for proofs with the parameters `params`, at high priority if `priority` is true. `r` and `s`
    /// have one random scalar per circuit.
    ///
    /// # Errors
    /// - [`SynthesisError::IoError`]: a forced backend is not available, or a setting is malformed.
    pub(crate) fn new(params: &'a P, r: &'a [E::Fr], s: &'a [E::Fr], priority: bool) -> Result<Self, SynthesisError> {
        Ok(Self { accelerator: accelerator()?, params, r, s, priority })
    }

    /// Returns a proof for each of `circuits`, which must not be empty. On a rayon worker, another thread computes the
    /// proofs. If the worker held the device lock itself, a job that it steals meanwhile might wait for that lock.
    ///
    /// # Errors
    /// Returns the errors of [`crate::create_proof_batch`].
    pub(crate) fn prove<C: Circuit<E::Fr> + Send>(&self, circuits: Vec<C>) -> Result<Vec<Proof<E>>, SynthesisError> {
        self.check_lengths(circuits.len())?;
        block_in_place(|| self.prove_all(&evaluate_circuits(circuits)?))
    }

    fn prove_all(&self, circuits: &[EvaluatedAssignment<E::Fr>]) -> Result<Vec<Proof<E>>, SynthesisError> {
        let Some(first) = circuits.first() else { return Err(SynthesisError::AssignmentMissing) };
        circuits.iter().enumerate().try_for_each(|(number, other)| check_equal_sizes(first, number, other))?;
        let circuit = first.record.circuit().map_err(to_synthesis_error)?;
        let held = cache::find::<E, P>(self.params, &circuit);
        cache::count_lookup(held.is_some());
        match held {
            Some(held) => self.prove_with_cached(&held, self.acquire_lease()?, circuits),
            None => self.prove_uncached(circuit, circuits),
        }
    }

    /// Proves `circuits` with the cached prover `held`, on the devices of `turn`. Evicts the prover if a proof is
    /// refused, since its points may be at fault.
    fn prove_with_cached(
        &self,
        held: &Arc<CachedProver<E>>,
        mut turn: DeviceLease,
        circuits: &[EvaluatedAssignment<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let proofs = self.prove_each(held, &mut turn, circuits);
        drop(turn);
        if proofs.as_ref().is_err_and(is_refusal) {
            cache::evict(held);
        }
        cache::enforce_limit(&self.accelerator);
        proofs
    }

    /// Proves `circuits` with a new prover, made for `circuit`. Caches the prover if the first proof verifies: a key of
    /// another circuit would only take memory.
    fn prove_uncached(
        &self,
        circuit: groth16::Circuit<E::Fr>,
        circuits: &[EvaluatedAssignment<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        // Taken before the points are read: a later change to the file changes this too.
        let file = as_mapped_parameters(self.params)
            .and_then(|mapped| Some((FileIdentity::from_mapped(mapped)?, Samples::from_mapped(mapped)?)));
        let key = parameters(self.params, &circuit)?;
        let mut turn = self.acquire_lease()?;
        // Another thread may have made it while this one waited.
        if let Some(held) = cache::find::<E, P>(self.params, &circuit) {
            return self.prove_with_cached(&held, turn, circuits);
        }
        let key = upload_evicting_cache(&self.accelerator, &mut turn, key)?;
        let held = Arc::new(CachedProver::new(self.build_prover(key, circuit)?, file));
        let proofs = self.prove_each(&held, &mut turn, circuits)?;
        let first = proofs.first().zip(circuits.first());
        if first.is_some_and(|(proof, one)| verifies(held.prover.verifier(), proof, &one.witness())) {
            // Cached while other threads still wait for the devices, so that they find it.
            cache::insert_prover(&self.accelerator, held);
        } else {
            print_failure();
        }
        Ok(proofs)
    }

    /// Returns the proof of each of `circuits`, in the same order. Circuits with the first one's variables in A and B
    /// are proved as one batch by `held`. The others are proved one by one, because they use other points of the key.
    fn prove_each(
        &self,
        held: &CachedProver<E>,
        turn: &mut DeviceLease,
        circuits: &[EvaluatedAssignment<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let alike = |number: &usize| circuits[*number].record.has_variables_of(&circuits[0].record);
        let (alike, others): (Vec<_>, Vec<_>) = (0..circuits.len()).partition(alike);
        let prove = |prover: &Prover<E>, turn: &mut DeviceLease, numbers: &[usize]| {
            let of = |all: &[E::Fr]| SecretVec(numbers.iter().map(|number| all[*number]).collect());
            let witnesses: Vec<_> = numbers.iter().map(|number| circuits[*number].witness()).collect();
            let made = prover.prove_with_lease(turn, &witnesses, &of(self.r), &of(self.s));
            let made = made.map_err(|error| with_batch_index(error, |at| numbers[at]))?;
            Ok::<_, SynthesisError>(numbers.iter().copied().zip(made).collect::<Vec<_>>())
        };
        let mut proofs = prove(&held.prover, turn, &alike)?;
        for number in others {
            let circuit = circuits[number].record.circuit().map_err(to_synthesis_error)?;
            let key = upload_evicting_cache(&self.accelerator, turn, parameters(self.params, &circuit)?)?;
            proofs.extend(prove(&self.build_prover(key, circuit)?, turn, &[number])?);
        }
        proofs.sort_by_key(|(number, _)| *number);
        Ok(proofs.into_iter().map(|(_, proof)| proof).collect())
    }

    fn build_prover(
        &self,
        key: ProvingKeyOnDevice<E>,
        circuit: groth16::Circuit<E::Fr>,
    ) -> Result<Prover<E>, SynthesisError> {
        let verifying_key = self.params.get_vk(circuit.input_count())?.clone();
        let verify = Settings::get().map_err(to_synthesis_error)?.verify.unwrap_or(false);
        Ok(Prover::from_parts(key, circuit, verifying_key).verify(verify))
    }

    fn acquire_lease(&self) -> Result<DeviceLease, SynthesisError> {
        DeviceLease::wait(&self.accelerator, self.priority)
    }

    fn check_lengths(&self, circuits: usize) -> Result<(), SynthesisError> {
        for (name, numbers) in [("number of r", self.r), ("number of s", self.s)] {
            if numbers.len() != circuits {
                return Err(to_synthesis_error(Error::invalid("groth16", name, circuits, numbers.len())));
            }
        }
        Ok(())
    }
}

/// Checks that `other`, circuit `number` of a batch, has as many constraints and variables as `first`.
fn check_equal_sizes<F: NttField>(
    first: &EvaluatedAssignment<F>,
    number: usize,
    other: &EvaluatedAssignment<F>,
) -> Result<(), SynthesisError> {
    let sizes = |one: &EvaluatedAssignment<F>| [one.record.vectors[0].len(), one.inputs.len(), one.aux.len()];
    let names = ["constraints", "inputs", "auxiliary variables"];
    for (name, (expected, actual)) in names.iter().zip(sizes(first).into_iter().zip(sizes(other))) {
        if expected != actual {
            return Err(to_synthesis_error(Error::invalid(
                "groth16",
                format!("{name} of circuit {number}"),
                expected,
                actual,
            )));
        }
    }
    Ok(())
}

fn print_failure() {
    log::warn!(
        "groth16: the proof does not verify: its witness does not satisfy the constraints, or the key is not its"
    );
}

/// Creates a proving key from the parameters `key` on the devices of `turn`, and uploads it unless the first proof
/// will. Evicts cached keys to make room, and all of them if the devices still have too little memory.
fn upload_evicting_cache<E: Engine>(
    all: &Accelerator,
    turn: &mut DeviceLease,
    key: Parameters<E>,
) -> Result<ProvingKeyOnDevice<E>, SynthesisError> {
    cache::make_room(all, key.device_bytes());
    let (uploaded, found_room) = upload_fitting_queries(turn, key.clone())?;
    if found_room || !cache::evict_all() {
        return Ok(uploaded);
    }
    drop(uploaded);
    upload_fitting_queries(turn, key).map(|(uploaded, _)| uploaded)
}

/// Creates a proving key from the parameters `key`, and uploads the queries that fit to the devices of `turn`, unless
/// the first proof will. Also returns whether all queries fit.
fn upload_fitting_queries<E: Engine>(
    turn: &mut DeviceLease,
    key: Parameters<E>,
) -> Result<(ProvingKeyOnDevice<E>, bool), SynthesisError> {
    let bytes = key.device_bytes();
    let uploaded = ProvingKeyOnDevice::new_lazy(turn.accelerator(), key).map_err(to_synthesis_error)?;
    if uploaded.upload_is_deferred(turn.accelerator()).map_err(to_synthesis_error)? {
        return Ok((uploaded, true));
    }
    turn.upload(&uploaded)?;
    let found_room = turn.accelerator().devices().is_empty() || uploaded.device_bytes() >= bytes;
    Ok((uploaded, found_room))
}
