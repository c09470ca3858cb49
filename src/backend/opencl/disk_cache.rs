//! Caches compiled programs on disk.
//!
//! A program is code that runs, and its digest detects damage, not malice. A file is therefore loaded only if:
//! - it is not world-writable, and
//! - its owner is the user, root or the folder's owner, or the folder is not world-writable (a group may write to it).
//!
//! In a world-writable folder, such as `/tmp`, each user's programs serve that user alone. Users who may list the
//! folder may read its files. No user overwrites another user's file: the own file gets a name that ends in the
//! user's number.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use directories::ProjectDirs;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::file_state::open_regular;
use crate::settings::Settings;
use owner::{distrust_reason, is_foreign_file, per_user_name, set_file_mode};

/// First 16 bytes of each cache file. Their number increases when the file layout changes.
const MAGIC: &[u8; 16] = b"proofwarp-ocl-01";
/// Number of bytes that a SHA-256 digest takes.
const DIGEST: usize = 32;

/// Caches compiled programs in a folder, with one file per program. A file holds the magic bytes, the SHA-256 digest
/// of the binary, and the driver's binary.
#[derive(Debug, Clone)]
pub(super) struct DiskCache {
    folder: Option<PathBuf>,
    /// Whether a failed read or write was already reported.
    said: Arc<AtomicBool>,
}

impl DiskCache {
    /// Creates a cache in the folder `PROOFWARP_CACHE_DIR`, else in the user's cache folder. Without either it stores
    /// nothing.
    pub(super) fn from_settings(settings: &Settings) -> Self {
        // All devices share it, since they have one folder.
        static WARNED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
        let named = settings.cache_dir.clone();
        let usual = || ProjectDirs::from("", "", "proofwarp").map(|dirs| dirs.cache_dir().join("opencl"));
        Self { folder: named.or_else(usual), said: WARNED.clone() }
    }

    /// Returns a cache that stores nothing.
    pub(super) fn disabled() -> Self {
        Self { folder: None, said: Arc::default() }
    }

    /// Returns the cache's folder, or `None` if the cache stores nothing.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Creates a cache in `folder`. The folder is created when something is stored.
    pub(super) fn with_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), said: Arc::default() }
    }

    /// Returns the file name of the program described by `parts`: their SHA-256 digest in hexadecimal.
    pub(super) fn hash_key(parts: &[&str]) -> String {
        let mut hash = Sha256::new();
        for part in parts {
            // The length prefix makes different lists of parts different bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        format!("{:x}", hash.finalize())
    }

    /// Returns the binary stored under `key`. `None` if its file does not exist, is damaged, or has an owner that is
    /// not trusted.
    pub(super) fn load(&self, key: &str) -> Option<Vec<u8>> {
        let folder = self.folder.as_ref()?;
        [per_user_name(key), key.to_owned()].iter().find_map(|name| {
            let path = folder.join(name);
            match read_binary(folder, &path) {
                Ok(binary) => Some(binary),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => {
                    self.warn_once(&format!("{} is not used: {error}", path.display()));
                    None
                }
            }
        })
    }

    /// Stores `binary` under `key`. A failure is only logged.
    pub(super) fn store(&self, key: &str, binary: &[u8]) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write_binary(folder, key, binary) {
            self.warn_once(&format!("compiled OpenCL program not kept in {}: {error}", folder.display()));
        }
    }

    /// Logs `what` as a warning at the first call, and at debug level later, because a folder that fails for one
    /// program fails for all.
    fn warn_once(&self, what: &str) {
        let again = self.said.swap(true, Ordering::Relaxed);
        log::log!(if again { log::Level::Debug } else { log::Level::Warn }, "kernel cache: {what}");
    }
}

/// Returns the binary in the file `path` of `folder`. If the file exists but cannot be used, the error tells the
/// reason.
fn read_binary(folder: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    // Reads the metadata of the open file, so that it is the file that is read.
    if let Some(reason) = distrust_reason(&file.metadata()?, &fs::metadata(folder)?) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged");
    verify_and_unpack(&bytes).map(<[u8]>::to_vec).ok_or_else(damaged)
}

fn verify_and_unpack(file: &[u8]) -> Option<&[u8]> {
    let (magic, rest) = file.split_at_checked(MAGIC.len())?;
    let (digest, binary) = rest.split_at_checked(DIGEST)?;
    (magic == MAGIC && digest == &Sha256::digest(binary)[..]).then_some(binary)
}

/// Stores `binary` in `folder` under `key`. Writes a temporary file and renames it, so that readers in other
/// processes see all or nothing.
fn write_binary(folder: &Path, key: &str, binary: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(&Sha256::digest(binary))?;
    file.write_all(binary)?;
    set_file_mode(file.as_file(), &fs::metadata(folder)?)?;
    let path = folder.join(key);
    let taken = fs::symlink_metadata(&path).is_ok_and(|there| is_foreign_file(&there));
    file.persist(if taken { folder.join(per_user_name(key)) } else { path })?;
    Ok(())
}

/// Decides by owner and mode which files to trust, and who may read them.
#[cfg(unix)]
mod owner {
    use std::fs::{File, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use rustix::process::geteuid;

    /// Permission bit that lets all users write.
    const OPEN: u32 = 0o002;
    /// Permission bits that let the group and others read.
    const READABLE: u32 = 0o044;

    /// Holds the user id and the permission bits of a file or folder.
    #[derive(Clone, Copy)]
    pub(super) struct FileOwner {
        pub user: u32,
        pub mode: u32,
    }

    impl From<&Metadata> for FileOwner {
        fn from(data: &Metadata) -> Self {
            Self { user: data.uid(), mode: data.mode() & 0o7777 }
        }
    }

    impl FileOwner {
        /// Returns the reason why `user` must not run `file`, a file in this folder. `None` if there is no reason.
        pub(super) fn distrust_reason(self, file: Self, user: u32) -> Option<String> {
            if file.mode & OPEN != 0 {
                return Some(format!("everybody may write it (mode {:o})", file.mode));
            }
            if self.mode & OPEN == 0 || [user, self.user, 0].contains(&file.user) {
                return None;
            }
            let (maker, mode) = (file.user, self.mode);
            Some(format!("user {maker} made it, in a folder that everybody may write (mode {mode:o})"))
        }

        /// Returns the permission bits for files in this folder. Users who may list the folder may read its files,
        /// and only their owner may write them.
        pub(super) fn file_mode(self) -> u32 {
            0o600 | (self.mode & READABLE)
        }
    }

    /// Returns the reason why the current user must not run `file`, which is in `folder`. `None` if there is no
    /// reason.
    pub(super) fn distrust_reason(file: &Metadata, folder: &Metadata) -> Option<String> {
        FileOwner::from(folder).distrust_reason(file.into(), geteuid().as_raw())
    }

    /// Returns whether a user other than the current one owns `file`.
    pub(super) fn is_foreign_file(file: &Metadata) -> bool {
        file.uid() != geteuid().as_raw()
    }

    /// Returns a file name for `key` that ends in the current user's id, so that no other user takes it.
    pub(super) fn per_user_name(key: &str) -> String {
        format!("{key}.{}", geteuid().as_raw())
    }

    /// Sets the permission bits of `file` so that users who may list `folder` may read it.
    pub(super) fn set_file_mode(file: &File, folder: &Metadata) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(FileOwner::from(folder).file_mode()))
    }
}

/// Trusts all files, because files have no such owners here and folders belong to their user.
#[cfg(not(unix))]
mod owner {
    use std::fs::{File, Metadata};
    use std::io;

    pub(super) fn distrust_reason(_: &Metadata, _: &Metadata) -> Option<String> {
        None
    }

    pub(super) fn is_foreign_file(_: &Metadata) -> bool {
        false
    }

    pub(super) fn per_user_name(key: &str) -> String {
        format!("{key}.own")
    }

    pub(super) fn set_file_mode(_: &File, _: &Metadata) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_binary_is_found_again() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = DiskCache::with_folder(&folder.path().join("made when needed"));
        assert_eq!(cache.load("key"), None);
        cache.store("key", b"binary");
        assert_eq!(cache.load("key").as_deref(), Some(&b"binary"[..]));
        Ok(())
    }

    #[test]
    fn a_damaged_or_cut_file_is_not_used() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = DiskCache::with_folder(folder.path());
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
        assert_ne!(DiskCache::hash_key(&["ab", "c"]), DiskCache::hash_key(&["a", "bc"]));
    }

    /// Checks that an unreadable file is not loaded, and that it is reported once.
    #[test]
    fn what_cannot_be_read_is_said_once() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = DiskCache::with_folder(folder.path());
        assert_eq!(cache.load("key"), None);
        assert!(!cache.said.load(Ordering::Relaxed), "there is nothing to say of what is not there");
        // Root can read all files, but no user can read a folder as a file.
        fs::create_dir(folder.path().join("key"))?;
        let error = read_binary(folder.path(), &folder.path().join("key")).expect_err("a folder");
        assert_ne!(error.kind(), io::ErrorKind::NotFound, "{error}");
        assert_eq!(cache.load("key"), None);
        assert!(cache.said.load(Ordering::Relaxed));
        Ok(())
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::PermissionsExt;

        use super::super::owner::FileOwner;
        use super::*;

        /// Checks that users who may list a folder may read its files, and that only the owner may write them.
        #[test]
        fn files_are_as_readable_as_their_folder() -> io::Result<()> {
            for (folder_mode, expected) in
                [(0o700, 0o600), (0o750, 0o640), (0o755, 0o644), (0o2775, 0o644), (0o777, 0o644), (0o1777, 0o644)]
            {
                let folder = tempfile::tempdir()?;
                fs::set_permissions(folder.path(), fs::Permissions::from_mode(folder_mode))?;
                let cache = DiskCache::with_folder(folder.path());
                cache.store("key", b"binary");
                let mode = fs::metadata(folder.path().join("key"))?.permissions().mode() & 0o7777;
                assert_eq!(mode, expected, "in a folder of mode {folder_mode:o}: {mode:o}");
                assert_eq!(cache.load("key").as_deref(), Some(&b"binary"[..]));
            }
            Ok(())
        }

        #[test]
        fn files_of_strangers_are_not_used() {
            let (me, other, third) = (1000, 1001, 1002);
            // Each row has the folder's owner and mode, the file's owner and mode, and whether the file is used.
            for (folder, folder_mode, file, mode, used) in [
                (me, 0o755, me, 0o644, true),
                (other, 0o755, other, 0o644, true),
                (other, 0o2775, third, 0o644, true),
                (other, 0o1777, third, 0o644, false),
                (other, 0o777, third, 0o644, false),
                (other, 0o777, other, 0o644, true),
                (other, 0o777, 0, 0o644, true),
                (other, 0o777, me, 0o644, true),
                (me, 0o755, me, 0o666, false),
            ] {
                let owner = |user, mode| FileOwner { user, mode };
                let reason = owner(folder, folder_mode).distrust_reason(owner(file, mode), me);
                assert_eq!(reason.is_none(), used, "{folder_mode:o} of {folder}, {mode:o} of {file}: {reason:?}");
            }
        }

        /// Checks that another user's file is not overwritten. Only root can give files away.
        #[test]
        fn nobody_writes_over_anothers_file() -> io::Result<()> {
            let folder = tempfile::tempdir()?;
            let (path, cache) = (folder.path().join("key"), DiskCache::with_folder(folder.path()));
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777))?;
            fs::write(&path, b"another's")?;
            if std::os::unix::fs::chown(&path, Some(65534), None).is_err() {
                eprintln!("skipped: a file of another user, which only root can make");
                return Ok(());
            }
            assert_eq!(cache.load("key"), None);
            assert!(cache.said.load(Ordering::Relaxed), "it is said that it is not used");
            cache.store("key", b"binary");
            assert_eq!(fs::read(&path)?, b"another's");
            assert_eq!(cache.load("key").as_deref(), Some(&b"binary"[..]));
            Ok(())
        }
    }
}
