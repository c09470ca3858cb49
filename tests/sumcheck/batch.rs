//! Several claims in one proof.

use proofwarp::field::ghash::Ghash;
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{BatchProof, ClaimBatch, Columns, HashTranscript, SumcheckField};
use proofwarp::{Accelerator, BackendKind};

use crate::common::accelerators_and_cpu;
use crate::tools::{Case, transcript, unbound};

fn cases<F: SumcheckField>() -> Vec<Case<F>> {
    vec![
        Case::product(10, 2, 1),
        Case::terms(6, 3, 2).with_eq(3),
        Case::product(0, 3, 4),
        Case::product(10, 1, 5).with_eq(6),
        Case::product(1, 4, 7),
    ]
}

fn columns<F: SumcheckField>(cases: &[Case<F>]) -> Vec<Vec<&[F]>> {
    cases.iter().map(Case::slices).collect()
}

fn proved<F: SumcheckField>(accelerator: &Accelerator, batch: &ClaimBatch<F>, columns: &[Vec<&[F]>]) -> BatchProof<F> {
    let columns = columns.iter().map(|columns| Columns::host(columns)).collect();
    batch.prove(accelerator, columns, unbound(&mut transcript()), None).expect("a proof")
}

/// The value of a column at a point, by folding.
fn at<F: SumcheckField>(column: &[F], point: &[F]) -> F {
    point.iter().fold(column.to_vec(), |column, r| {
        let (low, high) = column.split_at(column.len() / 2);
        low.iter().zip(high).map(|(low, high)| *low + (*high - *low) * r).collect()
    })[0]
}

fn batches<F: SumcheckField>() {
    let cases = cases::<F>();
    let batch = ClaimBatch::new(cases.iter().map(|case| case.claim.clone()).collect());
    let columns = columns(&cases);
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let expected = proved(&cpu, &batch, &columns);
    let (point, finals) = batch.verify(&expected, unbound(&mut transcript())).expect("a valid proof");
    for (case, finals) in cases.iter().zip(&finals) {
        let own = &point[point.len() - case.claim.variables() as usize..];
        let values: Vec<F> = case.columns.iter().map(|column| at(column, own)).collect();
        assert_eq!(&values, finals);
    }
    for accelerator in accelerators_and_cpu() {
        assert!(proved(&accelerator, &batch, &columns) == expected, "{accelerator:?}");
    }
    corrupted(&batch, &expected);
}

fn corrupted<F: SumcheckField>(batch: &ClaimBatch<F>, proof: &BatchProof<F>) {
    let refused = |proof: &BatchProof<F>, what: &str| {
        assert!(batch.verify(proof, unbound(&mut transcript())).is_err(), "{what}");
    };
    for (claim, finals) in proof.finals.iter().enumerate() {
        for number in 0..finals.len().min(3) {
            let mut changed = proof.clone();
            changed.finals[claim][number] += F::ONE;
            // Terms have columns 0 to 2, if they have so many.
            refused(&changed, &format!("final {number} of claim {claim}"));
        }
    }
    let mut changed = proof.clone();
    changed.messages.swap(3, 4);
    refused(&changed, "messages");
    let mut changed = proof.clone();
    changed.finals.pop();
    refused(&changed, "fewer finals");
    let mut others = batch.claims().to_vec();
    others.swap(0, 3);
    assert!(ClaimBatch::new(others).verify(proof, unbound(&mut transcript())).is_err());
    assert!(batch.verify(proof, unbound(&mut HashTranscript::new(b"another"))).is_err());
}

#[test]
fn claims_of_different_sizes() {
    batches::<Tower>();
    batches::<Ghash>();
    batches::<halo2curves::bn256::Fr>();
    #[cfg(feature = "plonky3")]
    batches::<proofwarp::field::plonky3::BabyBear4>();
}

#[test]
fn what_does_not_fit() {
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
    let error =
        ClaimBatch::<Ghash>::new(vec![]).prove(&cpu, vec![], unbound(&mut transcript()), None).expect_err("empty");
    assert_eq!(error.to_string(), "sumcheck: number of claims: expected 1 to 16777215, got 0");
    let case = Case::<Ghash>::product(2, 2, 1);
    let error = ClaimBatch::new(vec![case.claim.clone()]).prove(&cpu, vec![], unbound(&mut transcript()), None);
    let error = error.expect_err("no columns").to_string();
    assert_eq!(error, "sumcheck: columns of claims: expected 1, got 0");
}
