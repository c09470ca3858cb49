//! Parameters of a circuit's shape that satisfy nothing: sums are sums all the same.

use group::Group;
use halo2curves::bn256::{Bn256, Fr, G1, G1Affine, G2, G2Affine};
use proofwarp::groth16::{Circuit, Parameters};
use rand::RngCore;

/// For a circuit of so many constraints and variables that are no inputs.
pub fn random_parameters(
    circuit: &Circuit<Fr>,
    [constraints, aux]: [usize; 2],
    rng: &mut impl RngCore,
) -> Parameters<Bn256> {
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let g1 = |count| -> Vec<G1Affine> { (0..count).map(|_| G1::random(&mut *rng).into()).collect() };
    let [h, l, a, b_g1, rest] = [constraints.next_power_of_two() - 1, aux, a, b_inputs + b_aux, 3].map(g1);
    let g2 = |count| -> Vec<G2Affine> { (0..count).map(|i| (G2::generator() * Fr::from(i + 5)).into()).collect() };
    let (b_g2, rest_g2) = (g2(b_g1.len() as u64), g2(2));
    Parameters {
        alpha_g1: rest[0],
        beta_g1: rest[1],
        beta_g2: rest_g2[0],
        delta_g1: rest[2],
        delta_g2: rest_g2[1],
        h: h.into(),
        l: l.into(),
        a: a.into(),
        b_g1: b_g1.into(),
        b_g2: b_g2.into(),
    }
}
