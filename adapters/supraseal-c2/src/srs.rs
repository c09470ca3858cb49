//! Parameters of a circuit, read once.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

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
/// it; what needs points then fails.
#[derive(Clone, Default)]
pub struct SRS(Option<Arc<Loaded>>);

struct Loaded {
    path: PathBuf,
    prover: Prover,
}

/// What is kept, the least recently used first, with the files' lengths and times.
static CACHE: Mutex<Vec<(Version, SRS)>> = Mutex::new(Vec::new());

type Version = (PathBuf, u64, Option<SystemTime>);

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
        if !cache {
            return Self::read(&srs_path);
        }
        // By no worker of a pool: it may take up another call meanwhile.
        elsewhere(|| Self::kept(&srs_path))
    }

    fn kept(srs_path: &Path) -> Result<Self, Error> {
        let version = version(srs_path)?;
        // Held while reading: who asks for the same file waits for it.
        let mut entries = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.iter().position(|(other, _)| *other == version);
        let entry = match found {
            Some(place) => entries.remove(place),
            None => (version, Self::read(srs_path)?),
        };
        let srs = entry.1.clone();
        // An older file of that name is of no use any more.
        entries.retain(|((path, ..), _)| *path != entry.0.0);
        if entries.len() == CACHED {
            entries.remove(0);
        }
        entries.push(entry);
        Ok(srs)
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

    fn read(path: &Path) -> Result<Self, Error> {
        let prover = Prover::read(Place::of_process()?, path)?;
        Ok(Self(Some(Arc::new(Loaded { path: path.to_owned(), prover }))))
    }
}

impl fmt::Debug for SRS {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SRS({:?})", self.0.as_ref().map(|loaded| &loaded.path))
    }
}

/// What tells one state of a file from another.
fn version(path: &Path) -> Result<Version, Error> {
    let io = |reason| Error::Io { path: path.to_owned(), reason: Arc::new(reason) };
    let data = std::fs::metadata(path).map_err(io)?;
    Ok((path.to_owned(), data.len(), data.modified().ok()))
}
