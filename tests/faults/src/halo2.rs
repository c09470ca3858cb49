//! halo2 by its adapter.

use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey};
use proofwarp::Accelerator;
use proofwarp::plonk::AbortHook;
use proofwarp_halo2::{Kind, Options};

use crate::described::{Described, Lookup, Shape, TableKind, instances_of, keys, prove_with, verify};
use crate::hook::Questions;
use crate::subject::{Refusal, Subject};

const K: u32 = 5;

/// A circuit with its key.
struct Plonkish {
    kind: Kind,
    key: ProvingKey<G1Affine>,
    circuits: Vec<Described>,
    instances: Vec<Vec<Vec<Fr>>>,
}

/// A gate, a lookup, copies and an instance column.
fn shape() -> Shape {
    Shape {
        inputs: 2,
        fixed: 1,
        gates: vec![Shape::gate(3)],
        lookups: vec![Lookup { columns: 1, table: TableKind::Fixed, selected: false, rotation: 0 }],
        copied: 2,
        copies: vec![[(0, 0), (1, 1)]],
        instances: vec![2],
        ..Shape::default()
    }
}

impl Plonkish {
    fn new(kind: Kind) -> Self {
        let shape = shape();
        let circuits = vec![Described::new(&shape, 1)];
        Self { kind, key: keys(&shape, K), instances: instances_of(&circuits), circuits }
    }
}

/// What the engine said went wrong.
fn refusal(error: Error) -> Refusal {
    let inner = match &error {
        Error::Transcript(error) => error.get_ref().and_then(|error| error.downcast_ref::<proofwarp::Error>()),
        _ => None,
    };
    inner.map_or_else(|| Refusal::Other(error.to_string()), |inner| Refusal::Engine(inner.clone()))
}

impl Subject for Plonkish {
    fn name(&self) -> String {
        format!("halo2 {:?}", self.kind).to_lowercase()
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn prove(&self, accelerator: &Accelerator, questions: &Questions) -> Result<bool, Refusal> {
        let questions = questions.clone();
        let abort = Some(AbortHook::new(move || questions.ask()));
        let options = Options { accelerator: Some(accelerator.clone()), abort, ..Options::default() };
        let Self { kind, key, circuits, instances } = self;
        let proof = prove_with(&options, *kind, K, key, circuits, instances, 7).map_err(refusal)?;
        Ok(verify(*kind, K, key.get_vk(), instances, &proof))
    }
}

/// All that this group proves.
pub fn subjects() -> Vec<Box<dyn Subject>> {
    vec![Box::new(Plonkish::new(Kind::Shplonk)), Box::new(Plonkish::new(Kind::Gwc))]
}
