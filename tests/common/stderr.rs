//! A logger that writes warnings and errors to stderr, for programs whose log a test reads.

struct Stderr;

impl log::Log for Stderr {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            eprintln!("{}: {}", record.level(), record.args());
        }
    }

    fn flush(&self) {}
}

/// Installs it.
///
/// # Panics
/// There is a logger already.
pub fn install() {
    log::set_logger(&Stderr).expect("the only logger");
    log::set_max_level(log::LevelFilter::Warn);
}
