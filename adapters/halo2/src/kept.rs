//! What is kept between calls: the most recently used.

use std::sync::{Arc, Mutex, PoisonError};

/// As many values as it may keep, the most recently used one last.
pub struct Kept<K, V> {
    most: usize,
    entries: Mutex<Vec<(K, Arc<V>)>>,
}

impl<K: PartialEq, V> Kept<K, V> {
    /// Room for so many.
    pub const fn new(most: usize) -> Self {
        Self { most, entries: Mutex::new(Vec::new()) }
    }

    /// The value of a key, made where it is not kept; nothing is kept where none was made.
    ///
    /// # Errors
    /// Those of `make`, which does not run under the lock: it may take seconds. Two threads may both make one, and one is kept.
    pub fn find<E>(&self, key: K, make: impl FnOnce() -> Result<Option<V>, E>) -> Result<Option<Arc<V>>, E> {
        if let Some(value) = self.get(&key) {
            return Ok(Some(value));
        }
        let made = make()?.map(Arc::new);
        if let Some(value) = &made {
            self.keep(key, value.clone());
        }
        Ok(made)
    }

    /// Lets go of all.
    pub fn clear(&self) {
        let gone = self.change(std::mem::take);
        // What goes may take long, and not under the lock.
        drop(gone);
    }

    fn get(&self, key: &K) -> Option<Arc<V>> {
        self.change(|entries| {
            let at = entries.iter().position(|(kept, _)| kept == key)?;
            let entry = entries.remove(at);
            let value = entry.1.clone();
            entries.push(entry);
            Some(value)
        })
    }

    fn keep(&self, key: K, value: Arc<V>) {
        let gone: Vec<_> = self.change(|entries| {
            entries.retain(|(kept, _)| *kept != key);
            entries.push((key, value));
            let count = entries.len().saturating_sub(self.most);
            entries.drain(..count).collect()
        });
        drop(gone);
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<(K, Arc<V>)>) -> T) -> T {
        change(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
