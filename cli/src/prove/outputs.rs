//! Writes the files of a proof: all of them, or none.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tempfile::{Builder, NamedTempFile};

use super::ProofFiles;

/// Checks that both outputs can be regular files other than the inputs.
///
/// # Errors
/// Returns an error if an output is a folder or lies in none, or if it is an input or the other output.
pub(super) fn check(files: &ProofFiles) -> Result<()> {
    let ProofFiles { zkey, wtns, proof, public } = files;
    for output in [proof, public] {
        ensure!(!output.is_dir(), "{}: expected a file to write, got a folder", output.display());
        let folder = folder(output);
        ensure!(
            folder.is_dir(),
            "{}: expected a file in a folder, got no folder {}",
            output.display(),
            folder.display()
        );
    }
    for (output, other) in [(proof, zkey), (proof, wtns), (public, zkey), (public, wtns), (public, proof)] {
        ensure!(!is_one_file(output, other), "{}: expected four different files, got it twice", output.display());
    }
    Ok(())
}

/// Returns whether both paths name one regular file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let is_special = fs::metadata(one).is_ok_and(|data| !data.is_file());
    !is_special && target(one) == target(other)
}

/// Returns the path behind symbolic links, or an absolute `path` if there is no file.
fn target(path: &Path) -> PathBuf {
    let absolute = || Some(fs::canonicalize(folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(absolute).unwrap_or_else(|| path.to_owned())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes each text to its path. Regular files are replaced by complete ones, once all texts are written. Pipes and
/// devices are written to.
///
/// # Errors
/// Returns an error that names the file if one cannot be written. Files are then as they were, unless the last step
/// failed, which renames them.
pub(super) fn write(texts: &[(&PathBuf, &String)]) -> Result<()> {
    let prepare = |(path, text): &(&PathBuf, &String)| {
        let prepared = PreparedFile::new(path, text).with_context(|| path.display().to_string())?;
        Ok((prepared, path.display().to_string()))
    };
    let prepared = texts.iter().map(prepare).collect::<Result<Vec<_>>>()?;
    prepared.into_iter().try_for_each(|(file, name)| file.finish().context(name))
}

/// Holds a text that becomes visible under its path by one call.
enum PreparedFile {
    /// A complete file beside `target`, which replaces that. It is removed if it is dropped before.
    Replacement { file: NamedTempFile, target: PathBuf },
    /// An open pipe or device, and its text.
    Special { file: File, text: String },
}

impl PreparedFile {
    fn new(path: &Path, text: &str) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|data| !data.is_file()) {
            return Ok(Self::Special { file: File::options().write(true).open(path)?, text: text.to_owned() });
        }
        let target = target(path);
        let mut file = beside(&target, existing.map(|data| data.permissions()))?;
        file.write_all(text.as_bytes())?;
        Ok(Self::Replacement { file, target })
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Replacement { file, target } => file.persist(target).map(drop).map_err(|error| error.error),
            Self::Special { mut file, text } => file.write_all(text.as_bytes()),
        }
    }
}

/// Creates a temporary file in the folder of `target`, with `permissions`, or else with those of a new file.
fn beside(target: &Path, permissions: Option<fs::Permissions>) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".proofwarp-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder(target))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> ProofFiles {
        let [zkey, wtns, proof, public] =
            ["a.zkey", "a.wtns", "proof.json", "public.json"].map(|name| folder.join(name));
        ProofFiles { zkey, wtns, proof, public }
    }

    #[test]
    fn outputs_are_files_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let good = files(folder.path());
        fs::write(&good.zkey, "key").expect("a file");
        check(&good).expect("four files");
        let link = folder.path().join("link.json");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&good.zkey, &link).expect("a link");
        for (proof, reason) in [
            (good.public.clone(), "twice"),
            (good.wtns.clone(), "twice"),
            (link, "twice"),
            (folder.path().join(".").join("a.zkey"), "twice"),
            (folder.path().to_owned(), "got a folder"),
            (folder.path().join("none/proof.json"), "no folder"),
        ] {
            let error = check(&ProofFiles { proof, ..good.clone() }).expect_err(reason).to_string();
            assert!(error.contains(reason) && error.starts_with(&folder.path().display().to_string()), "{error}");
        }
    }

    #[test]
    fn if_one_text_cannot_be_written_none_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let good = folder.path().join("proof.json");
        fs::write(&good, "before").expect("a file");
        let bad = folder.path().join("none/public.json");
        let text = "text".to_owned();
        let error = write(&[(&good, &text), (&bad, &text)]).expect_err("no folder");
        assert!(error.to_string().ends_with("none/public.json"), "{error:#}");
        assert_eq!(fs::read_to_string(&good).expect("the file"), "before");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no temporary file is left");
        write(&[(&good, &text)]).expect("written");
        assert_eq!(fs::read_to_string(&good).expect("the file"), "text");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "before").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("permissions");
        std::os::unix::fs::symlink("file", &link).expect("a link");
        let text = "text".to_owned();
        write(&[(&link, &text), (&"/dev/null".into(), &text)]).expect("written");
        assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("the file"), "text");
        assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o640);
        assert!(!fs::metadata("/dev/null").expect("a device").is_file());
    }
}
