//! Files that results go to: looked at before there are results.

use std::fs::{self, OpenOptions};
use std::path::Path;

use serde::Serialize;

/// Checks that a file can be written, and leaves everything as it is.
///
/// # Errors
/// It cannot; the text names the file.
pub fn check(path: &Path) -> Result<(), String> {
    let written = if path.exists() {
        OpenOptions::new().append(true).open(path).map(drop)
    } else {
        OpenOptions::new().write(true).create_new(true).open(path).and_then(|_| fs::remove_file(path))
    };
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Checks that files can be written to a folder, which is made if there is none.
///
/// # Errors
/// They cannot; the text names the folder.
pub fn check_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
    check(&path.join(format!(".{}", std::process::id())))
}

/// Writes results.
///
/// # Errors
/// The file cannot be written; the text names it.
pub fn write_json(path: &Path, results: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(results).map_err(std::io::Error::from);
    text.and_then(|text| fs::write(path, text + "\n")).map_err(|error| format!("{}: {error}", path.display()))
}
