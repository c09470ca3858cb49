//! Programs on what lies on a device.

use ff::Field;
use halo2curves::bn256::Fr;
use proofwarp::backend::Stream;
use proofwarp::expression::{DeviceColumn, Expression, Program, Term};
use proofwarp::field::{DeviceVector, NttField};

use crate::common::{self, accelerators_with_devices};
use crate::tools::{Inputs, column};

fn terms<F: NttField>() -> Vec<Term<F>> {
    let trees = [
        column(0, 1) * column(1, -1) - column(2, 0),
        column(3, 0) * (column(4, 2) + Expression::X),
        column(3, 0) * (column(5, 0) - Expression::Challenge(0)),
        column(1, 0) * column(2, 0) * column(5, -2),
    ];
    trees.into_iter().enumerate().map(|(challenge, expression)| Term { challenge, expression }).collect()
}

fn download<F: NttField>(stream: &mut Stream, vector: &DeviceVector<F>) -> Vec<F> {
    let mut values = vec![F::ZERO; vector.len()];
    vector.download(stream, &mut values).expect("download");
    values
}

/// Columns in four vectors, with others around them and out of order; group by group in an arena, and all at once.
fn columns_in_several_vectors<F: NttField>() {
    let inputs = Inputs::<F>::random(6, 4, 5, 1);
    let rows = inputs.rows();
    let before = inputs.before(1).remove(0);
    let expected = inputs.sum_by_trees(&terms(), &before);
    for accelerator in accelerators_with_devices() {
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let mut upload = |values: &[F]| DeviceVector::upload(&mut stream, values).expect("upload");
        let [c0, c1, c2, c3, c4, c5] = std::array::from_fn(|number| &inputs.columns[number]);
        let noise = vec![F::from(3); 7];
        let vectors = [
            upload(&[c4, &noise[..], c0].concat()),
            upload(c1),
            upload(&[c3, c2].map(|c| &c[..]).concat()),
            upload(c5),
        ];
        let at = |vector: usize, first: usize| DeviceColumn { vector: &vectors[vector], first };
        let columns = [at(0, rows + 7), at(1, 0), at(2, rows), at(2, 0), at(0, 0), at(3, 0)];
        let sum = upload(&[&noise[..], &before, &noise].concat());
        let program = Program::lower_sum(&terms(), 3);
        assert!(program.groups().len() > 1);
        let outputs = [DeviceColumn { vector: &sum, first: 7 }];
        program.enqueue(&mut stream, &columns, &inputs.challenges, inputs.coset, &outputs).expect("enqueue");
        let found = download(&mut stream, &sum);
        assert!(found[7..7 + rows] == expected && found[..7] == noise && found[7 + rows..] == noise, "{accelerator:?}");
        // The other way around, so that all of it is added once more.
        for (number, group) in program.groups().iter().enumerate().rev() {
            let columns: Vec<_> = group.columns().iter().map(|column| columns[*column]).collect();
            program
                .enqueue_group(&mut stream, number, &columns, &inputs.challenges, inputs.coset, &outputs)
                .expect("enqueue_group");
        }
        let twice = inputs.sum_by_trees(&terms(), &expected);
        assert!(download(&mut stream, &sum)[7..7 + rows] == twice, "{accelerator:?}");
    }
}

/// Outputs in the vector that columns are in.
fn outputs_in_the_arena<F: NttField>() {
    let inputs = Inputs::<F>::random(3, 1, 6, 2);
    let trees = [column(0, 1) * column(1, 0), column(2, -1) - column(0, 0), Expression::Challenge(0) * column(1, 1)];
    let rows = inputs.rows();
    let expected: Vec<Vec<F>> = trees.iter().map(|tree| inputs.by_tree(tree)).collect();
    for accelerator in accelerators_with_devices() {
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let all = [inputs.columns.concat(), vec![F::ONE; 4 * rows]].concat();
        let arena = DeviceVector::upload(&mut stream, &all).expect("upload");
        let at = |place: usize| DeviceColumn { vector: &arena, first: place * rows };
        let program = Program::lower_vectors(&trees, 0);
        let columns: Vec<_> = (0..3).map(at).collect();
        program
            .enqueue(&mut stream, &columns, &inputs.challenges, inputs.coset, &[at(6), at(3), at(4)])
            .expect("enqueue");
        let found = download(&mut stream, &arena);
        let place = |place: usize| &found[place * rows..(place + 1) * rows];
        assert!([6, 3, 4].iter().zip(&expected).all(|(at, expected)| place(*at) == expected), "{accelerator:?}");
        assert!(place(5).iter().all(|value| *value == F::ONE) && found[..3 * rows] == all[..3 * rows]);
    }
}

/// Columns in six vectors, each behind other elements, which a group reads all at once.
#[test]
fn columns_in_any_vectors() {
    let inputs = Inputs::<Fr>::random(6, 4, 5, 1);
    let before = inputs.before(1).remove(0);
    let expected = inputs.sum_by_trees(&terms(), &before);
    let program = Program::lower_sum(&terms(), 0);
    for accelerator in accelerators_with_devices() {
        if !accelerator.devices()[0].info().caps.unified_addresses {
            println!("left out: {accelerator:?} reads columns of at most four vectors");
            continue;
        }
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        // Allocated backwards, so that the first column need not have the lowest address.
        let upload = |column: &Vec<Fr>| [&[Fr::from(3); 7], &column[..]].concat();
        let mut vectors: Vec<_> = inputs
            .columns
            .iter()
            .rev()
            .map(upload)
            .map(|elements| DeviceVector::upload(&mut stream, &elements).expect("upload"))
            .collect();
        vectors.reverse();
        let columns: Vec<_> = vectors.iter().map(|vector| DeviceColumn { vector, first: 7 }).collect();
        let sum = DeviceVector::upload(&mut stream, &before).expect("upload");
        let outputs = [DeviceColumn { vector: &sum, first: 0 }];
        program.enqueue(&mut stream, &columns, &inputs.challenges, inputs.coset, &outputs).expect("enqueue");
        assert!(download(&mut stream, &sum) == expected, "{accelerator:?}");
    }
}

#[test]
fn what_does_not_fit() {
    let inputs = Inputs::<Fr>::random(6, 4, 4, 3);
    let program = Program::lower_sum(&terms(), 0);
    for accelerator in accelerators_with_devices() {
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let vectors: Vec<_> =
            inputs.columns.iter().map(|column| DeviceVector::upload(&mut stream, column).expect("upload")).collect();
        let arena = DeviceVector::upload(&mut stream, &inputs.columns.concat()).expect("upload");
        let sums = [0, 1].map(|_| DeviceVector::upload(&mut stream, &[Fr::ONE; 20]).expect("upload"));
        let in_arena = |number: usize| DeviceColumn { vector: &arena, first: 16 * number };
        let columns: Vec<_> = (0..6).map(in_arena).collect();
        let sum = DeviceColumn { vector: &sums[0], first: 2 };
        let mut refused =
            |columns: &[DeviceColumn<'_, Fr>], challenges: usize, outputs: &[DeviceColumn<'_, Fr>], message: &str| {
                let challenges = &inputs.challenges[..challenges];
                let error =
                    program.enqueue(&mut stream, columns, challenges, inputs.coset, outputs).expect_err(message);
                assert_eq!(error.to_string(), format!("expression: {message}"));
            };
        refused(&columns[..5], 4, &[sum], "number of columns: expected at least 6, got 5");
        refused(&columns, 3, &[sum], "number of challenges: expected at least 4, got 3");
        refused(&columns, 4, &[], "number of outputs: expected 1, got 0");
        if !accelerator.devices()[0].info().caps.unified_addresses {
            let apart: Vec<_> = vectors.iter().map(|vector| DeviceColumn { vector, first: 0 }).collect();
            refused(&apart, 4, &[sum], "different vectors with columns of a group: expected at most 4, got 6");
        }
        let over = DeviceColumn { first: 5, ..sum };
        refused(&columns, 4, &[over], "output 0: expected 16 elements within 20, got from element 5 on");
        let message = "output 0: expected one that overlaps no column and no other output, got one that does";
        refused(&columns, 4, &[DeviceColumn { first: 95 - 16, ..columns[0] }], message);
        let mut late = columns.clone();
        late[2].first = usize::MAX;
        let message = format!("column 2: expected 16 elements within 96, got from element {} on", usize::MAX);
        refused(&late, 4, &[sum], &message);
        let two = Program::lower_vectors(&[column(0, 0), column(1, 0)], 0);
        let outputs = [sum, DeviceColumn { vector: &sums[1], first: 0 }];
        let error = two.enqueue(&mut stream, &columns, &[], inputs.coset, &outputs).expect_err("two vectors");
        assert_eq!(error.to_string(), "expression: vector of output 1: expected that of output 0, got another");
        let error = program.enqueue_group(&mut stream, 1, &columns, &inputs.challenges, inputs.coset, &[sum]);
        assert_eq!(error.expect_err("one group").to_string(), "expression: group: expected below 1, got 1");
        assert!(download(&mut stream, &sums[0]) == [Fr::ONE; 20], "{accelerator:?}");
    }
}

common::every_curve! {
    columns_in_several_vectors;
    columns_in_several_vectors_bls12_381: blstrs::Scalar;
    columns_in_several_vectors_bn254: Fr;
}
common::every_curve! {
    outputs_in_the_arena;
    outputs_in_the_arena_bn254: Fr;
    outputs_in_the_arena_pasta_fp: pasta_curves::Fp;
}
