//! Groth16 proofs of the resident pipeline against bellperson's own, byte for byte.

mod common;

use std::sync::{Arc, Once};

use bellperson::groth16::{Parameters, Proof, generate_random_parameters, prepare_verifying_key, verify_proof};
use bellperson::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::{Bls12, Scalar};
use common::{abort_after, accelerators_and_cpu, accelerators_with_devices, alone, rng};
use ff::Field;
use proofwarp::groth16::{self, Densities, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp::{Accelerator, BackendKind, Error};
use proofwarp_bellperson::{Prover, parameters, prove_evaluated};

/// A chain of x³ + x + 5 from a secret, with what makes queries sparse between its links.
#[derive(Debug, Clone, Copy)]
struct Chain {
    links: usize,
    secret: Scalar,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Products only.
    Plain,
    /// Constraints without terms, and with coefficients of zero.
    Empty,
    /// Auxiliary variables in A alone: all factors of B are inputs.
    NoAuxInB,
    /// Every variable in A and in B.
    Dense,
    /// Parts that are put together by `extend`.
    Parts,
}

const KINDS: [Kind; 5] = [Kind::Plain, Kind::Empty, Kind::NoAuxInB, Kind::Dense, Kind::Parts];

impl Circuit<Scalar> for Chain {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let factor = cs.alloc_input(|| "factor", || Ok(Scalar::from(3)))?;
        let (mut value, mut x) = (self.secret, cs.alloc(|| "secret", || Ok(self.secret))?);
        for link in 0..self.links {
            if self.kind == Kind::NoAuxInB {
                let next = value * Scalar::from(3);
                let y = cs.alloc(|| "product", || Ok(next))?;
                cs.enforce(|| "product", |lc| lc + x, |lc| lc + factor, |lc| lc + y);
                (value, x) = (next, y);
                continue;
            }
            let square = cs.alloc(|| "square", || Ok(value.square()))?;
            cs.enforce(|| "square", |lc| lc + x, |lc| lc + x, |lc| lc + square);
            let next = value.square() * value + value + Scalar::from(5);
            let y = cs.alloc(|| "next", || Ok(next))?;
            let five = Scalar::from(5);
            cs.enforce(|| "next", |lc| lc + square, |lc| lc + x, |lc| lc + y - x - (five, CS::one()));
            if self.kind == Kind::Empty && link % 2 == 0 {
                cs.enforce(|| "empty", |lc| lc, |lc| lc, |lc| lc);
                cs.enforce(|| "zero", |lc| lc + (Scalar::ZERO, y), |lc| lc + (Scalar::ZERO, x), |lc| lc);
            }
            if self.kind == Kind::Dense {
                let all = |lc: bellperson::LinearCombination<Scalar>| lc + square + y + factor + CS::one();
                cs.enforce(|| "dense", all, |lc| all(lc) - y, |lc| lc + x);
            }
            (value, x) = (next, y);
        }
        if self.kind == Kind::Parts && CS::is_extensible() {
            let mut part = CS::new();
            part.alloc_input(|| "one", || Ok(Scalar::ONE))?;
            Self { kind: Kind::Plain, ..self }.synthesize(&mut part)?;
            cs.extend(&part);
        } else if self.kind == Kind::Parts {
            Self { kind: Kind::Plain, ..self }.synthesize(&mut cs.namespace(|| "part"))?;
        }
        let result = cs.alloc_input(|| "result", || Ok(value))?;
        cs.enforce(|| "result", |lc| lc + x, |lc| lc + CS::one(), |lc| lc + result);
        Ok(())
    }
}

/// bellperson itself computes on the CPU here.
fn stock_on_cpu() {
    static ONCE: Once = Once::new();
    // SAFETY: every test calls this first, before a device or bellperson has been touched.
    ONCE.call_once(|| unsafe { std::env::set_var("BELLMAN_NO_GPU", "1") });
}

fn setup(links: usize, kind: Kind) -> Parameters<Bls12> {
    stock_on_cpu();
    let circuit = Chain { links, secret: Scalar::ONE, kind };
    generate_random_parameters(circuit, &mut rng(links as u64)).expect("parameters")
}

/// Circuits of one shape with r and s; the first of several has a witness of zeros where it can.
fn batch(count: usize, links: usize, kind: Kind) -> (Vec<Chain>, Vec<Scalar>, Vec<Scalar>) {
    let mut rng = rng(7 + count as u64);
    let secret = |number: usize, random: Scalar| if number == 1 { Scalar::ZERO } else { random };
    let circuits =
        (0..count).map(|number| Chain { links, secret: secret(number, Scalar::random(&mut rng)), kind }).collect();
    let [r, s] = [(); 2].map(|()| (0..count).map(|_| Scalar::random(&mut rng)).collect());
    (circuits, r, s)
}

fn stock(circuits: &[Chain], key: &Parameters<Bls12>, r: &[Scalar], s: &[Scalar]) -> Vec<Proof<Bls12>> {
    bellperson::groth16::create_proof_batch(circuits.to_vec(), key, r.to_vec(), s.to_vec()).expect("stock proofs")
}

fn bytes(proofs: &[Proof<Bls12>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for proof in proofs {
        proof.write(&mut bytes).expect("memory");
    }
    bytes
}

/// Both forms of witnesses give stock's proofs on every backend.
fn equals_stock(count: usize, links: usize, kind: Kind) {
    let key = setup(links, kind);
    let (circuits, r, s) = batch(count, links, kind);
    let expected = bytes(&stock(&circuits, &key, &r, &s));
    for accelerator in accelerators_and_cpu() {
        let (evaluated, report) =
            prove_evaluated(&accelerator, circuits.clone(), &&key, &r, &s).expect("proofs of evaluations");
        assert_eq!(bytes(&evaluated), expected, "{kind:?}, {count} evaluated: {report}");
        assert_eq!(Some(report.backend), accelerator.forced());
        let (prover, first) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
        let mut assignments = vec![first];
        assignments.extend(prover.assign(circuits[1..].to_vec()).expect("assignments"));
        let (proofs, report) = prover.prove(&assignments, &r, &s, None).expect("proofs of matrices");
        assert_eq!(bytes(&proofs), expected, "{kind:?}, {count} by matrices: {report}");
        assert!(report.fallbacks.is_empty());
    }
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

/// A key, its circuit by matrices, and an assignment.
fn prover(accelerator: &Accelerator, key: &Parameters<Bls12>) -> (Prover<Bls12>, Vec<Scalar>, Vec<Scalar>) {
    let circuit = Chain { links: 5, secret: Scalar::from(2), kind: Kind::Plain };
    let (prover, assignment) = Prover::<Bls12>::new(accelerator, circuit, &key).expect("prover");
    (prover, assignment.inputs, assignment.aux)
}

fn invalid<T: std::fmt::Debug>(result: Result<T, Error>, what: &str) {
    match result {
        Err(error @ Error::Invalid { .. }) => assert!(error.to_string().contains(what), "{error}"),
        other => panic!("expected an error that names {what:?}, got {other:?}"),
    }
}

#[test]
fn lengths_that_do_not_match() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let [one, none] = [[Scalar::ONE].as_slice(), &[]];
        let run = |witness: Witness<'_, Scalar>, r: &[Scalar], s: &[Scalar]| {
            prove(prover.key(), prover.circuit(), &[witness], r, s, None)
        };
        let good = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        assert!(run(good, one, one).is_ok());
        invalid(run(good, none, one), "number of r: expected 1, got 0");
        invalid(run(good, one, none), "number of s: expected 1, got 0");
        invalid(run(Witness { inputs: &inputs[1..], ..good }, one, one), "inputs of witness 0: expected 3, got 2");
        invalid(
            run(Witness { aux: &aux[1..], ..good }, one, one),
            "auxiliary values of witness 0: expected 11, got 10",
        );
        let short = Some([aux.as_slice(); 3]);
        invalid(run(Witness { evaluations: short, ..good }, one, one), "a of witness 0: expected 14, got 11");
        let mut parameters = prover.key().parameters().clone();
        parameters.h = Arc::new(parameters.h[1..].to_vec());
        invalid(ProvingKeyOnDevice::<Bls12>::new(&accelerator, parameters.clone()), "length of h");
        parameters.h = Arc::new(parameters.h[..7].to_vec());
        let small = ProvingKeyOnDevice::<Bls12>::new(&accelerator, parameters).expect("a key of another circuit");
        invalid(prove(&small, prover.circuit(), &[good], one, one, None), "bases of h");
        let [a_aux, b_inputs, b_aux] = [[true; 11].as_slice(), &[true; 3], &[true; 11]];
        let circuit = groth16::Circuit::new(14, Densities { a_aux, b_inputs, b_aux }).expect("circuit");
        invalid(prove(prover.key(), &circuit, &[good], one, one, None), "bases of b");
        invalid(groth16::Circuit::<Scalar>::new(14, Densities { a_aux, b_inputs, b_aux: &[] }), "density");
    }
}

#[test]
fn keys_and_circuits_that_cannot_be() {
    let key = setup(5, Kind::Plain);
    let accelerator = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let (prover, inputs, aux) = prover(&accelerator, &key);
    let parameters = groth16::Parameters { delta_g2: blstrs::G2Affine::default(), ..prover.key().parameters().clone() };
    invalid(ProvingKeyOnDevice::<Bls12>::new(&accelerator, parameters), "δ");
    let [square, wide] = [2, 3].map(|columns| {
        let rows = [vec![(0, Scalar::ONE)], vec![]];
        Arc::new(Csr::from_rows(columns, rows).expect("matrix"))
    });
    let matrices = [square.clone(), square.clone(), wide];
    invalid(groth16::Circuit::from_matrices(1, matrices), "columns of C: expected 2, got 3");
    invalid(groth16::Circuit::from_matrices(3, [square.clone(), square.clone(), square]), "number of inputs");
    let matrices = prover.circuit();
    let density = |matrix: usize, columns: std::ops::Range<usize>| -> Vec<bool> {
        let matrix = &matrices.matrices().expect("matrices")[matrix];
        columns.map(|column| (0..matrix.rows()).any(|row| matrix.row(row).any(|(at, _)| at == column))).collect()
    };
    let (a_aux, b_inputs, b_aux) = (density(0, 3..14), density(1, 0..3), density(1, 3..14));
    let densities = Densities { a_aux: &a_aux, b_inputs: &b_inputs, b_aux: &b_aux };
    let circuit = groth16::Circuit::new(14, densities).expect("circuit");
    let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
    let one = [Scalar::ONE];
    invalid(prove(prover.key(), &circuit, &[witness], &one, &one, None), "neither");
    assert!(parameters_of(&key, &circuit));
}

fn parameters_of(key: &Parameters<Bls12>, circuit: &groth16::Circuit<Scalar>) -> bool {
    parameters::<Bls12, _>(&key, circuit).is_ok_and(|parameters| Arc::ptr_eq(&parameters.a, &key.a))
}

#[test]
fn aborts() {
    let key = setup(5, Kind::Plain);
    for accelerator in accelerators_and_cpu() {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        let one = [Scalar::ONE];
        for questions in 0..3 {
            let abort = abort_after(questions);
            let result = prove(prover.key(), prover.circuit(), &[witness], &one, &one, Some(&abort));
            assert!(matches!(result, Err(Error::Aborted)), "after {questions}: {result:?}");
        }
        let never = || false;
        assert!(prove(prover.key(), prover.circuit(), &[witness], &one, &one, Some(&never)).is_ok());
    }
}

/// A launch that fails, whichever it is, is an error where a backend is forced, and the next proof is right.
#[test]
fn failures_on_a_device() {
    let key = setup(5, Kind::Plain);
    for accelerator in alone(None) {
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        let (r, s) = ([Scalar::from(8); 3], [Scalar::from(9); 3]);
        let run = || prove(prover.key(), prover.circuit(), &[witness; 3], &r, &s, None);
        run().expect("proofs, and tables for all later ones");
        let (expected, report) = run().expect("proofs");
        let launches = report.traffic.launches;
        for fuse in (0..launches).step_by(launches as usize / 6) {
            accelerator.devices()[0].fail_after(fuse);
            let result = run();
            assert!(matches!(result, Err(Error::Device { .. })), "launch {fuse}: {result:?}");
            assert_eq!(run().expect("proofs").0, expected, "after launch {fuse} failed");
        }
    }
}

/// Where no backend is forced, what a device has not finished is made on the CPU, and the report says why.
#[test]
fn fallback_to_the_cpu() {
    let key = setup(5, Kind::Plain);
    stock_on_cpu();
    for accelerator in capped(None) {
        let device = &accelerator.devices()[0];
        let (prover, inputs, aux) = prover(&accelerator, &key);
        let witness = Witness { inputs: &inputs, aux: &aux, evaluations: None };
        let (r, s) = ([Scalar::from(8); 4], [Scalar::from(9); 4]);
        let run = || prove(prover.key(), prover.circuit(), &[witness; 4], &r, &s, None).expect("proofs");
        let (expected, report) = run();
        assert_ne!(report.backend, BackendKind::Cpu);
        for fuse in [0, report.traffic.launches * 3 / 4] {
            device.fail_after(fuse);
            let (proofs, report) = run();
            assert_eq!(proofs, expected);
            assert_eq!(report.backend, BackendKind::Cpu);
            assert!(report.fallbacks.iter().any(|reason| reason.contains("injected")), "{report}");
        }
    }
}

/// An accelerator of a device with a cap on its memory that may fall back to the CPU, for each device that there is.
fn capped(limit: Option<u64>) -> Vec<Accelerator> {
    let capped = |forced: &Accelerator| {
        let device = proofwarp::backend::Device::new(common::fresh_driver(&forced.devices()[0]), limit);
        Accelerator::automatic().on_devices(vec![device])
    };
    accelerators_with_devices().iter().map(capped).collect()
}

/// Bases that do not fit are streamed, and sums that do not fit side by side are made in turn; devices that need more
/// memory even for that fall back.
#[test]
fn keys_larger_than_the_memory() {
    for (links, kind, limit) in [(300, Kind::Dense, 7 << 20), (3000, Kind::NoAuxInB, 12 << 20)] {
        let key = setup(links, kind);
        let (circuits, r, s) = batch(2, links, kind);
        let expected = stock(&circuits, &key, &r, &s);
        for accelerator in capped(Some(limit)) {
            let (prover, first) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
            let second = prover.assign(circuits[1..].to_vec()).expect("assignment").remove(0);
            let (proofs, report) = prover.prove(&[first, second], &r, &s, None).expect("proofs");
            assert!(proofs == expected, "{report}");
            let [h, l, a] = [&key.h, &key.l, &key.a].map(|bases| 96 * bases.len() as u64);
            let all = h + l + a + 288 * key.b_g1.len() as u64;
            assert!(prover.key().bytes() < all, "{} of {all}", prover.key().bytes());
            if accelerator.devices()[0].info().is_cpu {
                assert_ne!(report.backend, BackendKind::Cpu, "{report}");
            }
        }
    }
}

/// Threads prove by one key at the same time.
#[test]
fn several_threads() {
    let key = setup(6, Kind::Plain);
    let (circuits, r, s) = batch(4, 6, Kind::Plain);
    let expected = &stock(&circuits, &key, &r, &s);
    for accelerator in accelerators_and_cpu() {
        let (prover, _) = Prover::<Bls12>::new(&accelerator, circuits[0], &&key).expect("prover");
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let (prover, r, s) = (&prover, &r, &s);
        std::thread::scope(|scope| {
            for (number, assignment) in assignments.chunks(1).enumerate() {
                scope.spawn(move || {
                    let (r, s) = (&r[number..=number], &s[number..=number]);
                    let (proofs, _) = prover.prove(assignment, r, s, None).expect("proofs");
                    assert_eq!(proofs[0], expected[number]);
                });
            }
        });
    }
}

/// Parameters in a file, whose points are read anew for each use, prove as those in memory do.
#[test]
fn parameters_in_a_file() {
    let key = setup(6, Kind::Dense);
    let (circuits, r, s) = batch(2, 6, Kind::Dense);
    let expected = stock(&circuits, &key, &r, &s);
    let mut file = tempfile::NamedTempFile::new().expect("file");
    key.write(&mut file).expect("written");
    let mapped = Parameters::<Bls12>::build_mapped_parameters(file.path().to_owned(), false).expect("mapped");
    for _ in 0..2 {
        let proofs = proofwarp_bellperson::create_proof_batch(circuits.clone(), &mapped, r.clone(), s.clone());
        assert_eq!(proofs.expect("proofs"), expected);
    }
    let proof = proofwarp_bellperson::create_proof(circuits[1], &key, r[1], s[1]);
    assert_eq!(proof.expect("proof"), expected[1]);
}

/// The circuits of a batch are spread over the devices, each of which gets the key.
#[test]
fn several_devices() {
    let key = setup(6, Kind::Plain);
    let (circuits, r, s) = batch(5, 6, Kind::Plain);
    let expected = stock(&circuits, &key, &r, &s);
    for (one, two) in alone(None).iter().zip(alone(None)) {
        let both = one.on_devices([one.devices(), two.devices()].concat());
        let (prover, _) = Prover::<Bls12>::new(&both, circuits[0], &&key).expect("prover");
        let bytes = prover.key().bytes();
        let assignments = prover.assign(circuits.clone()).expect("assignments");
        let (proofs, _) = prover.prove(&assignments, &r, &s, None).expect("proofs");
        assert_eq!(proofs, expected);
        assert_eq!(prover.key().bytes(), 2 * bytes);
        assert!(prover.circuit().bytes() > 0);
    }
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
        (Arc::new(g1), Arc::new(g2))
    };
    let (some, some_g2) = points(3);
    let (b_g1, b_g2) = points(7);
    let parameters = groth16::Parameters::<Bn256> {
        alpha_g1: some[0],
        beta_g1: some[1],
        beta_g2: some_g2[1],
        delta_g1: some[2],
        delta_g2: some_g2[2],
        h: points(15).0,
        l: points(5).0,
        a: points(7).0,
        b_g1,
        b_g2,
    };
    let (inputs, aux) = z.split_at(2);
    let witnesses =
        [None, Some(vectors.each_ref().map(Vec::as_slice))].map(|evaluations| Witness { inputs, aux, evaluations });
    let (r, s) = ([Fr::from(5); 2], [Fr::from(6); 2]);
    let proofs = accelerators_and_cpu().into_iter().map(|accelerator| {
        let key = ProvingKeyOnDevice::new(&accelerator, parameters.clone()).expect("key");
        prove(&key, &circuit, &witnesses, &r, &s, None).expect("proofs").0
    });
    let proofs: Vec<_> = proofs.flatten().collect();
    assert!(proofs.iter().all(|proof| *proof == proofs[0]));
}
