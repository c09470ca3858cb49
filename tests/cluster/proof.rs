//! One proof by all ranks. Nothing satisfies anything: sums are sums all the same.

use std::sync::Arc;

use ff::Field;
use halo2curves::bn256::{Bn256, Fr};
use proofwarp::cluster::{ClusterKey, Input};
use proofwarp::groth16::{Circuit, Parameters, Proof, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;

use crate::random_parameters::random_parameters;
use crate::tools::{Checks, random, rng, roots};

const VARIABLES: usize = 50;
const INPUTS: usize = 2;

/// A circuit, a key of its shape, and an assignment for each proof.
pub struct Setup {
    pub circuit: Circuit<Fr>,
    pub parameters: Parameters<Bn256>,
}

impl Setup {
    pub fn new(constraints: usize) -> Self {
        let mut rng = rng(416);
        // B has three variables of four.
        let column = |matrix: usize, row: usize| if matrix == 1 && row % 4 == 3 { row + 1 } else { row };
        let row = |matrix, row| vec![(column(matrix, row) % VARIABLES, Fr::from(row as u64 + 2)), (0, Fr::ONE)];
        let matrix = |matrix| Csr::from_rows(VARIABLES, (0..constraints).map(move |i| row(matrix, i)));
        let matrices = [0, 1, 2].map(|number| Arc::new(matrix(number).expect("matrix")));
        let circuit = Circuit::from_matrices(INPUTS, matrices).expect("circuit");
        let parameters = random_parameters(&circuit, [constraints, VARIABLES - INPUTS], &mut rng);
        Self { circuit, parameters }
    }

    /// The assignment of a number, and its r and s.
    pub fn witness(number: usize) -> (Vec<Fr>, Fr, Fr) {
        let mut all = random::<Fr>(900 + number as u64, VARIABLES + 2);
        let (s, r) = (all.pop().expect("s"), all.pop().expect("r"));
        (all, r, s)
    }

    /// The proof that one process makes on the CPU.
    pub fn expected(&self, checks: &Checks, number: usize) -> Proof<Bn256> {
        let key = ProvingKeyOnDevice::new(&checks.cpu, self.parameters.clone()).expect("a key");
        let (assignment, r, s) = Self::witness(number);
        let (inputs, aux) = assignment.split_at(INPUTS);
        let witness = Witness { inputs, aux: aux.into(), evaluations: None };
        prove(&key, &self.circuit, &[witness], &[r], &[s], None).expect("a proof").0.remove(0)
    }

    /// A·z, B·z and C·z.
    fn evaluations(&self, z: &[Fr]) -> [Vec<Fr>; 3] {
        let product = |matrix: &Csr<Fr>| -> Vec<Fr> {
            (0..matrix.rows()).map(|row| matrix.row(row).map(|(column, value)| value * z[column]).sum()).collect()
        };
        let matrices: &[_; 3] = self.circuit.matrices().try_into().expect("three matrices");
        matrices.each_ref().map(|matrix| product(matrix))
    }
}

pub fn split(assignment: &[Fr]) -> (&[Fr], &[Fr]) {
    assignment.split_at(INPUTS)
}

/// Every rank as the root, circuits that fill their domain and others, with evaluations and without.
pub fn every_root(checks: &Checks) {
    let cluster = checks.cluster;
    for constraints in [1, 2, 45, 64] {
        let setup = Setup::new(constraints);
        let load = |layout: &proofwarp::cluster::KeyLayout| layout.part(cluster.rank(), &setup.parameters);
        let key = ClusterKey::<Bn256>::new(cluster, &setup.circuit, load).expect("a key");
        for root in roots(cluster.size()) {
            let (assignment, r, s) = Setup::witness(root);
            let (inputs, aux) = split(&assignment);
            let evaluated = setup.evaluations(&assignment);
            let evaluations = (root % 2 == 1).then_some(evaluated.each_ref().map(Vec::as_slice));
            let witness = Witness { inputs, aux: aux.into(), evaluations };
            let input = Input { circuit: &setup.circuit, witness, blinding: (r, s) };
            let is_root = cluster.rank() == root;
            let (proof, _) = key.prove(root, is_root.then_some(input), None).expect("a proof");
            let expected = is_root.then(|| setup.expected(checks, root));
            checks.check("proof", proof == expected, format!("of {constraints} constraints by rank {root}"));
        }
        let nothing = key.prove(0, None, None);
        checks.failed("a root without input", 0, "input of the root", nothing);
    }
}
