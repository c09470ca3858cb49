//! Compares proofs of arkworks's circuits with those of `ark-groth16`. `super` names the version, and has `enforce`.

use std::ops::AddAssign;
use std::slice;

use halo2curves::bn256::Bn256;
use num_bigint::BigUint;
use proofwarp::Accelerator;
use proofwarp_circom::{AffinePoint, Blinding, Error, Matrix, ProveOptions, Witness, Zkey};
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::ark_bls12_381::Bls12_381;
use super::ark_bn254::{Bn254, Fq, Fq2, Fr, G1Affine, G2Affine};
use super::ark_ec::AffineRepr;
use super::ark_ff::{Field, PrimeField, UniformRand};
use super::ark_groth16::{self, Groth16, prepare_verifying_key};
use super::common::generator;
use super::enforce;
use super::relations::{ConstraintSynthesizer, ConstraintSystemRef, LinearCombination, SynthesisError, Variable};
use super::version::{ArkPairing, ProvingKey};

/// Rows between two inputs of [`Chain`].
const INPUT_STEP: usize = 40;

/// Row i of the constraints says (xᵢ + kᵢ·x₍ᵢ/₂₎ + 1)·x₍ᵢ₋ᵢ mod ₃₎ = xᵢ₊₁. Each x₍₄₀ⱼ₎ is public.
#[derive(Clone, Copy)]
pub struct Chain<F> {
    /// x₀ for a proof, nothing for a setup.
    pub first: Option<F>,
    /// Number of rows.
    pub rows: usize,
    /// Row whose result is wrong.
    pub wrong_row: Option<usize>,
}

impl<F: PrimeField> Chain<F> {
    pub fn new(first: Option<u64>, rows: usize) -> Self {
        Self { first: first.map(F::from), rows, wrong_row: None }
    }

    fn k(row: usize) -> F {
        match row % 16 {
            0..6 => F::ONE,
            6..12 => -F::ONE,
            index => F::from(index as u64).pow([index as u64]),
        }
    }

    /// Returns the values of x.
    fn values(&self) -> Option<Vec<F>> {
        let mut x = vec![self.first?];
        for row in 0..self.rows {
            let next = (x[row] + Self::k(row) * x[row / 2] + F::ONE) * x[row - row % 3];
            x.push(if self.wrong_row == Some(row) { next + F::ONE } else { next });
        }
        Some(x)
    }

    fn is_input(index: usize) -> bool {
        index.is_multiple_of(INPUT_STEP)
    }

    /// Returns the inputs, without the constant one.
    pub fn inputs(&self) -> Vec<F> {
        self.values().expect("values").into_iter().step_by(INPUT_STEP).collect()
    }

    /// Returns the values of all variables: 1, the inputs, then the others.
    fn assignment(&self) -> Vec<F> {
        let x = self.values().expect("values");
        let witnesses = x.iter().enumerate().filter(|(index, _)| !Self::is_input(*index)).map(|(_, value)| *value);
        [F::ONE].into_iter().chain(self.inputs()).chain(witnesses).collect()
    }
}

impl<F: PrimeField> ConstraintSynthesizer<F> for Chain<F> {
    fn generate_constraints(self, cs: ConstraintSystemRef<F>) -> Result<(), SynthesisError> {
        let values = self.values();
        let mut x = Vec::new();
        for index in 0..=self.rows {
            let value = || values.as_ref().map(|values| values[index]).ok_or(SynthesisError::AssignmentMissing);
            x.push(if Self::is_input(index) { cs.new_input_variable(value)? } else { cs.new_witness_variable(value)? });
        }
        for row in 0..self.rows {
            let mut a = LinearCombination::from(x[row]);
            a.add_assign((Self::k(row), x[row / 2]));
            a.add_assign((F::ONE, Variable::One));
            enforce(&cs, a, x[row - row % 3].into(), x[row + 1].into())?;
        }
        Ok(())
    }
}

pub fn setup<E: ArkPairing>(rows: usize) -> ark_groth16::ProvingKey<E> {
    let mut rng = StdRng::seed_from_u64(rows as u64);
    let circuit = Chain::<E::ScalarField>::new(None, rows);
    Groth16::<E>::generate_random_parameters_with_reduction(circuit, &mut rng).expect("parameters")
}

/// Returns the accelerators to prove with: the one of the environment, and the CPU alone.
fn accelerators() -> [Accelerator; 2] {
    let chosen = Accelerator::from_env().expect("a backend");
    println!("devices: {}", chosen.devices().len());
    [chosen.clone(), chosen.with_devices(Vec::new())]
}

fn options<F>(pairs: &[Blinding<F>]) -> ProveOptions<'_, F> {
    ProveOptions { blinding: Some(pairs), ..ProveOptions::default() }
}

fn accepts<E: ArkPairing>(
    key: &ark_groth16::ProvingKey<E>,
    proof: &ark_groth16::Proof<E>,
    inputs: &[E::ScalarField],
) -> bool {
    Groth16::<E>::verify_proof(&prepare_verifying_key(&key.vk), proof, inputs).expect("as many inputs as the key has")
}

/// With equal r and s, or an equal generator, proofs are those of ark-groth16, whose verifier accepts them.
fn equals_ark<E: ArkPairing>(rows: usize) {
    let parameters = setup::<E>(rows);
    let mut rng = StdRng::seed_from_u64(1);
    let pair = Blinding { r: E::ScalarField::rand(&mut rng), s: E::ScalarField::rand(&mut rng) };
    let circuit = Chain::new(Some(3), rows);
    let expected = Groth16::<E>::create_proof_with_reduction(circuit, &parameters, pair.r, pair.s).expect("a proof");
    for accelerator in accelerators() {
        let key = ProvingKey::new(&accelerator, &parameters, Chain::new(None, rows)).expect("a key");
        let proofs = key.prove_with([circuit], options(&[pair])).expect("a proof");
        assert_eq!(proofs, slice::from_ref(&expected), "{rows} rows");
        assert_eq!(
            key.prove(circuit, &mut StdRng::seed_from_u64(1)).expect("a proof"),
            expected,
            "{rows} rows, by a generator"
        );
        let proofs = key.prove_assignments(&[&circuit.assignment()], options(&[pair])).expect("a proof");
        assert_eq!(proofs, slice::from_ref(&expected), "{rows} rows, by an assignment");
        assert!(accepts(&parameters, &proofs[0], &circuit.inputs()));
        assert_eq!(key.device_bytes() > 0, !accelerator.devices().is_empty());
    }
}

#[test]
fn proofs_equal_those_of_ark_groth16() {
    // 61 rows fill a domain of 64, with a row for each of 3 inputs.
    for rows in [1, 2, 5, 29, 61, 62, 100, 250] {
        equals_ark::<Bn254>(rows);
        equals_ark::<Bls12_381>(rows);
    }
}

#[test]
fn batches_are_proofs_of_each_circuit_in_order() {
    let parameters = setup::<Bls12_381>(100);
    for accelerator in accelerators() {
        let key = ProvingKey::new(&accelerator, &parameters, Chain::new(None, 100)).expect("a key");
        let circuits: Vec<_> = (2..6).map(|first| Chain::new(Some(first), 100)).collect();
        let proofs = key.prove_with(circuits.clone(), ProveOptions::default()).expect("proofs");
        assert_eq!(proofs.len(), circuits.len());
        for (proof, circuit) in proofs.iter().zip(&circuits) {
            assert!(accepts(&parameters, proof, &circuit.inputs()));
        }
        let again = key.prove_with(circuits, ProveOptions::default()).expect("proofs");
        assert!(proofs.iter().zip(&again).all(|(proof, again)| proof != again), "r and s are drawn anew");
        assert_eq!(key.prove_with(Vec::<Chain<_>>::new(), ProveOptions::default()).expect("no proofs"), []);
    }
}

#[test]
fn values_that_fail_give_an_error_unless_verification_is_off() {
    let parameters = setup::<Bn254>(100);
    let circuit = Chain { wrong_row: Some(57), ..Chain::new(Some(3), 100) };
    for accelerator in accelerators() {
        let key = ProvingKey::new(&accelerator, &parameters, Chain::new(None, 100)).expect("a key");
        let error = key.prove(circuit, &mut StdRng::seed_from_u64(1)).expect_err("an invalid proof");
        assert!(matches!(error, Error::InvalidProof { .. }), "{error}");
        assert!(error.to_string().starts_with("circuit: the proof does not verify"), "{error}");
        let unverified = ProveOptions { verify: false, ..ProveOptions::default() };
        let proofs = key.prove_with([circuit], unverified).expect("a proof");
        assert!(!accepts(&parameters, &proofs[0], &circuit.inputs()));
    }
}

/// Returns the text of an error.
fn text<T>(result: proofwarp_circom::Result<T>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn circuits_that_do_not_fit_the_key_are_refused() {
    let [_, accelerator] = accelerators();
    let parameters = setup::<Bn254>(100);
    let new = |rows| ProvingKey::new(&accelerator, &parameters, Chain::new(None, rows));
    let error = text(new(101));
    assert!(error.starts_with("proving key: l_query: length: expected 99, ") && error.ends_with("got 98"), "{error}");
    let error = text(new(120));
    assert!(error.starts_with("proving key: vk.gamma_abc_g1: length: expected 5, "), "{error}");
    let key = new(100).expect("a key");
    let mut rng = StdRng::seed_from_u64(1);
    let error = text(key.prove(Chain::new(Some(3), 101), &mut rng));
    assert_eq!(error, "circuit: witness variables: number: expected 98, as the key has, got 99");
    let error = text(key.prove(Chain::new(Some(3), 120), &mut rng));
    assert_eq!(error, "circuit: inputs, with the constant one: number: expected 4, as the key has, got 5");
    let error = key.prove(Chain::new(None, 100), &mut rng).expect_err("no values");
    assert!(matches!(error, Error::Synthesis { .. }), "{error}");
    let error = text(key.prove_assignments(&[&[Fr::ONE; 7]], ProveOptions::default()));
    assert_eq!(error, "circuit: variables: number: expected 102, as the key has, got 7");
    let pair = Blinding { r: Fr::ONE, s: Fr::ONE };
    let error = text(key.prove_with([Chain::new(Some(3), 100)], options(&[pair, pair])));
    assert!(error.contains("number of r"), "{error}");
}

/// Removes the last point.
fn shorten<P>(points: &mut Vec<P>) {
    points.truncate(points.len() - 1);
}

#[test]
fn keys_of_other_lengths_are_refused() {
    let [_, accelerator] = accelerators();
    let changed = |change: fn(&mut ark_groth16::ProvingKey<Bn254>)| {
        let mut parameters = setup::<Bn254>(100);
        change(&mut parameters);
        text(ProvingKey::new(&accelerator, &parameters, Chain::new(None, 100)))
    };
    let error = changed(|key| shorten(&mut key.h_query));
    let expected = "expected 127 points (LibsnarkReduction) or 128 (CircomReduction), got 126";
    assert_eq!(error, format!("proving key: h_query: length: {expected}"));
    let error = changed(|key| shorten(&mut key.vk.gamma_abc_g1));
    assert!(error.starts_with("proving key: vk.gamma_abc_g1: length: expected 4, "), "{error}");
    let error = changed(|key| shorten(&mut key.l_query));
    assert!(error.starts_with("proving key: l_query: length: expected 98, "), "{error}");
    let error = changed(|key| shorten(&mut key.a_query));
    assert!(error.starts_with("proving key: a_query: length: expected 102, "), "{error}");
    let error = changed(|key| key.b_g1_query.push(key.beta_g1));
    assert!(error.starts_with("proving key: b_g1_query: length: expected 102, "), "{error}");
    let error = changed(|key| shorten(&mut key.b_g2_query));
    assert!(error.starts_with("proving key: b_g2_query: length: expected 102, "), "{error}");
}

#[test]
fn points_off_the_curve_are_named() {
    let [_, accelerator] = accelerators();
    let mut parameters = setup::<Bn254>(5);
    let (x, y) = parameters.beta_g1.xy().expect("a finite point");
    parameters.a_query[3] = G1Affine::new_unchecked(y, x);
    let error = text(ProvingKey::new(&accelerator, &parameters, Chain::new(None, 5)));
    assert!(error.starts_with("proving key: a_query: point 3: expected a point of G1 of BN254"), "{error}");
    let mut parameters = setup::<Bn254>(5);
    parameters.delta_g1 = G1Affine::identity();
    let error = text(ProvingKey::new(&accelerator, &parameters, Chain::new(None, 5)));
    assert!(error.contains("δ"), "{error}");
}

/// The matrices of another circuit of as many variables give proofs that do not verify.
#[test]
fn matrices_of_another_circuit_give_an_error() {
    let [_, accelerator] = accelerators();
    let parameters = setup::<Bn254>(5);
    let empty = vec![Vec::new(); 5];
    let key = ProvingKey::from_matrices(&accelerator, &parameters, [&empty, &empty]).expect("a key");
    let error = key.prove(Chain::new(Some(3), 5), &mut StdRng::seed_from_u64(1)).expect_err("an invalid proof");
    assert!(matches!(error, Error::InvalidProof { .. }), "{error}");
    let error = text(ProvingKey::from_matrices(&accelerator, &parameters, [&empty, &vec![Vec::new(); 4]]));
    assert_eq!(error, "constraints: B: rows: expected 5, as A has, got 4");
    let entry = vec![vec![(Fr::ONE, 7)]; 5];
    let error = text(ProvingKey::from_matrices(&accelerator, &parameters, [&entry, &empty]));
    assert!(error.contains("column in row 0") && error.contains("below 7"), "{error}");
}

fn coordinates(point: &impl AffinePoint) -> Vec<Fq> {
    point.to_integers().into_iter().map(Fq::from).collect()
}

fn g1(point: &impl AffinePoint) -> G1Affine {
    match coordinates(point)[..] {
        [x, y] if (x, y) != (Fq::default(), Fq::default()) => G1Affine::new(x, y),
        _ => G1Affine::identity(),
    }
}

fn g2(point: &impl AffinePoint) -> G2Affine {
    match coordinates(point)[..] {
        [a, b, c, d] if point.to_integers().iter().any(|number| *number != BigUint::default()) => {
            G2Affine::new(Fq2::new(a, b), Fq2::new(c, d))
        }
        _ => G2Affine::identity(),
    }
}

/// Returns the points of a zkey as ark-circom does: its query of h has as many points as the domain has elements.
fn key_of_zkey(zkey: &Zkey) -> ark_groth16::ProvingKey<Bn254> {
    type G1 = halo2curves::bn256::G1Affine;
    type G2 = halo2curves::bn256::G2Affine;
    let points = |points: proofwarp_circom::RawPoints<'_>| -> Vec<_> {
        points.to_points::<G1>().expect("points").iter().map(g1).collect()
    };
    let point1 = |points: proofwarp_circom::RawPoints<'_>| g1(&points.point::<G1>(0).expect("a point"));
    let point2 = |points: proofwarp_circom::RawPoints<'_>| g2(&points.point::<G2>(0).expect("a point"));
    ark_groth16::ProvingKey {
        vk: ark_groth16::VerifyingKey {
            alpha_g1: point1(zkey.alpha1()),
            beta_g2: point2(zkey.beta2()),
            gamma_g2: point2(zkey.gamma2()),
            delta_g2: point2(zkey.delta2()),
            gamma_abc_g1: points(zkey.ic()),
        },
        beta_g1: point1(zkey.beta1()),
        delta_g1: point1(zkey.delta1()),
        a_query: points(zkey.a()),
        b_g1_query: points(zkey.b1()),
        b_g2_query: zkey.b2().to_points::<G2>().expect("points").iter().map(g2).collect(),
        h_query: points(zkey.h()),
        l_query: points(zkey.c()),
    }
}

/// Returns the rows of the constraints, without those of public signals.
fn matrices_of_zkey(zkey: &Zkey, constraints: usize) -> [Vec<Vec<(Fr, usize)>>; 2] {
    let inverse = Fr::from(2).pow([512]).inverse().expect("not zero");
    let mut matrices = [vec![Vec::new(); constraints], vec![Vec::new(); constraints]];
    for entry in zkey.coefficients().iter().filter(|entry| (entry.constraint as usize) < constraints) {
        let value = Fr::from_le_bytes_mod_order(entry.value) * inverse;
        matrices[usize::from(entry.matrix == Matrix::B)][entry.constraint as usize]
            .push((value, entry.signal as usize));
    }
    matrices
}

/// A key in the form of ark-circom's `CircomReduction` gives the proofs that its zkey gives.
#[test]
fn keys_of_the_circom_reduction_are_recognised() {
    for constraints in [2, 6, 30, 100] {
        let zkey = generator::zkey::<Bn256>(constraints).to_bytes();
        let zkey = Zkey::from_bytes("generated.zkey", zkey).expect("a zkey");
        let witness = generator::witness::<Bn256>(constraints, 3.into()).to_bytes();
        let witness = Witness::from_bytes("generated.wtns", witness).expect("a witness");
        let assignment: Vec<_> = witness.values().iter().map(|value| Fr::from_le_bytes_mod_order(value)).collect();
        let [a, b] = matrices_of_zkey(&zkey, constraints);
        let pair = Blinding { r: halo2curves::bn256::Fr::from(11), s: halo2curves::bn256::Fr::from(13) };
        let ark_pair = Blinding { r: Fr::from(11), s: Fr::from(13) };
        for accelerator in accelerators() {
            let key = proofwarp_circom::ProvingKey::<Bn256>::new(&accelerator, &zkey).expect("a key");
            let expected = key.prove_with(&[&witness], options(&[pair])).expect("a proof")[0];
            let key = ProvingKey::from_matrices(&accelerator, &key_of_zkey(&zkey), [&a, &b]).expect("a key");
            let proofs = key.prove_assignments(&[&assignment], options(&[ark_pair])).expect("a proof");
            let expected = ark_groth16::Proof { a: g1(&expected.a), b: g2(&expected.b), c: g1(&expected.c) };
            assert_eq!(proofs, [expected], "{constraints} constraints");
        }
    }
}
