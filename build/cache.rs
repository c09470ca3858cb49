//! Fatbins by the hash of all that they depend on. Cargo builds the crate more than once (as dependency and
//! as build dependency, for tests and for release); each kernel is compiled once for all of them.

use std::fs::File;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// A folder of fatbins in the target folder, and its lock: a second build waits for what the first compiles
/// instead of compiling it too.
pub struct Cache(PathBuf, #[allow(dead_code, reason = "held, not read")] File);

impl Cache {
    /// The cache of the target folder that `out` lies in (`target/PROFILE/build/PACKAGE/out`).
    pub fn near(out: &Path) -> Result<Self, String> {
        let target = out.ancestors().nth(4).unwrap_or(out);
        Self::at(target.join("proofwarp-fatbins"))
    }

    /// The cache in `folder`.
    pub fn at(folder: PathBuf) -> Result<Self, String> {
        let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(fail)?;
        let lock = File::create(folder.join(".lock")).map_err(fail)?;
        lock.lock().map_err(fail)?;
        Ok(Self(folder, lock))
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The file for a key, made by `make(folder for its use, file to write)` if it is not there.
    pub fn get_or_make(
        &self,
        name: &str,
        key: &[&String],
        make: impl FnOnce(&Path, &Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let mut hash = Sha256::new();
        for part in key {
            hash.update(part.as_bytes());
        }
        let digest = format!("{:x}", hash.finalize());
        let file = self.0.join(format!("{name}-{digest}.fatbin"));
        if file.is_file() {
            return Ok(file);
        }
        // Written aside and renamed, since another build may be at the same file.
        let folder = self.0.join(format!("{name}-{digest}.{}", std::process::id()));
        let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(fail)?;
        let made = make(&folder, &folder.join("fatbin"))
            .and_then(|()| std::fs::rename(folder.join("fatbin"), &file).map_err(fail));
        std::fs::remove_dir_all(&folder).map_err(fail)?;
        made.map(|()| file)
    }
}
