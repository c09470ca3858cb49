//! The table of medians and ratios, from what criterion wrote.

use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};

/// Prints the median of every function of the groups `NAME/SIZE`, and its ratio to the one called stock.
/// Sizes that a filter left out have no line.
pub fn print_ratios(name: &str, sizes: &[u32]) {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN).set_header([name, "on", "median ms", "stock / it"]);
    for size in sizes {
        // Criterion replaces slashes of group names in its folders.
        let folder = criterion_folder().join(format!("{}_{size}", name.replace('/', "_")));
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut medians: Vec<(String, f64)> = entries.flatten().filter_map(|entry| median(&entry.path())).collect();
        medians.sort_by(|a, b| a.1.total_cmp(&b.1));
        let stock = medians.iter().find(|(on, _)| on.starts_with("stock")).map(|(_, time)| *time);
        for (on, time) in medians {
            let ratio = stock.map_or_else(String::new, |stock| format!("{:.2}", stock / time));
            table.add_row([format!("2^{size}"), on, format!("{:.3}", time / 1e6), ratio]);
        }
    }
    println!("{table}");
}

fn criterion_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), Into::into);
    std::env::var_os("CRITERION_HOME").map_or_else(|| target.join("criterion"), Into::into)
}

/// Name and median in nanoseconds of one function's newest run.
fn median(folder: &Path) -> Option<(String, f64)> {
    let text = std::fs::read_to_string(folder.join("new/estimates.json")).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some((folder.file_name()?.to_string_lossy().into_owned(), estimates["median"]["point_estimate"].as_f64()?))
}
