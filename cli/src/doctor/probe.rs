//! Collects facts of this machine and this build. Nothing is judged here.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use proofwarp::settings::table::{Reader, VARIABLES, Variable};
use proofwarp::settings::{self, Settings};
use proofwarp::{Accelerator, BackendKind, file_state, inspect};
use serde::Serialize;

/// Holds all facts of this machine and this build that `proofwarp doctor` reports.
#[derive(Debug, Default, Serialize)]
pub struct Facts {
    /// Reason why there is no accelerator, if so.
    pub accelerator: Option<String>,
    /// Backend that is forced.
    pub forced: Option<String>,
    /// Devices that operations run on.
    pub devices: Vec<Device>,
    /// Reasons why better backends are not used.
    pub absent: Vec<String>,
    pub cuda: Cuda,
    pub opencl: OpenCl,
    pub settings: Vec<Setting>,
    /// Names that look like the project's settings, but are none.
    pub unknown: Vec<String>,
    pub cache: Option<Cache>,
    pub locks: Vec<Lock>,
}

/// Describes a device that operations run on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Device {
    pub name: String,
    pub backend: String,
    pub is_cpu: bool,
    pub compute_units: u32,
    pub capability: Option<(u32, u32)>,
    /// The device's memory.
    pub memory: u64,
    /// Memory that may be used: all, or `PROOFWARP_MEMORY_LIMIT`.
    pub limit: u64,
    /// Free part of that memory; `None` if the driver does not tell.
    pub free: Option<u64>,
}

/// Describes the state of CUDA.
#[derive(Debug, Default, Serialize)]
pub struct Cuda {
    /// `None` if built without the feature.
    pub kernels: Option<Kernels>,
    /// CUDA version that the driver knows; `None` without a driver.
    pub driver: Option<(u32, u32)>,
    /// Names, compute capabilities, and whether there are kernels for them.
    pub cards: Vec<Card>,
    /// Reason why it cannot be used.
    pub unavailable: Option<String>,
}

/// Describes the CUDA kernels of the build.
#[derive(Debug, Default, Serialize)]
pub struct Kernels {
    pub note: String,
    pub architectures: Vec<u32>,
    pub compiler: Option<(u32, u32)>,
    pub modules: usize,
}

/// A card that the CUDA driver lists.
#[derive(Debug, Default, Serialize)]
pub struct Card {
    pub name: String,
    pub capability: (u32, u32),
    pub is_served: bool,
}

/// Describes the state of OpenCL.
#[derive(Debug, Default, Serialize)]
pub struct OpenCl {
    /// Whether its library was found; `None` if built without the feature.
    pub library: Option<bool>,
    /// Reason why it cannot be used.
    pub unavailable: Option<String>,
}

/// Describes an environment variable of proofwarp.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Setting {
    pub name: &'static str,
    /// Value in effect: the environment's, or else the default.
    pub value: String,
    /// `environment` or `default`.
    pub from: &'static str,
    pub effect: &'static str,
    /// Reason why the value is malformed, if it is.
    pub malformed: Option<String>,
}

/// Describes the folder of compiled OpenCL programs.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Cache {
    pub folder: PathBuf,
    /// Reason why nothing can be written there, if so.
    pub unwritable: Option<String>,
}

/// Describes a lock file of bellperson.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lock {
    pub file: PathBuf,
    pub is_held: bool,
    /// Reason why that is not known, if so.
    pub unknown: Option<String>,
}

impl Facts {
    /// Collects all facts. `accelerator` is the one that the environment selects, or the error of that selection.
    pub fn look(accelerator: &proofwarp::Result<Accelerator>) -> Self {
        let found = accelerator.as_ref().ok();
        Self {
            accelerator: accelerator.as_ref().err().map(ToString::to_string),
            forced: Settings::get().ok().and_then(|settings| settings.backend).map(|backend| backend.to_string()),
            devices: found.map(|found| found.devices().iter().map(|one| device(one)).collect()).unwrap_or_default(),
            absent: found.map(|found| found.unavailable_reasons().to_vec()).unwrap_or_default(),
            cuda: cuda(),
            opencl: OpenCl { library: inspect::opencl_library(), unavailable: unavailable(BackendKind::OpenCl) },
            settings: VARIABLES.iter().filter(|one| one.reader != Reader::Benches).map(setting).collect(),
            unknown: settings::find_unknown_vars(std::env::vars_os().map(|(name, _)| name)),
            cache: inspect::opencl_cache().ok().flatten().map(cache),
            locks: locks(&std::env::temp_dir()),
        }
    }
}

fn device(device: &proofwarp::Device) -> Device {
    let info = device.info();
    Device {
        name: info.name.clone(),
        backend: info.backend.to_string(),
        is_cpu: info.is_cpu,
        compute_units: info.compute_units,
        capability: info.compute_capability,
        memory: info.memory,
        limit: device.memory(),
        free: device.free_memory().ok(),
    }
}

fn cuda() -> Cuda {
    let kernels = inspect::cuda_kernels().map(|found| Kernels {
        note: found.note.to_owned(),
        architectures: found.architectures.to_vec(),
        compiler: found.compiler,
        modules: found.modules,
    });
    let card =
        |card: inspect::CudaCard| Card { name: card.name, capability: card.capability, is_served: card.is_served };
    let cards = inspect::cuda_cards().into_iter().map(card).collect();
    Cuda { kernels, driver: inspect::cuda_driver(), cards, unavailable: unavailable(BackendKind::Cuda) }
}

fn unavailable(backend: BackendKind) -> Option<String> {
    Accelerator::with_backend(backend).err().map(|error| error.to_string())
}

/// Returns the setting `variable` with its value in this process's environment.
fn setting(variable: &Variable) -> Setting {
    setting_of(variable, std::env::var_os(variable.name))
}

fn setting_of(variable: &Variable, value: Option<OsString>) -> Setting {
    let given = value.as_ref().map(|value| value.to_string_lossy().trim().to_owned()).filter(|text| !text.is_empty());
    let read = Settings::read(|name| if name == variable.name { value.clone() } else { None });
    Setting {
        name: variable.name,
        from: if given.is_some() { "environment" } else { "default" },
        value: given.unwrap_or_else(|| variable.default.to_owned()),
        effect: variable.effect,
        malformed: read.err().map(|error| error.to_string()),
    }
}

/// Describes the cache in `folder`. Checks whether a file can be created there, or in the nearest existing folder above
/// it.
fn cache(folder: PathBuf) -> Cache {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let made = tempfile::Builder::new().prefix("proofwarp-doctor-").tempfile_in(there);
    Cache { unwritable: made.err().map(|error| format!("{}: {error}", there.display())), folder }
}

/// Returns bellperson's lock files in `folder`, in order of their paths, and whether each is held.
fn locks(folder: &Path) -> Vec<Lock> {
    const NAMES: [&str; 2] = ["bellman.gpu.lock", "bellman.priority.lock"];
    let is_lock = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        NAMES.iter().any(|lock| name.starts_with(lock))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).filter(is_lock).collect();
    files.sort();
    files.into_iter().map(lock).collect()
}

fn lock(file: PathBuf) -> Lock {
    // Shared, and released at once: this delays a process that wants the lock no longer than any other query.
    let (is_held, unknown) =
        match file_state::open_nonblocking(File::options().read(true), &file).map(|file| file.try_lock_shared()) {
            Ok(Ok(())) => (false, None),
            Ok(Err(TryLockError::WouldBlock)) => (true, None),
            Ok(Err(TryLockError::Error(error))) | Err(error) => (false, Some(error.to_string())),
        };
    Lock { file, is_held, unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_where_they_come_from() {
        let variable = VARIABLES.iter().find(|one| one.name == "PROOFWARP_MEMORY_LIMIT").expect("in the table");
        let default = setting_of(variable, None);
        assert_eq!((default.from, default.value.as_str()), ("default", "all that is free"));
        let given = setting_of(variable, Some(" 8G ".into()));
        assert_eq!((given.from, given.value.as_str(), given.malformed), ("environment", "8G", None));
        let wrong = setting_of(variable, Some("8 parsecs".into()));
        assert!(wrong.malformed.is_some_and(|why| why.contains("PROOFWARP_MEMORY_LIMIT: expected bytes")));
    }

    #[test]
    fn a_lock_that_is_held_is_seen_and_one_that_is_free_stays_free() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["bellman.gpu.lock", "bellman.gpu.lock.0011", "bellman.priority.lock", "another.lock"] {
            File::create(path(name)).expect(name);
        }
        let held = File::open(path("bellman.gpu.lock.0011")).expect("a lock");
        held.lock().expect("nobody has it");
        let found: Vec<_> = locks(folder.path()).into_iter().map(|lock| lock.is_held).collect();
        assert_eq!(found, [false, true, false]);
        drop(held);
        assert!(locks(folder.path()).iter().all(|lock| !lock.is_held && lock.unknown.is_none()));
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(cache(folder.path().join("made later/opencl")).unwritable, None);
        let file = folder.path().join("a file");
        std::fs::write(&file, "").expect("a file");
        // Root may write everywhere, but a file cannot contain folders.
        assert!(cache(file.join("opencl")).unwritable.is_some());
    }
}
