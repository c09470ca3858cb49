//! Kinds of faults by outcomes.

use std::collections::BTreeMap;

use comfy_table::Table;

use crate::line::{OUTCOMES, Outcome};

/// A run that is over.
#[derive(Debug, Clone)]
pub struct Ended {
    pub seed: u64,
    pub group: String,
    pub subject: String,
    /// As they were planned.
    pub faults: String,
    pub fired: usize,
    pub outcome: Outcome,
    pub detail: String,
}

impl Ended {
    /// The kind of fault: its name where it was alone.
    fn kind(&self) -> String {
        let names: Vec<&str> = self.faults.split(' ').filter_map(|fault| fault.split('@').next()).collect();
        match names[..] {
            _ if self.fired == 0 => "none struck".to_owned(),
            [alone] => alone.to_owned(),
            _ if names.iter().any(|name| name.starts_with("Bit")) => "several, one of them silent".to_owned(),
            _ => "several".to_owned(),
        }
    }

    fn is_silent(&self) -> bool {
        self.faults.contains("Bit")
    }

    /// Whether it must not be. A kernel that reads a changed index may end the process, as far as a device has no protection.
    pub fn is_bad(&self) -> bool {
        match self.outcome {
            Outcome::Valid | Outcome::Error | Outcome::Unchecked => false,
            Outcome::Crash => !self.is_silent(),
            _ => true,
        }
    }
}

/// The table of runs.
pub fn table(runs: &[Ended]) -> Table {
    let mut counts: BTreeMap<(String, String), BTreeMap<Outcome, usize>> = BTreeMap::new();
    for run in runs {
        *counts.entry((run.group.clone(), run.kind())).or_default().entry(run.outcome).or_default() += 1;
    }
    let seen: Vec<Outcome> =
        OUTCOMES.into_iter().filter(|outcome| runs.iter().any(|run| run.outcome == *outcome)).collect();
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    let titles = ["group", "fault"].map(str::to_owned).into_iter().chain(seen.iter().map(Outcome::to_string));
    table.set_header(titles);
    for ((group, kind), outcomes) in counts {
        let numbers = seen.iter().map(|outcome| outcomes.get(outcome).map_or(String::new(), usize::to_string));
        table.add_row([group, kind].into_iter().chain(numbers));
    }
    table
}

/// The words of errors, each with how often it came: numbers are left out.
pub fn words(runs: &[Ended]) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.detail.is_empty()) {
        let text: String =
            run.detail.chars().map(|letter| if letter.is_ascii_digit() { '#' } else { letter }).collect();
        *words
            .entry(format!("{}: {} {}", run.group, run.outcome, text.chars().take(140).collect::<String>()))
            .or_default() += 1;
    }
    words
}
