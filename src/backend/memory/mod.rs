//! Manages a device's memory: the pool of free blocks, budgets, buffers, and which streams use them.

mod access_history;
mod allocator;
mod budget_totals;
mod device_buffer;
mod memory_budget;
mod peer_memory;
mod pool;
mod table_cache;

pub(super) use access_history::AccessHistory;
pub(super) use allocator::DeviceAllocator;
pub use device_buffer::Buffer;
pub use memory_budget::MemoryBudget;
pub(crate) use peer_memory::PeerMemory;
pub(crate) use pool::plannable_bytes;
pub(super) use pool::{Block, FreeBlock};
pub(super) use table_cache::TableCache;
