//! Keys, circuits and witnesses of any lengths that do not fit each other: an error, or proofs.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use bellperson::groth16::Parameters;
use blstrs::{Bls12, Scalar};
use libfuzzer_sys::fuzz_target;
use proofwarp::groth16::{Batch, Circuit, Densities, Parameters as Key, ProvingKeyOnDevice, Witness};
use proofwarp::matrix::Csr;
use proofwarp::msm::BasePoints;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_fuzz::FILE;

static PARAMETERS: LazyLock<Parameters<Bls12>> =
    LazyLock::new(|| Parameters::read(&FILE[..], true).expect("the file's parameters"));

/// A circuit by its matrices, or by its densities.
#[derive(Debug, Arbitrary)]
enum Form {
    Matrices { inputs: usize, columns: [u8; 3], rows: [Vec<Vec<(u8, i8)>>; 3] },
    Densities { constraints: usize, a_aux: Vec<bool>, b_inputs: Vec<bool>, b_aux: Vec<bool> },
}

#[derive(Debug, Arbitrary)]
struct Input {
    form: Form,
    /// Lengths of h, l, a, b_g1 and b_g2; those of the circuit where there are none.
    lengths: Option<[u8; 5]>,
    checked: bool,
    /// Lengths of a witness's inputs and auxiliary variables, and of its values.
    witness: Option<[u8; 2]>,
    values: Option<[u8; 3]>,
    random: [u8; 2],
}

fn circuit(form: Form) -> Option<Circuit<Scalar>> {
    match form {
        Form::Densities { constraints, a_aux, b_inputs, b_aux } => {
            Circuit::new(constraints, Densities { a_aux: &a_aux, b_inputs: &b_inputs, b_aux: &b_aux }).ok()
        }
        Form::Matrices { inputs, columns, rows } => {
            let number = |value: i8| Scalar::from(u64::from(value.unsigned_abs()));
            let row = |row: Vec<(u8, i8)>| row.into_iter().map(move |(column, value)| (column.into(), number(value)));
            let mut matrices = columns
                .into_iter()
                .zip(rows)
                .map(|(columns, rows)| Csr::from_rows(columns.into(), rows.into_iter().map(row)).ok().map(Arc::new));
            Circuit::from_matrices(inputs, [matrices.next()??, matrices.next()??, matrices.next()??]).ok()
        }
    }
}

fn some<C: Copy>(points: &[C], count: usize) -> BasePoints<C> {
    points.iter().copied().cycle().take(count).collect::<Vec<_>>().into()
}

fuzz_target!(|input: Input| {
    let Some(circuit) = circuit(input.form) else { return };
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let h = circuit.constraint_count().next_power_of_two() - 1;
    let right = [h.min(1 << 10), circuit.aux_count(), a, b_inputs + b_aux, b_inputs + b_aux];
    let [h, l, a, b_g1, b_g2] = input.lengths.map_or(right, |lengths| lengths.map(usize::from));
    let Parameters { vk, h: of_h, l: of_l, a: of_a, b_g1: of_b, b_g2: of_b_g2, .. } = &*PARAMETERS;
    let key = Key::<Bls12> {
        alpha_g1: vk.alpha_g1,
        beta_g1: vk.beta_g1,
        beta_g2: vk.beta_g2,
        delta_g1: vk.delta_g1,
        delta_g2: vk.delta_g2,
        h: some(of_h, h),
        l: some(of_l, l),
        a: some(of_a, a),
        b_g1: some(of_b, b_g1),
        b_g2: some(of_b_g2, b_g2),
    };
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    let key = if input.checked {
        ProvingKeyOnDevice::new_checked(&cpu, key)
    } else {
        ProvingKeyOnDevice::new_lazy(&cpu, key)
    };
    let Ok(key) = key else { return };
    let zeros = vec![Scalar::from(3); 1 << 16];
    let [inputs, aux] = input
        .witness
        .map_or([circuit.input_count(), circuit.aux_count()], |lengths| lengths.map(usize::from))
        .map(|n| &zeros[..n]);
    let evaluations = input.values.map(|lengths| lengths.map(|length| &zeros[..usize::from(length)]));
    let witnesses = [Witness { inputs, aux: aux.into(), evaluations }];
    let [r, s] = input.random.map(|count| &zeros[..usize::from(count)]);
    let Ok(batch) = Batch::new(&key, &circuit, &witnesses, r, s) else { return };
    batch.run(&cpu, None).expect("what was taken is proved");
    assert_eq!(batch.proofs().expect("all are there").len(), 1);
});
