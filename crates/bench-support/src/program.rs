//! Programs that were built before, by their paths.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Parses the path of a program on a command line, and refuses one that cannot be run.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| check(&path).map(|()| path))
}

/// Checks that there is such a program; a name without a folder is looked for where the shell would.
///
/// # Errors
/// There is none; the text names it.
pub fn check(program: &Path) -> Result<(), String> {
    let error = |reason: &str| Err(format!("{}: expected a program, got {reason}", program.display()));
    if program.components().count() > 1 {
        return runnable(program).or_else(error);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder: PathBuf| runnable(&folder.join(program)).is_ok());
    if found { Ok(()) } else { error("none of that name in PATH") }
}

/// Why a file cannot be run.
fn runnable(path: &Path) -> Result<(), &'static str> {
    match path.metadata() {
        Err(_) => Err("nothing there"),
        Ok(data) if !data.is_file() => Err("no file"),
        Ok(data) if !may_run(&data) => Err("a file that may not be run"),
        Ok(_) => Ok(()),
    }
}

#[cfg(unix)]
fn may_run(data: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    data.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_run_is_a_program() {
        assert_eq!(check(Path::new("cargo")), Ok(()));
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("program");
        std::fs::write(&file, "").expect("file");
        let cases =
            [(file.as_path(), "may not be run"), (folder.path(), "no file"), (&folder.path().join("a"), "nothing")];
        for (path, reason) in cases {
            let error = check(path).expect_err("no program");
            assert!(error.starts_with(&path.display().to_string()) && error.contains(reason), "{error}");
        }
        assert!(check(Path::new("no-such-program")).expect_err("none").contains("no-such-program"));
    }
}
