//! Reads curve and sizes of a zkey without its points and coefficients.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::Path;

use crate::binary_files::fields::Fields;
use crate::binary_files::file_bytes::open_regular;
use crate::binary_files::sections::SectionTable;
use crate::error::{Error, FileSection, Result};
use crate::zkey::header::{HEADER, PROTOCOL, ZKEY, ZkeyHeader, check_protocol, read_header};

/// Bytes that magic, version and number of sections take.
const FILE_HEADER_BYTES: u64 = 12;

/// Bytes that a section's type and length take.
const SECTION_HEADER_BYTES: u64 = 12;

/// Maximum bytes of a section that is read here. A header of BLS12-381, the longer one, has 964 bytes.
const MAX_SECTION_BYTES: u64 = 1 << 12;

impl ZkeyHeader {
    /// Reads curve and sizes of the file at `path`. Skips the contents of all sections but those of the protocol and the
    /// header.
    ///
    /// # Errors
    /// - [`Error::Read`]: `path` is no regular file, or it cannot be read.
    /// - [`Self::from_bytes`] lists the errors of its contents.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let mut outline = Outline::open(path.as_ref(), &name)?;
        outline.copy(FILE_HEADER_BYTES)?;
        for section in 0..outline.section_count() {
            outline.copy_section(section)?;
        }
        Self::from_bytes(&name, &outline.bytes)
    }

    /// Reads curve and sizes of the zkey `bytes`, which errors name `file`. Reads no section but those of the protocol
    /// and the header.
    ///
    /// # Errors
    /// - [`Error::Unsupported`]: another version, protocol or curve.
    /// - [`Error::Malformed`]: another magic, or a section ends beyond the file.
    /// - [`Error::Malformed`]: the section of the protocol or the header is missing, repeated or malformed.
    pub fn from_bytes(file: &str, bytes: &[u8]) -> Result<Self> {
        let table = SectionTable::parse(file, &ZKEY, bytes)?;
        check_protocol(&table)?;
        Ok(read_header(&table)?.0)
    }
}

/// Copies a zkey without the contents of most sections, whose lengths become 0.
struct Outline<'a> {
    name: &'a str,
    input: BufReader<File>,
    /// Bytes of the file that are neither copied nor skipped.
    remaining: u64,
    bytes: Vec<u8>,
}

impl<'a> Outline<'a> {
    fn open(path: &Path, name: &'a str) -> Result<Self> {
        let opened = open_regular(path).map_err(|source| Error::Read { file: name.to_owned(), source });
        let (file, state) = opened?;
        Ok(Self { name, input: BufReader::new(file), remaining: state.len(), bytes: Vec::new() })
    }

    /// Returns the number of sections, or 0 if the file ends before it.
    fn section_count(&self) -> u32 {
        self.bytes
            .last_chunk()
            .filter(|_| self.bytes.len() as u64 == FILE_HEADER_BYTES)
            .map_or(0, |count| u32::from_le_bytes(*count))
    }

    /// Copies the next `count` bytes, or all bytes if fewer are left.
    fn copy(&mut self, count: u64) -> Result<()> {
        let copied = (&mut self.input).take(count.min(self.remaining)).read_to_end(&mut self.bytes);
        self.remaining = self.remaining.saturating_sub(self.read(copied)? as u64);
        Ok(())
    }

    /// Copies section number `index`, without its contents unless they are read here.
    fn copy_section(&mut self, index: u32) -> Result<()> {
        let start = self.bytes.len();
        self.copy(SECTION_HEADER_BYTES)?;
        let place = FileSection { file: self.name, section: "header of the file" };
        let mut fields = Fields::new(place, self.bytes.get(start..).unwrap_or_default());
        let section_type = fields.u32(&format!("type of section number {index}"))?;
        let what = format!("length of section number {index}");
        let length = fields.u64(&what)?;
        let is_read = [PROTOCOL, HEADER].contains(&section_type);
        let max = if is_read { self.remaining.min(MAX_SECTION_BYTES) } else { self.remaining };
        if length > max {
            return Err(place.malformed(what, format!("at most {max} bytes"), length));
        }
        if is_read { self.copy(length) } else { self.skip(start, length) }
    }

    /// Skips the `length` bytes of the section whose header is at `start`, and sets its length to 0.
    fn skip(&mut self, start: usize, length: u64) -> Result<()> {
        if let Some(field) = self.bytes.get_mut(start + 4..) {
            field.fill(0);
        }
        let offset = i64::try_from(length).map_err(io::Error::other);
        let skipped = offset.and_then(|offset| self.input.seek_relative(offset));
        self.remaining = self.remaining.saturating_sub(length);
        self.read(skipped)
    }

    /// Adds the file's name to an error of the system.
    fn read<T>(&self, result: io::Result<T>) -> Result<T> {
        result.map_err(|source| Error::Read { file: self.name.to_owned(), source })
    }
}
