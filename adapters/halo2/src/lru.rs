//! Keeps the most recently used values between calls.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::lru::LruList;

/// Caches up to `most` values per group of keys, and drops the least recently used value of a group first.
pub(crate) struct LruCache<K, V> {
    most: usize,
    /// Whether two keys are in one group.
    together: fn(&K, &K) -> bool,
    entries: Mutex<LruList<(K, Arc<V>)>>,
}

impl<K: PartialEq, V> LruCache<K, V> {
    /// Creates a cache of at most `most` values per group of keys. Two keys are in one group if `together` returns true
    /// for them.
    pub(crate) const fn new(most: usize, together: fn(&K, &K) -> bool) -> Self {
        Self { most, together, entries: Mutex::new(LruList::new()) }
    }

    /// Returns the cached value of `key`. If there is none, calls `make` and caches its value. If `make` returns
    /// `None`, nothing is cached and the result is `None`.
    ///
    /// # Errors
    /// Returns the errors of `make`, which runs without the lock because it may take seconds. Two threads may both make
    /// a value, and one is cached.
    pub(crate) fn get_or_insert_with<E>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<Option<V>, E>,
    ) -> Result<Option<Arc<V>>, E> {
        if let Some(value) = self.get(&key) {
            return Ok(Some(value));
        }
        let made = make()?.map(Arc::new);
        if let Some(value) = &made {
            self.insert(key, value.clone());
        }
        Ok(made)
    }

    /// Drops all values.
    pub(crate) fn clear(&self) {
        let gone = self.with_locked_entries(LruList::take_all);
        // Dropping may take long, so it happens without the lock.
        drop(gone);
    }

    /// Drops all values that are not in use, and whose keys are in one group with `key`.
    pub(crate) fn clear_unused(&self, key: &K) {
        let unused = |entry: &(K, Arc<V>)| (self.together)(&entry.0, key) && Arc::strong_count(&entry.1) == 1;
        let gone = self.with_locked_entries(|entries| entries.remove(unused));
        // Dropping may take long, so it happens without the lock.
        drop(gone);
    }

    /// Returns the cached value of `key`, which becomes the most recently used one. Returns `None` if there is no
    /// value.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<V>> {
        self.with_locked_entries(|entries| entries.find(|(kept, _)| kept == key).map(|(_, value)| value.clone()))
    }

    /// Caches `value` for `key`. If the group of `key` then has more than `most` values, drops its least recently used
    /// one.
    pub(crate) fn insert(&self, key: K, value: Arc<V>) {
        let gone = self.with_locked_entries(|entries| {
            let mut gone = entries.remove(|(kept, _)| *kept == key);
            let others = self.most.saturating_sub(1) as u64;
            gone.extend(entries.evict(others, 0, |(kept, _)| (self.together)(kept, &key).then_some(1)));
            entries.insert((key, value));
            gone
        });
        drop(gone);
    }

    fn with_locked_entries<T>(&self, change: impl FnOnce(&mut LruList<(K, Arc<V>)>) -> T) -> T {
        change(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a cache in which two numbers are in one group if they have the same tens.
    fn cache_by_tens(most: usize) -> LruCache<u32, u32> {
        LruCache::new(most, |one, other| one / 10 == other / 10)
    }

    fn is_cached(kept: &LruCache<u32, u32>, key: u32) -> bool {
        kept.get_or_insert_with(key, || Ok::<_, ()>(None)).expect("nothing fails").is_some()
    }

    #[test]
    fn the_oldest_of_a_kind_makes_room() {
        let kept = cache_by_tens(2);
        for key in [1, 2, 11, 12, 21, 1, 3] {
            kept.get_or_insert_with(key, || Ok::<_, ()>(Some(key))).expect("nothing fails");
        }
        let there = [1, 2, 3, 11, 12, 21].map(|key| is_cached(&kept, key));
        assert_eq!(there, [true, false, true, true, true, true]);
        let used = kept.get(&12);
        kept.clear_unused(&19);
        let there = [1, 3, 11, 12, 21].map(|key| is_cached(&kept, key));
        assert_eq!((there, used.as_deref()), ([true, true, false, true, true], Some(&12)));
    }

    #[test]
    fn one_value_a_key() {
        let kept = cache_by_tens(2);
        for value in 0..3 {
            kept.insert(5, Arc::new(value));
        }
        assert_eq!(kept.get(&5).as_deref(), Some(&2));
        assert_eq!(kept.with_locked_entries(|entries| entries.len()), 1);
    }
}
