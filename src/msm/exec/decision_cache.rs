//! Remembers planning decisions: planning can take as long as a small MSM, or, if memory is short, as a large one.

use std::sync::Mutex;

use crate::backend::lock;
use crate::msm::plan::{PlanInput, Sharding};

/// Maximum number of entries of a cache, 64.
const KEPT: usize = 64;

/// Caches up to `KEPT` planning decisions by their keys. The oldest is dropped first.
#[derive(Debug)]
pub(super) struct PlanCache<K, V>(Mutex<Vec<(K, V)>>);

impl<K, V> Default for PlanCache<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V> PlanCache<K, V> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<K: PartialEq, V: Clone> PlanCache<K, V> {
    /// Returns the cached decision for `key`, or else makes it with `choose` and caches it.
    pub(super) fn get_or_insert_with(&self, key: K, choose: impl FnOnce() -> V) -> V {
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

/// Identifies a decision of the model on `input` with `free` bytes on a device. `count` limits the choices: it is the
/// maximum number of window groups, or the number of vectors of the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlanKey {
    pub input: PlanInput,
    pub count: usize,
    pub free: u64,
}

/// Caches the model's decisions for one set of bases.
#[derive(Debug, Default)]
pub(crate) struct PlanMemos {
    /// How devices share a vector, by the plan input of all devices together; `None` if no sharding fits.
    pub(super) splits: PlanCache<PlanKey, Option<Sharding>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_choices_are_forgotten() {
        let kept: PlanCache<usize, usize> = PlanCache::default();
        assert!((0..=KEPT).all(|key| kept.get_or_insert_with(key, || key) == key));
        assert_eq!(kept.get_or_insert_with(KEPT, || unreachable!("it is kept")), KEPT);
        assert_eq!(kept.get_or_insert_with(0, || 7), 7);
    }
}
