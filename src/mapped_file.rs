//! Reads the bytes of a file in place, as long as the file stays unchanged.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::settings::Settings;
use crate::{Error, Result};

/// Maps a file for reading as long as it stays unchanged, or holds a copy of it in memory.
///
/// A mapped file must not be written to or shortened while it is in use: access to a removed page ends the process by
/// `SIGBUS`. Uses compare the file's length and state before and after, so a change between two uses is an error.
/// A change during a use cannot be caught. `PROOFWARP_COPY_PARAMETERS=1` makes copies instead, which nothing can
/// change.
#[derive(Debug)]
pub struct MappedFile {
    contents: Contents,
    file: File,
    path: PathBuf,
    state: Metadata,
    same: fn(&Metadata, &Metadata) -> bool,
}

#[derive(Debug)]
enum Contents {
    Mapped(Mmap),
    Copied(Vec<u8>),
}

impl MappedFile {
    /// Maps `file`, or copies it if the settings ask for that. `same` compares two states of the file's metadata and
    /// returns whether the file is unchanged.
    ///
    /// # Safety
    /// No process may shorten the file or write to it while it is mapped. Every use looks for changes first, so a
    /// change between two uses is an error.
    ///
    /// # Errors
    /// - [`io::ErrorKind::InvalidInput`]: `file` is no regular file.
    /// - The system cannot map the file: its error.
    /// - [`Self::copied`] lists the errors of a copy.
    pub unsafe fn new(file: File, path: PathBuf, same: fn(&Metadata, &Metadata) -> bool) -> io::Result<Self> {
        if Self::prefers_copies() {
            return Self::copied(file, path, same);
        }
        let state = regular_file_metadata(&file)?;
        // SAFETY: the caller promises that nothing shortens or writes to the file while it is mapped.
        let contents = Contents::Mapped(unsafe { Mmap::map(&file)? });
        Ok(Self { contents, file, path, state, same })
    }

    /// Copies `file` to memory, from its first byte on.
    ///
    /// # Errors
    /// - [`io::ErrorKind::InvalidInput`]: `file` is no regular file.
    /// - [`io::ErrorKind::Other`]: there is too little memory.
    /// - [`io::ErrorKind::UnexpectedEof`]: the file shrinks meanwhile.
    /// - The system cannot read the file: its error.
    pub fn copied(file: File, path: PathBuf, same: fn(&Metadata, &Metadata) -> bool) -> io::Result<Self> {
        let state = regular_file_metadata(&file)?;
        let length = usize::try_from(state.len()).map_err(io::Error::other)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(io::Error::other)?;
        let mut reader = &file;
        reader.rewind()?;
        reader.take(state.len()).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            let text = format!("expected {length} bytes, got {}: the file was shortened", bytes.len());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(Self { contents: Contents::Copied(bytes), file, path, state, same })
    }

    /// Returns whether the setting `PROOFWARP_COPY_PARAMETERS` asks for copies instead of maps.
    pub fn prefers_copies() -> bool {
        // The accelerator reports malformed settings, before anything runs.
        Settings::get().is_ok_and(|settings| settings.copy_parameters)
    }

    /// Returns the file's metadata at the time of mapping or copying.
    pub fn state(&self) -> &Metadata {
        &self.state
    }

    /// Returns the path that the file was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's length in bytes.
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// Returns whether the file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Passes all bytes to `user`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the file has changed, before or meanwhile. This error comes before that of `user`.
    /// - `user` fails: its error.
    pub fn read<T>(&self, user: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        self.check_unchanged()?;
        let result = user(self.bytes());
        // This error comes first: a result from a changed file means nothing.
        self.check_unchanged()?;
        result
    }

    /// Returns all bytes. They mean something only if [`Self::check_unchanged`] succeeds after their last use.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.contents {
            Contents::Mapped(map) => map,
            Contents::Copied(bytes) => bytes,
        }
    }

    /// Checks that the file's length and metadata are those at the time of mapping. A copy needs no comparison.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the file has changed.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        if matches!(self.contents, Contents::Copied(_)) {
            return Ok(());
        }
        let expected = "the file as it was when it was mapped";
        let bytes = self.len();
        let (expected, actual) = match self.file.metadata() {
            Ok(data) if data.len() < bytes as u64 => {
                (format!("{bytes} bytes, as when it was mapped"), format!("{} bytes", data.len()))
            }
            Ok(data) if (self.same)(&self.state, &data) => return Ok(()),
            Ok(_) => (expected.to_owned(), "one that was changed since".to_owned()),
            Err(error) => (expected.to_owned(), error.to_string()),
        };
        Err(Error::invalid("file", self.path.display().to_string(), expected, actual))
    }
}

fn regular_file_metadata(file: &File) -> io::Result<Metadata> {
    let state = file.metadata()?;
    match state.is_file() {
        true => Ok(state),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &Metadata, other: &Metadata) -> bool {
        one.len() == other.len()
    }

    /// Checks that a map of a file that was shortened or lengthened is an error, without a signal. Checks that a copy
    /// stays as it was.
    #[test]
    fn files_that_change_their_length() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("points");
        std::fs::write(&path, vec![7; 1 << 16]).expect("a file");
        let open = || File::options().read(true).write(true).open(&path).expect("a file");
        // SAFETY: nothing reads the map between a change and the check for it.
        let mapped = unsafe { MappedFile::new(open(), path.clone(), same) }.expect("a map");
        let copied = MappedFile::copied(open(), path.clone(), same).expect("a copy");
        let sum = |file: &MappedFile| file.read(|bytes| Ok(bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>()));
        assert_eq!([&mapped, &copied].map(|file| sum(file).expect("as it was")), [7 << 16; 2]);
        for (length, reason) in [(1 << 12, "got 4096 bytes"), (1 << 17, "changed since")] {
            open().set_len(length).expect("a length");
            let error = sum(&mapped).expect_err("another length").to_string();
            assert!(error.contains("points") && error.contains(reason), "{error}");
            assert_eq!(sum(&copied).expect("the copy"), 7 << 16);
        }
    }

    #[test]
    fn only_regular_files_are_mapped() {
        let folder = tempfile::tempdir().expect("a folder");
        let Ok(file) = File::open(folder.path()) else { return };
        let error = MappedFile::copied(file, folder.path().to_owned(), same).expect_err("a folder");
        assert_eq!(error.to_string(), "expected a regular file");
    }
}
