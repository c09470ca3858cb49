//! Challenges and bytes of proofs, against `tests/vectors/sumcheck_transcript.py`, which has them by the page's description alone.

use proofwarp::field::ghash::Ghash;
use proofwarp::sumcheck::{
    BatchProof, BoundTranscript, Claim, ClaimBatch, Columns, HashTranscript, ProductTerm, Proof, SumcheckField,
    Transcript, prove, verify,
};
use proofwarp::{Accelerator, BackendKind};
use serde_json::Value;

use crate::tools::{Case, Recorder, unbound};

/// Claims of the vectors. All their elements are challenges of a transcript that has seen nothing.
struct Vectors<F> {
    plain: Case<F>,
    with_eq: Case<F>,
    product: Case<F>,
}

impl<F: SumcheckField> Vectors<F> {
    fn new() -> Self {
        let mut source = HashTranscript::new(b"vector");
        let mut elements = |count: usize| -> Vec<F> { (0..count).map(|_| source.challenge("element")).collect() };
        let first = ProductTerm { coefficient: elements(1)[0], columns: vec![0, 1, 1] };
        let terms = vec![first, ProductTerm { coefficient: F::ONE, columns: vec![2] }];
        let columns: Vec<Vec<F>> = (0..4).map(|_| elements(8)).collect();
        let point = elements(3);
        let small = (0..2).map(|_| elements(4)).collect();
        let claim = Claim::sum_of_products(3, terms);
        Self {
            plain: Case::new(claim.clone(), columns.clone()),
            with_eq: Case::new(claim.with_eq(point), columns),
            product: Case::new(Claim::product(2, &[0, 1]), small),
        }
    }

    fn batch(&self) -> [&Case<F>; 3] {
        [&self.plain, &self.product, &self.with_eq]
    }
}

fn cpu() -> Accelerator {
    Accelerator::with_backend(BackendKind::Cpu).expect("always there")
}

fn bound<F: SumcheckField>(transcript: &mut Recorder<F>) -> BoundTranscript<'_, F, Recorder<F>> {
    BoundTranscript::bind_commitment(transcript, b"root").expect("bytes")
}

/// Proves and verifies; the bytes of the proof, and the challenges, which are the same for both.
fn single<F: SumcheckField>(case: &Case<F>) -> (Vec<u8>, Vec<F>) {
    let (mut proving, mut verifying) = (Recorder::new(b"test", true), Recorder::new(b"test", true));
    let columns = Columns::host(&case.slices());
    let (proof, _) = prove(&cpu(), &case.claim, columns, bound(&mut proving), None).expect("a proof");
    let bytes = proof.to_bytes();
    let read = Proof::from_bytes(&case.claim, &bytes).expect("its bytes");
    let (point, _) = verify(&case.claim, &read, bound(&mut verifying)).expect("valid");
    assert_eq!(point, verifying.challenges);
    (bytes, with_one_more(proving, verifying))
}

fn batched<F: SumcheckField>(cases: [&Case<F>; 3]) -> (Vec<u8>, Vec<F>) {
    let (mut proving, mut verifying) = (Recorder::new(b"test", true), Recorder::new(b"test", true));
    let batch = ClaimBatch::new(cases.map(|case| case.claim.clone()).to_vec());
    let slices = cases.map(Case::slices);
    let columns = slices.iter().map(|slices| Columns::host(slices)).collect();
    let bytes = batch.prove(&cpu(), columns, bound(&mut proving), None).expect("a proof").to_bytes();
    let read = BatchProof::from_bytes(&batch, &bytes).expect("its bytes");
    batch.verify(&read, bound(&mut verifying)).expect("valid");
    (bytes, with_one_more(proving, verifying))
}

/// Challenges of both, and one more that follows from the finals.
fn with_one_more<F: SumcheckField>(mut proving: Recorder<F>, mut verifying: Recorder<F>) -> Vec<F> {
    assert_eq!(proving.observed, verifying.observed);
    let after: F = proving.challenge("after");
    assert_eq!(after, verifying.challenge("after"));
    assert_eq!(proving.challenges, verifying.challenges);
    proving.challenges
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn agrees<F: SumcheckField>() {
    let vectors = Vectors::<F>::new();
    let found =
        [("plain", single(&vectors.plain)), ("eq", single(&vectors.with_eq)), ("batch", batched(vectors.batch()))];
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../vectors/sumcheck_transcript.json")).expect("a list of vectors");
    for (case, (proof, challenges)) in found {
        let expected = all.iter().find(|vector| vector["field"] == F::NAME && vector["case"] == case);
        let expected = expected.unwrap_or_else(|| panic!("no vector of {} {case}", F::NAME));
        let encoded = |challenge: &F| {
            let mut bytes = Vec::new();
            challenge.write(&mut bytes);
            Value::from(hex(&bytes))
        };
        let challenges: Vec<Value> = challenges.iter().map(encoded).collect();
        assert_eq!(expected["challenges"], Value::from(challenges), "challenges of {} {case}", F::NAME);
        assert_eq!(expected["proof"], hex(&proof), "proof of {} {case}", F::NAME);
    }
}

#[test]
fn proofs_are_those_of_the_description() {
    agrees::<proofwarp::field::tower::Tower>();
    agrees::<Ghash>();
    agrees::<proofwarp::curve::bls12_377::Fr>();
    agrees::<blstrs::Scalar>();
    agrees::<halo2curves::bn256::Fr>();
    agrees::<pasta_curves::Fp>();
    agrees::<pasta_curves::Fq>();
    #[cfg(feature = "plonky3")]
    {
        agrees::<proofwarp::field::plonky3::Goldilocks2>();
        agrees::<proofwarp::field::plonky3::BabyBear4>();
        agrees::<proofwarp::field::plonky3::KoalaBear4>();
    }
}

/// What a transcript is told, frame by frame, whichever it is.
#[test]
fn all_that_is_said() {
    type F = Ghash;
    let case = Vectors::<F>::new().with_eq;
    let mut transcript = Recorder::new(b"test", true);
    let proved = prove(&cpu(), &case.claim, Columns::host(&case.slices()), bound(&mut transcript), None);
    let (proof, _) = proved.expect("a proof");
    let numbers = |numbers: &[u128]| numbers.iter().copied().map(Ghash).collect::<Vec<_>>();
    let framed = |tag: u128, elements: &[F]| [&numbers(&[tag, elements.len() as u128])[..], elements].concat();
    let term =
        |term: &ProductTerm<F>, columns: &[u128]| framed(5, &[&[term.coefficient][..], &numbers(columns)].concat());
    let (claim, terms) = (&case.claim, case.claim.terms());
    let said = [
        ("commitment", framed(1, &numbers(&[4, 0x6f_6f72, 0x74]))),
        ("claim", framed(4, &numbers(&[3, 4, 2, 4, 1]))),
        ("term", term(&terms[0], &[0, 1, 1])),
        ("term", term(&terms[1], &[2])),
        ("eq", framed(6, claim.eq().expect("a point"))),
        ("sum", framed(7, &[claim.claimed()])),
        ("message", framed(8, proof.messages[0].coefficients())),
        ("message", framed(8, proof.messages[1].coefficients())),
        ("message", framed(8, proof.messages[2].coefficients())),
        ("finals", framed(9, &proof.finals)),
    ];
    assert_eq!(transcript.observed, said.map(|(label, elements)| (label.to_owned(), elements)));
    assert_eq!(transcript.challenges.len(), 3);
    let mut transcript = Recorder::new(b"test", true);
    drop(prove(&cpu(), &case.claim, Columns::host(&case.slices()), unbound(&mut transcript), None).expect("a proof"));
    assert_eq!(transcript.observed[0], ("unbound".to_owned(), framed(0, &[])));
}
