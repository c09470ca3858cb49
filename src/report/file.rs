//! The file that `PROOFWARP_REPORT` names.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Once;

use super::entry::Entry;
use crate::settings::Settings;

/// Appends a line to the file: programs without a logger, and those that watch another program, read there what ran.
pub fn append(entry: &Entry<'_>) {
    static COMPLAINT: Once = Once::new();
    // Malformed settings are an error of the accelerator's: nothing runs that could be reported.
    let Some(path) = Settings::get().ok().and_then(|settings| settings.report.as_ref()) else { return };
    if let Err(error) = append_to(path, entry) {
        COMPLAINT.call_once(|| log::warn!("PROOFWARP_REPORT: cannot write {}: {error}", path.display()));
    }
}

fn append_to(path: &Path, entry: &Entry<'_>) -> std::io::Result<()> {
    use std::io::Write;
    let is_json = path.extension().and_then(OsStr::to_str) == Some("jsonl");
    let line = if is_json { entry.json().to_string() } else { entry.text() };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    // One write a line, so that lines of several processes do not mix.
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
            (0..2).for_each(|_| append_to(&path, &Entry::Complaint("x")).expect(name));
            std::fs::read_to_string(path).expect(name)
        };
        assert_eq!(written("a.txt"), "x\nx\n");
        assert_eq!(written("a.jsonl"), "{\"error\":\"x\"}\n{\"error\":\"x\"}\n");
    }
}
