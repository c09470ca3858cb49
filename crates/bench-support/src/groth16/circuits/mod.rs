//! Circuits of a wanted size: their shape, their witness and their public inputs.

mod poseidon;
mod sha;
mod x5;

use bellperson::util_cs::bench_cs::BenchCS;
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A kind of circuit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A chain of SHA-256 compressions by bellperson's gadgets: a witness of zeros and ones
    Sha,
    /// A chain of x ← (x + c)^5: a witness of full-size values
    X5,
    /// Inclusions in Poseidon Merkle trees of arity 8, as Filecoin proves them
    Poseidon,
}

impl Kind {
    /// Returns the name that the command line takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha => "sha",
            Self::X5 => "x5",
            Self::Poseidon => "poseidon",
        }
    }
}

/// A circuit with its witness.
#[derive(Clone)]
pub enum Workload {
    /// See [`Kind::Sha`].
    Sha(sha::Chain),
    /// See [`Kind::X5`].
    X5(x5::Chain),
    /// See [`Kind::Poseidon`].
    Poseidon(poseidon::Inclusions),
}

impl Workload {
    /// Creates the largest circuit of `kind` with at most 2^`log_constraints` constraints. Its witness is drawn from
    /// `seed`. Its shape does not depend on `seed`.
    ///
    /// # Errors
    /// Returns an error if the circuit cannot be synthesised.
    pub fn new(kind: Kind, log_constraints: u32, seed: u64) -> Result<Self, SynthesisError> {
        let capacity = 1 << log_constraints;
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        Ok(match kind {
            Kind::Sha => Self::Sha(sha::Chain::fitting(capacity, rng)?),
            Kind::X5 => Self::X5(x5::Chain::fitting(capacity, rng)),
            Kind::Poseidon => Self::Poseidon(poseidon::Inclusions::fitting(capacity, rng)?),
        })
    }

    /// Returns the inputs that a verifier knows, computed without the circuit.
    pub fn public_inputs(&self) -> Vec<Scalar> {
        match self {
            Self::Sha(chain) => chain.public_inputs(),
            Self::X5(chain) => chain.public_inputs(),
            Self::Poseidon(inclusions) => inclusions.public_inputs(),
        }
    }

    /// Describes the statement that the circuit proves.
    pub fn describe(&self) -> String {
        match self {
            Self::Sha(chain) => chain.describe(),
            Self::X5(chain) => chain.describe(),
            Self::Poseidon(inclusions) => inclusions.describe(),
        }
    }

    /// Returns the number of constraints that [`constraints`] counts.
    ///
    /// # Errors
    /// Returns an error if the circuit cannot be synthesised.
    pub fn constraints(&self) -> Result<usize, SynthesisError> {
        constraints(self.clone())
    }
}

impl Circuit<Scalar> for Workload {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            Self::Sha(chain) => chain.synthesize(cs),
            Self::X5(chain) => chain.synthesize(cs),
            Self::Poseidon(inclusions) => inclusions.synthesize(cs),
        }
    }
}

/// Counts the constraints of `circuit`, including those that Groth16 adds: one for each public input and one for the
/// constant 1.
fn constraints(circuit: impl Circuit<Scalar>) -> Result<usize, SynthesisError> {
    let mut counter = BenchCS::<Scalar>::new();
    circuit.synthesize(&mut counter)?;
    Ok(counter.num_constraints() + counter.num_inputs())
}

#[cfg(test)]
mod tests {
    use bellperson::util_cs::test_cs::TestConstraintSystem;
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn circuits_fill_their_domain_and_hold() {
        for kind in Kind::value_variants() {
            for log_constraints in [10, 12, 15, 16] {
                let workload = Workload::new(*kind, log_constraints, 7).expect("circuit");
                let mut cs = TestConstraintSystem::<Scalar>::new();
                workload.clone().synthesize(&mut cs).expect("synthesis");
                assert_eq!(cs.which_is_unsatisfied(), None, "{kind:?}");
                assert!(cs.verify(&workload.public_inputs()), "{kind:?}: public inputs");
                let constraints = workload.constraints().expect("count");
                let room = (1 << log_constraints) - constraints;
                assert!(room < 512 && constraints > 1 << (log_constraints - 1), "{kind:?}: {constraints}");
            }
        }
    }
}
