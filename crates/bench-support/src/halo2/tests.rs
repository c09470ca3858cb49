//! Both provers prove.

use clap::ValueEnum;
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::transcript::TranscriptWriterBuffer;
use rand::rngs::OsRng;

use super::measure::{Prover, measure};
use super::ours::Ours;
use super::outcome::Outcome;
use super::shape::Shape;
use super::stock::Stock;
use super::task::{Circuits, Task};
use super::work::{Kind, Opening, Work};

fn both<C: Circuit<Fr>>(circuits: &Circuits<C>, work: &Work) -> [Outcome; 2] {
    let setup = ParamsKZG::setup(work.k, OsRng);
    let task = Task { setup: &setup, circuits, work };
    let ours = measure(&Ours::new(&setup, work.opening), &task).expect("proofs");
    [ours, measure(&Stock { setup: &setup, opening: work.opening }, &task).expect("proofs")]
}

#[test]
fn both_provers_prove_and_steps_add_up() {
    for opening in Opening::value_variants() {
        let work = Work { circuit: Kind::Measured, k: 10, opening: *opening, proofs: 2 };
        let [ours, stock] = both(&Circuits::filled(Shape::measured(work.k)), &work);
        assert_eq!((&ours.key, ours.proof_bytes), (&stock.key, stock.proof_bytes));
        assert!(!ours.ran_on.is_empty() && stock.ran_on[0].contains("cores"));
        for outcome in [ours, stock] {
            let sum: f64 = outcome.steps.iter().map(|step| step.ms).sum();
            assert!((sum - outcome.proof_ms).abs() < 0.01 && outcome.steps.iter().all(|step| step.ms > 0.0));
            assert_eq!((outcome.verified, outcome.runs_ms.len()), (3, 2));
        }
    }
}

#[test]
fn another_proof_is_none() {
    let work = Work { circuit: Kind::Wide, k: 10, opening: Opening::Shplonk, proofs: 1 };
    let (setup, circuits) = (ParamsKZG::setup(10, OsRng), Circuits::filled(Shape::wide(10)));
    let (task, ours) = (Task { setup: &setup, circuits: &circuits, work: &work }, Ours::new(&setup, work.opening));
    let key = ours.keygen_pk(ours.keygen_vk(&circuits.for_keys).expect("a key"), &circuits.for_keys).expect("a key");
    let circuit = [circuits.for_keys.clone()];
    let mut proof = ours.prove(&key, &circuit, &[]).expect("a proof").into_inner().finalize();
    assert!(task.verify(key.get_vk(), &proof).is_ok());
    proof[40] ^= 1;
    assert!(task.verify(key.get_vk(), &proof).is_err());
}
