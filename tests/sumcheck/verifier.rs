//! What the verifier refuses.

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{Claim, HashTranscript, Proof, RoundPolynomial, SumcheckField, SumcheckOptions, verify};
use proofwarp::{Accelerator, BackendKind};

use crate::tools::{Case, Lying, transcript, unbound};

fn proved<F: SumcheckField>(case: &Case<F>) -> Proof<F> {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    case.prove(&cpu, Lying::Host, &SumcheckOptions::default())
}

#[track_caller]
fn refused<F: SumcheckField>(claim: &Claim<F>, proof: &Proof<F>, message: &str) {
    let error = verify(claim, proof, unbound(&mut transcript())).expect_err(message).to_string();
    assert!(error.starts_with("sumcheck: ") && error.contains(message), "{error}");
}

/// What the last check says.
const WRONG: &str = "expected finals that the messages lead to";

fn corruptions<F: SumcheckField>() {
    for case in [Case::<F>::product(5, 3, 1), Case::<F>::terms(4, 2, 2).with_eq(3)] {
        let (claim, proof) = (&case.claim, proved(&case));
        verify(claim, &proof, unbound(&mut transcript())).expect("as it is");
        flipped_bits(claim, &proof, case.columns.len());
        refused(&claim.clone().with_sum(claim.claimed() + F::ONE), &proof, WRONG);
        let of = |change: fn(&mut Proof<F>)| {
            let mut changed = proof.clone();
            change(&mut changed);
            changed
        };
        refused(claim, &of(|proof| proof.finals[1] += F::ONE), WRONG);
        refused(claim, &of(|proof| proof.messages.swap(0, 1)), WRONG);
        refused(claim, &of(|proof| drop(proof.messages.pop())), "messages of the proof");
        refused(claim, &of(|proof| proof.messages.push(proof.messages[0].clone())), "messages of the proof");
        refused(claim, &of(|proof| proof.finals.truncate(1)), "finals of the proof: expected ");
        refused(
            claim,
            &of(|proof| proof.messages[2] = RoundPolynomial::new(vec![F::ONE])),
            "coefficients of message 2",
        );
        let empty = HashTranscript::new(b"another protocol");
        assert!(verify(claim, &proof, unbound(&mut empty.clone())).is_err(), "another transcript");
    }
}

/// One in any message or final: no element any more, or no proof.
fn flipped_bits<F: SumcheckField>(claim: &Claim<F>, proof: &Proof<F>, columns: usize) {
    let bytes = proof.to_bytes();
    // Terms have the first two columns; what no term has is up to the caller to compare with the column.
    let counted = bytes.len() - F::BYTES * (columns - 2);
    for bit in (0..8 * counted).step_by(13) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(proof) = Proof::from_bytes(claim, &flipped) {
            let mut transcript = transcript();
            assert!(verify(claim, &proof, unbound(&mut transcript)).is_err(), "bit {bit} of {claim:?}");
        }
    }
    for bytes in [&bytes[1..], &[&bytes[..], &[0]].concat()] {
        let error = Proof::from_bytes(claim, bytes).expect_err("of another length").to_string();
        assert!(error.contains("bytes of the proof"), "{error}");
    }
}

#[test]
fn corrupted_proofs() {
    corruptions::<Tower>();
    corruptions::<Ghash>();
    corruptions::<blstrs::Scalar>();
    corruptions::<halo2curves::bn256::Fr>();
    corruptions::<pasta_curves::Fp>();
    corruptions::<pasta_curves::Fq>();
    #[cfg(feature = "plonky3")]
    {
        corruptions::<proofwarp::field::plonky3::Goldilocks2>();
        corruptions::<proofwarp::field::plonky3::BabyBear4>();
    }
}

#[test]
fn proofs_of_other_claims() {
    let case = Case::<Ghash>::product(4, 2, 5);
    let proof = proved(&case);
    // The same polynomial, written otherwise.
    refused(&Claim::product(4, &[1, 0]).with_sum(case.claim.claimed()), &proof, WRONG);
    refused(&Claim::product(4, &[0, 2]).with_sum(case.claim.claimed()), &proof, "finals of the proof");
    refused(&Claim::product(3, &[0, 1]).with_sum(case.claim.claimed()), &proof, "messages of the proof");
    let eq = case.clone().with_eq(1);
    refused(&eq.claim, &proof, "coefficients of message 0");
    let (proof, mut point) = (proved(&eq), eq.claim.eq().expect("a point").to_vec());
    point.swap(0, 1);
    refused(&Claim::product(4, &[0, 1]).with_eq(point).with_sum(eq.claim.claimed()), &proof, WRONG);
}

#[test]
fn elements_above_the_modulus() {
    let case = Case::<blstrs::Scalar>::product(3, 2, 6);
    let mut bytes = proved(&case).to_bytes();
    bytes[2 * 32..3 * 32].fill(0xff);
    let error = Proof::from_bytes(&case.claim, &bytes).expect_err("no element").to_string();
    assert_eq!(error, "sumcheck: element 2 of the proof: expected below p, got another");
}
