//! What is refused, and what that leaves.

use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::Error;
use proofwarp::expression::{Coset, Expression, Program, Term};

use crate::common::{abort_after, accelerators_and_cpu, alone};
use crate::tools::{Inputs, column};

fn program() -> Program<Fr> {
    let tree = column(4, 1) * Expression::Challenge(2) + column(1, 0) * Expression::X;
    Program::lower_sum(&[Term { challenge: 1, expression: tree }], 0)
}

#[test]
fn what_does_not_fit() {
    let whole = Inputs::<Fr>::random(5, 3, 3, 1);
    for accelerator in accelerators_and_cpu() {
        let refused = |columns: &[&[Fr]], challenges: usize, log_n: u32, lengths: &[usize], message: &str| {
            let before: Vec<Vec<Fr>> = lengths.iter().map(|length| vec![Fr::from(9); *length]).collect();
            let mut outputs = before.clone();
            let mut slices: Vec<&mut [Fr]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
            let coset = Coset { log_n, shift: Fr::ONE };
            let result =
                program().run(&accelerator, columns, &whole.challenges[..challenges], coset, &mut slices, None);
            let error = result.expect_err(message);
            assert!(matches!(error, Error::Invalid { .. }));
            assert_eq!(error.to_string(), format!("expression: {message}"));
            assert!(outputs == before, "{accelerator:?}");
        };
        let columns = whole.columns();
        refused(&columns[..4], 3, 3, &[8], "number of columns: expected at least 5, got 4");
        refused(&columns, 2, 3, &[8], "number of challenges: expected at least 3, got 2");
        refused(&columns, 3, 2, &[4], "length of column 1: expected 4, got 8");
        refused(&columns, 3, 29, &[8], "log_n of the coset: expected at most 28, got 29");
        refused(&columns, 3, 3, &[7], "length of output 0: expected 8, got 7");
        refused(&columns, 3, 3, &[], "number of outputs: expected 1, got 0");
        refused(&columns, 3, 3, &[8, 8], "number of outputs: expected 1, got 2");
        let mut short = columns.clone();
        short[4] = &short[4][..5];
        refused(&short, 3, 3, &[8], "length of column 4: expected 8, got 5");
        // Columns that are not read may be anything.
        let mut others = columns.clone();
        others[0] = &[];
        let mut output = vec![Fr::ZERO; 8];
        program()
            .run(&accelerator, &others, &whole.challenges, whole.coset, &mut [&mut output], None)
            .expect("only what is read counts");
    }
}

#[test]
fn an_abort_leaves_outputs() {
    let inputs = Inputs::<Fr>::random(5, 3, 10, 2);
    for accelerator in accelerators_and_cpu() {
        let mut aborted = 0;
        for questions in 0..6 {
            let mut output = vec![Fr::from(9); 1024];
            let hook = abort_after(questions);
            let (columns, challenges) = (inputs.columns(), &inputs.challenges);
            let result =
                program().run(&accelerator, &columns, challenges, inputs.coset, &mut [&mut output], Some(&hook));
            if let Err(error) = result {
                assert!(matches!(error, Error::Aborted), "{error}");
                assert!(output.iter().all(|value| *value == Fr::from(9)), "{accelerator:?}");
                aborted += 1;
            }
        }
        assert!(aborted > 0, "{accelerator:?}");
    }
}

#[test]
fn a_device_that_fails_leaves_outputs() {
    let inputs = Inputs::<Fr>::random(5, 3, 6, 3);
    for accelerator in alone(None) {
        accelerator.devices()[0].inject_launch_fault(0);
        let mut output = vec![Fr::from(9); 64];
        let result =
            program().run(&accelerator, &inputs.columns(), &inputs.challenges, inputs.coset, &mut [&mut output], None);
        let error = result.expect_err("made to fail").to_string();
        assert!(error.contains("expression_rows failed: failure injected"), "{error}");
        assert!(output.iter().all(|value| *value == Fr::from(9)), "{accelerator:?}");
    }
    for accelerator in alone(Some(8192)) {
        let mut output = vec![Fr::from(9); 64];
        let result =
            program().run(&accelerator, &inputs.columns(), &inputs.challenges, inputs.coset, &mut [&mut output], None);
        assert!(matches!(result, Err(Error::OutOfMemory { .. })), "{result:?}");
        assert!(output.iter().all(|value| *value == Fr::from(9)), "{accelerator:?}");
    }
}
