//! The caller's hook that stops an operation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use super::lock;
use crate::{Error, Result};

/// Holds the caller's optional abort hook, a closure that returns true to stop the operation. The library calls it at
/// least every few milliseconds, from any thread. `None` never stops.
///
/// If the hook returns true, the call ends with [`Error::Aborted`] and leaves its inputs unchanged. A call with a
/// hook queues at most about 50 ms of work on a device, so that an abort takes effect soon.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use proofwarp::{Abort, Accelerator, Error, ntt::{Direction, NttDomain}};
///
/// let stop = AtomicBool::new(true); // another thread may set it
/// let ask = || stop.load(Ordering::Relaxed);
/// let abort: Abort<'_> = Some(&ask);
/// let domain = NttDomain::<blstrs::Scalar>::new(&Accelerator::from_env()?, 12)?;
/// let mut values = vec![blstrs::Scalar::from(7); 1 << 12];
/// let result = domain.run(Direction::Forward, &mut [&mut values], abort);
/// assert!(matches!(result, Err(Error::Aborted)));
/// assert_eq!(values, vec![blstrs::Scalar::from(7); 1 << 12]);
/// # Ok::<(), proofwarp::Error>(())
/// ```
pub type Abort<'a> = Option<&'a (dyn Fn() -> bool + Send + Sync)>;

/// Calls the hook `abort`, and returns an error if it asks to stop. Without a hook it returns `Ok`.
///
/// # Errors
/// - [`Error::Aborted`]: `abort` asks to stop.
pub(crate) fn check_abort(abort: Abort<'_>) -> Result<()> {
    if abort.is_some_and(|abort| abort()) { Err(Error::Aborted) } else { Ok(()) }
}

/// Wraps a caller's hook, and treats a panic of the hook as a request to stop. [`Self::finish`] resumes the panic once
/// the work has ended, so that inputs are unchanged and devices stay usable.
pub(crate) struct HookGuard<'a> {
    hook: Abort<'a>,
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<'a> HookGuard<'a> {
    pub(crate) fn new(hook: Abort<'a>) -> Self {
        Self { hook, panicked: Mutex::new(None) }
    }

    /// Returns whether the hook asks to stop. A hook that panicked is not called again.
    pub(crate) fn is_stop_requested(&self) -> bool {
        let Some(hook) = self.hook else { return false };
        lock(&self.panicked).is_some()
            || catch_unwind(AssertUnwindSafe(hook)).unwrap_or_else(|panic| {
                lock(&self.panicked).get_or_insert(panic);
                true
            })
    }

    /// Ends the work that polled the hook.
    ///
    /// # Panics
    /// Panics if the hook panicked.
    pub(crate) fn finish(self) {
        if let Some(panic) = self.panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }
}

/// Runs `work` with a hook that wraps `abort` and treats its panic as a request to stop. Every function that takes a
/// caller's hook must call it through this function or through `exec::execute`.
///
/// # Errors
/// - `work` failed; its error is returned.
///
/// # Panics
/// Panics if the hook panicked.
pub fn catch_hook_panic<T>(abort: Abort<'_>, work: impl FnOnce(Abort<'_>) -> Result<T>) -> Result<T> {
    let guard = HookGuard::new(abort);
    let poll = || guard.is_stop_requested();
    let result = work(abort.is_some().then_some(&poll as _));
    guard.finish();
    result
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// Checks that a panic of the hook resumes whether `work` returns an error or not, and that the hook is not
    /// called again.
    #[test]
    fn a_panic_goes_on_after_the_work() {
        for finishes in [false, true] {
            let (asked, ended) = (AtomicU32::new(0), Cell::new(false));
            let hook = || asked.fetch_add(1, Ordering::Relaxed) > 0 && panic!("on purpose");
            let work = |abort: Abort<'_>| {
                let answers = [(); 4].map(|()| check_abort(abort).is_err());
                assert_eq!(answers, [false, true, true, true]);
                ended.set(true);
                if finishes { Ok(()) } else { Err(Error::Aborted) }
            };
            let panic = catch_unwind(AssertUnwindSafe(|| catch_hook_panic(Some(&hook), work))).expect_err("it panics");
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
            assert!(ended.get() && asked.into_inner() == 2);
        }
    }
}
