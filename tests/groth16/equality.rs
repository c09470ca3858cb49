//! Proofs are bellperson's own, byte for byte.

use std::sync::Arc;

use bellperson::Circuit;
use bellperson::groth16::{Parameters, Proof, prepare_verifying_key, verify_proof};
use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::groth16::{self, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp_bellperson::{Prover, prove_evaluated};

use crate::circuits::{Chain, KINDS, Kind, batch, bytes, setup, stock};
use crate::common::{accelerators_and_cpu, rng};

/// Stock's proofs, which both forms of witnesses have to give on every backend.
pub fn equal<C>(circuits: &[C], key: &Parameters<Bls12>, r: &[Scalar], s: &[Scalar], what: &str) -> Vec<Proof<Bls12>>
where
    C: Circuit<Scalar> + Clone + Send,
{
    let stock = stock(circuits, key, r, s);
    let expected = bytes(&stock);
    for accelerator in accelerators_and_cpu() {
        let (evaluated, report) =
            prove_evaluated(&accelerator, circuits.to_vec(), &key, r, s).expect("proofs of evaluations");
        assert_eq!(bytes(&evaluated), expected, "{what}, evaluated: {report}");
        assert_eq!(Some(report.backend), accelerator.forced());
        let (prover, first) = Prover::<Bls12>::new(&accelerator, circuits[0].clone(), &key).expect("prover");
        let mut assignments = vec![first];
        assignments.extend(prover.assign(circuits[1..].to_vec()).expect("assignments"));
        let (proofs, report) = prover.prove(&assignments, r, s, None).expect("proofs of matrices");
        assert_eq!(bytes(&proofs), expected, "{what}, by matrices: {report}");
        assert!(report.fallbacks.is_empty());
    }
    stock
}

fn equals_stock(count: usize, links: usize, kind: Kind) {
    let key = setup(links, kind);
    let (circuits, r, s) = batch(count, links, kind);
    equal(&circuits, &key, &r, &s, &format!("{kind:?} of {links}, {count}"));
}

#[test]
fn circuits_of_every_kind() {
    for kind in KINDS {
        equals_stock(2, 5, kind);
    }
}

#[test]
fn batches() {
    for count in [1, 3, 10] {
        equals_stock(count, 9, Kind::Plain);
    }
}

#[test]
fn domains() {
    // No link at all, and one constraint below, at and above a power of two.
    for links in [0, 1, 2, 6, 30] {
        equals_stock(1, links, Kind::NoAuxInB);
    }
    equals_stock(2, 300, Kind::Plain);
}

#[test]
fn proofs_verify() {
    let key = setup(4, Kind::Plain);
    let (circuits, r, s) = batch(1, 4, Kind::Plain);
    let value = (0..4).fold(circuits[0].secret, |x, _| x.square() * x + x + Scalar::from(5));
    for accelerator in accelerators_and_cpu() {
        let (proofs, _) = prove_evaluated(&accelerator, circuits.clone(), &&key, &r, &s).expect("proofs");
        let prepared = prepare_verifying_key(&key.vk);
        assert!(verify_proof(&prepared, &proofs[0], &[Scalar::from(3), value]).expect("verification"));
        assert!(!verify_proof(&prepared, &proofs[0], &[Scalar::from(3), value + Scalar::ONE]).expect("verification"));
    }
}

/// The functions of bellperson's names, whose last prover is found again, or not, by the parameters.
#[test]
fn functions_of_bellperson() {
    let keys = [setup(3, Kind::Plain), setup(4, Kind::Plain), setup(3, Kind::Dense)];
    let shapes = [(3, Kind::Plain), (4, Kind::Plain), (3, Kind::Dense)];
    for number in [0, 0, 1, 2, 0] {
        let (key, (links, kind)) = (&keys[number], shapes[number]);
        let (circuits, r, s) = batch(2, links, kind);
        let expected = stock(&circuits, key, &r, &s);
        let proofs = proofwarp_bellperson::create_proof_batch(circuits.clone(), key, r.clone(), s.clone());
        assert_eq!(proofs.expect("proofs"), expected);
        let copy = key.clone();
        let proof = proofwarp_bellperson::create_proof(circuits[1], &copy, r[1], s[1]);
        assert_eq!(proof.expect("proof"), expected[1]);
        let random = proofwarp_bellperson::create_random_proof_batch(circuits.clone(), key, &mut rng(5));
        let stock = bellperson::groth16::create_random_proof_batch(circuits, key, &mut rng(5));
        assert_eq!(random.expect("proofs"), stock.expect("proofs"));
    }
    let none = proofwarp_bellperson::create_proof_batch::<Bls12, Chain, _>(vec![], &keys[0], vec![], vec![]);
    assert!(none.expect("no proofs").is_empty());
}

/// BN254, which bellperson does not know: both forms of witnesses on every backend agree with the CPU.
#[test]
fn bn254() {
    use halo2curves::bn256::{Bn256, Fr, G1Affine, G2Affine};
    let mut rng = rng(254);
    let rows = |coefficient: u64| (0..13).map(move |row| vec![(row % 7, Fr::from(coefficient)), (2, Fr::ONE)]);
    let matrices = [3, 4, 5].map(|coefficient| Arc::new(Csr::from_rows(7, rows(coefficient)).expect("matrix")));
    let z: Vec<Fr> = (0..7).map(|_| Fr::random(&mut rng)).collect();
    let product = |matrix: &Csr<Fr>| -> Vec<Fr> {
        (0..13).map(|row| matrix.row(row).map(|(column, value)| value * z[column]).sum()).collect()
    };
    let vectors = matrices.each_ref().map(|matrix| product(matrix));
    let circuit = groth16::Circuit::from_matrices(2, matrices).expect("circuit");
    let mut points = |count: usize| {
        let scalars: Vec<Fr> = (0..count).map(|_| Fr::random(&mut rng)).collect();
        let g1: Vec<G1Affine> = scalars.iter().map(|scalar| (G1Affine::generator() * scalar).into()).collect();
        let g2: Vec<G2Affine> = scalars.iter().map(|scalar| (G2Affine::generator() * scalar).into()).collect();
        (g1, g2)
    };
    let (some, some_g2) = points(3);
    let (b_g1, b_g2) = points(7);
    let parameters = groth16::Parameters::<Bn256> {
        alpha_g1: some[0],
        beta_g1: some[1],
        beta_g2: some_g2[1],
        delta_g1: some[2],
        delta_g2: some_g2[2],
        h: points(15).0.into(),
        l: points(5).0.into(),
        a: points(7).0.into(),
        b_g1: b_g1.into(),
        b_g2: b_g2.into(),
    };
    let (inputs, aux) = z.split_at(2);
    let witnesses = [None, Some(vectors.each_ref().map(Vec::as_slice))].map(|evaluations| Witness {
        inputs,
        aux: aux.into(),
        evaluations,
    });
    let (r, s) = ([Fr::from(5); 2], [Fr::from(6); 2]);
    let proofs = accelerators_and_cpu().into_iter().map(|accelerator| {
        let key = ProvingKeyOnDevice::new(&accelerator, parameters.clone()).expect("key");
        prove(&key, &circuit, &witnesses, &r, &s, None).expect("proofs").0
    });
    let proofs: Vec<_> = proofs.flatten().collect();
    assert!(proofs.iter().all(|proof| *proof == proofs[0]));
}
