//! Writes parameters of all cases, and bellperson's own proofs by them, into the folder `SUPRASEAL_REFERENCE`.

#[cfg(not(feature = "supraseal"))]
fn main() {
    use bellperson::groth16::create_proof_batch;
    use supraseal_c2_tests::{
        BATCHES, CASES, Chain, RANDOM, batch, bytes, folder, parameter_file, parameters, proof_file,
    };
    use supraseal_c2_tests::{random_batch, random_case, random_parameters};

    let folder = folder();
    for (case, (kind, links)) in CASES.into_iter().enumerate() {
        let circuit = Chain::new(kind, links);
        let key = parameters(circuit);
        key.write(std::fs::File::create(parameter_file(&folder, case)).expect("file")).expect("parameters");
        for (count, error) in BATCHES.into_iter().map(|count| (count, 0)).chain([(1, 1)]) {
            let (circuits, r, s) = batch(Chain { error, ..circuit }, count);
            let proofs = create_proof_batch(circuits, &key, r, s).expect("proofs");
            std::fs::write(proof_file(&folder, case, count, error), bytes(&proofs)).expect("file");
        }
    }
    for number in 0..RANDOM {
        let (circuits, r, s) = random_batch(number);
        let key = random_parameters(circuits[0].clone(), number);
        let (case, count) = (random_case(number), circuits.len());
        key.write(std::fs::File::create(parameter_file(&folder, case)).expect("file")).expect("parameters");
        let proofs = create_proof_batch(circuits, &key, r, s).expect("proofs");
        std::fs::write(proof_file(&folder, case, count, 0), bytes(&proofs)).expect("file");
    }
}

#[cfg(feature = "supraseal")]
fn main() {
    panic!("with the feature supraseal bellperson has no prover of its own");
}
