//! The file that `PROOFWARP_REPORT` names.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, Once};

use super::operation_report::Report;
use super::record_format::LogRecord;
use crate::file_state;
use crate::settings::{Settings, warn_log_or_stderr};

/// Stands for reasons of a fallback in a line of text, if the line before has them.
const AS_BEFORE: &str = "for the same reasons as before";

/// Holds the reasons of a fallback in the last line of an operation.
static LAST_REASONS: Mutex<Vec<String>> = Mutex::new(Vec::new());

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
    // Another thread's line may repeat its reasons. A lock that is not waited for cannot stop a forked child.
    let mut last = LAST_REASONS.try_lock().ok();
    let told = last.as_ref().map_or(&[][..], |last| last.as_slice());
    let line = if is_json { entry.json().to_string() } else { format_without_repeats(entry, told) };
    let mut file = file_state::open_nonblocking(OpenOptions::new().create(true).append(true), path)?;
    // Each line is one write, so that lines of several processes do not mix.
    file.write_all(format!("{line}\n").as_bytes())?;
    if let (LogRecord::Finished(report), Some(last)) = (entry, &mut last) {
        last.clone_from(&report.fallbacks);
    }
    Ok(())
}

/// Returns the line of `entry`. Its reasons of a fallback are not repeated if they are `last`, those of the line before.
fn format_without_repeats(entry: &LogRecord<'_>, last: &[String]) -> String {
    match entry {
        LogRecord::Finished(report) if !report.fallbacks.is_empty() && report.fallbacks == last => {
            let fallbacks = vec![AS_BEFORE.to_owned()];
            LogRecord::Finished(&Report { fallbacks, ..(*report).clone() }).format_line()
        }
        _ => entry.format_line(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::backend::{BackendKind, StreamStats};

    #[test]
    fn reasons_are_told_once() {
        let report = Report {
            operation: "msm".to_owned(),
            elements: 1,
            backend: BackendKind::Cpu,
            device: "host".to_owned(),
            total: Duration::ZERO,
            traffic: StreamStats::default(),
            fallbacks: vec!["told once".to_owned()],
        };
        let entry = LogRecord::Finished(&report);
        let first = format_without_repeats(&entry, &[]);
        assert!(first.ends_with("; fell back: told once"), "{first}");
        let second = format_without_repeats(&entry, &report.fallbacks);
        assert!(second.ends_with("; fell back: for the same reasons as before"), "{second}");
        let other = format_without_repeats(&entry, &["another".to_owned()]);
        assert_eq!(other, first);
    }

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
