//! `groth16_…`: whole proofs, of a witness and of one that is evaluated.

use std::sync::Arc;

use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use proofwarp::field::NttField;
use proofwarp::groth16::{Circuit, Engine, Parameters, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;

use crate::agree;
use crate::common::rng;

const CONSTRAINTS: usize = 5;
const INPUTS: usize = 2;
const VARIABLES: usize = 6;

fn matrices<F: NttField>() -> [Arc<Csr<F>>; 3] {
    let row = |matrix: usize, row: usize| [((row + matrix) % VARIABLES, F::from(row as u64 + 2)), (0, -F::ONE)];
    [0, 1, 2].map(|matrix| {
        let rows = (0..CONSTRAINTS).map(|number| row(matrix, number));
        Arc::new(Csr::from_rows(VARIABLES, rows).expect("columns are in range"))
    })
}

fn points<C: PrimeCurveAffine<Curve: Curve<AffineRepr = C>>>(count: usize) -> Vec<C> {
    let first = C::Curve::generator() * C::Scalar::random(&mut rng(count as u64));
    let all = std::iter::successors(Some(first), |point| Some(*point + C::generator()));
    all.take(count).map(|point| point.to_affine()).collect()
}

fn parameters<E: Engine>(circuit: &Circuit<E::Fr>) -> Parameters<E> {
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let lengths = [CONSTRAINTS.next_power_of_two() - 1, VARIABLES - INPUTS, a, b_inputs + b_aux, 3];
    let [h, l, a, b_g1, alone] = lengths.map(points::<E::G1Affine>);
    let [b_g2, alone_g2] = [b_inputs + b_aux, 2].map(points::<E::G2Affine>);
    Parameters {
        alpha_g1: alone[0],
        beta_g1: alone[1],
        beta_g2: alone_g2[0],
        delta_g1: alone[2],
        delta_g2: alone_g2[1],
        h: h.into(),
        l: l.into(),
        a: a.into(),
        b_g1: b_g1.into(),
        b_g2: b_g2.into(),
    }
}

fn proofs<E: Engine>() {
    let circuit = || Circuit::<E::Fr>::from_matrices(INPUTS, matrices()).expect("matrices of one shape");
    let mut rng = rng(8);
    let values: Vec<E::Fr> = (0..VARIABLES).map(|_| E::Fr::random(&mut rng)).collect();
    let product = |matrix: &Csr<E::Fr>, row: usize| matrix.row(row).map(|(column, value)| values[column] * value).sum();
    let evaluations =
        matrices::<E::Fr>().map(|matrix| (0..CONSTRAINTS).map(|row| product(&matrix, row)).collect::<Vec<_>>());
    let whole = Witness { inputs: &values[..INPUTS], aux: (&values[INPUTS..]).into(), evaluations: None };
    let evaluated = Witness { evaluations: Some(evaluations.each_ref().map(Vec::as_slice)), ..whole };
    let blinding = [E::Fr::from(5), E::Fr::from(6)];
    agree(|accelerator| {
        let circuit = circuit();
        let key = ProvingKeyOnDevice::<E>::new(accelerator, parameters(&circuit))?;
        Ok(prove(&key, &circuit, &[whole, evaluated], &blinding, &blinding, None)?.0)
    });
}

#[test]
fn bls12_381() {
    proofs::<blstrs::Bls12>();
}

#[test]
fn bn254() {
    proofs::<halo2curves::bn256::Bn256>();
}
