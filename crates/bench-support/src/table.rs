//! Formats tables for a terminal.

use std::ops::RangeBounds;

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// Creates a table of `rows` under `header`. The columns at the indices `numbers` are right-aligned.
pub fn new<R: Into<comfy_table::Row>>(
    header: &[&str],
    numbers: impl RangeBounds<usize>,
    rows: impl IntoIterator<Item = R>,
) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().map(Cell::new)).add_rows(rows);
    let columns = table.column_iter_mut().enumerate().filter(|(index, _)| numbers.contains(index));
    columns.for_each(|(_, column)| column.set_cell_alignment(CellAlignment::Right));
    table
}

/// Formats a time of `ms` milliseconds with about three significant digits, without its unit.
pub fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{ms:.3}"),
        ms if ms < 10.0 => format!("{ms:.2}"),
        ms if ms < 100.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

/// Formats a number of bytes in the largest binary unit that fits, such as 1.5 GiB.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = UNITS.into_iter().find(|(_, size)| bytes >= *size);
    unit.map_or_else(|| format!("{bytes} B"), |(name, size)| format!("{:.1} {name}", bytes as f64 / size as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let cases = [(0.1834, "0.183"), (6.078, "6.08"), (43.61, "43.6"), (965.2, "965"), (10874.0, "10874")];
        for (ms, text) in cases {
            assert_eq!(milliseconds(ms), text);
        }
        assert_eq!((bytes(7), bytes(3 << 29)), ("7 B".to_owned(), "1.5 GiB".to_owned()));
    }
}
