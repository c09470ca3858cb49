//! Asks the system why OpenCL's library, or a vendor's library that it loads, could not be loaded. OpenCL's own calls
//! do not say.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use dlopen2::Error;
use dlopen2::raw::Library;

/// Name of OpenCL's library, which finds the vendors' libraries and passes calls on to them.
const LOADER: &str = if cfg!(target_os = "windows") {
    "OpenCL.dll"
} else if cfg!(target_os = "macos") {
    "/System/Library/Frameworks/OpenCL.framework/OpenCL"
} else {
    "libOpenCL.so.1"
};

/// Names the folder of the files `.icd`. Each file names a vendor's library. `VENDORS_VARIABLES` may name another folder.
const VENDORS: &str = "/etc/OpenCL/vendors";
const VENDORS_VARIABLES: [&str; 2] = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"];

/// Returns the system's reason why OpenCL's library cannot be loaded.
pub(super) fn loader_failure() -> String {
    load_failure(LOADER).unwrap_or_else(|| format!("{LOADER}: it could not be loaded before, and can be now"))
}

/// Returns a reason for each vendor's library that a file `.icd` names and that the system cannot load.
pub(super) fn vendor_failures() -> Vec<String> {
    let named = VENDORS_VARIABLES.iter().find_map(env::var_os).map(PathBuf::from);
    // A name without a folder is that of a file in the usual folder.
    let place = |named: PathBuf| {
        if named.components().count() == 1 && !named.exists() { Path::new(VENDORS).join(named) } else { named }
    };
    vendor_failures_in(&named.map_or_else(|| PathBuf::from(VENDORS), place))
}

/// Returns the reasons of [`vendor_failures`] for the file `place`, or for all files `.icd` of the folder `place`.
fn vendor_failures_in(place: &Path) -> Vec<String> {
    let mut files = match fs::read_dir(place) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![place.to_owned()],
    };
    files.retain(|file| file.extension() == Some(OsStr::new("icd")));
    files.sort();
    files.iter().filter_map(|file| Some(format!("{}: {}", file.display(), vendor_failure(file)?))).collect()
}

/// Returns the reason why the library that `file` names in its first line cannot be loaded. Returns `None` if it can.
fn vendor_failure(file: &Path) -> Option<String> {
    match fs::read_to_string(file) {
        Ok(text) => load_failure(text.lines().next().unwrap_or_default().trim()),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns the system's reason why it cannot load `library`, or `None` if it can. OpenCL's library has tried to load the
/// same one before.
fn load_failure(library: &str) -> Option<String> {
    match Library::open(library) {
        Ok(_) => None,
        Err(Error::OpeningLibraryError(reason)) => Some(reason.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn each_library_that_cannot_be_loaded_has_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let damaged = path("damaged.so");
        fs::write(&damaged, "no library, but a text that is long enough for the header of one: ".repeat(2))
            .expect("a file");
        fs::write(path("a.icd"), "libproofwarp-missing.so.1\n").expect("a file");
        fs::write(path("b.icd"), damaged.display().to_string()).expect("a file");
        fs::write(path("c.icd"), "libc.so.6").expect("a file");
        fs::write(path("d.txt"), "libproofwarp-missing.so.1").expect("a file");
        let failures = vendor_failures_in(folder.path());
        let [missing, invalid] = &failures[..] else { panic!("expected two failures, got {failures:?}") };
        let starts = |name: &str, library: &str| format!("{}: {library}: ", path(name).display());
        assert!(missing.starts_with(&starts("a.icd", "libproofwarp-missing.so.1")), "{missing}");
        assert!(invalid.starts_with(&starts("b.icd", &damaged.display().to_string())), "{invalid}");
        assert_eq!(vendor_failures_in(&path("a.icd")), std::slice::from_ref(missing));
    }
}
