//! Tables that stay on a device between calls.

use std::sync::Arc;

use crate::backend::Buffer;

/// Holds a buffer, and the full description of its contents as the key.
type CachedTable = (Vec<u8>, Arc<Buffer>);

/// Holds buffers in order of last use, the latest at the end. Callers drop what it returns after its lock: buffers that
/// are freed take other locks.
#[derive(Debug, Default)]
pub(crate) struct TableCache(Vec<CachedTable>);

impl TableCache {
    pub(crate) fn find(&mut self, key: &[u8]) -> Option<Arc<Buffer>> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        let entry = self.0.remove(at);
        let buffer = entry.1.clone();
        self.0.push(entry);
        Some(buffer)
    }

    /// Adds `buffer` under `key`. Then evicts, and returns, the least recently used buffers until all together take at
    /// most `limit` bytes.
    pub(crate) fn add(&mut self, key: Vec<u8>, buffer: Arc<Buffer>, limit: u64) -> Vec<CachedTable> {
        self.0.push((key, buffer));
        let mut bytes: u64 = self.0.iter().map(|(_, buffer)| buffer.bytes() as u64).sum();
        let too_many = self.0.iter().take_while(|(_, buffer)| {
            let over = bytes > limit;
            bytes -= buffer.bytes() as u64;
            over
        });
        let too_many = too_many.count();
        self.0.drain(..too_many).collect()
    }

    /// Returns the bytes of the buffers that only the cache holds. Dropping what
    /// [`Self::take_all`] returns frees these.
    pub(crate) fn idle_bytes(&self) -> u64 {
        let idle = self.0.iter().filter(|(_, buffer)| Arc::strong_count(buffer) == 1);
        idle.map(|(_, buffer)| buffer.capacity_bytes() as u64).sum()
    }

    /// Removes all buffers from the cache, and returns them.
    pub(crate) fn take_all(&mut self) -> Vec<CachedTable> {
        std::mem::take(&mut self.0)
    }
}
