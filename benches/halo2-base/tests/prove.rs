//! proofwarp and halo2-axiom prove a circuit of halo2-base's, and so does the drop-in by the name that halo2-base gives it.

use bench_support::halo2::{Kind, Opening, Ours, Stock, Task, Work, measure};
use halo2_axiom::halo2curves::bn256::{Bn256, G1Affine};
use halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use halo2_axiom::transcript::{Blake2bWrite, Challenge255, TranscriptWriterBuffer};
use halo2_base::halo2_proofs::plonk::{create_proof, keygen_pk, keygen_vk};
use halo2_base::halo2_proofs::poly::kzg::multiopen::ProverGWC;
use rand_core::OsRng;

const K: u32 = 10;

#[test]
fn both_prove_it() {
    let work = Work { circuit: Kind::Base, k: K, opening: Opening::Shplonk, proofs: 1 };
    let (setup, circuits) = (ParamsKZG::setup(K, OsRng), halo2_base_proofs::circuits(K));
    let task = Task { setup: &setup, circuits: &circuits, work: &work };
    let ours = measure(&Ours::new(&setup, work.opening), &task).expect("proofs");
    let stock = measure(&Stock { setup: &setup, opening: work.opening }, &task).expect("proofs");
    assert_eq!((ours.key, ours.proof_bytes, ours.verified), (stock.key, stock.proof_bytes, 2));
}

#[test]
fn the_drop_in_proves_it() {
    let work = Work { circuit: Kind::Base, k: K, opening: Opening::Gwc, proofs: 1 };
    let (setup, circuits) = (ParamsKZG::<Bn256>::setup(K, OsRng), halo2_base_proofs::circuits(K));
    let vk = keygen_vk(&setup, &circuits.for_keys).expect("a key");
    let key = keygen_pk(&setup, vk, &circuits.for_keys).expect("a key");
    let circuit = (circuits.for_proofs)(&circuits.for_keys);
    let columns: Vec<_> = circuits.instances.iter().map(Vec::as_slice).collect();
    let mut transcript = Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new());
    create_proof::<KZGCommitmentScheme<Bn256>, ProverGWC<'_, Bn256>, _, _, _, _>(
        &setup,
        &key,
        &[circuit],
        &[&columns],
        OsRng,
        &mut transcript,
    )
    .expect("a proof");
    let task = Task { setup: &setup, circuits: &circuits, work: &work };
    assert!(task.verify(key.get_vk(), &transcript.finalize()).is_ok());
}
