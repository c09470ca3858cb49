//! Manages a device's memory: the pool of free blocks, budgets, buffers, and which streams use them.

mod access_history;
mod budget_totals;
mod device_buffer;
mod device_memory_state;
mod foreign_memory;
mod multi_device_memory;
mod pool;
mod soft_memory_budget;
mod table_cache;

pub(super) use access_history::AccessHistory;
pub use device_buffer::Buffer;
pub(super) use device_memory_state::DeviceAllocator;
pub use foreign_memory::ForeignMemory;
pub(crate) use multi_device_memory::PeerMemory;
pub(crate) use pool::plannable_bytes;
pub(super) use pool::{Block, FreeBlock};
pub use soft_memory_budget::MemoryBudget;
pub(crate) use soft_memory_budget::ResidentBytes;
pub(super) use table_cache::TableCache;
