//! Results as a table.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::measure::Outcome;

/// A line for each way.
pub fn outcomes(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    let header = ["way", "ran on", "rounds", "first (ms)", "median (ms)", "verification (ms)"];
    table.set_header(header.into_iter().map(Cell::new));
    for outcome in outcomes {
        let Outcome { way, backend, device, rounds, first_ms, proof_ms, verify_ms, .. } = outcome;
        let mut row = vec![way.clone(), format!("{device} ({backend})"), rounds.to_string()];
        row.extend([first_ms, proof_ms, verify_ms].map(|ms| format!("{ms:.3}")));
        table.add_row(row);
    }
    table.column_iter_mut().skip(2).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
