/// Proves the fixture with 2^k rows for each k of `OPENVM_K`, from the graph executor's columns, and verifies each
/// last proof by halo2-axiom.
#[test]
#[cfg(all(feature = "evm-prove", feature = "halo2-gpu"))]
fn proofs_from_the_graph_executor() {
    use halo2_base::halo2_proofs::{
        plonk::verify_proof,
        poly::{commitment::ParamsProver, kzg::multiopen::VerifierSHPLONK, VerificationStrategy},
    };
    use snark_verifier_sdk::snark_verifier::loader::native::NativeLoader;
    use snark_verifier_sdk::halo2::{gen_snark_from_base, PoseidonTranscript, POSEIDON_SPEC};

    let list = |name: &str, default: &str| {
        let text = std::env::var(name).unwrap_or(default.into());
        text.split(',').map(|k| k.parse().unwrap()).collect::<Vec<usize>>()
    };
    let (rounds, threads) = (list("OPENVM_ROUNDS", "5")[0], list("OPENVM_THREADS", "14")[0]);
    for k in list("OPENVM_K", "19") {
        let (circuit, proof) = fixture_circuit_and_proof();
        let shape = StaticVerifierShape { k, lookup_bits: k - 1, minimum_rows: 20, instance_columns: 1 };
        let start = Instant::now();
        let params = Halo2Params::setup(k as u32, ChaCha20Rng::seed_from_u64(42));
        println!("k={k} setup {:?}", start.elapsed());
        let start = Instant::now();
        let pk = StaticVerifierProvingKey::keygen(&params, shape, circuit, &proof);
        println!("k={k} keygen {:?} {:?}", start.elapsed(), pk.pinning.metadata.config_params);
        let mut state = GraphExecutorState::new(&pk.graph_program);
        let (mut witness_times, mut proof_times, mut last) = (vec![], vec![], None);
        for _ in 0..rounds {
            let start = Instant::now();
            let (advice, instances) = pk.generate_witness(&proof, threads, &mut state);
            witness_times.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            last = Some(gen_snark_from_base(&params, &pk.pinning.pk, advice, instances));
            proof_times.push(start.elapsed().as_secs_f64());
        }
        println!("k={k} witness {witness_times:.3?}");
        println!("k={k} proof   {proof_times:.3?}");
        let snark = last.unwrap();
        let mut transcript =
            PoseidonTranscript::<NativeLoader, &[u8]>::from_spec(&snark.proof[..], POSEIDON_SPEC.clone());
        let instances = snark.instances.iter().map(Vec::as_slice).collect::<Vec<_>>();
        let valid = verify_proof::<_, VerifierSHPLONK<_>, _, _, _>(
            params.verifier_params(),
            pk.pinning.pk.get_vk(),
            halo2_base::halo2_proofs::poly::kzg::strategy::AccumulatorStrategy::new(params.verifier_params()),
            &[instances.as_slice()],
            &mut transcript,
        )
        .map(|strategy| VerificationStrategy::<_, VerifierSHPLONK<_>>::finalize(strategy));
        println!("k={k} valid {valid:?}");
        assert!(valid.unwrap());
    }
}
