//! Adds up the memory budgets of a device.

use std::sync::Mutex;

use crate::backend::lock;

/// Holds the sum of a device's current memory budgets.
#[derive(Debug, Default)]
pub(crate) struct BudgetTotals {
    /// Bytes of resident data, such as keys, which no budget covers.
    resident: u64,
    /// Other bytes in use that no budget covers: those of when the first of the current budgets was set, or fewer.
    others: u64,
    /// Sum of the current budgets, in bytes.
    bytes: u64,
    count: usize,
}

impl BudgetTotals {
    /// Returns the target in bytes for buffers and pooled free memory together. `None` if there is no budget.
    pub(crate) fn target_bytes(&self) -> Option<u64> {
        let taken = self.resident.saturating_add(self.others);
        (self.count > 0).then(|| taken.saturating_add(self.bytes))
    }

    /// Returns the bytes that are taken or set aside, of a device with `in_use` bytes in use.
    pub(crate) fn spoken_for_bytes(&mut self, in_use: u64) -> u64 {
        // Memory that no budget covers may have been freed.
        self.others = self.others.min(in_use.saturating_sub(self.resident));
        self.target_bytes().map_or(in_use, |target| target.max(in_use))
    }

    pub(crate) fn add_resident(&mut self, bytes: u64) {
        self.resident = self.resident.saturating_add(bytes);
    }

    pub(crate) fn remove_resident(&mut self, bytes: u64) {
        self.resident = self.resident.saturating_sub(bytes);
    }

    pub(crate) fn add_budget(&mut self, bytes: u64, in_use: u64) {
        if self.count == 0 {
            self.others = in_use.saturating_sub(self.resident);
        }
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(crate) fn remove_budget(&mut self, bytes: u64) {
        self.count -= 1;
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// Returns by how many bytes `taken` plus `bytes` exceed the target of the budgets `aims`. `None` if they do not
/// exceed it, or if there is no budget.
pub(crate) fn bytes_over_budget(aims: &Mutex<BudgetTotals>, taken: u64, bytes: usize) -> Option<u64> {
    let total = lock(aims).target_bytes()?;
    (taken + bytes as u64).checked_sub(total).filter(|beyond| *beyond > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aims_add_up_and_end() {
        let aims = Mutex::new(BudgetTotals::default());
        assert_eq!(bytes_over_budget(&aims, 1 << 40, 1), None);
        lock(&aims).add_budget(100, 10);
        assert_eq!([bytes_over_budget(&aims, 100, 10), bytes_over_budget(&aims, 100, 11)], [None, Some(1)]);
        lock(&aims).add_budget(50, 60);
        assert_eq!(
            [bytes_over_budget(&aims, 150, 10), bytes_over_budget(&aims, 150, 12)],
            [None, Some(2)],
            "60 was the first one's"
        );
        lock(&aims).remove_budget(100);
        assert_eq!(bytes_over_budget(&aims, 60, 1), Some(1));
        lock(&aims).remove_budget(50);
        assert_eq!(bytes_over_budget(&aims, 1 << 40, 1), None);
    }

    #[test]
    fn resident_data_takes_nothing_of_a_budget() {
        let mut aims = BudgetTotals::default();
        aims.add_resident(7);
        aims.add_budget(100, 10);
        assert_eq!([200, 40, 10].map(|in_use| aims.spoken_for_bytes(in_use)), [200, 110, 110]);
        aims.add_resident(50);
        assert_eq!(aims.spoken_for_bytes(60 + 30), 160, "a key of 50 came, and the budget's owner took 30");
        aims.add_budget(20, 90);
        assert_eq!(aims.spoken_for_bytes(90), 180);
        aims.remove_resident(50);
        assert_eq!(aims.spoken_for_bytes(40), 130, "the key went");
        assert_eq!(aims.spoken_for_bytes(8), 128, "of the others' 3 bytes, 2 went");
        aims.remove_budget(100);
        aims.remove_budget(20);
        assert_eq!(aims.spoken_for_bytes(0), 0);
    }
}
