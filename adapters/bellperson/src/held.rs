//! A prover that is kept for later calls, and how these find it by their parameters.

use std::any::TypeId;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bellperson::SynthesisError;
use bellperson::groth16::{MappedParameters, ParameterSource};
use pairing::MultiMillerLoop;
use proofwarp::groth16::{Engine, Parameters};
use rayon::prelude::*;

use crate::key::parameters;
use crate::mapped::{Identity, mapped, sampled};
use crate::prover::Prover;

/// Most names that a prover has.
const NAMES: usize = 16;

/// A prover, and what parameters look like that are its key.
#[derive(Debug)]
pub struct Held<E: Engine + MultiMillerLoop> {
    /// The prover.
    pub prover: Prover<E>,
    /// The type of its circuit: others are not taken for it, whatever their parameters.
    pub circuit: TypeId,
    names: Mutex<Vec<Name<E>>>,
}

/// What tells parameters at a glance.
#[derive(Debug)]
enum Name<E: Engine> {
    Memory(Vectors<E>),
    File(Identity),
}

/// Queries in memory. While a weak reference lives, its address is given to no other vector, and nobody gets a unique
/// reference to what it names: equal addresses are equal contents.
#[derive(Debug)]
struct Vectors<E: Engine> {
    g1: [Weak<Vec<E::G1Affine>>; 4],
    b_g2: Weak<Vec<E::G2Affine>>,
}

impl<E: Engine + MultiMillerLoop> Held<E> {
    /// A prover by the parameters it was made of.
    pub fn new(prover: Prover<E>, circuit: TypeId, identity: Option<Identity>) -> Self {
        let names = Mutex::new(identity.into_iter().map(Name::File).collect());
        Self { prover, circuit, names }
    }

    /// Whether the parameters are its key: those it has seen at a glance, others by all of their points.
    ///
    /// # Errors
    /// The source's.
    pub fn has<P: ParameterSource<E>>(&self, source: &P) -> Result<bool, SynthesisError> {
        if source.get_vk(self.prover.circuit().inputs())? != self.prover.verifying_key() {
            return Ok(false);
        }
        match mapped(source) {
            Some(mapped) => self.has_mapped(mapped),
            None => Ok(self.has_points(&parameters(source, self.prover.circuit())?)),
        }
    }

    fn has_mapped(&self, mapped: &MappedParameters<E>) -> Result<bool, SynthesisError> {
        // Asked before the points are read: whoever changes them later changes it too.
        let identity = Identity::of(mapped);
        let named = identity.as_ref().is_some_and(|identity| self.named(|name| name.is_file(identity)));
        if named && sampled(mapped, self.prover.key().parameters()) {
            return Ok(true);
        }
        let same = self.has_points(&parameters(&mapped, self.prover.circuit())?);
        if let (true, Some(identity)) = (same, identity) {
            self.add(Name::File(identity));
        }
        Ok(same)
    }

    fn has_points(&self, now: &Parameters<E>) -> bool {
        let key = self.prover.key().parameters();
        if Vectors::of(key).are(now) || self.named(|name| name.are(now)) {
            return true;
        }
        let same = same_key(now, key);
        if same {
            self.add(Name::Memory(Vectors::of(now)));
        }
        same
    }

    fn named(&self, is: impl Fn(&Name<E>) -> bool) -> bool {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is)
    }

    /// Adds a name, and forgets those that nothing can have any more.
    fn add(&self, new: Name<E>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|name| match name {
            Name::Memory(vectors) => vectors.live(),
            // Of this file's older states none comes back.
            Name::File(old) => !matches!(&new, Name::File(new) if old.is_same_file(new)),
        });
        if names.len() == NAMES {
            names.remove(0);
        }
        names.push(new);
    }
}

impl<E: Engine> Name<E> {
    fn is_file(&self, identity: &Identity) -> bool {
        matches!(self, Self::File(own) if own == identity)
    }

    fn are(&self, key: &Parameters<E>) -> bool {
        matches!(self, Self::Memory(own) if own.are(key))
    }
}

impl<E: Engine> Vectors<E> {
    fn of(key: &Parameters<E>) -> Self {
        Self { g1: [&key.h, &key.l, &key.a, &key.b_g1].map(Arc::downgrade), b_g2: Arc::downgrade(&key.b_g2) }
    }

    fn are(&self, key: &Parameters<E>) -> bool {
        let g1 = self.g1.iter().zip([&key.h, &key.l, &key.a, &key.b_g1]);
        g1.into_iter().all(|(own, other)| own.as_ptr() == Arc::as_ptr(other))
            && self.b_g2.as_ptr() == Arc::as_ptr(&key.b_g2)
    }

    fn live(&self) -> bool {
        self.b_g2.strong_count() > 0 && self.g1.iter().all(|vector| vector.strong_count() > 0)
    }
}

/// Whether all of two keys is equal.
fn same_key<E: Engine>(one: &Parameters<E>, other: &Parameters<E>) -> bool {
    let g1 = |key: &Parameters<E>| [key.alpha_g1, key.beta_g1, key.delta_g1];
    let g2 = |key: &Parameters<E>| [key.beta_g2, key.delta_g2];
    g1(one) == g1(other)
        && g2(one) == g2(other)
        && same(&one.h, &other.h)
        && same(&one.l, &other.l)
        && same(&one.a, &other.a)
        && same(&one.b_g1, &other.b_g1)
        && same(&one.b_g2, &other.b_g2)
}

fn same<T: PartialEq + Sync>(one: &Arc<Vec<T>>, other: &Arc<Vec<T>>) -> bool {
    Arc::ptr_eq(one, other) || one.len() == other.len() && one.par_iter().zip(&**other).all(|(one, other)| one == other)
}
