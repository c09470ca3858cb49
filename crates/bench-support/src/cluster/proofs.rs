//! Proofs: a batch, each by one rank, and one by all.

use std::sync::Arc;

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, Scalar};
use ff::Field;
use group::Curve;
use proofwarp::cluster::{
    Cluster, ClusterBatch, ClusterKey, Input, KeyLayout, OwnedWitness, proof_from_bytes, prove_batch,
};
use proofwarp::groth16::{Circuit, Parameters, Proof, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;

use super::inputs::{multiples, powers};
use super::options::Options;
use super::steps::{Timed, timed};
use crate::Failure;

const INPUTS: usize = 2;

/// Makes a circuit of `constraints` constraints and variables. Nothing satisfies it, which no sum depends on.
fn circuit(constraints: usize) -> Result<Circuit<Scalar>, Failure> {
    let column = |matrix: usize, row: usize| (row * [1, 3, 1][matrix] + matrix) % constraints;
    let row = |matrix, row| vec![(column(matrix, row), Scalar::from(row as u64 + 2)), (0, Scalar::ONE)];
    let matrix = |matrix| Csr::from_rows(constraints, (0..constraints).map(move |i| row(matrix, i)));
    let matrices = [Arc::new(matrix(0)?), Arc::new(matrix(1)?), Arc::new(matrix(2)?)];
    Ok(Circuit::from_matrices(INPUTS, matrices)?)
}

/// A key whose points are small multiples of the generators, by the numbers of its queries' bases.
fn key(h: Vec<G1Affine>, l: usize, a: usize, b: usize) -> Parameters<Bls12> {
    let point = |number: u64| (G1Projective::from(multiples::<G1Affine>(0..1)[0]) * Scalar::from(number)).to_affine();
    let other: Vec<G2Affine> = multiples(10..12);
    Parameters {
        alpha_g1: point(101),
        beta_g1: point(102),
        beta_g2: other[0],
        delta_g1: point(103),
        delta_g2: other[1],
        h: h.into(),
        l: multiples(0..l).into(),
        a: multiples(0..a).into(),
        b_g1: multiples(0..b).into(),
        b_g2: multiples(0..b).into(),
    }
}

fn whole_key(circuit: &Circuit<Scalar>) -> Parameters<Bls12> {
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    key(multiples(0..circuit.constraint_count().next_power_of_two() - 1), circuit.aux_count(), a, b_inputs + b_aux)
}

/// A rank's part of that key, made without the rest.
fn part(layout: &KeyLayout, rank: usize) -> Parameters<Bls12> {
    let h: Vec<G1Affine> = layout.h_indices(rank).into_iter().flat_map(|index| multiples(index..index + 1)).collect();
    let parts = key(h, 0, 0, 0);
    Parameters {
        l: multiples(layout.l.range(rank)).into(),
        a: multiples(layout.a.range(rank)).into(),
        b_g1: multiples(layout.b.range(rank)).into(),
        b_g2: multiples(layout.b.range(rank)).into(),
        ..parts
    }
}

/// The assignment of a number, and its r and s: the same on all ranks, so that results can be compared.
fn witness(number: usize, circuit: &Circuit<Scalar>) -> OwnedWitness<Scalar> {
    let seed = Scalar::from(number as u64 + 5).square();
    let mut values = powers(seed, 1..1 + circuit.input_count() + circuit.aux_count());
    values[0] = Scalar::ONE;
    let aux = values.split_off(circuit.input_count());
    OwnedWitness { inputs: values, aux, evaluations: None, r: seed.double(), s: seed.square() }
}

/// Makes the proof by one process.
fn alone(key: &ProvingKeyOnDevice<Bls12>, circuit: &Circuit<Scalar>, number: usize) -> Result<Proof<Bls12>, Failure> {
    let owned = witness(number, circuit);
    let (mut proofs, _) = prove(key, circuit, &[owned.as_witness()], &[owned.r], &[owned.s], None)?;
    Ok(proofs.remove(0))
}

/// A batch in a folder; each call has one of its own unless one is given.
pub fn batch(cluster: &Cluster, options: &Options) -> Result<Vec<Timed>, Failure> {
    let circuit = circuit(1 << options.log_constraints)?;
    let key = cluster.all_or_error(ProvingKeyOnDevice::<Bls12>::new(cluster.accelerator(), whole_key(&circuit)))?;
    let temp = tempfile::tempdir()?;
    let mut number = 0;
    let name = format!("example's proofs of 2^{} constraints", options.log_constraints);
    let calls = if options.folder.is_some() { 1 } else { options.calls };
    let what = ("batch", options.log_constraints, options.proofs);
    let (batch, timed) = timed(cluster, what, calls, || {
        number += 1;
        let folder = options.folder.clone().unwrap_or_else(|| temp.path().join(number.to_string()));
        let batch = ClusterBatch { name: name.clone(), count: options.proofs, folder, at_once: 2 };
        let outcome = prove_batch(cluster, &batch, &key, &circuit, |number| Ok(witness(number, &circuit)))?;
        if cluster.rank() == 0 {
            say!("batch: {} proofs were there, ranks made {:?}", outcome.found, outcome.made);
        }
        Ok(batch)
    })?;
    if cluster.rank() == 0 && options.proofs > 0 {
        let last = options.proofs - 1;
        if proof_from_bytes::<Bls12>(&batch.result(last)?)? != alone(&key, &circuit, last)? {
            return Err("a proof of the batch is wrong".into());
        }
    }
    Ok(vec![timed])
}

/// One proof, whose key no rank has as a whole.
pub fn one(cluster: &Cluster, options: &Options) -> Result<Vec<Timed>, Failure> {
    let circuit = circuit(1 << options.log_constraints)?;
    let key = ClusterKey::<Bls12>::new(cluster, &circuit, |layout| Ok(part(layout, cluster.rank())))?;
    let owned = (cluster.rank() == 0).then(|| witness(0, &circuit));
    let input = owned.as_ref().map(|owned| {
        let witness: Witness<'_, Scalar> = owned.as_witness();
        Input { circuit: &circuit, witness, blinding: (owned.r, owned.s) }
    });
    let what = ("proof", options.log_constraints, 1);
    let (proof, timed) = timed(cluster, what, options.calls, || Ok(key.prove(0, input, None)?.0))?;
    if let Some(proof) = proof {
        let whole = ProvingKeyOnDevice::<Bls12>::new(cluster.accelerator(), whole_key(&circuit))?;
        if proof != alone(&whole, &circuit, 0)? {
            return Err("the proof is wrong".into());
        }
    }
    Ok(vec![timed])
}
