//! What a prover that lies may try.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{
    BatchProof, BoundTranscript, Claim, ClaimBatch, ColumnOwnership, Columns, HashTranscript, MAX_COLUMNS, ProductTerm,
    Proof, RoundPolynomial, SumcheckField, prove, unbitslice_column, verify,
};
use proofwarp::{Accelerator, BackendKind};
use sha2::{Digest, Sha256};

use crate::common::rng;
use crate::tools::{Case, Lying, Recorder, transcript, unbound};

fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("always there")
}

fn root<F: SumcheckField>(columns: &[Vec<F>]) -> [u8; 32] {
    let mut bytes = Vec::new();
    columns.iter().flatten().for_each(|element| element.write(&mut bytes));
    Sha256::digest(&bytes).into()
}

/// The point of random messages that are bound to a commitment, and what is claimed there.
fn random_messages<F: SumcheckField>(claim: &Claim<F>, commitment: Option<&[u8]>) -> (Vec<RoundPolynomial<F>>, F) {
    let mut rng = rng(1);
    let message = |_| RoundPolynomial::new(vec![F::random(&mut rng), F::random(&mut rng)]);
    let messages: Vec<_> = (0..claim.variables()).map(message).collect();
    let mut recorder = Recorder::new(b"tests", true);
    let bound = match commitment {
        Some(commitment) => BoundTranscript::bind_commitment(&mut recorder, commitment).expect("bytes"),
        None => unbound(&mut recorder),
    };
    let guess = Proof { messages: messages.clone(), finals: vec![F::ONE; 2] };
    assert!(verify(claim, &guess, bound).is_err());
    let challenges = messages.iter().zip(&recorder.challenges);
    let last =
        challenges.fold(claim.claimed(), |claimed, (message, challenge)| message.next_claim(claimed, *challenge));
    (messages, last)
}

/// Columns that are chosen after the challenges: ones, and what is claimed at the end. That is why a transcript is bound.
fn columns_after_challenges<F: SumcheckField>() {
    let claim = Claim::product(4, &[0, 1]).with_sum(F::random(&mut rng(2)));
    let later = |last: F| vec![vec![F::ONE; 16], vec![last; 16]];
    let (messages, last) = random_messages(&claim, None);
    let proof = Proof { messages, finals: vec![F::ONE, last] };
    verify(&claim, &proof, unbound(&mut transcript())).expect("an unbound transcript proves nothing");
    // A proof for an unbound transcript is none for a commitment, to whatever.
    let verify_for = |commitment: &[u8], proof: &Proof<F>| {
        verify(&claim, proof, BoundTranscript::bind_commitment(&mut transcript(), commitment).expect("bytes"))
    };
    assert!(verify_for(&root(&later(last)), &proof).is_err());
    // Whatever was committed to first, columns that come later have another root, and that has other challenges.
    let first = root(&later(F::ONE));
    let (messages, last) = random_messages(&claim, Some(&first));
    let proof = Proof { messages, finals: vec![F::ONE, last] };
    verify_for(&first, &proof).expect("the columns are not opened yet");
    assert_ne!(root(&later(last)), first);
    assert!(verify_for(&root(&later(last)), &proof).is_err());
}

#[test]
fn columns_that_are_chosen_after_the_challenges() {
    columns_after_challenges::<Ghash>();
    columns_after_challenges::<Tower>();
    columns_after_challenges::<blstrs::Scalar>();
    #[cfg(feature = "plonky3")]
    columns_after_challenges::<proofwarp::field::plonky3::BabyBear4>();
}

#[test]
fn bindings_are_told_apart() {
    let next = |bind: &dyn Fn(&mut HashTranscript) -> proofwarp::Result<()>| {
        let mut transcript = transcript();
        bind(&mut transcript).expect("bound");
        proofwarp::sumcheck::Transcript::<Ghash>::challenge(&mut transcript, "next")
    };
    let bytes = |bytes: &'static [u8]| {
        next(&move |transcript| BoundTranscript::<Ghash, _>::bind_commitment(transcript, bytes).map(|_| ()))
    };
    let elements = |elements: &'static [u128]| {
        let elements: Vec<Ghash> = elements.iter().copied().map(Ghash).collect();
        next(&move |transcript| BoundTranscript::bind_commitment_elements(transcript, &elements).map(|_| ()))
    };
    let none = next(&|transcript| {
        let _ = unbound::<Ghash, _>(transcript);
        Ok(())
    });
    let all = [
        none,
        bytes(&[0]),
        bytes(&[0, 0]),
        bytes(&[1]),
        bytes(&[0, 0, 0, 0]),
        elements(&[0]),
        elements(&[1]),
        elements(&[1, 0]),
        elements(&[0, 0]),
    ];
    for (number, challenge) in all.iter().enumerate() {
        assert!(!all[..number].contains(challenge), "binding {number} is one before it");
    }
    for error in [
        BoundTranscript::<Ghash, _>::bind_commitment(&mut transcript(), &[]).map(|_| ()),
        BoundTranscript::<Ghash, _>::bind_commitment_elements(&mut transcript(), &[]).map(|_| ()),
        BoundTranscript::<Ghash, _>::bind_commitment(&mut transcript(), &vec![0; 1 << 24]).map(|_| ()),
    ] {
        assert!(error.expect_err("binds nothing").to_string().contains("of the commitment: expected 1 to 16777215"));
    }
}

/// More finals than columns, where nothing says what they are.
fn more_finals<F: SumcheckField>() {
    let case = Case::<F>::product(3, 3, 2);
    let proof = case.prove(&cpu(), Lying::Host, &proofwarp::sumcheck::SumcheckOptions::default());
    let mut longer = proof.clone();
    longer.finals.push(F::ONE);
    let error = verify(&case.claim, &longer, unbound(&mut transcript())).expect_err("one too many").to_string();
    assert_eq!(error, "sumcheck: finals of the proof: expected 3, got 4");
    let batch = ClaimBatch::new(vec![case.claim.clone(), case.claim.clone()]);
    let columns = || vec![Columns::host(&case.slices()), Columns::host(&case.slices())];
    let proof = batch.prove(&cpu(), columns(), unbound(&mut transcript()), None).expect("a proof");
    batch.verify(&proof, unbound(&mut transcript())).expect("valid");
    let mut longer = proof.clone();
    longer.finals[1].push(F::ONE);
    let error = batch.verify(&longer, unbound(&mut transcript())).expect_err("one too many").to_string();
    assert_eq!(error, "sumcheck: finals of claim 1: expected 3, got 4");
    // Two false claims, whose sum holds.
    let sum = case.claim.claimed();
    let wrong = ClaimBatch::new([sum + F::ONE, sum - F::ONE].map(|sum| case.claim.clone().with_sum(sum)).to_vec());
    assert!(wrong.verify(&proof, unbound(&mut transcript())).is_err(), "false claims that cancel");
    let error = wrong.prove(&cpu(), columns(), unbound(&mut transcript()), None).expect_err("false claims");
    assert_eq!(error.to_string(), "sumcheck: sum of the claim: expected that of the columns, got another");
}

#[test]
fn more_finals_and_claims_that_cancel() {
    more_finals::<Ghash>();
    more_finals::<Tower>();
    more_finals::<proofwarp::curve::bls12_377::Fr>();
    more_finals::<blstrs::Scalar>();
    more_finals::<halo2curves::bn256::Fr>();
    more_finals::<pasta_curves::Fp>();
    more_finals::<pasta_curves::Fq>();
}

/// What a transcript takes in that has neither labels nor lengths.
fn elements_of<F: SumcheckField>(claim: &Claim<F>) -> Vec<F> {
    let mut recorder = Recorder::new(b"", true);
    claim.observe(&mut recorder);
    recorder.observed.into_iter().flat_map(|(_, elements)| elements).collect()
}

/// Claims that look alike, the pairs among them that once were told apart by nothing.
fn alike<F: SumcheckField>() -> Vec<Claim<F>> {
    let f = F::from_number;
    let term =
        |coefficient: u64, columns: &[usize]| ProductTerm { coefficient: f(coefficient), columns: columns.to_vec() };
    let of = |terms: &[ProductTerm<F>]| Claim::sum_of_products(2, terms.to_vec());
    let two = of(&[term(2, &[0, 1]), term(4, &[3])]);
    let mut all = vec![
        two.clone(),
        of(&[term(1, &[0]), term(4, &[2, 3])]),
        of(&[term(3, &[0, 1]), term(5, &[2, 3, 4])]),
        of(&[term(2, &[0, 1, 3]), term(5, &[3, 4])]),
        of(&[term(2, &[1, 0]), term(4, &[3])]),
        of(&[term(4, &[3]), term(2, &[0, 1])]),
        of(&[term(2, &[0, 1])]),
        of(&[term(2, &[0, 1]), term(4, &[3]), term(0, &[0])]),
        two.clone().with_columns(5),
        two.clone().with_columns(6),
        two.clone().with_sum(f(1)),
        Claim::sum_of_products(3, two.terms().to_vec()),
    ];
    let points = [vec![f(0), f(0)], vec![f(0), f(1)], vec![f(1), f(0)]];
    all.extend(points.map(|point| two.clone().with_eq(point)));
    all
}

fn told_apart<F: SumcheckField>() {
    let all: Vec<Vec<F>> = alike::<F>().iter().map(elements_of).collect();
    for (number, one) in all.iter().enumerate() {
        for (other, another) in all.iter().enumerate() {
            assert!(number == other || !another.starts_with(one), "claim {other} begins like claim {number}");
        }
    }
}

#[test]
fn claims_are_told_apart_by_elements_alone() {
    told_apart::<Ghash>();
    told_apart::<blstrs::Scalar>();
    #[cfg(feature = "plonky3")]
    told_apart::<proofwarp::field::plonky3::BabyBear4>();
}

#[cfg(feature = "plonky3")]
#[test]
fn plonky3_challengers_tell_claims_apart() {
    use p3_baby_bear::{BabyBear, default_babybear_poseidon2_16};
    use p3_challenger::DuplexChallenger;
    use proofwarp::field::plonky3::BabyBear4;
    use proofwarp::sumcheck::{Challenger, Transcript};

    let after = |claim: &Claim<BabyBear4>| {
        let mut theirs: DuplexChallenger<BabyBear, _, 16, 8> = DuplexChallenger::new(default_babybear_poseidon2_16());
        let mut transcript = Challenger(&mut theirs);
        claim.observe(&mut transcript);
        transcript.challenge("after")
    };
    let all: Vec<BabyBear4> = alike().iter().map(after).collect();
    for (number, challenge) in all.iter().enumerate() {
        assert!(!all[..number].contains(challenge), "claim {number} has the challenge of one before it");
    }
}

type Call<'a> = Box<dyn Fn() -> proofwarp::Result<()> + 'a>;

/// Sizes that no memory has: errors, at once.
#[test]
fn hostile_sizes() {
    let proof = Proof { messages: vec![RoundPolynomial::new(vec![Ghash(1), Ghash(2)]); 2], finals: vec![Ghash(1); 2] };
    let product = |columns: &[usize]| Claim::<Ghash>::product(2, columns);
    let wide = |columns: usize| product(&[0, 1]).with_columns(columns);
    let verified = |claim: &Claim<Ghash>| verify(claim, &proof, unbound(&mut transcript())).map(|_| ());
    let read = |claim: &Claim<Ghash>, bytes: usize| Proof::from_bytes(claim, &vec![0; bytes]).map(|_| ());
    let batch = |claim: Claim<Ghash>| {
        let batch = ClaimBatch::new(vec![claim; 3]);
        BatchProof::from_bytes(&batch, &[0; 64])
            .and_then(|proof| batch.verify(&proof, unbound(&mut transcript())))
            .map(|_| ())
    };
    let columns = format!("expected at most {MAX_COLUMNS}");
    let cases: Vec<(&str, &str, Call<'_>)> = vec![
        ("verify, column usize::MAX", &columns, Box::new(|| verified(&product(&[usize::MAX, 0])))),
        ("verify, column 2^24 - 1", &columns, Box::new(|| verified(&product(&[MAX_COLUMNS, 0])))),
        ("verify, usize::MAX columns", &columns, Box::new(|| verified(&wide(usize::MAX)))),
        ("verify, fewer columns", "at least 2, which terms have, got 1", Box::new(|| verified(&wide(1)))),
        ("verify, more columns", "expected 16777215, got 2", Box::new(|| verified(&wide(MAX_COLUMNS)))),
        ("from_bytes, 2^60 columns", &columns, Box::new(|| read(&wide(1 << 60), 64))),
        ("from_bytes, usize::MAX columns", &columns, Box::new(|| read(&wide(usize::MAX), 48))),
        ("from_bytes, 2^24 - 1 columns", "bytes of the proof", Box::new(|| read(&wide(MAX_COLUMNS), 64))),
        ("batch, 2^60 columns", &columns, Box::new(|| batch(wide(1 << 60)))),
        ("batch, 2^24 - 1 columns", "bytes of the proof", Box::new(|| batch(wide(MAX_COLUMNS)))),
        ("unsliced, 2^62 rows", "words of a column", Box::new(|| unbitslice_column(&[], 1 << 62).map(|_| ()))),
        (
            "unsliced, usize::MAX rows",
            "words of a column",
            Box::new(|| unbitslice_column(&[0; 4096], usize::MAX).map(|_| ())),
        ),
        (
            "prove, 33 variables",
            "at most 32",
            Box::new(|| {
                let claim = Claim::<Ghash>::product(33, &[0]);
                prove(&cpu(), &claim, Columns::host(&[&[Ghash(1)]]), unbound(&mut transcript()), None).map(|_| ())
            }),
        ),
        (
            "memory, u32::MAX variables",
            "at most 32",
            Box::new(|| Claim::<Ghash>::product(u32::MAX, &[0]).device_bytes(ColumnOwnership::Host, 1).map(|_| ())),
        ),
        (
            "memory, column 2^60",
            &columns,
            Box::new(|| product(&[1 << 60]).device_bytes(ColumnOwnership::Host, 1).map(|_| ())),
        ),
    ];
    for (name, expected, run) in cases {
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| panic!("{name} panics"));
        let error = result.expect_err(name).to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    // As much as there can be: a number, however large.
    let most = Claim::<blstrs::Scalar>::product(32, &[0]).with_columns(MAX_COLUMNS);
    let bytes = most.device_bytes(ColumnOwnership::HostBase, u32::MAX).expect("a number");
    assert!(bytes > (MAX_COLUMNS as u64) << 37, "{bytes}");
}

/// Nothing that is not a proof is one.
fn random_proofs<F: SumcheckField>() {
    let mut rng = rng(5);
    for trial in 0..500 {
        let n = 1 + trial % 4;
        let claim = Claim::product(n, &[0, 1]).with_eq(vec![F::from_number(u64::from(trial % 2)); n as usize]);
        let claim = claim.with_sum(F::random(&mut rng));
        let mut elements = |count| (0..count).map(|_| F::random(&mut rng)).collect::<Vec<_>>();
        let messages = (0..n).map(|_| RoundPolynomial::new(elements(3))).collect();
        let proof = Proof { messages, finals: elements(2) };
        assert!(verify(&claim, &proof, unbound(&mut transcript())).is_err(), "{trial}");
    }
}

#[test]
fn random_proofs_are_none() {
    random_proofs::<Ghash>();
    random_proofs::<halo2curves::bn256::Fr>();
}
