//! Single commitments.

use ff::Field;
use midnight_curves::{Bls12, Fq};
use midnight_proofs::poly::EvaluationDomain;
use midnight_proofs::poly::commitment::{Params, PolynomialCommitmentScheme};
use midnight_proofs::poly::kzg::KZGCommitmentScheme;
use midnight_proofs::poly::kzg::params::ParamsKZG;
use proofwarp::Error;
use proofwarp_midnight::{GpuKzgScheme, Parameters};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::accelerators;

type Stock = KZGCommitmentScheme<Bls12>;

const K: u32 = 7;
const N: usize = 1 << K;

fn setup() -> ParamsKZG<Bls12> {
    ParamsKZG::unsafe_setup(K, ChaCha8Rng::seed_from_u64(1))
}

/// Random, zeros, ones, all −1, and few values among zeros.
fn vectors() -> Vec<Vec<Fq>> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let random: Vec<Fq> = (0..N).map(|_| Fq::random(&mut rng)).collect();
    let sparse = random.iter().enumerate().map(|(i, value)| if i % 9 == 4 { *value } else { Fq::ZERO }).collect();
    vec![random, vec![Fq::ZERO; N], vec![Fq::ONE; N], vec![-Fq::ONE; N], sparse]
}

#[test]
fn equal_to_those_of_the_stock_scheme() {
    let domain = EvaluationDomain::<Fq>::new(1, K);
    for accelerator in accelerators() {
        let parameters = Parameters::new(&accelerator, setup()).expect("parameters");
        assert_eq!(parameters.max_k(), K);
        for values in vectors() {
            let (coefficients, values) = (domain.coeff_from_vec(values.clone()), domain.lagrange_from_vec(values));
            let stock = parameters.stock();
            assert_eq!(GpuKzgScheme::commit(&parameters, &coefficients), Stock::commit(stock, &coefficients));
            assert_eq!(GpuKzgScheme::commit_lagrange(&parameters, &values), Stock::commit_lagrange(stock, &values));
        }
    }
}

#[test]
fn shorter_polynomials_and_too_long_ones() {
    let domain = EvaluationDomain::<Fq>::new(1, K);
    for accelerator in accelerators() {
        let parameters = Parameters::new(&accelerator, setup()).expect("parameters");
        let random = &vectors()[0];
        for length in [0, 1, 2, N - 1] {
            let mut padded = random[..length].to_vec();
            padded.resize(N, Fq::ZERO);
            let expected = Stock::commit(parameters.stock(), &domain.coeff_from_vec(padded));
            assert_eq!(parameters.commit(&random[..length]).expect("commitment"), expected, "{length}");
        }
        let long = [&random[..], &random[..1]].concat();
        assert!(matches!(parameters.commit(&long), Err(Error::Invalid { .. })));
    }
}

#[test]
fn a_smaller_setup() {
    let domain = EvaluationDomain::<Fq>::new(1, K - 2);
    for accelerator in accelerators() {
        let mut parameters = Parameters::new(&accelerator, setup()).expect("parameters");
        parameters.downsize(K - 2);
        assert_eq!(parameters.max_k(), K - 2);
        let values = domain.lagrange_from_vec(vectors()[0][..N / 4].to_vec());
        let expected = Stock::commit_lagrange(parameters.stock(), &values);
        assert_eq!(GpuKzgScheme::commit_lagrange(&parameters, &values), expected);
    }
}
