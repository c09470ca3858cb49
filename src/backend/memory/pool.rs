//! Manages a device's free memory: blocks of the driver's, and parts of them if memory is short.
#![warn(clippy::arithmetic_side_effects)]

use crate::backend::MemoryHandle;

/// Limits the size of a reused block. A block may exceed a request below `LARGE` bytes by `1/MAX_OVERSIZE_DIV` of it.
/// It may exceed a larger request by `1/LARGE_SLACK` of it, or by `LARGE/MAX_OVERSIZE_DIV` bytes if that is more. If
/// memory is short, blocks may be larger.
const MAX_OVERSIZE_DIV: usize = 8;
const LARGE: usize = 8 << 20;
const LARGE_SLACK: usize = 32;
/// Maximum number of blocks below `LARGE` bytes that any operation holds at once, 24. Each may be larger than
/// requested.
const SMALL_BLOCKS: u64 = 24;

/// Returns the maximum size in bytes of a reused block for a request of `bytes`.
fn max_block_bytes(bytes: usize) -> usize {
    bytes.saturating_add(if bytes < LARGE {
        bytes / MAX_OVERSIZE_DIV
    } else {
        (bytes / LARGE_SLACK).max(LARGE / MAX_OVERSIZE_DIV)
    })
}

/// Returns how many of `free` bytes a plan may use. The rest is a reserve, because blocks may be larger than
/// requested.
pub(crate) fn plannable_bytes(free: u64) -> u64 {
    const OF_SMALL: u64 = SMALL_BLOCKS * (LARGE / MAX_OVERSIZE_DIV) as u64;
    let share = |slack: usize| free.checked_div((slack as u64).saturating_add(1)).unwrap_or(0);
    free.saturating_sub(share(LARGE_SLACK).saturating_add(OF_SMALL).min(share(MAX_OVERSIZE_DIV)))
}

/// Locates device memory: a whole allocation of the driver, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub memory: MemoryHandle,
    pub memory_bytes: usize,
    pub offset: usize,
    pub bytes: usize,
}

impl Block {
    pub(crate) fn whole_block(memory: MemoryHandle, bytes: usize) -> Self {
        Self { memory, memory_bytes: bytes, offset: 0, bytes }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.bytes == self.memory_bytes
    }

    fn is_adjacent_to(&self, other: &Self) -> bool {
        self.memory == other.memory && self.offset.saturating_add(self.bytes) == other.offset
    }
}

/// Describes memory in the pool, which no buffer owns.
#[derive(Debug, Clone)]
pub(crate) struct FreeBlock {
    pub place: Block,
    /// Numbers of the streams whose queued commands may still use the memory.
    pub users: Vec<usize>,
    /// Whether the contents must be cleared before the memory is freed, or reused for anything but scratch memory.
    pub dirty: bool,
}

impl FreeBlock {
    /// Returns whether no stream other than number `stream` may still use the memory.
    pub(crate) fn is_exclusive_to(&self, stream: usize) -> bool {
        self.users.iter().all(|user| *user == stream)
    }

    /// Extends the memory by `next`, the free part directly behind it.
    fn merge_next(&mut self, next: &Self) {
        self.place.bytes = self.place.bytes.saturating_add(next.place.bytes);
        self.dirty |= next.dirty;
        let others = next.users.iter().filter(|user| !self.users.contains(user)).copied().collect::<Vec<_>>();
        self.users.extend(others);
    }

    /// Splits off and returns the first `bytes` of the memory. `self` keeps the rest.
    fn split_front(&mut self, bytes: usize) -> Self {
        let first = Self { place: Block { bytes, ..self.place }, ..self.clone() };
        self.place.offset = self.place.offset.saturating_add(bytes);
        self.place.bytes = self.place.bytes.saturating_sub(bytes);
        first
    }
}

/// Holds a device's free memory: whole blocks of the driver and parts of blocks.
#[derive(Debug, Default)]
pub(crate) struct FreeList(Vec<FreeBlock>);

impl FreeList {
    pub(crate) fn add_free_block(&mut self, free: FreeBlock) {
        self.0.push(free);
    }

    /// Returns the bytes of wholly free blocks.
    pub(crate) fn whole_block_bytes(&mut self) -> u64 {
        self.coalesce();
        self.0.iter().filter(|free| free.place.is_whole()).map(|free| free.place.bytes as u64).sum()
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.0.iter().map(|free| free.place.bytes as u64).sum()
    }

    /// Takes memory of at least `bytes`, and not much more, that only stream number `stream` may still use. Prefers
    /// clean memory, or dirty memory if `scratch` is set, because scratch memory needs no clearing. Then it prefers
    /// the smallest, then the most recently freed. `None` if no memory fits.
    pub(crate) fn take_exclusive(&mut self, bytes: usize, stream: usize, scratch: bool) -> Option<FreeBlock> {
        let fits = |free: &FreeBlock| {
            (bytes..=max_block_bytes(bytes)).contains(&free.place.bytes) && free.is_exclusive_to(stream)
        };
        let found = self.0.iter().enumerate().rev().filter(|(_, free)| fits(free));
        let (at, _) = found.min_by_key(|(_, free)| (free.dirty != scratch, free.place.bytes))?;
        Some(self.0.remove(at))
    }

    /// Takes exactly `bytes` from the smallest free memory that is large enough, whichever stream used it before.
    /// `None` if none is.
    pub(crate) fn alloc_split(&mut self, bytes: usize) -> Option<FreeBlock> {
        self.coalesce();
        let found = self.0.iter().enumerate().filter(|(_, free)| free.place.bytes >= bytes);
        let (at, _) = found.min_by_key(|(_, free)| free.place.bytes)?;
        match self.0[at].place.bytes == bytes {
            true => Some(self.0.remove(at)),
            false => Some(self.0[at].split_front(bytes)),
        }
    }

    /// Takes the smallest free memory of at least `bytes` and less than twice as much, whichever stream used it
    /// before. `None` if none fits.
    pub(crate) fn take_whole(&mut self, bytes: usize) -> Option<FreeBlock> {
        let fits = |free: &FreeBlock| (bytes..bytes.saturating_mul(2)).contains(&free.place.bytes);
        let found = self.0.iter().enumerate().filter(|(_, free)| fits(free));
        let (at, _) = found.min_by_key(|(_, free)| free.place.bytes)?;
        Some(self.0.remove(at))
    }

    /// Takes wholly free blocks, the largest first, until they have `bytes` in total. Takes at least one block if
    /// there is any.
    pub(crate) fn take_largest_blocks(&mut self, bytes: u64) -> Vec<FreeBlock> {
        self.coalesce();
        let (mut blocks, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|free| free.place.is_whole());
        self.0 = rest;
        blocks.sort_by_key(|free| std::cmp::Reverse(free.place.bytes));
        let mut taken = 0_u64;
        let enough = blocks.iter().take_while(|free| {
            let more = taken < bytes.max(1);
            taken = taken.saturating_add(free.place.bytes as u64);
            more
        });
        let left = blocks.split_off(enough.count());
        self.0.extend(left);
        blocks
    }

    /// Takes all free memory that stream number `stream` may still use.
    pub(crate) fn take_used_by(&mut self, stream: usize) -> Vec<FreeBlock> {
        let (of_stream, rest) = self.0.drain(..).partition(|free| free.users.contains(&stream));
        self.0 = rest;
        of_stream
    }

    /// Takes wholly free blocks that no stream may still use.
    pub(crate) fn take_unused(&mut self) -> Vec<FreeBlock> {
        self.coalesce();
        let (unused, rest) = self.0.drain(..).partition(|free| free.place.is_whole() && free.users.is_empty());
        self.0 = rest;
        unused
    }

    /// Merges free parts that are adjacent in one block.
    fn coalesce(&mut self) {
        self.0.sort_by_key(|free| (free.place.memory.0, free.place.offset));
        self.0.dedup_by(|next, free| {
            let beside = free.place.is_adjacent_to(&next.place);
            if beside {
                free.merge_next(next);
            }
            beside
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_block(number: usize, bytes: usize, stream: usize) -> FreeBlock {
        FreeBlock { place: Block::whole_block(MemoryHandle(number), bytes), users: vec![stream], dirty: false }
    }

    fn free_list(blocks: &[(usize, usize, usize)]) -> FreeList {
        FreeList(blocks.iter().map(|(number, bytes, stream)| free_block(*number, *bytes, *stream)).collect())
    }

    #[test]
    fn a_stream_finds_what_it_had_where_that_fits() {
        let mut pool = free_list(&[(1, 64, 0), (2, 72, 0), (3, 80, 0), (4, 64, 1)]);
        assert!(pool.take_exclusive(65, 1, false).is_none(), "too small, or of another stream");
        assert_eq!(pool.take_exclusive(64, 0, false).map(|free| free.place.memory), Some(MemoryHandle(1)));
        assert_eq!(pool.take_exclusive(64, 0, false).map(|free| free.place.memory), Some(MemoryHandle(2)));
        assert!(pool.take_exclusive(64, 0, false).is_none(), "a quarter larger");
        assert_eq!(pool.free_bytes(), 144);
    }

    #[test]
    fn scratch_memory_goes_where_it_need_not_be_cleared() {
        for scratch in [false, true] {
            let mut pool = FreeList(vec![free_block(1, 64, 0), FreeBlock { dirty: true, ..free_block(2, 64, 0) }]);
            let dirty = pool.take_exclusive(64, 0, scratch).map(|free| free.dirty);
            assert_eq!(dirty, Some(scratch));
        }
    }

    /// Checks that parts come from the smallest block that fits, and that freed parts are merged again with all their
    /// users.
    #[test]
    fn parts_are_carved_and_joined() {
        let mut pool = free_list(&[(1, 100, 0), (2, 50, 1)]);
        let [mut first, second, third] = [40, 60, 30].map(|bytes| pool.alloc_split(bytes).expect("room"));
        let places = [&first, &second, &third].map(|free| (free.place.memory.0, free.place.offset, free.place.bytes));
        assert_eq!(places, [(2, 0, 40), (1, 0, 60), (1, 60, 30)]);
        assert!(pool.alloc_split(11).is_none());
        (first.users, first.dirty) = (vec![2], true);
        for free in [first, third] {
            pool.add_free_block(free);
        }
        assert!(pool.alloc_split(51).is_none(), "40 and 10 of block 2, 30 and 10 of block 1");
        let all = pool.alloc_split(50).expect("all of block 2");
        assert!(all.place.is_whole() && all.dirty && all.users.contains(&1) && all.users.contains(&2), "{all:?}");
        assert!(pool.take_largest_blocks(u64::MAX).is_empty(), "block 1 is in use");
        pool.add_free_block(second);
        assert_eq!(pool.take_largest_blocks(u64::MAX).len(), 1);
    }

    #[test]
    fn whole_blocks_are_not_much_larger() {
        let mut pool = free_list(&[(1, 100, 0), (2, 50, 1), (3, 60, 0)]);
        assert!(pool.take_whole(25).is_none() && pool.take_whole(101).is_none());
        let blocks = [40, 40, 90].map(|bytes| pool.take_whole(bytes).expect("room").place.memory.0);
        assert_eq!((blocks, pool.free_bytes()), ([2, 3, 1], 0));
    }

    #[test]
    fn no_more_blocks_go_than_are_lacking() {
        for (bytes, expected) in
            [(0, vec![3]), (30, vec![3]), (31, vec![3, 2]), (51, vec![3, 2, 1]), (999, vec![3, 2, 1])]
        {
            let taken = free_list(&[(1, 10, 0), (2, 20, 0), (3, 30, 1)]).take_largest_blocks(bytes);
            assert_eq!(taken.iter().map(|free| free.place.memory.0).collect::<Vec<_>>(), expected, "{bytes} bytes");
        }
    }
}
