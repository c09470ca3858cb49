//! Files that results go to: looked at before there are results.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use serde::Serialize;

/// Prints `line`. An output whose reader has gone, or that is full, is left alone.
pub fn print_line(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Parses the path of a file on a command line, and refuses one that cannot be written.
pub fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| check(&path).map(|()| path))
}

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

/// Parses the words of `line` as the options of a program.
///
/// # Errors
/// Returns the text that the program would print.
#[cfg(test)]
pub fn parse<O: clap::Args>(line: &str) -> Result<O, String> {
    let command = O::augment_args(clap::Command::new("program"));
    let words = ["program"].into_iter().chain(line.split_whitespace());
    let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
    O::from_arg_matches(&matches).map_err(|error| error.to_string())
}
