//! Holds the bytes of a file, in memory or mapped.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use proofwarp::rayon_waits::check_host_threads;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Bytes of a file: owned, shared, or mapped by [`Zkey::open_mapped`](crate::Zkey::open_mapped).
#[derive(Debug)]
pub struct FileBytes(Contents);

enum Contents {
    Owned(Vec<u8>),
    Shared(Arc<[u8]>),
    Mapped(Mapping),
}

/// A mapped file and its state when it was mapped.
struct Mapping {
    map: Mmap,
    file: File,
    state: Metadata,
}

impl fmt::Debug for Contents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, bytes) = match self {
            Self::Owned(bytes) => ("owned", bytes.len()),
            Self::Shared(bytes) => ("shared", bytes.len()),
            Self::Mapped(mapping) => ("mapped", mapping.map.len()),
        };
        write!(formatter, "{bytes} bytes, {kind}")
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Contents::Owned(bytes))
    }
}

impl From<Arc<[u8]>> for FileBytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(Contents::Shared(bytes))
    }
}

impl FileBytes {
    /// Maps the file at `path`, which errors name `name`.
    ///
    /// # Safety
    /// No process may write to the file or shorten it while it is mapped.
    ///
    /// # Errors
    /// - [`Error::Read`]: `path` is no regular file, or the system cannot open or map it.
    pub(crate) unsafe fn map(path: &Path, name: &str) -> Result<Self> {
        let open = || {
            let (file, state) = open_regular(path)?;
            // SAFETY: the caller promises that nothing writes to the file or shortens it.
            let map = unsafe { Mmap::map(&file)? };
            Ok(Self(Contents::Mapped(Mapping { map, file, state })))
        };
        open().map_err(|source| Error::Read { file: name.to_owned(), source })
    }

    /// Returns all bytes.
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Contents::Owned(bytes) => bytes,
            Contents::Shared(bytes) => bytes,
            Contents::Mapped(mapping) => &mapping.map,
        }
    }

    /// Compares a mapped file's length and time of change with those when it was mapped. Bytes in memory cannot change.
    ///
    /// # Errors
    /// - [`Error::Changed`]: they differ.
    /// - [`Error::Read`]: the system does not tell them.
    pub(crate) fn check_unchanged(&self, name: &str) -> Result<()> {
        let Contents::Mapped(mapping) = &self.0 else { return Ok(()) };
        let file = || name.to_owned();
        let state = mapping.file.metadata().map_err(|source| Error::Read { file: file(), source })?;
        let [expected, actual] = [&mapping.state, &state].map(description);
        if expected == actual { Ok(()) } else { Err(Error::Changed { file: file(), expected, actual }) }
    }
}

/// Describes a file's state: its length and the time of its last change.
fn description(state: &Metadata) -> String {
    let changed = state.modified().map_or_else(|error| error.to_string(), |time| format!("{time:?}"));
    format!("{} bytes changed at {changed}", state.len())
}

/// Opens the regular file at `path`. The first check keeps a pipe from being opened, which waits for its other end.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let expect_regular = |state: Metadata| {
        let error = || io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file");
        state.is_file().then_some(state).ok_or_else(error)
    };
    expect_regular(fs::metadata(path)?)?;
    let file = File::open(path)?;
    let state = expect_regular(file.metadata()?)?;
    Ok((file, state))
}

/// Bytes that a thread reads at a time, 4 MiB: about a millisecond from the page cache.
const PIECE: usize = 1 << 22;

/// Appends the contents of the regular file at `path` to `bytes`, which has to be empty, by one allocation. Nothing is
/// left elsewhere in memory, so a buffer that is cleared on drop clears all of a secret file. All threads of rayon's
/// pool read, since new memory of this size needs them all.
///
/// # Errors
/// - [`Error::Read`]: `path` is no regular file, the system cannot open or read it, it shrinks meanwhile, or there is too
///   little memory.
/// - [`Error::Engine`]: the process was forked from one that had used the engine.
pub(crate) fn read_file(path: &Path, name: &str, bytes: &mut Vec<u8>) -> Result<()> {
    // A forked child has no threads of the pool, and a limit may leave it few.
    check_host_threads()?;
    let mut read = || {
        let (file, state) = open_regular(path)?;
        let length = usize::try_from(state.len()).map_err(io::Error::other)?;
        bytes.try_reserve_exact(length).map_err(io::Error::other)?;
        let pieces = bytes.spare_capacity_mut()[..length].par_chunks_mut(PIECE).enumerate();
        pieces.try_for_each(|(index, piece)| read_piece(&file, piece, (index * PIECE) as u64))?;
        // SAFETY: the vector was empty, and the pieces are its first `length` bytes, which have all been read.
        unsafe { bytes.set_len(length) };
        Ok(())
    };
    read().map_err(|source| Error::Read { file: name.to_owned(), source })
}

/// Reads bytes of `file` from `offset` on into the start of `piece`, and returns their number.
#[cfg(unix)]
fn read_at(file: &File, piece: &mut [MaybeUninit<u8>], offset: u64) -> io::Result<usize> {
    let read = || rustix::io::pread(file, &mut *piece, offset).map(|(read, _)| read.len());
    Ok(rustix::io::retry_on_intr(read)?)
}

/// Reads bytes of `file` from `offset` on into the start of `piece`, and returns their number.
#[cfg(windows)]
fn read_at(file: &File, piece: &mut [MaybeUninit<u8>], offset: u64) -> io::Result<usize> {
    piece.fill(MaybeUninit::new(0));
    // SAFETY: all bytes were just written.
    let bytes = unsafe { &mut *(std::ptr::from_mut(piece) as *mut [u8]) };
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// Reads the bytes of `file` from `offset` on into all of `piece`.
fn read_piece(file: &File, mut piece: &mut [MaybeUninit<u8>], mut offset: u64) -> io::Result<()> {
    while !piece.is_empty() {
        let count = read_at(file, piece, offset)?;
        if count == 0 {
            let text = format!("expected more than {offset} bytes: the file was shortened");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        piece = &mut piece[count..];
        offset += count as u64;
    }
    Ok(())
}
