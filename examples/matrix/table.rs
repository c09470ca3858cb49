//! Results as a table.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::Outcome;

/// A line for each way.
pub fn outcomes(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(
        ["way", "ran on", "first (ms)", "median (ms)", "kernels (ms)", "checked"].into_iter().map(Cell::new),
    );
    for Outcome { way, ran_on, first_ms, median_ms, kernels_ms, checked } in outcomes {
        let [first, median, kernels] = [first_ms, median_ms, kernels_ms].map(|ms| format!("{ms:.3}"));
        table.add_row([way.clone(), ran_on.clone(), first, median, kernels, checked.clone()]);
    }
    table.column_iter_mut().skip(2).take(3).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
