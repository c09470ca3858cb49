//! Compiled programs on disk.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::settings::Settings;

/// First bytes of a file; the number goes up when the layout changes.
const MAGIC: &[u8; 16] = b"proofwarp-ocl-01";
/// Bytes of a SHA-256 digest.
const DIGEST: usize = 32;

/// A folder with a file per compiled program: magic, SHA-256 of the rest, the driver's binary.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// In `PROOFWARP_CACHE_DIR`, else in the user's cache folder; without either nothing is kept.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        let named = settings.cache_dir.clone();
        let usual = || ProjectDirs::from("", "", "proofwarp").map(|dirs| dirs.cache_dir().join("opencl"));
        Self { folder: named.or_else(usual) }
    }

    /// In a folder, which is made when something is stored.
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()) }
    }

    /// The name under which what was made from `parts` is kept.
    pub(super) fn key(parts: &[&str]) -> String {
        let mut hash = Sha256::new();
        for part in parts {
            // With the length in front no two lists of parts run into the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        format!("{:x}", hash.finalize())
    }

    /// The binary stored under a key, if it is there and whole.
    pub(super) fn load(&self, key: &str) -> Option<Vec<u8>> {
        let path = self.folder.as_ref()?.join(key);
        let file = fs::read(&path).ok()?;
        let binary = unpack(&file);
        if binary.is_none() {
            log::warn!("{} is damaged and will be written anew", path.display());
        }
        binary.map(<[u8]>::to_vec)
    }

    /// Stores a binary. That a cache cannot be written is no failure: it is logged.
    pub(super) fn store(&self, key: &str, binary: &[u8]) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write(folder, key, binary) {
            log::warn!("compiled OpenCL program not kept in {}: {error}", folder.display());
        }
    }
}

fn unpack(file: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = file.split_at_checked(MAGIC.len())?;
    let (digest, binary) = rest.split_at_checked(DIGEST)?;
    (magic == MAGIC && digest == &Sha256::digest(binary)[..]).then_some(binary)
}

/// Writes beside the target and renames, so that readers in other processes see all or nothing.
fn write(folder: &Path, key: &str, binary: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(&Sha256::digest(binary))?;
    file.write_all(binary)?;
    file.persist(folder.join(key))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_binary_is_found_again() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = Cache::at(&folder.path().join("made when needed"));
        assert_eq!(cache.load("key"), None);
        cache.store("key", b"binary");
        assert_eq!(cache.load("key").as_deref(), Some(&b"binary"[..]));
        Ok(())
    }

    #[test]
    fn a_damaged_or_cut_file_is_not_used() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = Cache::at(folder.path());
        cache.store("key", b"binary");
        let path = folder.path().join("key");
        let whole = fs::read(&path)?;
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length])?;
            assert_eq!(cache.load("key"), None, "cut to {length} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged)?;
            assert_eq!(cache.load("key"), None, "byte {at} changed");
        }
        Ok(())
    }

    #[test]
    fn keys_tell_parts_apart() {
        assert_ne!(Cache::key(&["ab", "c"]), Cache::key(&["a", "bc"]));
    }
}
