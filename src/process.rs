//! The process that devices, pools of threads and locks belong to. A child that it forks has none of the threads.

use crate::{Error, Result};

/// Refuses work in a process that was forked after its parent's first use of the engine.
///
/// Threads of pools and contexts of devices are not in such a child: whatever waits for them would wait for ever. The first
/// call marks this process as a user; a fork before that is none of this crate's business. It costs the read of an atomic.
///
/// # Errors
/// [`Error::Forked`]: in the child, and in the child's children.
pub fn check() -> Result<()> {
    own::parent().map_or(Ok(()), |parent| Err(Error::Forked { parent, child: std::process::id() }))
}

#[cfg(unix)]
mod own {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    /// The process that used the engine first; 0 before that.
    static USER: AtomicU32 = AtomicU32::new(0);
    /// Whether this process is a fork of that one.
    static FORKED: AtomicBool = AtomicBool::new(false);

    /// The process whose fork this one is, if it had used the engine before.
    pub fn parent() -> Option<u32> {
        if USER.load(Ordering::Acquire) == 0 {
            watch();
        }
        FORKED.load(Ordering::Relaxed).then(|| USER.load(Ordering::Relaxed))
    }

    /// Has the system tell later forks. Threads that come here at the same time register the function twice, which is harmless.
    #[cold]
    fn watch() {
        // SAFETY: the function stays loaded as long as this code. It stores to an atomic, which is safe between fork and exec.
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
    /// No process forks here.
    pub fn parent() -> Option<u32> {
        None
    }
}
