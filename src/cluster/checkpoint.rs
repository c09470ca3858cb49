//! Stores the results that a batch has made so far.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Name of the file that states which batch a folder belongs to.
const BATCH: &str = "batch";
/// File extension of finished results.
const DONE: &str = "proof";
/// File extension of results that are being written.
const PART: &str = "part";

/// Stores the results of a batch in a folder, one file per result. A result is written to a temporary file, which is
/// then renamed, so that every result file is complete.
#[derive(Debug)]
pub(super) struct CheckpointDir(PathBuf);

impl CheckpointDir {
    /// Creates the folder `path` for the batch named `batch`, or opens an existing folder of that batch. Removes
    /// temporary files that are left there.
    pub(super) fn open(path: &Path, batch: &str) -> Result<Self> {
        let folder = Self(path.to_owned());
        folder.map_io_error(fs::create_dir_all(path))?;
        let name = path.join(BATCH);
        match fs::read_to_string(&name) {
            Ok(found) if found == batch => folder.map_io_error(folder.remove_partial_files())?,
            Ok(found) => return Err(Error::invalid("cluster batch", name.display().to_string(), batch, found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => folder.write(BATCH, batch.as_bytes())?,
            Err(error) => return folder.map_io_error(Err(error)),
        }
        Ok(folder)
    }

    /// Returns the numbers below `count` that have no result in the folder, in ascending order.
    pub(super) fn missing(&self, count: usize) -> Vec<usize> {
        (0..count).filter(|number| !self.0.join(result_file_name(*number)).exists()).collect()
    }

    pub(super) fn put(&self, number: usize, bytes: &[u8]) -> Result<()> {
        self.write(&result_file_name(number), bytes)
    }

    pub(super) fn get(&self, number: usize) -> Result<Vec<u8>> {
        self.map_io_error(fs::read(self.0.join(result_file_name(number))))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let part = self.0.join(name).with_extension(PART);
        let write = || {
            let mut file = File::create(&part)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&part, self.0.join(name))
        };
        self.map_io_error(write())
    }

    /// Removes the temporary files that an earlier process left unfinished.
    fn remove_partial_files(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == PART) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn map_io_error<T>(&self, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| {
            Error::invalid("cluster batch", self.0.display().to_string(), "a folder to write to", error)
        })
    }
}

fn result_file_name(number: usize) -> String {
    format!("{number}.{DONE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_taken_up_again() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("some/batch");
        let folder = CheckpointDir::open(&path, "one").expect("a folder");
        assert_eq!(folder.missing(3), [0, 1, 2]);
        folder.put(1, b"proof").expect("room");
        fs::write(path.join("2.part"), b"pro").expect("room");
        let folder = CheckpointDir::open(&path, "one").expect("the same batch");
        assert_eq!(folder.missing(3), [0, 2]);
        assert_eq!(folder.get(1).expect("it is there"), b"proof");
        assert!(!path.join("2.part").exists() && folder.get(2).is_err());
        assert!(matches!(CheckpointDir::open(&path, "another"), Err(Error::Invalid { .. })));
    }
}
