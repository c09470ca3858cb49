//! Keeps the last keys for later proofs.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::rayon_waits::block_in_place;

/// Maximum number of keys that are kept. RISC Zero has one, of about 3 GiB on the device.
const MAX_KEYS: usize = 2;

/// Holds keys by their identities `I`, the least recently used first.
pub(crate) struct KeyCache<I, K>(Mutex<Vec<(I, Arc<K>)>>);

impl<I: PartialEq + Send, K: Send + Sync> KeyCache<I, K> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the key of `identity`. If there is none, calls `load` and keeps its result. Concurrent callers wait for
    /// it, and rayon's workers run other jobs meanwhile. A key without an identity is not kept.
    ///
    /// # Errors
    /// - The error of `load`: `load` failed.
    pub(crate) fn find_or_load(
        &self,
        identity: Option<I>,
        load: impl FnOnce() -> anyhow::Result<K> + Send,
    ) -> anyhow::Result<Arc<K>> {
        let Some(identity) = identity else { return load().map(Arc::new) };
        block_in_place(|| {
            let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = if let Some(index) = keys.iter().position(|(kept, _)| *kept == identity) {
                keys.remove(index)
            } else {
                // Its memory is free before the new key needs some.
                let surplus = (keys.len() + 1).saturating_sub(MAX_KEYS);
                keys.drain(..surplus);
                (identity, Arc::new(load()?))
            };
            let key = entry.1.clone();
            keys.push(entry);
            Ok(key)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use anyhow::bail;
    use rayon::prelude::*;

    use super::*;

    /// Returns whether the cache loads the key of `identity`, which is `identity` itself.
    fn is_loaded(cache: &KeyCache<u32, u32>, identity: Option<u32>) -> bool {
        let mut is_loaded = false;
        let key = cache.find_or_load(identity, || {
            is_loaded = true;
            Ok(identity.unwrap_or_default())
        });
        assert_eq!(*key.expect("a key"), identity.unwrap_or_default());
        is_loaded
    }

    #[test]
    fn the_last_keys_are_kept() {
        let cache = KeyCache::new();
        let loads = [1, 1, 2, 1, 2, 3, 2, 1, 3].map(|identity| is_loaded(&cache, Some(identity)));
        assert_eq!(loads, [true, false, true, false, false, true, false, true, true]);
    }

    #[test]
    fn keys_without_identity_are_not_kept() {
        let cache = KeyCache::new();
        assert_eq!([None, None].map(|identity| is_loaded(&cache, identity)), [true; 2]);
    }

    #[test]
    fn errors_leave_nothing() {
        let cache = KeyCache::<u32, u32>::new();
        let error = cache.find_or_load(Some(1), || bail!("no key")).expect_err("an error");
        assert_eq!(error.to_string(), "no key");
        assert!(is_loaded(&cache, Some(1)));
    }

    /// Checks that callers on all workers of rayon's pool get one key, whose load needs the pool.
    #[test]
    fn workers_wait_without_blocking_the_pool() {
        let (cache, loads) = (KeyCache::<u32, usize>::new(), AtomicUsize::new(0));
        let load = || {
            loads.fetch_add(1, Ordering::Relaxed);
            Ok((0..1000).into_par_iter().sum())
        };
        let keys = (0..64).into_par_iter().map(|_| *cache.find_or_load(Some(1), load).expect("a key"));
        let sum: usize = keys.sum();
        assert_eq!((sum, loads.into_inner()), (64 * 499_500, 1));
    }
}
