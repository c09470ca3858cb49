//! Finds the sections of a zkey or wtns file.
//!
//! | bytes | field that they hold |
//! |---|---|
//! | 4 | magic, `zkey` or `wtns` |
//! | 4 | version |
//! | 4 | number of sections |
//! | 4 | type of the first section |
//! | 8 | its length in bytes |
//! | its length | its contents |
//! | | further sections |
//!
//! All integers are little-endian. Sections come in any order.

use std::ops::Range;

use crate::binary_files::fields::Fields;
use crate::error::{FileSection, Result};

/// Types below this are kept; others are skipped.
const SECTION_TYPES: usize = 16;

/// Describes a kind of file.
#[derive(Debug)]
pub(crate) struct Format {
    pub magic: [u8; 4],
    pub version: u32,
    /// Types of the sections that are read, and their names.
    pub sections: &'static [(u32, &'static str)],
}

impl Format {
    fn section_name(&self, section_type: u32) -> &'static str {
        let found = self.sections.iter().find(|section| section.0 == section_type);
        found.map_or("unknown section", |section| section.1)
    }
}

#[derive(Debug, Clone)]
enum Entry {
    Missing,
    Found(Range<usize>),
    Repeated,
}

/// Positions of a file's sections by their types.
#[derive(Debug)]
pub(crate) struct SectionTable<'a> {
    file: &'a str,
    format: &'static Format,
    bytes: &'a [u8],
    entries: [Entry; SECTION_TYPES],
}

/// A section's contents, their position in the file, and the section's name for errors.
#[derive(Debug, Clone)]
pub(crate) struct Section<'a> {
    pub place: FileSection<'a>,
    pub name: &'static str,
    pub bytes: &'a [u8],
    pub range: Range<usize>,
}

impl<'a> SectionTable<'a> {
    /// Reads the table of the file `bytes`, which errors name `file`. Bytes behind the last section are ignored, as in
    /// snarkjs.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): another magic, or a section that ends beyond the file.
    /// - [`Error::Unsupported`](crate::Error::Unsupported): another version.
    pub(crate) fn parse(file: &'a str, format: &'static Format, bytes: &'a [u8]) -> Result<Self> {
        let mut table = Self { file, format, bytes, entries: [const { Entry::Missing }; SECTION_TYPES] };
        let mut fields = Fields::new(FileSection { file, section: "header of the file" }, bytes);
        for section in 0..table.read_header(&mut fields)? {
            table.read_entry(&mut fields, section)?;
        }
        Ok(table)
    }

    /// Checks magic and version, and returns the number of sections.
    fn read_header(&self, fields: &mut Fields<'a>) -> Result<u32> {
        let place = FileSection { file: self.file, section: "header of the file" };
        let magic = fields.bytes("magic", 4)?;
        if magic != self.format.magic {
            let [expected, actual] = [&self.format.magic, magic].map(|magic| magic.escape_ascii().to_string());
            return Err(place.malformed("magic", expected, actual));
        }
        let version = fields.u32("version")?;
        if version != self.format.version {
            return Err(place.unsupported("version", self.format.version, version));
        }
        fields.u32("number of sections")
    }

    fn read_entry(&mut self, fields: &mut Fields<'a>, index: u32) -> Result<()> {
        let section_type = fields.u32(&format!("type of section number {index}"))?;
        let length = fields.u64(&format!("length of section number {index}"))?;
        let start = self.bytes.len().saturating_sub(fields.remaining());
        let section = self.format.section_name(section_type);
        let place = FileSection { file: self.file, section };
        let too_long = || place.malformed("length", format!("at most the file's {} bytes", fields.remaining()), length);
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let end = end.filter(|end| *end <= self.bytes.len()).ok_or_else(too_long)?;
        fields.bytes("contents", length)?;
        if let Some(entry) = self.entries.get_mut(section_type as usize) {
            *entry = if matches!(entry, Entry::Missing) { Entry::Found(start..end) } else { Entry::Repeated };
        }
        Ok(())
    }

    /// Returns the section of type `section_type`.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): the file does not have it exactly once.
    pub(crate) fn section(&self, section_type: u32) -> Result<Section<'a>> {
        let name = self.format.section_name(section_type);
        let place = FileSection { file: self.file, section: name };
        let occurrences = |actual: &str| place.malformed("occurrences", "one", actual);
        match self.entries.get(section_type as usize) {
            Some(Entry::Found(range)) => {
                let bytes = self.bytes.get(range.clone()).unwrap_or_default();
                Ok(Section { place, name, bytes, range: range.clone() })
            }
            Some(Entry::Repeated) => Err(occurrences("more")),
            _ => Err(occurrences("none")),
        }
    }
}

impl Section<'_> {
    /// Checks that the section has `count` elements of `size` bytes each.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): it has another length.
    pub(crate) fn expect_elements(&self, count: u64, size: usize) -> Result<()> {
        let expected = count.checked_mul(size as u64);
        if expected == Some(self.bytes.len() as u64) {
            return Ok(());
        }
        Err(self.place.malformed("length", format!("{count} * {size} bytes"), self.bytes.len()))
    }
}
