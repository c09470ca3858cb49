//! Holds the 32-bit numbers of a matrix, in memory or in a mapped file.

use std::ops::Deref;
use std::sync::Arc;

use crate::mapped_file::MappedFile;
use crate::{Error, Result};

/// Holds 32-bit numbers in memory, or refers to those of a mapped file.
#[derive(Debug, Clone)]
pub(super) enum Words {
    /// Numbers in memory.
    Owned(Vec<u32>),
    /// `count` little-endian numbers of `file`, from byte `start` on.
    Mapped { file: Arc<MappedFile>, start: usize, count: usize },
}

impl Words {
    /// Returns the `count` little-endian numbers of `file` from byte `start` on. They are copied if the machine cannot
    /// read them in place.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the file is shorter.
    pub(super) fn from_file(file: &Arc<MappedFile>, start: usize, count: usize) -> Result<Self> {
        let bytes = bytes_at(file, start, count)?;
        if cfg!(target_endian = "little") && bytemuck::try_cast_slice::<u8, u32>(bytes).is_ok() {
            return Ok(Self::Mapped { file: file.clone(), start, count });
        }
        let (words, _) = bytes.as_chunks();
        Ok(Self::Owned(words.iter().map(|word| u32::from_le_bytes(*word)).collect()))
    }

    /// Checks that the numbers are still those that were mapped.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the file has changed.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        match self {
            Self::Owned(_) => Ok(()),
            Self::Mapped { file, .. } => file.check_unchanged(),
        }
    }
}

impl Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Self::Owned(words) => words,
            // `from_file` found that this neither fails nor lies outside the file.
            Self::Mapped { file, start, count } => bytes_at(file, *start, *count)
                .ok()
                .and_then(|bytes| bytemuck::try_cast_slice(bytes).ok())
                .unwrap_or(&[]),
        }
    }
}

impl From<Vec<u32>> for Words {
    fn from(words: Vec<u32>) -> Self {
        Self::Owned(words)
    }
}

fn bytes_at(file: &MappedFile, start: usize, count: usize) -> Result<&[u8]> {
    let end = count.checked_mul(size_of::<u32>()).and_then(|bytes| bytes.checked_add(start));
    let bytes = end.and_then(|end| file.bytes().get(start..end));
    let expected = || format!("{count} numbers of 32 bits from byte {start} on");
    bytes.ok_or_else(|| {
        Error::invalid("csr", file.path().display().to_string(), expected(), format!("{} bytes", file.len()))
    })
}
