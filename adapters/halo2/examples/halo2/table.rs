//! Results as tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::measure::{Outcome, Step, name};
use crate::shape::Shape;

/// What the circuit is like.
pub fn shape(shape: &Shape) -> String {
    let high = (0..shape.gates()).filter(|gate| Shape::is_high(*gate)).count();
    format!(
        "2^{} rows, {} advice and {} fixed columns, {} in the permutation, {} lookups into a table of {}, {} gates of degree 3 \
         and {high} of degree 5",
        shape.k,
        shape.advice,
        shape.fixed,
        shape.advice + 1,
        shape.lookups,
        shape.table(),
        shape.gates() - high,
    )
}

/// A line for each step, a column for each prover.
pub fn times(ours: &Outcome, stock: Option<&Outcome>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    let mut header = vec!["step".to_owned(), format!("{} (ms)", name(ours.prover))];
    if let Some(stock) = stock {
        header.extend([format!("{} (ms)", name(stock.prover)), "ratio".to_owned()]);
    }
    table.set_header(header.into_iter().map(Cell::new));
    let stock_lines = stock.map(|stock| lines(ours, stock));
    for (number, (step, time)) in lines(ours, ours).into_iter().enumerate() {
        let mut row = vec![step, text(time, |time| format!("{time:.2}"))];
        if let Some((_, other)) = stock_lines.as_ref().map(|lines| &lines[number]) {
            let ratio = other.zip(time).map(|(other, time)| other / time);
            row.extend([text(*other, |time| format!("{time:.2}")), text(ratio, |ratio| format!("{ratio:.2}×"))]);
        }
        table.add_row(row);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn text(value: Option<f64>, format: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(String::new, format)
}

/// Lines of an outcome, as many as ours has: steps of keys are known of ours alone.
fn lines(ours: &Outcome, outcome: &Outcome) -> Vec<(String, Option<f64>)> {
    let whole = |name: &str, time| std::iter::once((name.to_owned(), Some(time)));
    let steps = |all: &[Step], known: &[Step]| {
        let step = |(number, step): (usize, &Step)| (format!("  {}", step.name), known.get(number).map(|step| step.ms));
        all.iter().enumerate().map(step).collect::<Vec<_>>()
    };
    whole("keygen_vk", outcome.keygen_vk_ms)
        .chain(steps(&ours.keygen_vk_steps, &outcome.keygen_vk_steps))
        .chain(whole("keygen_pk", outcome.keygen_pk_ms))
        .chain(steps(&ours.keygen_pk_steps, &outcome.keygen_pk_steps))
        .chain(whole("first proof", outcome.first_ms))
        .chain(whole("proof, median of the others", outcome.proof_ms))
        .chain(steps(&ours.steps, &outcome.steps))
        .chain(whole("verification", outcome.verify_ms))
        .collect()
}

/// What was verified, and where it was proved.
pub fn verified(outcome: &Outcome) -> String {
    let Outcome { verified, proof_bytes, ran_on, .. } = outcome;
    let on = if ran_on.is_empty() { "the host's cores".to_owned() } else { ran_on.join(", ") };
    format!("{}: {verified} proofs of {proof_bytes} bytes verified by halo2-axiom; made on {on}", name(outcome.prover))
}
