//! Reads and writes the caller's memory.

use std::ffi::{CStr, c_char, c_ulonglong, c_void};
use std::path::PathBuf;

use crate::error::{Error, Result};

/// Memory of the caller for an error's text, or null.
#[derive(Clone, Copy)]
pub(crate) struct ErrorBuffer {
    start: *mut c_char,
    size: usize,
}

impl ErrorBuffer {
    pub(crate) fn new(start: *mut c_char, size: impl TryInto<usize>) -> Self {
        Self { start, size: size.try_into().unwrap_or(usize::MAX) }
    }

    /// Writes `text`, cut to whole characters that fit before the terminator. Writes nothing if there is no memory.
    ///
    /// # Safety
    /// Unless it is null, the memory is valid for writes of its size.
    pub(crate) unsafe fn write(self, text: &str) {
        let Some(capacity) = self.size.checked_sub(1).filter(|_| !self.start.is_null()) else { return };
        let end = (0..=capacity.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        let text = end.and_then(|end| text.get(..end)).unwrap_or_default();
        // SAFETY: the text and its terminator take at most the memory's size, which the caller says is writable.
        unsafe { write_text(self.start, text) };
    }
}

/// Memory of the caller for a text, with the pointer to its size, neither of them null.
#[derive(Clone, Copy)]
pub(crate) struct TextBuffer {
    start: *mut c_char,
    size: Output<c_ulonglong>,
}

impl TextBuffer {
    /// # Errors
    /// - [`Error::Null`]: a pointer is null; `names` are those of both.
    pub(crate) fn new(names: [&'static str; 2], start: *mut c_char, size: *mut c_ulonglong) -> Result<Self> {
        Ok(Self { start: expect_not_null(names[0], start)?, size: Output::new(names[1], size)? })
    }

    /// Returns the memory's size in bytes.
    ///
    /// # Safety
    /// The pointer to the size is valid for reads.
    pub(crate) unsafe fn size(self) -> u64 {
        // SAFETY: the caller says so. Sizes of C callers may be unaligned.
        unsafe { self.size.0.read_unaligned() }
    }

    /// Sets the size.
    ///
    /// # Safety
    /// The pointer to the size is valid for writes.
    pub(crate) unsafe fn set_size(self, size: u64) {
        // SAFETY: the caller says so.
        unsafe { self.size.write(size) };
    }

    /// Writes `text` and its terminator, and sets the size to the length of `text`.
    ///
    /// # Safety
    /// The memory has at least one byte more than `text`. The pointer to the size is valid for writes.
    pub(crate) unsafe fn write(self, text: &str) {
        // SAFETY: the caller says so.
        unsafe {
            write_text(self.start, text);
            self.set_size(text.len() as u64);
        }
    }
}

/// A pointer to a value that a call returns, which is not null.
#[derive(Clone, Copy)]
pub(crate) struct Output<T>(*mut T);

impl<T> Output<T> {
    /// # Errors
    /// - [`Error::Null`]: `start` is null.
    pub(crate) fn new(argument: &'static str, start: *mut T) -> Result<Self> {
        expect_not_null(argument, start).map(Self)
    }

    /// Writes `value`.
    ///
    /// # Safety
    /// The pointer is valid for writes. It may be unaligned.
    pub(crate) unsafe fn write(self, value: T) {
        // SAFETY: the caller says so.
        unsafe { self.0.write_unaligned(value) };
    }
}

fn expect_not_null<T>(argument: &'static str, start: *mut T) -> Result<*mut T> {
    if start.is_null() { Err(Error::Null { argument }) } else { Ok(start) }
}

/// Writes `text` and a terminator.
///
/// # Safety
/// `start` is valid for writes of one byte more than `text` has.
unsafe fn write_text(start: *mut c_char, text: &str) {
    let start = start.cast::<u8>();
    // SAFETY: the caller says so, and `text` is memory of this library, which no caller has.
    unsafe {
        start.copy_from_nonoverlapping(text.as_ptr(), text.len());
        start.add(text.len()).write(0);
    }
}

/// Returns the bytes of a buffer.
///
/// # Safety
/// Unless it is null, `start` is valid for reads of `size` bytes, which nothing writes to during `'a`.
///
/// # Errors
/// - [`Error::Null`]: `start` is null.
/// - [`Error::TooLong`]: no memory has `size` bytes.
pub(crate) unsafe fn borrow_bytes<'a>(
    argument: &'static str,
    start: *const c_void,
    size: c_ulonglong,
) -> Result<&'a [u8]> {
    if start.is_null() {
        return Err(Error::Null { argument });
    }
    let length = isize::try_from(size).map_err(|_| Error::TooLong { argument, actual: size })?;
    // SAFETY: the pointer is not null, the size is in range, and the caller says that the bytes are readable.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), length.unsigned_abs()) })
}

/// Copies the bytes of a buffer.
///
/// # Safety
/// Unless it is null, `start` is valid for reads of `size` bytes, which nothing writes to meanwhile.
///
/// # Errors
/// - [`Error::Memory`]: there is too little memory.
/// - [`borrow_bytes`] lists the others.
pub(crate) unsafe fn copy_bytes(argument: &'static str, start: *const c_void, size: c_ulonglong) -> Result<Vec<u8>> {
    // SAFETY: the caller says so.
    try_copy(argument, unsafe { borrow_bytes(argument, start, size)? })
}

/// Copies `bytes`.
///
/// # Errors
/// - [`Error::Memory`]: there is too little memory.
pub(crate) fn try_copy(argument: &'static str, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| Error::Memory { argument, bytes: bytes.len() })?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Returns a text.
///
/// # Safety
/// Unless it is null, `start` points to bytes that end with a terminator, and nothing writes to them during `'a`.
///
/// # Errors
/// - [`Error::Null`]: `start` is null.
/// - [`Error::Encoding`]: the text is not UTF-8.
pub(crate) unsafe fn borrow_text<'a>(argument: &'static str, start: *const c_char) -> Result<&'a str> {
    // SAFETY: the caller says so.
    let text = unsafe { borrow_c_str(argument, start)? };
    text.to_str().map_err(|_| Error::Encoding { argument })
}

/// Returns a path, of any bytes on Unix.
///
/// # Safety
/// Unless it is null, `start` points to bytes that end with a terminator, and nothing writes to them meanwhile.
///
/// # Errors
/// - [`Error::Null`]: `start` is null.
/// - [`Error::Encoding`]: the system's paths are Unicode, and this one is not.
pub(crate) unsafe fn copy_path(argument: &'static str, start: *const c_char) -> Result<PathBuf> {
    // SAFETY: the caller says so.
    let text = unsafe { borrow_c_str(argument, start)? };
    path_from_c(argument, text)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have paths that are errors")]
fn path_from_c(_: &'static str, text: &CStr) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(std::ffi::OsStr::from_bytes(text.to_bytes()).into())
}

#[cfg(not(unix))]
fn path_from_c(argument: &'static str, text: &CStr) -> Result<PathBuf> {
    text.to_str().map(PathBuf::from).map_err(|_| Error::Encoding { argument })
}

/// # Safety
/// Unless it is null, `start` points to bytes that end with a terminator, and nothing writes to them during `'a`.
///
/// # Errors
/// - [`Error::Null`]: `start` is null.
unsafe fn borrow_c_str<'a>(argument: &'static str, start: *const c_char) -> Result<&'a CStr> {
    if start.is_null() {
        return Err(Error::Null { argument });
    }
    // SAFETY: the pointer is not null, and the caller says that a terminator follows.
    Ok(unsafe { CStr::from_ptr(start) })
}
