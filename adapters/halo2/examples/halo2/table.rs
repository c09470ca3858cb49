//! Results as tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::measure::{Outcome, name};
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
    let stock_lines = stock.map(lines);
    for (number, (step, time)) in lines(ours).into_iter().enumerate() {
        let mut row = vec![step, format!("{time:.2}")];
        if let Some((_, other)) = stock_lines.as_ref().map(|lines| &lines[number]) {
            row.extend([format!("{other:.2}"), format!("{:.2}×", other / time)]);
        }
        table.add_row(row);
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}

fn lines(outcome: &Outcome) -> Vec<(String, f64)> {
    let before = [
        ("keygen_vk", outcome.keygen_vk_ms),
        ("keygen_pk", outcome.keygen_pk_ms),
        ("first proof", outcome.first_ms),
        ("proof, median of the others", outcome.proof_ms),
    ];
    let steps = outcome.steps.iter().map(|step| (format!("  {}", step.name), step.ms));
    let before = before.map(|(name, time)| (name.to_owned(), time));
    before.into_iter().chain(steps).chain([("verification".to_owned(), outcome.verify_ms)]).collect()
}

/// What was verified, and where it was proved.
pub fn verified(outcome: &Outcome) -> String {
    let Outcome { verified, proof_bytes, ran_on, .. } = outcome;
    let on = if ran_on.is_empty() { "the host's cores".to_owned() } else { ran_on.join(", ") };
    format!("{}: {verified} proofs of {proof_bytes} bytes verified by halo2-axiom; made on {on}", name(outcome.prover))
}
