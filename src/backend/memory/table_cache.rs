//! Tables that stay on a device between calls.

use std::sync::Arc;

use crate::backend::Buffer;
use crate::lru::LruList;

/// Holds a buffer, and the full description of its contents as the key.
type CachedTable = (Vec<u8>, Arc<Buffer>);

/// Holds buffers in order of last use. Callers drop what it returns after its lock: buffers that are freed take other
/// locks.
#[derive(Debug, Default)]
pub(crate) struct TableCache(LruList<CachedTable>);

impl TableCache {
    pub(crate) fn find(&mut self, key: &[u8]) -> Option<Arc<Buffer>> {
        self.0.find(|(known, _)| known == key).map(|(_, buffer)| buffer.clone())
    }

    /// Adds `buffer` under `key`. Then evicts, and returns, the least recently used buffers until all together take at
    /// most `limit` bytes.
    pub(crate) fn add(&mut self, key: Vec<u8>, buffer: Arc<Buffer>, limit: u64) -> Vec<CachedTable> {
        self.0.insert((key, buffer));
        self.0.evict(limit, 0, |(_, buffer)| Some(buffer.bytes() as u64))
    }

    /// Returns the bytes of the buffers that only the cache holds. Dropping what
    /// [`Self::take_all`] returns frees these.
    pub(crate) fn idle_bytes(&self) -> u64 {
        let idle = self.0.iter().filter(|(_, buffer)| Arc::strong_count(buffer) == 1);
        idle.map(|(_, buffer)| buffer.capacity_bytes() as u64).sum()
    }

    /// Removes all buffers from the cache, and returns them.
    pub(crate) fn take_all(&mut self) -> Vec<CachedTable> {
        self.0.take_all()
    }
}
