//! The process that devices, pools of threads and locks belong to. A child that it forks has none of the threads.

use crate::{Error, Result};

/// Refuses work in a process that was forked after its parent's first use of the engine.
///
/// Such a child has no threads of pools and no contexts of devices: a wait for them would not end. The first call marks
/// this process as a user; forks before that call are not refused. Each later call reads an atomic.
///
/// # Errors
/// - [`Error::Forked`]: the process is such a child, or descends from one.
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

    /// Returns the process that this one was forked from, if that one had used the engine.
    pub fn parent() -> Option<u32> {
        if USER.load(Ordering::Acquire) == 0 {
            watch();
        }
        FORKED.load(Ordering::Relaxed).then(|| USER.load(Ordering::Relaxed))
    }

    /// Registers a function that the system calls in later forks. Threads that come here at the same time register it
    /// twice, which is harmless.
    #[cold]
    fn watch() {
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
    /// No process forks here.
    pub fn parent() -> Option<u32> {
        None
    }
}
