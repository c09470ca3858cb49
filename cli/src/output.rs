//! Writes to the standard streams, which may be pipes whose readers have gone, or on full disks.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use anyhow::{Context, Result};

/// Buffers standard output.
pub type Out = BufWriter<StdoutLock<'static>>;

/// Calls `write` with buffered standard output, and flushes that. A pipe whose reader has gone is no error.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn print(write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let result = write(&mut out).and_then(|()| out.flush());
    // Dropping the buffer itself would try to write its rest again.
    drop(out.into_parts());
    quiet(result).context("standard output")
}

/// Writes `line` to standard error, with a line break. It is lost if that stream is closed or full.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Returns `result`, but `Ok` if its error is that of a pipe whose reader has gone.
pub fn quiet(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
