//! The standard streams: pipes whose readers have gone, and full disks.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use anyhow::{Context, Result};

/// Standard output with a buffer.
pub type Out = BufWriter<StdoutLock<'static>>;

/// Has `write` write to standard output. A pipe whose reader has gone is no error.
///
/// # Errors
/// Nothing can be written there.
pub fn print(write: impl FnOnce(&mut Out) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let result = write(&mut out).and_then(|()| out.flush());
    // What is left in the buffer would be tried again.
    drop(out.into_parts());
    quiet(result).context("standard output")
}

/// Writes a line to standard error. It is lost if that stream is closed or full.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Takes the error of a pipe whose reader has gone for a success.
pub fn quiet(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
