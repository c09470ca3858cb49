//! Results as tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Circuit, ConstraintSystem};

use crate::outcome::{Outcome, Step};

/// What a circuit is like.
pub fn shape<C: Circuit<Fr>>(circuit: &C, k: u32) -> String {
    let mut system = ConstraintSystem::default();
    C::configure_with_params(&mut system, circuit.params());
    format!(
        "2^{k} rows; {} advice, {} fixed and {} instance columns, {} selectors; {} columns in the permutation, {} lookups, {} \
         gates, degree {}",
        system.num_advice_columns(),
        system.num_fixed_columns(),
        system.num_instance_columns(),
        system.num_selectors(),
        system.permutation().get_columns().len(),
        system.lookups().len(),
        system.gates().len(),
        system.degree(),
    )
}

/// A line for each step, a column for each prover, and ratios to the first.
pub fn times(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    let mut header = vec!["step".to_owned()];
    for (number, outcome) in outcomes.iter().enumerate() {
        header.push(format!("{} (ms)", outcome.prover));
        header.extend((number > 0).then(|| "ratio".to_owned()));
    }
    table.set_header(header.into_iter().map(Cell::new));
    let columns: Vec<_> = outcomes.iter().map(|outcome| lines(&outcomes[0], outcome)).collect();
    for number in 0..columns.first().map_or(0, Vec::len) {
        let (step, first) = &columns[0][number];
        let mut row = vec![step.clone(), text(*first, |time| format!("{time:.2}"))];
        for (_, time) in columns[1..].iter().map(|column| &column[number]) {
            let ratio = time.zip(*first).map(|(time, first)| time / first);
            row.extend([text(*time, |time| format!("{time:.2}")), text(ratio, |ratio| format!("{ratio:.2}×"))]);
        }
        table.add_row(row);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn text(value: Option<f64>, format: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(String::new, format)
}

/// Lines of an outcome, as many as the first one has: steps of keys are known of that alone.
fn lines(first: &Outcome, outcome: &Outcome) -> Vec<(String, Option<f64>)> {
    let whole = |name: &str, time| std::iter::once((name.to_owned(), Some(time)));
    let steps = |all: &[Step], known: &[Step]| {
        let step = |(number, step): (usize, &Step)| (format!("  {}", step.name), known.get(number).map(|step| step.ms));
        all.iter().enumerate().map(step).collect::<Vec<_>>()
    };
    whole("keygen_vk", outcome.keygen_vk_ms)
        .chain(steps(&first.keygen_vk_steps, &outcome.keygen_vk_steps))
        .chain(whole("keygen_pk", outcome.keygen_pk_ms))
        .chain(steps(&first.keygen_pk_steps, &outcome.keygen_pk_steps))
        .chain(whole("first proof", outcome.first_ms))
        .chain(whole("proof, median of the others", outcome.proof_ms))
        .chain(steps(&first.steps, &outcome.steps))
        .chain(whole("verification", outcome.verify_ms))
        .collect()
}

/// What was verified, and where it was proved.
pub fn verified(outcome: &Outcome) -> String {
    let Outcome { prover, verified, proof_bytes, ran_on, .. } = outcome;
    let memory = outcome.device_bytes.map_or_else(String::new, |bytes| {
        format!(", with at most {:.1} MB of the device's memory", bytes as f64 / 1e6)
    });
    let places = ran_on.join(", ");
    format!("{prover}: {verified} proofs of {proof_bytes} bytes verified by halo2-axiom; made on {places}{memory}")
}
