//! The standard streams, whose readers may go and whose disks may be full.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use anyhow::{Context, Result};

/// Standard output with a buffer.
pub type Out = BufWriter<StdoutLock<'static>>;

/// Has `write` write to standard output. A reader that has gone has all it wants.
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

/// Writes a line to standard error, where anybody reads it.
pub fn say(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// No error where a pipe's reader has gone.
pub fn quiet(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
