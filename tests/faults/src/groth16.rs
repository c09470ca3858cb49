//! Groth16 by a prover of ours, whose key stays on the device, and by one that brings its key each time.

use bellperson::SynthesisError;
use bellperson::groth16::{Parameters, PreparedVerifyingKey, Proof, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::Accelerator;
use proofwarp_bellperson::{Assignment, Prover, prove_evaluated};

use crate::circuits::{Chain, Kind, batch, engine_error, setup};
use crate::hook::Questions;
use crate::subject::{Refusal, Subject};

/// A proof of so many takes milliseconds.
pub const LINKS: usize = 4;
const CIRCUITS: usize = 2;

/// Circuits with their key, and what verifies their proofs.
pub struct Fixture {
    pub circuits: Vec<Chain>,
    pub key: Parameters<Bls12>,
    verifying_key: PreparedVerifyingKey<Bls12>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
}

impl Fixture {
    /// Circuits of so many links.
    pub fn new(links: usize) -> Self {
        let key = setup(links, Kind::Dense);
        let (circuits, r, s) = batch(CIRCUITS, links, Kind::Dense);
        Self { circuits, verifying_key: prepare_verifying_key(&key.vk), key, r, s }
    }

    /// Whether bellperson's verifier accepts each of the circuits' proofs.
    pub fn verify(&self, proofs: &[Proof<Bls12>]) -> bool {
        let verify = |(circuit, proof): (&Chain, &Proof<Bls12>)| {
            verify_proof(&self.verifying_key, proof, &inputs_of(circuit)).unwrap_or(false)
        };
        proofs.len() == self.circuits.len() && self.circuits.iter().zip(proofs).all(verify)
    }
}

/// The public inputs: the factor and the chain's end.
fn inputs_of(circuit: &Chain) -> [Scalar; 2] {
    let next = |x: Scalar, _| x.square() * x + x + Scalar::from(5);
    [Scalar::from(3), (0..circuit.links).fold(circuit.secret, next)]
}

/// Why bellperson's functions give no proof.
pub fn refusal(error: &SynthesisError) -> Refusal {
    engine_error(error).map_or_else(|| Refusal::Other(error.to_string()), |error| Refusal::Engine(error.clone()))
}

/// A key on the device.
struct Resident {
    fixture: Fixture,
    /// With fallback to the host, and without.
    provers: [Prover<Bls12>; 2],
    assignments: Vec<Assignment<Scalar>>,
    verifies: bool,
}

impl Resident {
    fn new(forced: &Accelerator, free: &Accelerator, verifies: bool) -> Result<Self, Refusal> {
        let fixture = Fixture::new(LINKS);
        let prover = |accelerator: &Accelerator| {
            let (prover, _) = Prover::<Bls12>::new(accelerator, fixture.circuits[0], &&fixture.key)?;
            Ok::<_, SynthesisError>(prover.verify(verifies))
        };
        let provers = [prover(free), prover(forced)];
        let [free, forced] = provers;
        let provers = [free.map_err(|error| refusal(&error))?, forced.map_err(|error| refusal(&error))?];
        let assignments = provers[0].assign(fixture.circuits.clone()).map_err(|error| refusal(&error))?;
        Ok(Self { fixture, provers, assignments, verifies })
    }
}

impl Subject for Resident {
    fn name(&self) -> String {
        format!("groth16 resident{}", if self.verifies { " verified" } else { "" })
    }

    fn is_checked(&self) -> bool {
        self.verifies
    }

    fn prove(&self, accelerator: &Accelerator, questions: &Questions) -> Result<bool, Refusal> {
        let prover = &self.provers[usize::from(accelerator.forced().is_some())];
        let Fixture { r, s, .. } = &self.fixture;
        let ask = || questions.ask();
        let proved = prover.prove(&self.assignments, r, s, Some(&ask));
        let (proofs, _) = proved.map_err(|error| refusal(&error))?;
        Ok(self.fixture.verify(&proofs))
    }
}

/// A key that is brought for each batch, and evaluations by the host.
struct Evaluated(Fixture);

impl Subject for Evaluated {
    fn name(&self) -> String {
        "groth16 evaluated".to_owned()
    }

    fn is_checked(&self) -> bool {
        false
    }

    fn prove(&self, accelerator: &Accelerator, _: &Questions) -> Result<bool, Refusal> {
        let Fixture { circuits, key, r, s, .. } = &self.0;
        let proved = prove_evaluated(accelerator, circuits.clone(), &key, r, s);
        let (proofs, _) = proved.map_err(|error| refusal(&error))?;
        Ok(self.0.verify(&proofs))
    }
}

/// All that this group proves.
///
/// # Errors
/// A key's points could not be brought to the device.
pub fn subjects(forced: &Accelerator, free: &Accelerator) -> Result<Vec<Box<dyn Subject>>, Refusal> {
    Ok(vec![
        Box::new(Resident::new(forced, free, true)?),
        Box::new(Resident::new(forced, free, false)?),
        Box::new(Evaluated(Fixture::new(LINKS))),
    ])
}
