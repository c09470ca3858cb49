//! What the log says while something is done.

use std::sync::{Mutex, Once};

use log::{Log, Metadata, Record};

/// Keeps lines, of all tests that run.
struct Lines(Mutex<Vec<String>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));
/// One test at a time asks.
static ASKED: Mutex<()> = Mutex::new(());

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        self.0.lock().expect("no logger panics").push(record.args().to_string());
    }

    fn flush(&self) {}
}

/// A result, and the lines of the log meanwhile. Those of other tests are among them.
pub fn logged<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    static START: Once = Once::new();
    START.call_once(|| {
        log::set_logger(&LINES).expect("no other logger");
        log::set_max_level(log::LevelFilter::Info);
    });
    let _alone = ASKED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    LINES.0.lock().expect("no logger panics").clear();
    let value = work();
    (value, LINES.0.lock().expect("no logger panics").clone())
}
