//! Reads, writes and verifies proofs, keys and signals that are made here from known logarithms.

use blstrs::Bls12;
use ff::{Field, PrimeField};
use group::Curve;
use group::prime::PrimeCurveAffine;
use halo2curves::CurveAffine;
use halo2curves::bn256::Bn256;
use proofwarp_circom::{
    AffinePoint, CurveId, Error, Groth16Engine, JsonText, PointFault, Proof, VerificationKey, curve_from_json,
    public_from_json, public_to_json, verify, verify_json,
};

const KEY: &str = "verification_key.json";
const PUBLIC: &str = "public.json";
const PROOF: &str = "proof.json";

fn g1<E: Groth16Engine>(scalar: E::Fr) -> E::G1Affine {
    (E::G1Affine::generator() * scalar).to_affine()
}

fn g2<E: Groth16Engine>(scalar: E::Fr) -> E::G2Affine {
    (E::G2Affine::generator() * scalar).to_affine()
}

/// Returns a key with α = 2, β = 3, γ = 5, δ = 7 and IC = (11, 0, 13), two signals, and their proof with a = 17, b = 19.
fn example<E: Groth16Engine>() -> (VerificationKey<E>, Vec<E::Fr>, Proof<E>) {
    let [alpha, beta, gamma, delta, a, b] = [2, 3, 5, 7, 17, 19].map(E::Fr::from);
    let ic = [11, 0, 13].map(E::Fr::from);
    let public = [23, 29].map(E::Fr::from);
    let signals = ic[0] + ic[1] * public[0] + ic[2] * public[1];
    let inverse = Option::from(delta.invert()).unwrap_or(E::Fr::ZERO);
    let c = (a * b - alpha * beta - signals * gamma) * inverse;
    let key = VerificationKey {
        alpha1: g1::<E>(alpha),
        beta2: g2::<E>(beta),
        gamma2: g2::<E>(gamma),
        delta2: g2::<E>(delta),
        ic: ic.map(g1::<E>).to_vec(),
    };
    (key, public.to_vec(), Proof { a: g1::<E>(a), b: g2::<E>(b), c: g1::<E>(c) })
}

fn named<'a>(file: &'a str, text: &'a str) -> JsonText<'a> {
    JsonText { file, text }
}

#[track_caller]
fn expect(error: Error, parts: &[&str]) {
    let error = error.to_string();
    assert!(parts.iter().all(|part| error.contains(part)), "{error} lacks one of {parts:?}");
}

fn check_round_trip<E: Groth16Engine>() {
    let (key, public, proof) = example::<E>();
    let texts = [key.to_json(), public_to_json::<E>(&public), proof.to_json()];
    let [key_text, public_text, proof_text] = [0, 1, 2].map(|index| named([KEY, PUBLIC, PROOF][index], &texts[index]));
    assert_eq!(VerificationKey::<E>::from_json(key_text).expect("a key"), key);
    assert_eq!(public_from_json::<E>(public_text).expect("signals"), public);
    assert_eq!(Proof::<E>::from_json(proof_text).expect("a proof"), proof);
    assert_eq!(curve_from_json(key_text).expect("a curve"), Some(E::CURVE));
    assert!(verify_json(key_text, public_text, proof_text).expect("points of the subgroup"));
    let shorter = texts[2].replace(&format!(",\n \"curve\": \"{}\"", E::CURVE.json_name()), "");
    assert_ne!(shorter, texts[2]);
    assert!(verify_json(key_text, public_text, named(PROOF, &shorter)).expect("a proof without its curve"));
}

#[test]
fn texts_are_read_as_they_are_written() {
    check_round_trip::<Bn256>();
    check_round_trip::<Bls12>();
}

/// Texts have the layout of `JSON.stringify(value, null, 1)`, and infinity is (0, 1, 0).
#[test]
fn texts_have_snarkjs_layout() {
    assert_eq!(public_to_json::<Bn256>(&[33, 3].map(Into::into)), "[\n \"33\",\n \"3\"\n]");
    assert_eq!(public_to_json::<Bn256>(&[]), "[]");
    let (key, _, proof) = example::<Bn256>();
    let text = proof.to_json();
    assert!(
        text.starts_with("{\n \"pi_a\": [\n  \"")
            && text.ends_with("],\n \"protocol\": \"groth16\",\n \"curve\": \"bn128\"\n}"),
        "{text}"
    );
    let text = key.to_json();
    assert!(text.contains("  [\n   \"0\",\n   \"1\",\n   \"0\"\n  ],"), "{text}");
}

fn check_verify<E: Groth16Engine>() {
    let (key, public, proof) = example::<E>();
    assert!(verify(&key, &public, &proof).expect("good points"));
    let others = [
        Proof { a: proof.c, ..proof },
        Proof { b: key.beta2, ..proof },
        Proof { c: proof.a, ..proof },
        Proof { a: E::G1Affine::identity(), b: E::G2Affine::identity(), c: E::G1Affine::identity() },
    ];
    assert!(others.iter().all(|other| !verify(&key, &public, other).expect("good points")));
    assert!(!verify(&key, &[public[0], public[1] + E::Fr::ONE], &proof).expect("good points"));
    assert!(verify(&key, &[E::Fr::ZERO, public[1]], &proof).expect("the signal has no weight"));
    for signals in [&public[..1], &[public.clone(), public.clone()].concat(), &[]] {
        expect(verify(&key, signals, &proof).expect_err("another length"), &["length: expected 2 signals"]);
    }
    let empty = VerificationKey { ic: vec![], ..key };
    verify(&empty, &[], &proof).expect_err("a key without points");
}

#[test]
fn proofs_of_other_statements_do_not_verify() {
    check_verify::<Bn256>();
    check_verify::<Bls12>();
}

/// Returns a point of BLS12-381 that is on the curve, but not in G1.
fn outside_g1() -> blstrs::G1Affine {
    let candidates = (1..=255).filter_map(|x| {
        let mut bytes = [0; 48];
        [bytes[0], bytes[47]] = [0x80, x];
        Option::<blstrs::G1Affine>::from(blstrs::G1Affine::from_compressed_unchecked(&bytes))
    });
    candidates.into_iter().find(|point| !bool::from(point.is_torsion_free())).expect("a point outside")
}

/// Returns a point of BN254's twist that is not in G2.
fn outside_g2() -> halo2curves::bn256::G2Affine {
    use halo2curves::bn256::{Fq2, G2Affine};
    let candidates = (1..255).map(Fq2::from).filter_map(|x| {
        let y = Option::<Fq2>::from((x.square() * x + G2Affine::b()).sqrt())?;
        Option::<G2Affine>::from(G2Affine::from_xy(x, y))
    });
    candidates.into_iter().find(|point| !point.is_in_subgroup()).expect("a point outside")
}

#[test]
fn points_outside_the_subgroup() {
    let (key, public, proof) = example::<Bls12>();
    let bad = Proof { a: outside_g1(), ..proof };
    let parsed = Proof::<Bls12>::from_json(named(PROOF, &bad.to_json())).expect("a point of the curve");
    assert_eq!(parsed, bad);
    expect(verify(&key, &public, &bad).expect_err("outside"), &["proof: pi_a", "subgroup of order r"]);
    let bad = VerificationKey { ic: vec![outside_g1(); 3], ..key };
    expect(verify(&bad, &public, &proof).expect_err("outside"), &["verification key: IC", "subgroup of order r"]);
    let (key, public, proof) = example::<Bn256>();
    let bad = Proof { b: outside_g2(), ..proof }.to_json();
    let [key_text, public_text] = [key.to_json(), public_to_json::<Bn256>(&public)];
    let result = verify_json(named(KEY, &key_text), named(PUBLIC, &public_text), named("bad.json", &bad));
    expect(result.expect_err("outside"), &["bad.json: pi_b", "subgroup of order r"]);
}

/// Returns the error of a proof after the text `from` became `to`.
fn broken_proof<E: Groth16Engine>(from: &str, to: &str) -> Error {
    let text = example::<E>().2.to_json();
    assert!(text.contains(from), "{text} lacks {from}");
    Proof::<E>::from_json(named("bad.json", &text.replacen(from, to, 1))).expect_err(to)
}

fn check_bad_numbers<E: Groth16Engine>() {
    let proof = example::<E>().2;
    let x = proof.a.to_integers()[0].to_string();
    let q = num_bigint::BigUint::from_bytes_le(E::CURVE.base_prime());
    let [q_text, above] = [q.to_string(), (&q + x.parse::<num_bigint::BigUint>().expect("digits")).to_string()];
    for text in [&q_text, &above, &"9".repeat(160)] {
        expect(broken_proof::<E>(&x, text), &["bad.json: pi_a: point", "a coordinate that is not below q"]);
    }
    expect(broken_proof::<E>(&x, "5"), &["bad.json: pi_a: point", "one that is not on the curve"]);
    let y = proof.b.to_integers()[3].to_string();
    expect(broken_proof::<E>(&y, "5"), &["bad.json: pi_b: point", "one that is not on the curve"]);
    for text in ["-5", "five", "", &"9".repeat(161)] {
        expect(broken_proof::<E>(&x, text), &["bad.json: JSON: text", "decimal digits", "line 3"]);
    }
    expect(broken_proof::<E>("  \"1\"\n", "  \"2\"\n"), &["pi_a: z: expected 1, or 0 at infinity, got 2"]);
    let r = num_bigint::BigUint::from_bytes_le(E::CURVE.scalar_prime());
    let error = public_from_json::<E>(named(PUBLIC, &format!("[\"1\", \"{r}\"]"))).expect_err("r");
    expect(error, &["public.json: public signals: signal 1: expected less than r"]);
    assert_eq!(E::G1Affine::from_integers(&[]), Err(PointFault::Length));
}

#[test]
fn numbers_that_are_no_coordinates() {
    check_bad_numbers::<Bn256>();
    check_bad_numbers::<Bls12>();
}

#[test]
fn infinity_has_z_0() {
    let zero = "\"pi_c\": [\"0\", \"0\", \"1\"], \"pi_old\": [";
    expect(broken_proof::<Bn256>("\"pi_c\": [", zero), &["pi_c: point", "one with x = y = 0 and z = 1"]);
    let proof = Proof { c: PrimeCurveAffine::identity(), ..example::<Bls12>().2 };
    assert_eq!(Proof::<Bls12>::from_json(named(PROOF, &proof.to_json())).expect("a proof"), proof);
}

#[test]
fn other_protocols_and_curves() {
    expect(broken_proof::<Bn256>("groth16", "plonk"), &["bad.json: protocol", "expected groth16, got plonk"]);
    expect(broken_proof::<Bn256>("bn128", "bls12381"), &["bad.json: curve: expected the curve BN254", "got BLS12-381"]);
    expect(broken_proof::<Bn256>("bn128", "secp256k1"), &["curve is not supported", "got secp256k1"]);
    let key = example::<Bls12>().0.to_json();
    expect(
        VerificationKey::<Bn256>::from_json(named(KEY, &key)).expect_err("another curve"),
        &["curve BN254 of the key"],
    );
    let fflonk = key.replace("groth16", "fflonk");
    expect(VerificationKey::<Bls12>::from_json(named(KEY, &fflonk)).expect_err("fflonk"), &["got fflonk"]);
    let error = verify_json(named(KEY, &key), named(PUBLIC, "[]"), named(PROOF, &example::<Bn256>().2.to_json()));
    assert!(matches!(error, Err(Error::OtherCurve { .. })), "{error:?}");
    let nameless = key.replace("\"curve\"", "\"name\"");
    expect(
        verify_json(named(KEY, &nameless), named(PUBLIC, "[]"), named(PROOF, "")).expect_err("no curve"),
        &["got none"],
    );
    assert_eq!(CurveId::from_json_name("bls12-381"), Some(CurveId::Bls12_381));
}

#[test]
fn texts_of_another_shape() {
    let deep = "[".repeat(100_000);
    for text in ["", "{", "null", "[]", "{}", "{\"pi_a\": 1}", "\u{0}", &deep] {
        expect(Proof::<Bn256>::from_json(named("bad.json", text)).expect_err(text), &["bad.json: JSON: text"]);
        expect(
            VerificationKey::<Bn256>::from_json(named("bad.json", text)).expect_err(text),
            &["bad.json: JSON: text"],
        );
    }
    for text in ["", "{}", "[1, -1]", "[[1]]", &deep] {
        expect(public_from_json::<Bn256>(named("bad.json", text)).expect_err(text), &["bad.json: JSON: text"]);
    }
    let key = example::<Bn256>().0.to_json();
    for count in ["1", "3", "18446744073709551615"] {
        let text = key.replace("\"nPublic\": 2", &format!("\"nPublic\": {count}"));
        let error = VerificationKey::<Bn256>::from_json(named(KEY, &text)).expect_err(count);
        expect(error, &["IC: length: expected", "as nPublic says, got 3"]);
    }
}

/// Scalars' encodings have the bytes of integers, for both libraries.
#[test]
fn scalars_have_little_endian_encodings() {
    assert_eq!(halo2curves::bn256::Fr::from(258).to_repr().as_ref()[..3], [2, 1, 0]);
    assert_eq!(blstrs::Scalar::from(258).to_repr().as_ref()[..3], [2, 1, 0]);
}
