//! Parameters of a circuit, read once.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::files::{FileState, open_regular};
use proofwarp::waiting::elsewhere;

use crate::error::Error;
use crate::place::Place;
use crate::prover::Prover;

/// Parameters kept by [`SRS::try_new`] for later calls.
const CACHED: usize = 4;

/// A circuit's parameters, on the devices or in memory. Clones share them.
///
/// The file that they are of stays mapped: other devices than the first, and the CPU where it has to take over, read their
/// points only once they need them. It may be deleted or replaced, but not be written to as long as there are parameters of
/// it; what needs points then fails, and a file that shrinks while its points are being read ends the process by `SIGBUS`.
/// With `PROOFWARP_COPY_PARAMETERS=1` the file is copied to memory instead.
#[derive(Clone, Default)]
pub struct SRS(Option<Arc<Loaded>>);

struct Loaded {
    path: PathBuf,
    prover: Prover,
}

/// What is kept, the least recently used first, with the files' states.
static CACHE: Mutex<Cache> = Mutex::new(Vec::new());

type Cache = Vec<(Version, SRS)>;

/// A file and the state in which it was read.
#[derive(Debug)]
struct Version {
    path: PathBuf,
    /// `None` if later changes might leave no trace: such parameters are read again.
    state: Option<FileState>,
}

impl SRS {
    /// Reads a file that bellperson's `Parameters::write` made, and uploads its points to the first device.
    ///
    /// With `cache` the parameters are kept for later calls with the same file, those of the last four files.
    ///
    /// Points of the verifying key have to be in their groups, those of the queries on their curves, and none is
    /// infinity, as bellperson reads parameters. The device decodes and checks those of the queries.
    ///
    /// # Errors
    /// The file cannot be read or is not one of parameters, or a forced backend is not there, failed, or is one of devices
    /// while `BELLMAN_NO_GPU` asks for the CPU.
    pub fn try_new(srs_path: PathBuf, cache: bool) -> Result<Self, Error> {
        let io = |reason| Error::Io { path: srs_path.clone(), reason: Arc::new(reason) };
        // The file that is read is the one whose state is compared, whatever comes in its place.
        let file = open_regular(&srs_path).map_err(io)?;
        if !cache {
            return Self::read(&srs_path, file);
        }
        let version = Version::of(&srs_path, &file).map_err(io)?;
        // By no worker of a pool: it may take up another call meanwhile.
        elsewhere(|| {
            // Held while reading: who asks for the same file waits for it.
            let mut entries = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
            find(&mut entries, version, || Self::read(&srs_path, file))
        })
    }

    /// Forgets what [`Self::try_new`] keeps of this file; whoever has the parameters keeps them.
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
        let prover = Prover::read(Place::of_process()?, path, file)?;
        Ok(Self(Some(Arc::new(Loaded { path: path.to_owned(), prover }))))
    }
}

impl fmt::Debug for SRS {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SRS({:?})", self.0.as_ref().map(|loaded| &loaded.path))
    }
}

impl Version {
    fn of(path: &Path, file: &File) -> std::io::Result<Self> {
        let state = FileState::of(&file.metadata()?).filter(FileState::is_settled);
        Ok(Self { path: path.to_owned(), state })
    }

    fn is(&self, other: &Self) -> bool {
        self.state.is_some() && (&self.path, &self.state) == (&other.path, &other.state)
    }
}

/// The parameters of a file in this state: those that are kept, or else what `read` gives.
fn find(entries: &mut Cache, version: Version, read: impl FnOnce() -> Result<SRS, Error>) -> Result<SRS, Error> {
    let entry = match entries.iter().position(|(kept, _)| kept.is(&version)) {
        Some(place) => entries.remove(place),
        None => (version, read()?),
    };
    let srs = entry.1.clone();
    // An older file of that name is of no use any more.
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

    /// A file is found again once it has settled, but neither another of its path, length and time, nor other contents.
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
            let (version, mut read) = (Version::of(&path, &file).expect("a version"), false);
            let reader = || {
                read = true;
                Ok(SRS::default())
            };
            find(&mut entries, version, reader).expect("parameters");
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
