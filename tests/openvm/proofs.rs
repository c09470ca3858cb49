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
        let params = quick_setup(k as u32);
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

/// Makes a setup of 2^k points whose secret is known. Halo2Params::setup takes minutes from k = 22 on; this multiplies the
/// generator by a table of its multiples by 8-bit digits.
#[cfg(feature = "halo2-gpu")]
fn quick_setup(k: u32) -> Halo2Params {
    use halo2_base::halo2_proofs::halo2curves::{
        bn256::{Fr, G1Affine, G2Affine, G1},
        ff::{BatchInvert, Field, PrimeField},
        group::{prime::PrimeCurveAffine, Curve, Group},
    };

    let (n, secret) = (1_usize << k, Fr::from(0x5eed_5eed_5eed_5eed).square());
    let rows = std::iter::successors(Some(G1::generator()), |base| Some((0..8).fold(*base, |point, _| point.double())));
    let multiples = rows.take(32).map(|base| {
        let row: Vec<G1> = std::iter::successors(Some(G1::identity()), |point| Some(point + base)).take(256).collect();
        let mut affine = vec![G1Affine::identity(); 256];
        G1::batch_normalize(&row, &mut affine);
        affine
    });
    let table: Vec<Vec<G1Affine>> = multiples.collect();
    let multiply = |scalars: &[Fr]| {
        let mut points = vec![G1Affine::identity(); n];
        let multiply_part = |(points, scalars): (&mut [G1Affine], &[Fr])| {
            let sums = scalars.iter().map(|scalar| {
                let digits = scalar.to_repr();
                table.iter().zip(digits.as_ref()).fold(G1::identity(), |sum, (row, digit)| sum + row[usize::from(*digit)])
            });
            G1::batch_normalize(&sums.collect::<Vec<_>>(), points);
        };
        let part = n.div_ceil(std::thread::available_parallelism().map_or(1, usize::from));
        std::thread::scope(|scope| {
            let multiply_part = &multiply_part;
            points.chunks_mut(part).zip(scalars.chunks(part)).for_each(|part| _ = scope.spawn(move || multiply_part(part)));
        });
        points
    };
    let powers: Vec<Fr> = std::iter::successors(Some(Fr::ONE), |power| Some(power * secret)).take(n).collect();
    let root = (k..Fr::S).fold(Fr::ROOT_OF_UNITY, |root, _| root.square());
    let roots: Vec<Fr> = std::iter::successors(Some(Fr::ONE), |power| Some(power * root)).take(n).collect();
    let mut lagrange: Vec<Fr> = roots.iter().map(|root| secret - root).collect();
    lagrange.iter_mut().batch_invert();
    // The Lagrange polynomial of root i is (X^n − 1)·rootᵢ/(n·(X − rootᵢ)).
    let factor = (secret.pow([n as u64]) - Fr::ONE) * Fr::from(n as u64).invert().unwrap();
    lagrange.iter_mut().zip(&roots).for_each(|(value, root)| *value *= factor * root);
    let g2 = G2Affine::generator();
    let any = Halo2Params::setup(1, ChaCha20Rng::seed_from_u64(42));
    any.from_parts(k, multiply(&powers), Some(multiply(&lagrange)), g2, (g2 * secret).to_affine())
}
