//! Records which streams have queued commands on a piece of memory.

use std::sync::{Arc, Mutex};

use super::lock;
use super::stream_inner::StreamInner;
use crate::Result;

/// Describes a stream's latest command on a piece of memory.
#[derive(Debug)]
struct Access {
    core: Arc<StreamInner>,
    /// Count of the stream's events when the command was queued.
    events: u64,
    writes: bool,
}

impl Access {
    fn new(core: &Arc<StreamInner>, writes: bool) -> Self {
        Self { core: core.clone(), events: core.events(), writes }
    }

    fn is_of(&self, core: &Arc<StreamInner>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }

    /// Returns whether the command may still run: the host has waited for no later event.
    fn is_pending(&self) -> bool {
        !self.core.has_passed(self.events)
    }

    /// Orders the next command of `core` behind this one.
    fn order(&self, core: &Arc<StreamInner>) -> Result<()> {
        if self.is_of(core) || core.is_behind(&self.core, self.events) { Ok(()) } else { core.wait_for(&self.core) }
    }
}

/// Records the commands on one piece of memory: the last write, and reads since then, at most one entry a stream.
///
/// Each command of another stream is ordered behind them as by a readers-writer lock. Safe functions record their
/// commands here; the caller of an unsafe launch orders its kernels.
#[derive(Debug)]
pub(super) struct AccessHistory(Mutex<Vec<Access>>);

impl AccessHistory {
    /// Records that commands of `core`, the last owner, may use the memory.
    pub fn by_owner(core: &Arc<StreamInner>) -> Self {
        Self(Mutex::new(vec![Access::new(core, true)]))
    }

    /// Orders the next command of `core`, which reads the memory, behind pending writes of other streams.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed; nothing was recorded.
    pub fn read(&self, core: &Arc<StreamInner>) -> Result<()> {
        let mut uses = lock(&self.0);
        if let Some(own) = uses.iter_mut().find(|one| one.is_of(core)) {
            // A write since then would have removed the entry.
            own.events = core.events();
            return Ok(());
        }
        uses.retain(Access::is_pending);
        uses.iter().filter(|one| one.writes).try_for_each(|one| one.order(core))?;
        uses.push(Access::new(core, false));
        Ok(())
    }

    /// Orders the next command of `core`, which writes the memory, behind all pending ones of other streams.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed; nothing was recorded.
    pub fn write(&self, core: &Arc<StreamInner>) -> Result<()> {
        let mut uses = lock(&self.0);
        uses.iter().try_for_each(|one| one.order(core))?;
        uses.clear();
        uses.push(Access::new(core, true));
        Ok(())
    }

    /// Waits on the host until no command uses the memory.
    pub fn synchronize(&self) {
        let mut uses = lock(&self.0);
        uses.iter().filter(|one| one.is_pending()).for_each(|one| one.core.synchronize());
        uses.clear();
    }

    /// Orders the next command of `core`, the owner, behind all pending ones, even if the driver fails.
    pub fn release_to(&self, core: &Arc<StreamInner>) {
        let mut uses = lock(&self.0);
        for one in uses.drain(..) {
            if one.order(core).is_err() {
                one.core.synchronize();
            }
        }
    }
}
