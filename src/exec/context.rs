//! Carries the abort hook and the statistics of an operation to all of its parts.

use std::sync::Mutex;

use crate::Result;
use crate::backend::{Abort, Stream, StreamStats, check_abort, lock};

/// Adds up the statistics of an operation's streams. Several threads may add to it.
#[derive(Debug, Default)]
pub(crate) struct StatsSum(Mutex<StreamStats>);

impl StatsSum {
    /// Adds the statistics `part`.
    pub(crate) fn add(&self, part: StreamStats) {
        let mut sum = lock(&self.0);
        *sum = *sum + part;
    }

    /// Returns the sum so far.
    pub(crate) fn total(&self) -> StreamStats {
        *lock(&self.0)
    }
}

/// Carries the abort hook of an operation, and the place for the statistics of its streams.
///
/// A copy shares both.
#[derive(Clone, Copy)]
pub(crate) struct ExecCtx<'a> {
    abort: Abort<'a>,
    stats: Option<&'a StatsSum>,
}

impl<'a> ExecCtx<'a> {
    /// Creates the context of work that is part of no reported operation. It polls `abort`, and drops statistics.
    pub(crate) fn unreported(abort: Abort<'a>) -> Self {
        Self { abort, stats: None }
    }

    /// Creates a context that polls `abort` and adds statistics to `stats`.
    pub(crate) fn new(abort: Abort<'a>, stats: &'a StatsSum) -> Self {
        Self { abort, stats: Some(stats) }
    }

    /// Returns a copy that polls `abort` instead.
    pub(crate) fn with_abort<'b>(self, abort: Abort<'b>) -> ExecCtx<'b>
    where
        'a: 'b,
    {
        ExecCtx { abort, stats: self.stats }
    }

    /// Returns the abort hook, for streams and for calls of public functions.
    pub(crate) fn abort(self) -> Abort<'a> {
        self.abort
    }

    /// Returns whether the operation may be aborted.
    pub(crate) fn is_abortable(self) -> bool {
        self.abort.is_some()
    }

    /// Polls the abort hook.
    ///
    /// # Errors
    /// - [`crate::Error::Aborted`]: the hook asks to stop.
    pub(crate) fn check_abort(self) -> Result<()> {
        check_abort(self.abort)
    }

    /// Waits for all work queued on `stream`, and polls the abort hook meanwhile.
    ///
    /// # Errors
    /// - [`crate::Error::Aborted`]: the hook asks to stop.
    /// - [`crate::Error::Device`]: the driver failed.
    pub(crate) fn synchronize(self, stream: &mut Stream) -> Result<()> {
        stream.synchronize(self.abort)
    }

    /// Adds `part` to the operation's statistics.
    pub(crate) fn add_stats(self, part: StreamStats) {
        if let Some(stats) = self.stats {
            stats.add(part);
        }
    }

    /// Adds the statistics of `streams`. The caller records each stream once, at its end.
    pub(crate) fn record<'s>(self, streams: impl IntoIterator<Item = &'s Stream>) {
        streams.into_iter().for_each(|stream| self.add_stats(stream.stats()));
    }
}
