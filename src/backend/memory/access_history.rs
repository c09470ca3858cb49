//! Records which streams have queued commands on a piece of memory.

use std::sync::{Arc, Mutex};

use crate::Result;
use crate::backend::lock;
use crate::backend::stream::StreamInner;

/// Describes the latest command of one stream on a piece of memory.
#[derive(Debug)]
struct Access {
    core: Arc<StreamInner>,
    /// Count of events that the stream had recorded when the command was queued.
    events: u64,
    writes: bool,
}

impl Access {
    fn new(core: &Arc<StreamInner>, writes: bool) -> Self {
        Self { core: core.clone(), events: core.event_count(), writes }
    }

    fn is_by_stream(&self, core: &Arc<StreamInner>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }

    /// Returns whether the command may still run. It returns false once the host has waited for a later event of the
    /// stream.
    fn is_pending(&self) -> bool {
        !self.core.has_passed(self.events)
    }

    /// Makes the next command of stream `core` wait for this command, unless it already runs later.
    fn enqueue_wait(&self, core: &Arc<StreamInner>) -> Result<()> {
        if self.is_by_stream(core) || core.is_ordered_after(&self.core, self.events) {
            Ok(())
        } else {
            core.wait_stream(&self.core)
        }
    }
}

/// Records which commands use one piece of memory: the last write, and the reads since then, with at most one entry
/// per stream.
///
/// Commands of another stream wait for these commands as with a readers-writer lock. Safe functions record their
/// commands here. The caller of an unsafe launch must order its kernels.
#[derive(Debug)]
pub(crate) struct AccessHistory(Mutex<Vec<Access>>);

impl AccessHistory {
    /// Creates a history with one entry: commands of stream `core`, the last owner, may still write the memory.
    pub(crate) fn with_owner(core: &Arc<StreamInner>) -> Self {
        Self(Mutex::new(vec![Access::new(core, true)]))
    }

    /// Makes the next command of stream `core`, which reads the memory, wait for pending writes of other streams.
    /// Records the read.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed; nothing was recorded.
    pub(crate) fn order_read(&self, core: &Arc<StreamInner>) -> Result<()> {
        let mut uses = lock(&self.0);
        if let Some(own) = uses.iter_mut().find(|one| one.is_by_stream(core)) {
            // A write since then would have removed the entry.
            own.events = core.event_count();
            return Ok(());
        }
        uses.retain(Access::is_pending);
        uses.iter().filter(|one| one.writes).try_for_each(|one| one.enqueue_wait(core))?;
        uses.push(Access::new(core, false));
        Ok(())
    }

    /// Makes the next command of stream `core`, which writes the memory, wait for all pending commands of other
    /// streams. Records the write.
    ///
    /// # Errors
    /// - [`Error::Device`](crate::Error::Device): the driver failed; nothing was recorded.
    pub(crate) fn order_write(&self, core: &Arc<StreamInner>) -> Result<()> {
        let mut uses = lock(&self.0);
        uses.iter().try_for_each(|one| one.enqueue_wait(core))?;
        uses.clear();
        uses.push(Access::new(core, true));
        Ok(())
    }

    /// Waits on the host until all recorded commands have run, and forgets them.
    pub(crate) fn synchronize(&self) {
        let mut uses = lock(&self.0);
        uses.iter().filter(|one| one.is_pending()).for_each(|one| one.core.synchronize());
        uses.clear();
    }

    /// Makes the next command of stream `core`, the owner, wait for all recorded commands, and forgets them. Waits on
    /// the host for a command that the driver fails to order.
    pub(crate) fn release_to_owner(&self, core: &Arc<StreamInner>) {
        let mut uses = lock(&self.0);
        for one in uses.drain(..) {
            if one.enqueue_wait(core).is_err() {
                one.core.synchronize();
            }
        }
    }
}
