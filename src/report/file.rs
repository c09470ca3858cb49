//! The file that `PROOFWARP_REPORT` names.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Once;

use super::record_format::LogRecord;
use crate::file_state;
use crate::settings::{Settings, warn_log_or_stderr};

/// Appends a line for `entry` to the file that `PROOFWARP_REPORT` names, if it is set. The file tells which operations
/// ran to programs without a logger, and to programs that watch another one.
pub(super) fn append_record(entry: &LogRecord<'_>) {
    static COMPLAINT: Once = Once::new();
    // Malformed settings are an error of the accelerator: nothing runs that could be reported.
    let Some(path) = Settings::get().ok().and_then(|settings| settings.report.as_ref()) else { return };
    if let Err(error) = append_record_line(path, entry) {
        COMPLAINT
            .call_once(|| warn_log_or_stderr(&format!("PROOFWARP_REPORT: cannot write {}: {error}", path.display())));
    }
}

/// Appends a line for `entry` to the file at `path`, as JSON if the name ends in `.jsonl`, otherwise as text. If the
/// file is a pipe, it does not wait for a reader.
fn append_record_line(path: &Path, entry: &LogRecord<'_>) -> io::Result<()> {
    let is_json = path.extension().and_then(OsStr::to_str) == Some("jsonl");
    let line = if is_json { entry.json().to_string() } else { entry.format_line() };
    let mut file = file_state::open_nonblocking(OpenOptions::new().create(true).append(true), path)?;
    // Each line is one write, so that lines of several processes do not mix.
    file.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_whether_lines_are_json() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = |name: &str| {
            let path = folder.path().join(name);
            (0..2).for_each(|_| append_record_line(&path, &LogRecord::Complaint("x")).expect(name));
            std::fs::read_to_string(path).expect(name)
        };
        assert_eq!(written("a.txt"), "x\nx\n");
        assert_eq!(written("a.jsonl"), "{\"error\":\"x\"}\n{\"error\":\"x\"}\n");
    }

    /// Checks that writes to a named pipe do not wait: without a reader, with one, with one that stops reading, and
    /// after it has gone.
    #[cfg(unix)]
    #[test]
    fn pipes_are_not_waited_for() {
        use std::io::Read;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let append = {
            let path = path.clone();
            move || {
                let (sender, ended) = std::sync::mpsc::channel();
                let path = path.clone();
                std::thread::spawn(move || sender.send(append_record_line(&path, &LogRecord::Complaint("x")).is_ok()));
                ended.recv_timeout(std::time::Duration::from_secs(10)).expect("an end: nothing waits for a reader")
            }
        };
        assert!(!append(), "no reader");
        let mut reader = file_state::open_nonblocking(OpenOptions::new().read(true), &path).expect("a reader");
        assert!(append());
        let mut line = [0; 2];
        reader.read_exact(&mut line).expect("a line");
        assert_eq!(&line, b"x\n");
        let taken = (0..1 << 16).take_while(|_| append_record_line(&path, &LogRecord::Complaint("x")).is_ok()).count();
        assert!((1..1 << 16).contains(&taken), "a full pipe is an error after {taken} lines");
        drop(reader);
        assert!(!append(), "the reader has gone");
    }
}
