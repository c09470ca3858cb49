//! The course of a call that proves: by the prover that is kept for its parameters, or by a new one.
//!
//! A kept prover has the matrices of one circuit, and others are proved by them unseen. That these are the key's matrices
//! is not said by one proof that verifies, since a variable that is zero hides its coefficients. So circuits are proved
//! by their own constraints' values, as bellperson does it, until one of them has the values that the matrices give, and
//! a proof that verifies ([`Held::is_trusted`]).

use std::sync::Arc;

use bellperson::groth16::{ParameterSource, Proof};
use bellperson::{Circuit, SynthesisError};
use pairing::MultiMillerLoop;
use proofwarp::field::NttField;
use proofwarp::groth16::{self, Engine, Parameters, ProvingKeyOnDevice, Witness};
use proofwarp::settings::Settings;
use proofwarp::waiting::elsewhere;
use proofwarp::{Accelerator, Error};
use rayon::prelude::*;

use crate::evaluations::{Evaluated, evaluated};
use crate::held::Held;
use crate::identity::Identity;
use crate::key::parameters;
use crate::mapped::{Samples, mapped};
use crate::prover::{Assignment, Prover, assign, equal_constraints, taken_down};
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

/// Circuits of a call, of which the first may be the one that the prover's matrices are of.
struct Circuits<'a, F> {
    first: Option<&'a Assignment<F>>,
    others: &'a [Evaluated<F>],
}

/// What proofs tell of the matrices that they were not made by.
#[derive(Debug, PartialEq, Eq)]
enum Finding {
    Nothing,
    /// One verifies whose circuit has the matrices' values.
    Right,
    /// One verifies whose circuit has other values.
    Wrong,
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
        elsewhere(|| self.prove_all(circuits))
    }

    fn prove_all<C: Circuit<E::Fr> + Send>(&self, circuits: Vec<C>) -> Result<Vec<Proof<E>>, SynthesisError> {
        let held = self.held::<C>();
        cache::count(held.is_some());
        let Some(held) = held else { return self.prove_first(circuits) };
        let proofs = match held.is_trusted() {
            true => self.prove_by_matrices(&held, circuits),
            false => evaluated(circuits).and_then(|all| self.prove_by_values(&held, self.turn()?, &all)),
        };
        cache::settle(&self.accelerator);
        proofs
    }

    /// By a prover whose matrices are the key's. One whose proof is refused is let go of, since it might be its fault.
    fn prove_by_matrices<C: Circuit<E::Fr> + Send>(
        &self,
        held: &Arc<Held<E>>,
        circuits: Vec<C>,
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let assignments = assign(circuits)?;
        let witnesses = held.prover.witnesses(&assignments)?;
        let proofs = held.prover.prove_in_turn(&mut self.turn()?, &witnesses, self.r, self.s);
        if proofs.as_ref().is_err_and(is_refusal) {
            cache::forget(held);
        }
        proofs
    }

    /// By a kept prover's key, and circuits' own values, which tell whether its matrices are the key's.
    fn prove_by_values(
        &self,
        held: &Arc<Held<E>>,
        mut turn: Turn,
        others: &[Evaluated<E::Fr>],
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let circuits = Circuits { first: None, others };
        let proofs = self.prove_each(held, &mut turn, &circuits)?;
        drop(turn);
        let finding = circuits.finding(held, &proofs);
        if finding == Finding::Nothing {
            complain();
        }
        finding.note(held);
        Ok(proofs)
    }

    /// By a new prover, which is kept if the proof of its circuit verifies and the others' do not speak against it.
    fn prove_first<C: Circuit<E::Fr> + Send>(&self, mut circuits: Vec<C>) -> Result<Vec<Proof<E>>, SynthesisError> {
        let others = circuits.split_off(1);
        let Some(first) = circuits.pop() else { return Err(SynthesisError::AssignmentMissing) };
        let (first, others) = rayon::join(|| taken_down(first), || evaluated(others));
        let ((circuit, first), others) = (first?, others?);
        // Before the points are read: who changes the file later changes this too.
        let file = mapped(self.params).and_then(|mapped| Some((Identity::of(mapped)?, Samples::of(mapped)?)));
        let key = parameters(self.params, &circuit)?;
        let mut turn = self.turn()?;
        // Another thread may have made it while this one waited.
        if let Some(held) = self.held::<C>() {
            let first = Evaluated::by(&circuit, first.inputs, first.aux).ok_or(SynthesisError::AssignmentMissing)?;
            let all: Vec<_> = std::iter::once(first).chain(others).collect();
            return self.prove_by_values(&held, turn, &all);
        }
        let key = uploaded(&self.accelerator, &mut turn, key)?;
        let held = Arc::new(Held::new(self.prover(key, circuit)?, typeid::of::<C>(), file));
        let circuits = Circuits { first: Some(&first), others: &others };
        let proofs = self.prove_each(&held, &mut turn, &circuits)?;
        if !proofs.first().is_some_and(|proof| verifies(held.prover.verifying_key(), proof, &first.inputs)) {
            complain();
            return Ok(proofs);
        }
        // While others wait, so that they find it.
        cache::keep(&self.accelerator, held.clone());
        drop(turn);
        circuits.finding(&held, &proofs).note(&held);
        Ok(proofs)
    }

    /// Each circuit's proof by its own constraints, all at once but for those that have other variables in A or B than
    /// the prover's circuit, and so other places in the key.
    fn prove_each(
        &self,
        held: &Held<E>,
        turn: &mut Turn,
        circuits: &Circuits<'_, E::Fr>,
    ) -> Result<Vec<Proof<E>>, SynthesisError> {
        let circuit = held.prover.circuit();
        circuits.check(circuit)?;
        let (alike, others): (Vec<_>, Vec<_>) =
            circuits.witnesses().enumerate().partition(|(number, _)| circuits.is_alike(*number, circuit));
        let mut proofs = Vec::new();
        if !alike.is_empty() {
            let of = |all: &[E::Fr]| alike.iter().map(|(number, _)| all[*number]).collect::<Vec<_>>();
            let witnesses: Vec<_> = alike.iter().map(|(_, witness)| *witness).collect();
            let made = held.prover.prove_in_turn(turn, &witnesses, &of(self.r), &of(self.s));
            let made = made.map_err(|error| renumbered(error, |at| alike[at].0))?;
            proofs.extend(alike.iter().map(|(number, _)| *number).zip(made));
        }
        for (number, witness) in others {
            let Some(own) = circuits.evaluated(number) else { continue };
            let circuit = own.record.circuit().map_err(failed)?;
            let key = uploaded(&self.accelerator, turn, parameters(self.params, &circuit)?)?;
            let range = number..=number;
            let prover = self.prover(key, circuit)?;
            let made = prover.prove_in_turn(turn, &[witness], &self.r[range.clone()], &self.s[range]);
            let made = made.map_err(|error| renumbered(error, |_| number))?;
            proofs.extend(made.into_iter().map(|proof| (number, proof)));
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
        let verify = Settings::get().map_err(failed)?.verify;
        Ok(Prover::from_parts(key, circuit, verifying_key).verify(verify))
    }

    fn held<C: Circuit<E::Fr>>(&self) -> Option<Arc<Held<E>>> {
        cache::find::<E, P>(self.params, typeid::of::<C>())
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

impl Finding {
    fn note<E: Engine + MultiMillerLoop>(&self, held: &Arc<Held<E>>) {
        match self {
            Self::Nothing => {}
            Self::Right => held.trust(),
            Self::Wrong => cache::forget(held),
        }
    }
}

impl<'a, F: NttField> Circuits<'a, F> {
    fn witnesses(&self) -> impl Iterator<Item = Witness<'a, F>> {
        self.first.map(Assignment::witness).into_iter().chain(self.others.iter().map(Evaluated::witness))
    }

    fn evaluated(&self, number: usize) -> Option<&'a Evaluated<F>> {
        self.others.get(number.checked_sub(usize::from(self.first.is_some()))?)
    }

    /// Whether all have as many constraints as the prover's circuit.
    fn check(&self, circuit: &groth16::Circuit<F>) -> Result<(), SynthesisError> {
        let first = usize::from(self.first.is_some());
        let numbers = self.others.iter().map(|one| one.record.vectors[0].len());
        numbers.enumerate().try_for_each(|(number, actual)| equal_constraints(first + number, circuit, actual))
    }

    /// Whether a circuit's proof takes the prover's points, or would if its variables were as many.
    fn is_alike(&self, number: usize, circuit: &groth16::Circuit<F>) -> bool {
        let as_many = |one: &Evaluated<F>| one.inputs.len() == circuit.inputs() && one.aux.len() == circuit.aux();
        self.evaluated(number).is_none_or(|one| !as_many(one) || one.has_variables_of(circuit))
    }

    /// What proofs of those that were proved by their values say.
    fn finding<E>(&self, held: &Held<E>, proofs: &[Proof<E>]) -> Finding
    where
        E: Engine<Fr = F> + MultiMillerLoop,
    {
        let proofs = &proofs[usize::from(self.first.is_some())..];
        let key = held.prover.verifying_key();
        let verified = self.others.par_iter().zip(proofs).filter(|(one, proof)| verifies(key, proof, &one.inputs));
        let same = verified.map(|(one, _)| one.is_by(held.prover.circuit()));
        match same.reduce_with(|one, other| one && other) {
            None => Finding::Nothing,
            Some(true) => Finding::Right,
            Some(false) => Finding::Wrong,
        }
    }
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
