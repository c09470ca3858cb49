//! Whole proofs, which midnight-proofs verifies.

use blake2b_simd::State;
use midnight_curves::{Bls12, Fq, G1Projective};
use midnight_proofs::plonk::{ProvingKey, create_proof, keygen_pk, keygen_vk_with_k, prepare};
use midnight_proofs::poly::commitment::{Guard, PolynomialCommitmentScheme};
use midnight_proofs::poly::kzg::KZGCommitmentScheme;
use midnight_proofs::poly::kzg::params::ParamsKZG;
use midnight_proofs::transcript::{CircuitTranscript, Transcript};
use midnight_proofs::utils::SerdeFormat;
use proofwarp_midnight::{GpuKzgScheme, Parameters, retype};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::accelerators;
use bench_support::midnight::Filled;

type Stock = KZGCommitmentScheme<Bls12>;

const K: u32 = 7;

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(9)
}

fn prove<S>(parameters: &S::Parameters, key: &ProvingKey<Fq, S>, seed: u64) -> Vec<u8>
where
    S: PolynomialCommitmentScheme<Fq, Commitment = G1Projective>,
{
    let mut transcript = CircuitTranscript::<State>::init();
    create_proof(parameters, key, &[Filled::new(K, seed)], &[&[]], &mut transcript, rng()).expect("proof");
    transcript.finalize()
}

fn is_valid(parameters: &ParamsKZG<Bls12>, key: &ProvingKey<Fq, Stock>, proof: &[u8]) -> bool {
    let mut transcript = CircuitTranscript::<State>::init_from_bytes(proof);
    let guard = prepare::<_, Stock, _>(key.get_vk(), &[&[]], &mut transcript);
    guard.is_ok_and(|guard| guard.verify(&parameters.verifier_params()).is_ok())
}

fn stock_key(parameters: &ParamsKZG<Bls12>) -> ProvingKey<Fq, Stock> {
    let circuit = Filled::new(K, 0);
    keygen_pk(keygen_vk_with_k::<_, Stock, _>(parameters, &circuit, K).expect("vk"), &circuit).expect("pk")
}

#[test]
fn equal_to_those_of_the_stock_scheme() {
    let setup = ParamsKZG::unsafe_setup(K, rng());
    let key = stock_key(&setup);
    let ours = retype::<_, GpuKzgScheme, Filled>(&key).expect("key");
    for accelerator in accelerators() {
        let parameters = Parameters::new(&accelerator, setup.clone()).expect("parameters");
        for seed in [3, 4] {
            let proof = prove(&parameters, &ours, seed);
            assert_eq!(proof, prove(&setup, &key, seed));
            assert!(is_valid(&setup, &key, &proof));
            let mut other = proof;
            other[7] ^= 1;
            assert!(!is_valid(&setup, &key, &other));
        }
    }
}

#[test]
fn keys_of_either_scheme_are_the_same() {
    let setup = ParamsKZG::unsafe_setup(K, rng());
    let key = stock_key(&setup);
    let circuit = Filled::new(K, 0);
    for accelerator in accelerators() {
        let parameters = Parameters::new(&accelerator, setup.clone()).expect("parameters");
        let vk = keygen_vk_with_k::<_, GpuKzgScheme, _>(&parameters, &circuit, K).expect("vk");
        let ours = keygen_pk(vk, &circuit).expect("pk");
        let bytes = |key: &ProvingKey<Fq, Stock>| key.to_bytes(SerdeFormat::RawBytes);
        assert_eq!(ours.to_bytes(SerdeFormat::RawBytes), bytes(&key));
        assert_eq!(bytes(&retype::<_, Stock, Filled>(&ours).expect("key")), bytes(&key));
    }
}

#[test]
fn proofs_at_once_on_one_setup() {
    let setup = ParamsKZG::unsafe_setup(K, rng());
    let key = stock_key(&setup);
    let ours = retype::<_, GpuKzgScheme, Filled>(&key).expect("key");
    let parameters = Parameters::new(&accelerators()[0], setup.clone()).expect("parameters");
    let (parameters, ours) = (&parameters, &ours);
    std::thread::scope(|scope| {
        let provers: Vec<_> = (0..3).map(|seed| scope.spawn(move || prove(parameters, ours, seed))).collect();
        for prover in provers {
            assert!(is_valid(&setup, &key, &prover.join().expect("proof")));
        }
    });
}

#[test]
fn the_verifier_of_this_scheme_refuses() {
    let setup = ParamsKZG::unsafe_setup(K, rng());
    let ours = retype::<_, GpuKzgScheme, Filled>(&stock_key(&setup)).expect("key");
    let parameters = Parameters::new(&accelerators()[1], setup).expect("parameters");
    let proof = prove(&parameters, &ours, 1);
    let mut transcript = CircuitTranscript::<State>::init_from_bytes(&proof);
    assert!(prepare::<_, GpuKzgScheme, _>(ours.get_vk(), &[&[]], &mut transcript).is_err());
}
