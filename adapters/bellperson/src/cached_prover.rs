//! Keeps a prover for later calls, which find it by their circuits and parameters.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use bellperson::SynthesisError;
use bellperson::groth16::{MappedParameters, ParameterSource};
use pairing::MultiMillerLoop;
use proofwarp::groth16::{Circuit, Engine, Parameters};
use proofwarp::msm::BasePoints;
use rayon::prelude::*;

use crate::file_identity::FileIdentity;
use crate::key::parameters;
use crate::mapped_params::{Samples, as_mapped_parameters};
use crate::prover::Prover;
use crate::to_synthesis_error;

/// Maximum number of key fingerprints that a cached prover keeps.
const NAMES: usize = 16;

/// Holds a prover, and fingerprints of the parameters that are known to be its key.
#[derive(Debug)]
pub(crate) struct CachedProver<E: Engine + MultiMillerLoop> {
    /// The prover.
    pub prover: Prover<E>,
    names: Mutex<Vec<KeyFingerprint<E>>>,
}

/// Identifies parameters, in memory or in a file, without a comparison of all points.
#[derive(Debug)]
enum KeyFingerprint<E: Engine> {
    Memory(WeakQueries<E>),
    File(FileIdentity, Box<Samples<E>>),
}

/// Holds weak references to the queries of parameters in memory. While a weak reference lives, no other vector gets its
/// address, and no code gets a unique reference to its target. So equal addresses mean equal contents.
#[derive(Debug)]
struct WeakQueries<E: Engine> {
    g1: [Weak<Vec<E::G1Affine>>; 4],
    b_g2: Weak<Vec<E::G2Affine>>,
}

impl<E: Engine + MultiMillerLoop> CachedProver<E> {
    /// Creates an entry for `prover`. `file` identifies its parameters if they are in a mapped file. It is `None` if
    /// they are not, or if changes of the file could not be detected.
    pub(crate) fn new(prover: Prover<E>, file: Option<(FileIdentity, Samples<E>)>) -> Self {
        let names = file.into_iter().map(|(identity, samples)| KeyFingerprint::File(identity, Box::new(samples)));
        Self { prover, names: Mutex::new(names.collect()) }
    }

    /// Returns whether `circuit` has as many constraints and variables as the prover's circuit, and the same variables
    /// in A and in B. Such a circuit uses the same points of the key.
    pub(crate) fn accepts_circuit(&self, circuit: &Circuit<E::Fr>) -> bool {
        let own = self.prover.circuit();
        let sizes = |circuit: &Circuit<E::Fr>| [circuit.constraint_count(), circuit.input_count(), circuit.aux_count()];
        sizes(own) == sizes(circuit)
            && own.variables_of_a() == circuit.variables_of_a()
            && own.variables_of_b() == circuit.variables_of_b()
    }

    /// Returns whether the parameters `source` are the prover's key. Parameters seen before are recognised by a
    /// fingerprint, others by a comparison of all points.
    ///
    /// # Errors
    /// - The source's error.
    /// - [`SynthesisError::MalformedSrs`]: the source has too few points.
    /// - [`SynthesisError::IoError`]: the points cannot be read.
    pub(crate) fn matches_params<P: ParameterSource<E>>(&self, source: &P) -> Result<bool, SynthesisError> {
        if source.get_vk(self.prover.circuit().input_count())? != self.prover.verifying_key() {
            return Ok(false);
        }
        match as_mapped_parameters(source) {
            Some(mapped) => self.matches_mapped(mapped),
            None => self.matches_points(&parameters(source, self.prover.circuit())?),
        }
    }

    fn matches_mapped(&self, mapped: &MappedParameters<E>) -> Result<bool, SynthesisError> {
        // Taken before the points are read: a later change to the file changes this too.
        let identity = FileIdentity::from_mapped(mapped);
        if identity.as_ref().is_some_and(|identity| self.any_fingerprint(|name| name.matches_file(identity, mapped))) {
            return Ok(true);
        }
        let same = self.matches_points(&parameters(&mapped, self.prover.circuit())?)?;
        if let (true, Some(identity), Some(samples)) = (same, identity, Samples::from_mapped(mapped)) {
            self.add_fingerprint(KeyFingerprint::File(identity, Box::new(samples)));
        }
        Ok(same)
    }

    fn matches_points(&self, now: &Parameters<E>) -> Result<bool, SynthesisError> {
        let key = self.prover.key().parameters();
        if WeakQueries::from_parameters(key).is_some_and(|own| own.matches_addresses(now))
            || self.any_fingerprint(|name| name.matches_memory(now))
        {
            return Ok(true);
        }
        let same = same_key(now, key).map_err(to_synthesis_error)?;
        if let (true, Some(vectors)) = (same, WeakQueries::from_parameters(now)) {
            self.add_fingerprint(KeyFingerprint::Memory(vectors));
        }
        Ok(same)
    }

    fn any_fingerprint(&self, is: impl Fn(&KeyFingerprint<E>) -> bool) -> bool {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is)
    }

    /// Adds the fingerprint `new`. Removes fingerprints that no parameters can match any more, and the oldest one if
    /// there are too many.
    fn add_fingerprint(&self, new: KeyFingerprint<E>) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.retain(|name| match name {
            KeyFingerprint::Memory(vectors) => vectors.is_alive(),
            // Older states of this file do not come back.
            KeyFingerprint::File(old, _) => !matches!(&new, KeyFingerprint::File(new, _) if old.is_same_file(new)),
        });
        if names.len() == NAMES {
            names.remove(0);
        }
        names.push(new);
    }
}

impl<E: Engine + MultiMillerLoop> KeyFingerprint<E> {
    fn matches_file(&self, identity: &FileIdentity, mapped: &MappedParameters<E>) -> bool {
        matches!(self, Self::File(own, samples) if own == identity && samples.match_file(mapped))
    }

    fn matches_memory(&self, key: &Parameters<E>) -> bool {
        matches!(self, Self::Memory(own) if own.matches_addresses(key))
    }
}

impl<E: Engine> WeakQueries<E> {
    /// Returns weak references to the queries of `key`, or `None` if a query is not in memory.
    fn from_parameters(key: &Parameters<E>) -> Option<Self> {
        let weak = |query: &BasePoints<E::G1Affine>| query.in_memory().map(Arc::downgrade);
        let g1 = [weak(&key.h)?, weak(&key.l)?, weak(&key.a)?, weak(&key.b_g1)?];
        Some(Self { g1, b_g2: key.b_g2.in_memory().map(Arc::downgrade)? })
    }

    fn matches_addresses(&self, key: &Parameters<E>) -> bool {
        let mut g1 = self.g1.iter().zip([&key.h, &key.l, &key.a, &key.b_g1]);
        g1.all(|(own, other)| is_same_vector(own, other)) && is_same_vector(&self.b_g2, &key.b_g2)
    }

    fn is_alive(&self) -> bool {
        self.b_g2.strong_count() > 0 && self.g1.iter().all(|vector| vector.strong_count() > 0)
    }
}

/// Returns whether `query` is, by its address, the vector that `own` refers to.
fn is_same_vector<C>(own: &Weak<Vec<C>>, query: &BasePoints<C>) -> bool {
    query.in_memory().is_some_and(|other| own.as_ptr() == Arc::as_ptr(other))
}

/// Returns whether the keys `one` and `other` are equal in all points.
fn same_key<E: Engine>(one: &Parameters<E>, other: &Parameters<E>) -> proofwarp::Result<bool> {
    let g1 = |key: &Parameters<E>| [key.alpha_g1, key.beta_g1, key.delta_g1];
    let g2 = |key: &Parameters<E>| [key.beta_g2, key.delta_g2];
    Ok(g1(one) == g1(other)
        && g2(one) == g2(other)
        && queries_equal(&one.h, &other.h)?
        && queries_equal(&one.l, &other.l)?
        && queries_equal(&one.a, &other.a)?
        && queries_equal(&one.b_g1, &other.b_g1)?
        && queries_equal(&one.b_g2, &other.b_g2)?)
}

fn queries_equal<C: PartialEq + Send + Sync>(one: &BasePoints<C>, other: &BasePoints<C>) -> proofwarp::Result<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    let (one, other) = (one.on_host()?, other.on_host()?);
    Ok(Arc::ptr_eq(one, other) || one.par_iter().zip(&**other).all(|(one, other)| one == other))
}
