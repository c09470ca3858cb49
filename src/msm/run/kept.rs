//! What the model chose before. A new choice may take as long as a small sum, or where memory is short as a large one.

use std::sync::Mutex;

use crate::backend::lock;
use crate::msm::plan::{Need, Problem, Split};

/// Most choices of a kind that are kept.
const KEPT: usize = 64;

/// Choices made before, of which the oldest are forgotten.
#[derive(Debug)]
pub(super) struct Kept<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> Kept<K, V> {
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<K: PartialEq, V: Clone> Kept<K, V> {
    /// What was chosen for the key, or else what `choose` does.
    pub fn find(&self, key: K, choose: impl FnOnce() -> V) -> V {
        if let Some((_, choice)) = lock(&self.0).iter().find(|(other, _)| *other == key) {
            return choice.clone();
        }
        let choice = choose();
        let mut kept = lock(&self.0);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((key, choice.clone()));
        choice
    }
}

/// What the split of a vector depends on, over the same bases: the need, the most groups, and free memory.
pub(super) type Key = (Need, usize, u64);

/// What the model chose before, over the same bases. There is no split where none fits.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    pub(super) splits: Kept<Key, Option<Split>>,
    /// How many vectors are joined, by the problem of all that are alike, the batch's number of vectors, and free memory.
    pub(super) joins: Kept<(Problem, usize, u64), usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_choices_are_forgotten() {
        let kept: Kept<usize, usize> = Kept::default();
        assert!((0..=KEPT).all(|key| kept.find(key, || key) == key));
        assert_eq!(kept.find(KEPT, || unreachable!("it is kept")), KEPT);
        assert_eq!(kept.find(0, || 7), 7);
    }
}
