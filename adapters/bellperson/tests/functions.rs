//! Functions of bellperson's names against bellperson's own, byte for byte.

mod common;

use std::io::Write;
use std::sync::LazyLock;

use bellperson::SynthesisError;
use bellperson::groth16::{ParameterSource, Parameters, Proof};
use blstrs::{Bls12, Scalar};
use common::{Chain, Fixture, rng, stock};
use proofwarp_bellperson::groth16;

static FIXTURES: LazyLock<(Fixture, Vec<Proof<Bls12>>)> = LazyLock::new(|| {
    stock(|| {
        let fixture = Fixture::new(9, 3, 3);
        let random =
            bellperson::groth16::create_random_proof_batch(fixture.circuits.clone(), &fixture.key, &mut rng(5));
        (fixture, random.expect("stock proofs"))
    })
});

fn bytes(proofs: &[Proof<Bls12>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for proof in proofs {
        proof.write(&mut bytes).expect("memory");
    }
    bytes
}

/// All eight functions with some source of the same parameters.
fn all_functions<P: ParameterSource<Bls12> + Copy>(source: P) {
    let (Fixture { circuits, r, s, expected, .. }, random) = &*FIXTURES;
    let equal = |proofs: Result<Vec<Proof<Bls12>>, SynthesisError>, expected: &[Proof<Bls12>]| {
        assert_eq!(bytes(&proofs.expect("proofs")), bytes(expected));
    };
    let one = |proof: Result<Proof<Bls12>, SynthesisError>| proof.map(|proof| vec![proof]);
    let (all, r_all, s_all) = (|| circuits.clone(), || r.clone(), || s.clone());
    equal(groth16::create_proof_batch(all(), source, r_all(), s_all()), expected);
    equal(groth16::create_proof_batch_in_priority(all(), source, r_all(), s_all()), expected);
    equal(groth16::create_random_proof_batch(all(), source, &mut rng(5)), random);
    equal(groth16::create_random_proof_batch_in_priority(all(), source, &mut rng(5)), random);
    equal(one(groth16::create_proof(circuits[1], source, r[1], s[1])), &expected[1..2]);
    equal(one(groth16::create_proof_in_priority(circuits[1], source, r[1], s[1])), &expected[1..2]);
    let single = [(); 2].map(|()| rng(6)).map(|mut rng| {
        let single = groth16::create_random_proof_batch(vec![circuits[0]], source, &mut rng);
        single.expect("proof")
    });
    equal(one(groth16::create_random_proof(circuits[0], source, &mut rng(6))), &single[0]);
    equal(one(groth16::create_random_proof_in_priority(circuits[0], source, &mut rng(6))), &single[1]);
}

#[test]
fn parameters_in_memory() {
    let fixture = &FIXTURES.0;
    all_functions(&fixture.key);
    all_functions(&fixture.key.clone());
}

#[test]
fn parameters_in_a_file() {
    let fixture = &FIXTURES.0;
    let mut file = tempfile::NamedTempFile::new().expect("file");
    fixture.key.write(&mut file).expect("written");
    for checked in [false, true] {
        let mapped = Parameters::<Bls12>::build_mapped_parameters(file.path().to_owned(), checked).expect("mapped");
        all_functions(&mapped);
    }
}

/// The names and types are bellperson's: these compile with either import.
#[test]
fn signatures() {
    macro_rules! signatures {
        ($groth16:path) => {{
            use $groth16 as groth16;
            type P<'a> = &'a Parameters<Bls12>;
            type Rng = rand_chacha::ChaCha8Rng;
            type One = Result<Proof<Bls12>, SynthesisError>;
            type Many = Result<Vec<Proof<Bls12>>, SynthesisError>;
            let one: [fn(Chain, P<'static>, Scalar, Scalar) -> One; 2] = [
                groth16::create_proof::<Bls12, Chain, P<'_>>,
                groth16::create_proof_in_priority::<Bls12, Chain, P<'_>>,
            ];
            let random: [fn(Chain, P<'static>, &mut Rng) -> One; 2] = [
                groth16::create_random_proof::<Bls12, Chain, Rng, P<'_>>,
                groth16::create_random_proof_in_priority::<Bls12, Chain, Rng, P<'_>>,
            ];
            let many: [fn(Vec<Chain>, P<'static>, Vec<Scalar>, Vec<Scalar>) -> Many; 2] = [
                groth16::create_proof_batch::<Bls12, Chain, P<'_>>,
                groth16::create_proof_batch_in_priority::<Bls12, Chain, P<'_>>,
            ];
            let random_many: [fn(Vec<Chain>, P<'static>, &mut Rng) -> Many; 2] = [
                groth16::create_random_proof_batch::<Bls12, Chain, Rng, P<'_>>,
                groth16::create_random_proof_batch_in_priority::<Bls12, Chain, Rng, P<'_>>,
            ];
            (one, random, many, random_many)
        }};
    }
    let _ = signatures!(bellperson::groth16);
    let (_, _, many, _) = signatures!(proofwarp_bellperson::groth16);
    // The rest of bellperson's module comes along.
    groth16::prepare_verifying_key(&FIXTURES.0.key.vk);
    let none = many[1](vec![], &FIXTURES.0.key, vec![], vec![]);
    assert!(none.expect("no proofs").is_empty());
}

/// A file that ends too soon, and points that are none or infinity, are errors, as with bellperson.
#[test]
fn malformed_files() {
    let Fixture { key, circuits, r, s, .. } = &FIXTURES.0;
    let mut good = Vec::new();
    key.write(&mut good).expect("memory");
    // Behind the verifying key: the number of h's points, then the first of them.
    let point = 3 * 96 + 3 * 192 + 4 + key.vk.ic.len() * 96 + 4;
    let end = good.len();
    let infinity = |bytes: &mut Vec<u8>| {
        bytes[point..point + 96].fill(0);
        bytes[point] = 0x40;
    };
    let prove = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        let mut file = tempfile::NamedTempFile::new().expect("file");
        file.write_all(&bytes).expect("written");
        let mapped = Parameters::<Bls12>::build_mapped_parameters(file.path().to_owned(), false).expect("mapped");
        groth16::create_proof(circuits[0], &mapped, r[0], s[0])
    };
    let fails = |change: &dyn Fn(&mut Vec<u8>), what: &str| match prove(change) {
        Err(SynthesisError::IoError(error)) => assert!(error.to_string().contains(what), "{error}"),
        other => panic!("expected an error that names {what:?}, got {other:?}"),
    };
    prove(&|_| ()).expect("a proof");
    fails(&|bytes| bytes[point + 95] ^= 1, "point 0 of h: not on curve");
    fails(&|bytes| bytes[point..point + 96].fill(0xff), "point 0 of h: not on curve");
    fails(&infinity, "point 0 of h: point at infinity");
    fails(&|bytes| bytes.truncate(end - 1), "of b_g2: expected 192 bytes");
}
