//! Shows results as a table.

use comfy_table::Table;

use super::steps::{Share, Timed};
use crate::table;

const HEADER: [&str; 10] = [
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

/// Returns a table with a row for each rank of each of `steps`.
pub fn steps(devices: &[String], steps: &[Timed]) -> Table {
    table::new(&HEADER, 1.., steps.iter().flat_map(|timed| rows(devices, timed)))
}

fn rows(devices: &[String], timed: &Timed) -> Vec<Vec<String>> {
    let size =
        if timed.count == 1 { format!("2^{}", timed.log) } else { format!("{} × 2^{}", timed.count, timed.log) };
    let ms = |seconds: f64| format!("{:.2}", 1e3 * seconds);
    let row = |(rank, (share, device)): (usize, (&Share, &String))| {
        let first = |text: String| if rank == 0 { text } else { String::new() };
        let front = [timed.step.clone(), size.clone(), ms(timed.first_seconds), ms(timed.seconds)].map(first);
        let times = [share.work, share.waiting, share.messages].map(ms);
        let sent = format!("{:.3} MB", share.sent / 1e6);
        front.into_iter().chain([rank.to_string(), device.clone()]).chain(times).chain([sent]).collect()
    };
    timed.ranks.iter().zip(devices).enumerate().map(row).collect()
}
