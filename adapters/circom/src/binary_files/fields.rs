//! Reads fields one after the other.

use crate::error::{FileSection, Result};

/// A cursor over little-endian fields. Errors name `place` and the field.
pub(crate) struct Fields<'a> {
    place: FileSection<'a>,
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Starts at the first of `bytes`.
    pub(crate) fn new(place: FileSection<'a>, bytes: &'a [u8]) -> Self {
        Self { place, bytes }
    }

    /// Returns the number of bytes that are left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the next `length` bytes, the field `what`.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): fewer are left.
    pub(crate) fn bytes(&mut self, what: &str, length: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length));
        let too_short = || self.place.malformed(what, format!("{length} bytes"), self.remaining());
        let (field, rest) = split.ok_or_else(too_short)?;
        self.bytes = rest;
        Ok(field)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(what, N as u64)?);
        Ok(array)
    }

    /// Returns the next 4 bytes, the field `what`.
    ///
    /// # Errors
    /// [`Self::bytes`] lists them.
    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// Returns the next 8 bytes, the field `what`.
    ///
    /// # Errors
    /// [`Self::bytes`] lists them.
    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): some are left.
    pub(crate) fn end(self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            remaining => Err(self.place.malformed("length", "the section's end", format!("{remaining} more bytes"))),
        }
    }
}
