//! Results as a table.

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::steps::Timed;

/// A line for each rank of each step.
pub fn steps(devices: &[String], steps: &[Timed]) -> Table {
    let mut table = Table::new();
    // By mpirun there is no terminal whose width would matter.
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    let header = [
        "step",
        "size",
        "first (ms)",
        "median (ms)",
        "rank",
        "ran on",
        "work (ms)",
        "waiting (ms)",
        "messages (ms)",
        "sent",
    ];
    table.set_header(header.into_iter().map(Cell::new));
    for timed in steps {
        let size =
            if timed.count == 1 { format!("2^{}", timed.log) } else { format!("{} × 2^{}", timed.count, timed.log) };
        let ms = |seconds: f64| format!("{:.2}", 1e3 * seconds);
        for (rank, (share, device)) in timed.ranks.iter().zip(devices).enumerate() {
            let first = |text: String| if rank == 0 { text } else { String::new() };
            let mut row =
                [timed.step.clone(), size.clone(), ms(timed.first_seconds), ms(timed.seconds)].map(first).to_vec();
            row.extend([rank.to_string(), device.clone(), ms(share.work), ms(share.waiting), ms(share.messages)]);
            row.push(format!("{:.3} MB", share.sent / 1e6));
            table.add_row(row);
        }
    }
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table
}
