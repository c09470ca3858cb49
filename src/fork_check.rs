//! Detects processes that were forked after their parent's first use of the engine. Such a child has none of the
//! parent's threads.

use crate::{Error, Result};

/// Returns an error if this process was forked after its parent's first use of the engine.
///
/// Such a child lacks the parent's pool threads and device contexts, so a wait for them would never end. The first call
/// marks this process as a user of the engine. Children forked before that call are not refused. Each later call only
/// reads an atomic.
///
/// # Errors
/// - [`Error::Forked`]: the process is such a child, or descends from one.
pub fn check() -> Result<()> {
    own::parent().map_or(Ok(()), |parent| Err(Error::Forked { parent, child: std::process::id() }))
}

#[cfg(unix)]
mod own {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    /// Id of the process that used the engine first, 0 before that.
    static USER: AtomicU32 = AtomicU32::new(0);
    /// Whether this process was forked, directly or not, from the process that used the engine first.
    static FORKED: AtomicBool = AtomicBool::new(false);

    /// Returns the id of the process that had used the engine before this process was forked from it. Returns `None` if
    /// this process is no such fork.
    pub(super) fn parent() -> Option<u32> {
        if USER.load(Ordering::Acquire) == 0 {
            register_fork_hook();
        }
        FORKED.load(Ordering::Relaxed).then(|| USER.load(Ordering::Relaxed))
    }

    /// Registers a function that the system calls in each later child of this process. Threads that call this at the
    /// same time register it twice, which is harmless.
    #[cold]
    fn register_fork_hook() {
        // SAFETY: the function stays loaded as long as this code. It stores to an atomic, which is safe between fork
        // and exec.
        let failure = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
        if failure != 0 {
            log::warn!("forks of this process will not be noticed: pthread_atfork gives {failure}");
        }
        USER.store(std::process::id(), Ordering::Release);
    }

    extern "C" fn forked() {
        FORKED.store(true, Ordering::Relaxed);
    }
}

#[cfg(not(unix))]
mod own {
    /// Returns `None`: processes do not fork on this system.
    pub(super) fn parent() -> Option<u32> {
        None
    }
}
