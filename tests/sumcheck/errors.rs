//! What is refused, and calls out of order.

use ff::Field;
use proofwarp::field::ghash::Ghash;
use proofwarp::sumcheck::{Claim, Columns, KernelPath, ProductTerm, Prover, SumcheckOptions, prove, prove_with};
use proofwarp::{Accelerator, BackendKind, Error};

use crate::common::{accelerators_and_cpu, accelerators_with_devices};
use crate::tools::{Case, transcript, unbound};

#[track_caller]
fn refused(accelerator: &Accelerator, claim: &Claim<Ghash>, columns: &[&[Ghash]], message: &str) {
    let error = prove(accelerator, claim, Columns::host(columns), unbound(&mut transcript()), None).expect_err(message);
    assert!(matches!(error, Error::Invalid { .. }));
    assert_eq!(error.to_string(), format!("sumcheck: {message}"));
    let error = Prover::new(accelerator, claim, Columns::host(columns)).map(|_| ()).expect_err(message);
    assert_eq!(error.to_string(), format!("sumcheck: {message}"));
}

#[test]
fn what_does_not_fit() {
    let rows = [Ghash::ONE; 8];
    let (a, short) = (&rows[..], &rows[..7]);
    for accelerator in accelerators_and_cpu() {
        let refused = |claim: Claim<Ghash>, columns: &[&[Ghash]], message: &str| {
            refused(&accelerator, &claim, columns, message);
        };
        refused(Claim::product(3, &[0, 1]), &[a, short], "length of column 1: expected 8, got 7");
        refused(Claim::product(2, &[0]), &[a], "length of column 0: expected 4, got 8");
        refused(Claim::product(3, &[0, 2]), &[a, a], "number of columns: expected 3, got 2");
        refused(Claim::product(33, &[0]), &[a], "variables: expected at most 32, got 33");
        refused(Claim::product(3, &[]), &[a], "degree of term 0: expected 1 to 6, got 0");
        refused(Claim::product(3, &[0; 7]), &[a], "degree of term 0: expected 1 to 6, got 7");
        refused(Claim::sum_of_products(3, vec![]), &[a], "number of terms: expected at least 1, got 0");
        let term = |columns: usize| ProductTerm { coefficient: Ghash::ONE, columns: vec![0; columns] };
        refused(Claim::sum_of_products(3, vec![term(2), term(0)]), &[a], "degree of term 1: expected 1 to 6, got 0");
        let point = vec![Ghash::ONE; 2];
        refused(Claim::product(3, &[0]).with_eq(point), &[a], "coordinates of eq's point: expected 3, got 2");
    }
}

#[test]
fn vectors_of_other_lengths() {
    let case = Case::<Ghash>::product(3, 2, 1);
    for accelerator in accelerators_with_devices() {
        let vector = case.upload(&accelerator);
        for (claim, message) in [
            (Claim::product(5, &[0]), "length of the vector of columns: expected a multiple of 32, got 16"),
            (Claim::product(3, &[2]), "number of columns: expected 3, got 2"),
        ] {
            let error = prove(&accelerator, &claim, Columns::device(&vector), unbound(&mut transcript()), None);
            assert_eq!(error.expect_err(message).to_string(), format!("sumcheck: {message}"));
        }
    }
}

#[test]
fn a_wrong_sum_is_not_proved() {
    let case = Case::<Ghash>::product(10, 2, 2);
    let claim = case.claim.clone().with_sum(Ghash(77));
    for accelerator in accelerators_and_cpu() {
        let error = prove(&accelerator, &claim, Columns::host(&case.slices()), unbound(&mut transcript()), None);
        let error = error.expect_err("another sum").to_string();
        assert_eq!(error, "sumcheck: sum of the claim: expected that of the columns, got another");
    }
}

#[test]
fn calls_out_of_order() {
    let case = Case::<Ghash>::product(2, 2, 3);
    let new = |accelerator| {
        let options = SumcheckOptions { tail: Some(0), ..SumcheckOptions::default() };
        Prover::with_options(accelerator, &case.claim, Columns::host(&case.slices()), &options).expect("memory")
    };
    for accelerator in &accelerators_and_cpu() {
        let mut prover = new(accelerator);
        let text = |result: proofwarp::Result<()>| result.expect_err("out of order").to_string();
        let error = text(prover.fold(Ghash::ONE));
        assert_eq!(error, "sumcheck: fold: expected a message before it, got none in round 0");
        let message = prover.message().expect("a message");
        let error = text(prover.message().map(|_| ()));
        assert_eq!(error, "sumcheck: message: expected a challenge, got none for the message of round 0");
        prover.fold(Ghash(5)).expect("in order");
        text(prover.fold(Ghash(5)));
        // Nothing has changed by that.
        let second = prover.message().expect("a message");
        prover.fold(Ghash(6)).expect("in order");
        assert_eq!(prover.message().expect("none"), None);
        let finals = prover.finish().expect("finals");
        let mut other = new(accelerator);
        assert_eq!(other.message().expect("a message"), message);
        other.fold(Ghash(5)).expect("in order");
        let error = text(new(accelerator).finish().map(|_| ()));
        assert_eq!(error, "sumcheck: finish: expected all rounds before it, got 0 of 2 rounds");
        assert_eq!(other.message().expect("a message"), second);
        other.fold(Ghash(6)).expect("in order");
        assert_eq!(other.finish().expect("finals"), finals);
    }
}

#[test]
fn paths_that_are_not_there() {
    let case = Case::<blstrs::Scalar>::product(3, 2, 4);
    let options = SumcheckOptions { path: Some(KernelPath::Clmad), tail: Some(0), rounds_a_pass: None };
    for accelerator in accelerators_and_cpu() {
        let columns = Columns::host(&case.slices());
        let error = prove_with(&accelerator, &case.claim, columns, unbound(&mut transcript()), &options, None);
        let error = error.expect_err("no such path").to_string();
        assert_eq!(error, "sumcheck: path: expected portable for a prime field, got clmad");
    }
}

#[test]
fn rounds_a_pass_that_are_not_there() {
    let refused = |case: &Case<blstrs::Scalar>, options: SumcheckOptions| {
        let columns = Columns::host(&case.slices());
        let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("always there");
        let error = prove_with(&cpu, &case.claim, columns, unbound(&mut transcript()), &options, None);
        error.expect_err("no such pass").to_string()
    };
    let rounds = |rounds| SumcheckOptions { rounds_a_pass: Some(rounds), ..SumcheckOptions::default() };
    let error = refused(&Case::product(3, 2, 4), rounds(3));
    assert_eq!(error, "sumcheck: rounds a pass: expected 1 or 2, got 3");
    let error = refused(&Case::product(3, 2, 4), rounds(2));
    let expected = "1 where the claim is not on the product of two to four columns of a binary field, without eq";
    assert_eq!(error, format!("sumcheck: rounds a pass: expected {expected}, got 2"));
}
