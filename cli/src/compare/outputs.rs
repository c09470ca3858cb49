//! Writes the files of a comparison, which are opened before anything is measured.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::cli::ReportOptions;
use crate::output::say;

/// Holds a file that is written after the measurements.
pub struct Output {
    path: PathBuf,
    file: File,
    /// Whether the file is new; a new file is removed if nothing is written to it.
    is_new: bool,
}

impl Output {
    /// Opens the file at `path`, or creates it. Its contents stay until [`Self::write`] replaces them.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written to.
    fn open(path: &Path) -> Result<Self> {
        let open = |is_new: bool| OpenOptions::new().write(true).create(is_new).create_new(is_new).open(path);
        let (file, is_new) = match open(true) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => (open(false), false),
            file => (file, true),
        };
        let file = file.with_context(|| path.display().to_string())?;
        Ok(Self { path: path.to_owned(), file, is_new })
    }

    /// Replaces the file's contents with `text`.
    ///
    /// # Errors
    /// Returns an error if there is no text, or if it cannot be written.
    pub fn write(&mut self, text: Result<String>) -> Result<()> {
        let text = text.with_context(|| self.path.display().to_string())?;
        // A pipe or a device has no length.
        let is_regular = self.file.metadata().is_ok_and(|data| data.is_file());
        let cut = if is_regular { self.file.set_len(0) } else { Ok(()) };
        let written = cut.and_then(|()| self.file.write_all(text.as_bytes())).and_then(|()| self.file.flush());
        written.with_context(|| self.path.display().to_string())?;
        self.is_new = false;
        say(format_args!("written: {}", self.path.display()));
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.is_new {
            // If it cannot be removed, an empty file stays.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens the files that `options` name: first the one for JSON, then the one for HTML. A file that is not named gives
/// `None`.
///
/// # Errors
/// Returns an error if one of them cannot be written to, or if both have one path.
pub fn open(options: &ReportOptions) -> Result<[Option<Output>; 2]> {
    let paths = [&options.json, &options.html];
    ensure!(
        paths[0].is_none() || paths[0] != paths[1],
        "--json and --html: expected two files, got {} twice",
        paths[0].as_deref().unwrap_or(Path::new("")).display()
    );
    let [json, html] = paths.map(|path| path.as_deref().map(Output::open).transpose());
    Ok([json?, html?])
}

/// Joins the errors of all `results` in one error.
///
/// # Errors
/// Returns an error if `results` contain at least one.
pub fn all(results: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let errors: Vec<_> = results.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    match errors.is_empty() {
        true => Ok(()),
        false => bail!("{}", errors.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_contents_until_there_are_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        drop(Output::open(&path).expect("a new file"));
        assert!(!path.exists(), "nothing was written");
        std::fs::write(&path, "a longer text than the next").expect("a file");
        drop(Output::open(&path).expect("the file"));
        assert_eq!(std::fs::read_to_string(&path).expect("the file").len(), 27);
        Output::open(&path).and_then(|mut output| output.write(Ok("short".to_owned()))).expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), "short");
    }

    #[test]
    fn all_errors_are_told() {
        let results = [Err(anyhow::anyhow!("one")), Ok(()), Err(anyhow::anyhow!("two"))];
        assert_eq!(all(results).expect_err("two").to_string(), "one; two");
        assert!(all([Ok(())]).is_ok());
    }
}
