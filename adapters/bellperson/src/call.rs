//! The course of a call that proves: by the key that is kept for its parameters, or by a new one.
//!
//! Circuits are proved by their own constraints' values, as bellperson does it. All that a call takes from earlier ones is
//! a key's points on the devices, and these only if its circuits have the same variables in A and in B. So no circuit's
//! proof depends on what was proved before.

use std::sync::Arc;

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use pairing::MultiMillerLoop;
use proofwarp::field::NttField;
use proofwarp::groth16::{self, Engine, Parameters, ProvingKeyOnDevice};
use proofwarp::settings::Settings;
use proofwarp::waiting::elsewhere;
use proofwarp::{Accelerator, Error};

use crate::cleared::Cleared;
use crate::evaluations::{Evaluated, evaluated};
use crate::held::Held;
use crate::identity::Identity;
use crate::key::parameters;
use crate::mapped::{Samples, mapped};
use crate::prover::Prover;
use crate::turn::{Turn, accelerator};
use crate::verify::{is_refusal, renumbered, verifies};
use crate::{cache, failed};

/// What proofs are made with.
pub struct Call<'a, E: Engine, P> {
    accelerator: Accelerator,
    params: &'a P,
    r: &'a [E::Fr],
    s: &'a [E::Fr],
    priority: bool,
}

impl<'a, E: Engine + MultiMillerLoop, P: ParameterSource<E>> Call<'a, E, P> {
    /// With r and s for each circuit.
    ///
    /// # Errors
    /// A forced backend is not there.
    pub fn new(params: &'a P, r: &'a [E::Fr], s: &'a [E::Fr], priority: bool) -> Result<Self, SynthesisError> {
        Ok(Self { accelerator: accelerator()?, params, r, s, priority })
    }

    /// A proof for each circuit, of which there is one at least. A worker of a pool has another thread make them: whatever
    /// it took up meanwhile while it held the lock on the devices might wait for that lock.
    ///
    /// # Errors
    /// As those of [`crate::create_proof_batch`].
    pub fn prove<C: Circuit<E::Fr> + Send>(&self, circuits: Vec<C>) -> Result<Vec<Proof<E>>, SynthesisError> {
        self.check_lengths(circuits.len())?;
        elsewhere(|| self.prove_all(&evaluated(circuits)?))
    }

    fn prove_all(&self, circuits: &[Evaluated<E::Fr>]) -> Result<Vec<Proof<E>>, SynthesisError> {
        let Some(first) = circuits.first() else { return Err(SynthesisError::AssignmentMissing) };
        circuits.iter().enumerate().try_for_each(|(number, other)| equal_sizes(first, number, other))?;
        let circuit = first.record.circuit().map_err(failed)?;
        let held = cache::find::<E, P>(self.params, &circuit);
        cache::count(held.is_some());
        match held {
            Some(held) => self.prove_by(&held, self.turn()?, circuits),
            None => self.prove_first(circuit, circuits),
        }
    }

    /// By a kept prover. One whose proof is refused is let go of, since it might be its fault.
    fn prove_by(
        &self,
        held: &Arc<Held<E>>,
        mut turn: Turn,
        circuits: &[Evaluated<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let proofs = self.prove_each(held, &mut turn, circuits);
        drop(turn);
        if proofs.as_ref().is_err_and(is_refusal) {
            cache::forget(held);
        }
        cache::settle(&self.accelerator);
        proofs
    }

    /// By a new prover, which is kept if its circuit's proof verifies: another circuit's key would only take room.
    fn prove_first(
        &self,
        circuit: groth16::Circuit<E::Fr>,
        circuits: &[Evaluated<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        // Before the points are read: who changes the file later changes this too.
        let file = mapped(self.params).and_then(|mapped| Some((Identity::of(mapped)?, Samples::of(mapped)?)));
        let key = parameters(self.params, &circuit)?;
        let mut turn = self.turn()?;
        // Another thread may have made it while this one waited.
        if let Some(held) = cache::find::<E, P>(self.params, &circuit) {
            return self.prove_by(&held, turn, circuits);
        }
        let key = uploaded(&self.accelerator, &mut turn, key)?;
        let held = Arc::new(Held::new(self.prover(key, circuit)?, file));
        let proofs = self.prove_each(&held, &mut turn, circuits)?;
        let first = proofs.first().zip(circuits.first());
        if first.is_some_and(|(proof, one)| verifies(held.prover.verifying_key(), proof, &one.inputs)) {
            // While others wait, so that they find it.
            cache::keep(&self.accelerator, held);
        } else {
            complain();
        }
        Ok(proofs)
    }

    /// Each circuit's proof, all at once but for those that have other variables in A or B than the first, and so other
    /// places in the key.
    fn prove_each(
        &self,
        held: &Held<E>,
        turn: &mut Turn,
        circuits: &[Evaluated<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let alike = |number: &usize| circuits[*number].record.has_variables_of(&circuits[0].record);
        let (alike, others): (Vec<_>, Vec<_>) = (0..circuits.len()).partition(alike);
        let prove = |prover: &Prover<E>, turn: &mut Turn, numbers: &[usize]| {
            let of = |all: &[E::Fr]| Cleared(numbers.iter().map(|number| all[*number]).collect());
            let witnesses: Vec<_> = numbers.iter().map(|number| circuits[*number].witness()).collect();
            let made = prover.prove_in_turn(turn, &witnesses, &of(self.r).0, &of(self.s).0);
            let made = made.map_err(|error| renumbered(error, |at| numbers[at]))?;
            Ok::<_, SynthesisError>(numbers.iter().copied().zip(made).collect::<Vec<_>>())
        };
        let mut proofs = prove(&held.prover, turn, &alike)?;
        for number in others {
            let circuit = circuits[number].record.circuit().map_err(failed)?;
            let key = uploaded(&self.accelerator, turn, parameters(self.params, &circuit)?)?;
            proofs.extend(prove(&self.prover(key, circuit)?, turn, &[number])?);
        }
        proofs.sort_by_key(|(number, _)| *number);
        Ok(proofs.into_iter().map(|(_, proof)| proof).collect())
    }

    fn prover(
        &self,
        key: ProvingKeyOnDevice<E>,
        circuit: groth16::Circuit<E::Fr>,
    ) -> Result<Prover<E>, SynthesisError> {
        let verifying_key = self.params.get_vk(circuit.inputs())?.clone();
        let verify = Settings::get().map_err(failed)?.verify.unwrap_or(false);
        Ok(Prover::from_parts(key, circuit, verifying_key).verify(verify))
    }

    fn turn(&self) -> Result<Turn, SynthesisError> {
        Turn::wait(&self.accelerator, self.priority)
    }

    fn check_lengths(&self, circuits: usize) -> Result<(), SynthesisError> {
        for (name, numbers) in [("number of r", self.r), ("number of s", self.s)] {
            if numbers.len() != circuits {
                return Err(failed(Error::invalid("groth16", name, circuits, numbers.len())));
            }
        }
        Ok(())
    }
}

/// An error unless a circuit of a batch has as many constraints and variables as the first.
fn equal_sizes<F: NttField>(first: &Evaluated<F>, number: usize, other: &Evaluated<F>) -> Result<(), SynthesisError> {
    let sizes = |one: &Evaluated<F>| [one.record.vectors[0].len(), one.inputs.len(), one.aux.len()];
    let names = ["constraints", "inputs", "auxiliary variables"];
    for (name, (expected, actual)) in names.iter().zip(sizes(first).into_iter().zip(sizes(other))) {
        if expected != actual {
            return Err(failed(Error::invalid("groth16", format!("{name} of circuit {number}"), expected, actual)));
        }
    }
    Ok(())
}

fn complain() {
    log::warn!(
        "groth16: the proof does not verify: its witness does not satisfy the constraints, or the key is not its"
    );
}

/// A key on the devices, or about to go there with the first proof; others go for it if there is too little room.
fn uploaded<E: Engine>(
    all: &Accelerator,
    turn: &mut Turn,
    key: Parameters<E>,
) -> Result<ProvingKeyOnDevice<E>, SynthesisError> {
    cache::make_room(all, key.bytes());
    let (uploaded, found_room) = upload(turn, key.clone())?;
    if found_room || !cache::make_all_room() {
        return Ok(uploaded);
    }
    drop(uploaded);
    upload(turn, key).map(|(uploaded, _)| uploaded)
}

/// A key with as much of it uploaded as there is room for, unless it goes up with the first proof, and whether there is
/// room for all of it.
fn upload<E: Engine>(turn: &mut Turn, key: Parameters<E>) -> Result<(ProvingKeyOnDevice<E>, bool), SynthesisError> {
    let bytes = key.bytes();
    let uploaded = ProvingKeyOnDevice::on_host(turn.accelerator(), key).map_err(failed)?;
    if uploaded.goes_up_with_first_proof(turn.accelerator()).map_err(failed)? {
        return Ok((uploaded, true));
    }
    turn.upload(&uploaded)?;
    let found_room = turn.accelerator().devices().is_empty() || uploaded.bytes() >= bytes;
    Ok((uploaded, found_room))
}
