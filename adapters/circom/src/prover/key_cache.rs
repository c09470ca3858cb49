//! Keeps the last keys for later proofs.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::lru::LruList;
use proofwarp::rayon_waits::block_in_place;

/// Holds keys `K` by their identities `I`, in order of last use.
#[derive(Debug)]
pub struct KeyCache<I, K> {
    max_keys: usize,
    keys: Mutex<LruList<(I, Arc<K>)>>,
}

impl<I: PartialEq + Send, K: Send + Sync> KeyCache<I, K> {
    /// Creates an empty cache that keeps at most `max_keys` keys, and at least one.
    pub const fn new(max_keys: usize) -> Self {
        Self { max_keys, keys: Mutex::new(LruList::new()) }
    }

    /// Returns the key of `identity`. If there is none, calls `load` and keeps its result. Concurrent callers wait for
    /// it, and rayon's workers run other jobs meanwhile. A key without an identity is not kept. If the cache is full, the
    /// least recently used key is removed before `load` runs.
    ///
    /// # Errors
    /// - The error of `load`: `load` failed.
    pub fn find_or_load<E: Send>(
        &self,
        identity: Option<I>,
        load: impl FnOnce() -> Result<K, E> + Send,
    ) -> Result<Arc<K>, E> {
        let Some(identity) = identity else { return load().map(Arc::new) };
        block_in_place(|| {
            let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, key)) = keys.find(|(kept, _)| *kept == identity) {
                return Ok(key.clone());
            }
            // Its memory is free before the new key needs some.
            drop(keys.evict(self.max_keys.saturating_sub(1) as u64, 0, |_| Some(1)));
            let key = Arc::new(load()?);
            keys.insert((identity, key.clone()));
            Ok(key)
        })
    }

    /// Removes the key of `identity`, if it is kept.
    pub fn remove(&self, identity: &I) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).remove(|(kept, _)| kept == identity);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rayon::prelude::*;

    use super::*;

    /// Returns whether the cache loads the key of `identity`, which is `identity` itself.
    fn is_loaded(cache: &KeyCache<u32, u32>, identity: Option<u32>) -> bool {
        let mut is_loaded = false;
        let key = cache.find_or_load(identity, || {
            is_loaded = true;
            Ok::<_, Infallible>(identity.unwrap_or_default())
        });
        assert_eq!(*key.expect("a key"), identity.unwrap_or_default());
        is_loaded
    }

    #[test]
    fn the_last_keys_are_kept() {
        let cache = KeyCache::new(2);
        let loads = [1, 1, 2, 1, 2, 3, 2, 1, 3].map(|identity| is_loaded(&cache, Some(identity)));
        assert_eq!(loads, [true, false, true, false, false, true, false, true, true]);
    }

    #[test]
    fn keys_without_identity_are_not_kept() {
        let cache = KeyCache::new(2);
        assert_eq!([None, None].map(|identity| is_loaded(&cache, identity)), [true; 2]);
    }

    #[test]
    fn a_key_that_is_removed_is_loaded_again() {
        let cache = KeyCache::new(2);
        assert!(is_loaded(&cache, Some(1)) && is_loaded(&cache, Some(2)));
        cache.remove(&1);
        assert_eq!([1, 2].map(|identity| is_loaded(&cache, Some(identity))), [true, false]);
    }

    #[test]
    fn errors_leave_nothing() {
        let cache = KeyCache::<u32, u32>::new(2);
        assert_eq!(cache.find_or_load(Some(1), || Err("no key")), Err("no key"));
        assert!(is_loaded(&cache, Some(1)));
    }

    /// Checks that callers on all workers of rayon's pool get one key, whose load needs the pool.
    #[test]
    fn workers_wait_without_blocking_the_pool() {
        let (cache, loads) = (KeyCache::<u32, usize>::new(2), AtomicUsize::new(0));
        let load = || {
            loads.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>((0..1000).into_par_iter().sum())
        };
        let keys = (0..64).into_par_iter().map(|_| *cache.find_or_load(Some(1), load).expect("a key"));
        let sum: usize = keys.sum();
        assert_eq!((sum, loads.into_inner()), (64 * 499_500, 1));
    }
}
