//! Opens files without waiting for another process, and tells their states apart.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Coarsest resolution of a file system's timestamps, 2 s. A file may change within that time while its timestamps stay
/// the same.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// Opens the file at `path` with `options`, without waiting for another process. A named pipe without a reader is an
/// error, and so is a later write to a full pipe.
///
/// # Errors
/// - The system's [`io::Error`]: the file does not open.
pub fn open_nonblocking(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK);
    options.open(path)
}

/// Opens the regular file at `path` for reading. A folder, a device or a pipe is an error.
///
/// # Errors
/// - [`io::ErrorKind::InvalidInput`]: the file is a folder, a device or a pipe.
/// - The system's [`io::Error`]: the file does not open, or its metadata cannot be read.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_nonblocking(OpenOptions::new().read(true), path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file"));
    }
    Ok(file)
}

/// Holds a file's identity, size and timestamps, to detect changes of the file. Two equal states mean equal contents if
/// they are settled ([`Self::is_settled`]). Device and inode number identify the file. A change of its contents, or a
/// reuse of its inode number, sets its change time (ctime). No program can set that time back. Writes through a memory
/// mapping are not noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Device number and inode number.
    file: [u64; 2],
    bytes: u64,
    /// Modification time and change time, each in seconds since 1970 and nanoseconds of the second.
    times: [(i64, i64); 2],
}

impl FileState {
    /// Returns the state of the file that has the metadata `data`. It is never `None` here, unlike on systems without
    /// inode numbers or change times.
    #[cfg(unix)]
    #[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    pub fn from_metadata(data: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let times = [(data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec())];
        Some(Self { file: [data.dev(), data.ino()], bytes: data.len(), times })
    }

    /// Returns `None`: this system has no inode number, or no change time that only the system sets.
    #[cfg(not(unix))]
    pub fn from_metadata(_: &Metadata) -> Option<Self> {
        None
    }

    /// Returns whether both timestamps are so old, more than 2 s, that any later change of the file will alter them.
    pub fn is_settled(&self) -> bool {
        let age = |seconds: i64| {
            let since = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.try_into().ok()?);
            SystemTime::now().duration_since(since).ok()
        };
        self.times.iter().all(|(seconds, _)| age(*seconds).is_some_and(|age| age > CLOCK_STEP))
    }

    /// Returns whether `self` and `other` are states of the same file, which may have changed in between.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.file == other.file
    }

    /// Returns the file's size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;

    use super::*;

    /// Checks that the state changes if another file replaces the file, and if its contents change. Length and
    /// modification time stay the same in both cases.
    #[test]
    fn replaced_files_have_another_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let [path, other] = ["file", "other"].map(|name| folder.path().join(name));
        std::fs::write(&path, "contents").expect("a file");
        let state = || {
            let data = std::fs::metadata(&path).expect("a file");
            (FileState::from_metadata(&data).expect("a state"), data.modified().expect("a time"))
        };
        let (before, time) = state();
        assert!(before == state().0 && !before.is_settled());
        std::fs::write(&other, "CONTENTS").expect("a file");
        File::options().write(true).open(&other).and_then(|file| file.set_modified(time)).expect("a time");
        std::fs::rename(&other, &path).expect("in its place");
        let (replaced, same_time) = state();
        assert!(replaced != before && same_time == time && !replaced.is_same_file(&before));
        std::thread::sleep(Duration::from_millis(20));
        let mut file = File::options().write(true).open(&path).expect("a file");
        file.write_all(b"contents").and_then(|()| file.set_modified(time)).expect("other contents");
        let (written, same_time) = state();
        assert!(written != replaced && same_time == time && written.is_same_file(&replaced));
    }

    #[test]
    fn nothing_but_files_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = open_regular(folder.path()).expect_err("a folder");
        assert_eq!(error.to_string(), "expected a regular file");
    }
}
