//! Waits for the signals that end the server.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receives SIGINT and SIGTERM, which no longer end the process by themselves.
#[cfg(unix)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to receive signals.
    ///
    /// # Errors
    /// Returns an error if the system refuses a handler.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ends the process at once, with 0. It runs no handler of `atexit`: a driver that is being loaded may not end well.
#[cfg(unix)]
pub(super) fn end_process() {
    signal_hook::low_level::exit(0);
}

/// Ends the process at once, with 0.
#[cfg(not(unix))]
pub(super) fn end_process() {
    std::process::exit(0);
}

/// Receives Ctrl-C, which no longer ends the process by itself.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Starts to receive signals.
    ///
    /// # Errors
    /// Never returns one.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next signal. Without a handler it waits forever.
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
