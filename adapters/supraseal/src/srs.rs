//! Reads the parameters of a circuit once.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::file_state::{FileState, open_regular};
use proofwarp::rayon_waits::block_in_place;

use crate::devices::DeviceSelection;
use crate::error::Error;
use crate::prover::Prover;

/// Maximum number of files whose parameters [`SRS::try_new`] keeps for later calls.
const CACHED: usize = 4;

/// Holds a circuit's parameters, on the devices or in memory. Clones share them.
///
/// The parameters' file stays mapped. Devices other than the first, and the CPU if it has to take over, read their
/// points only once they need them. As long as parameters of it exist, the file may be deleted or replaced, but not
/// written to. After a write, reads of its points fail, and a file that shrinks while its points are being read ends
/// the process by `SIGBUS`. With `PROOFWARP_COPY_PARAMETERS=1` the file is copied to memory instead.
#[derive(Clone, Default)]
pub struct SRS(Option<Arc<SrsInner>>);

struct SrsInner {
    path: PathBuf,
    prover: Prover,
}

/// Holds kept parameters, each with the state of its file, the least recently used first.
static CACHE: Mutex<Cache> = Mutex::new(Vec::new());

type Cache = Vec<(FileVersion, SRS)>;

/// Identifies a file by its path and the state in which it was read.
#[derive(Debug)]
struct FileVersion {
    path: PathBuf,
    /// `None` if later changes might leave no trace: then the file is read again at every call.
    state: Option<FileState>,
}

impl SRS {
    /// Reads the file `srs_path`, which bellperson's `Parameters::write` made, and uploads its points to the first
    /// device.
    ///
    /// With `cache` the parameters of the last four files are kept for later calls with the same file.
    ///
    /// As in bellperson, points of the verifying key must be in their groups, points of the queries on their curves,
    /// and none may be infinity. The device decodes and checks the queries' points.
    ///
    /// # Errors
    /// - [`Error::Io`]: the file cannot be opened, mapped or copied.
    /// - [`Error::Malformed`]: the file is not a parameter file, or a point in it fails its checks.
    /// - [`Error::Malformed`]: the file changed while it was read.
    /// - [`Error::Engine`]: a forced backend is not available, or a setting is malformed.
    /// - [`Error::Unusable`]: a forced backend failed.
    /// - [`Error::Invalid`]: a device backend is forced while `BELLMAN_NO_GPU` asks for the CPU.
    pub fn try_new(srs_path: PathBuf, cache: bool) -> Result<Self, Error> {
        let io = |reason| Error::from_io(&srs_path, reason);
        // The same open file is read and compared by its state, even if another one replaces it.
        let file = open_regular(&srs_path).map_err(io)?;
        if !cache {
            return Self::read(&srs_path, file);
        }
        let version = FileVersion::from_file(&srs_path, &file).map_err(io)?;
        // Not on a rayon worker, which may start another call meanwhile.
        block_in_place(|| {
            // Held while reading, so that calls for the same file wait for it.
            let mut entries = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
            find_or_read(&mut entries, version, || Self::read(&srs_path, file))
        })
    }

    /// Removes this file's parameters from the cache of [`Self::try_new`]; existing clones keep them.
    pub fn evict(&self) {
        let Some(loaded) = &self.0 else { return };
        let mut entries = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|(_, srs)| srs.0.as_ref().is_none_or(|other| other.path != loaded.path));
    }

    pub(crate) fn prover(&self) -> Result<&Prover, Error> {
        let loaded = self.0.as_ref();
        loaded.map(|it| &it.prover).ok_or_else(|| Error::invalid("SRS", "parameters from a file", "an empty default"))
    }

    fn read(path: &Path, file: File) -> Result<Self, Error> {
        let prover = Prover::read(DeviceSelection::from_env()?, path, file)?;
        Ok(Self(Some(Arc::new(SrsInner { path: path.to_owned(), prover }))))
    }
}

impl fmt::Debug for SRS {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SRS({:?})", self.0.as_ref().map(|loaded| &loaded.path))
    }
}

impl FileVersion {
    fn from_file(path: &Path, file: &File) -> std::io::Result<Self> {
        let state = FileState::from_metadata(&file.metadata()?).filter(FileState::is_settled);
        Ok(Self { path: path.to_owned(), state })
    }

    fn is_same_version(&self, other: &Self) -> bool {
        self.state.is_some() && (&self.path, &self.state) == (&other.path, &other.state)
    }
}

/// Returns the parameters in `entries` of the file state `version`. If there are none, calls `read`, adds its result to
/// `entries`, and returns it.
fn find_or_read(
    entries: &mut Cache,
    version: FileVersion,
    read: impl FnOnce() -> Result<SRS, Error>,
) -> Result<SRS, Error> {
    let entry = match entries.iter().position(|(kept, _)| kept.is_same_version(&version)) {
        Some(place) => entries.remove(place),
        None => (version, read()?),
    };
    let srs = entry.1.clone();
    // An older file of that name is useless now.
    entries.retain(|(kept, _)| kept.path != entry.0.path);
    if entries.len() == CACHED {
        entries.remove(0);
    }
    entries.push(entry);
    Ok(srs)
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Checks that a settled file is found in the cache again. A file that replaces it with the same path, length and
    /// time is read anew, and so is a file with other contents.
    #[test]
    fn files_are_told_from_those_that_replace_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, other] = ["parameters", "other"].map(|name| folder.path().join(name));
        let [first, second] = [&path, &other].map(|path| {
            std::fs::write(path, "parameters").expect("a file");
            File::options().write(true).open(path).expect("a file")
        });
        let time = first.metadata().and_then(|data| data.modified()).expect("a time");
        second.set_modified(time).expect("a time");
        let mut entries = Vec::new();
        let mut is_read = || {
            let file = open_regular(&path).expect("a file");
            let (version, mut read) = (FileVersion::from_file(&path, &file).expect("a version"), false);
            let reader = || {
                read = true;
                Ok(SRS::default())
            };
            find_or_read(&mut entries, version, reader).expect("parameters");
            read
        };
        assert_eq!([(); 2].map(|()| is_read()), [true; 2], "a change might leave no trace yet");
        std::thread::sleep(Duration::from_millis(3100));
        assert_eq!([(); 3].map(|()| is_read()), [true, false, false]);
        std::fs::rename(&other, &path).expect("in its place");
        assert_eq!(std::fs::metadata(&path).and_then(|data| data.modified()).expect("a time"), time);
        assert!(is_read(), "another file");
        std::thread::sleep(Duration::from_millis(3100));
        assert_eq!([(); 2].map(|()| is_read()), [true, false]);
        std::fs::write(&path, "PARAMETERS").and_then(|()| second.set_modified(time)).expect("other contents");
        assert!(is_read(), "other contents");
    }
}
