//! Reads the environment variables of the project: [`table::VARIABLES`] lists all of them, [`Settings`] holds those
//! that the engine reads.
//!
//! A value is trimmed, and an empty one counts as unset. A malformed one is an error that names the variable, the value
//! and the form; nothing runs with it.

pub mod table;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::{BackendKind, Error, Result};
use table::{
    BACKEND, CACHE_DIR, COPY_PARAMETERS, Form, KEY_CACHE, MEMORY_LIMIT, NO_GPU, OPENCL_CPU, PREFIX, REPORT,
    SUMCHECK_TAIL, VARIABLES, VERIFY, Variable,
};

/// Holds the engine's settings from the environment.
///
/// ```
/// use proofwarp::settings::Settings;
///
/// let environment = |name: &str| (name == "PROOFWARP_MEMORY_LIMIT").then(|| "1.5GiB".into());
/// assert_eq!(Settings::read(environment)?.memory_limit, Some(3 << 29));
///
/// let environment = |name: &str| (name == "PROOFWARP_MEMORY_LIMIT").then(|| "8 parsecs".into());
/// let error = Settings::read(environment).unwrap_err().to_string();
/// assert!(error.contains("PROOFWARP_MEMORY_LIMIT: expected bytes") && error.contains("\"8 parsecs\""));
/// # Ok::<(), proofwarp::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The only backend that may be used. `None`: CUDA, then OpenCL, then the CPU.
    pub backend: Option<BackendKind>,
    /// Whether CPUs count as OpenCL devices.
    pub opencl_cpu: bool,
    /// Maximum bytes of memory that are used on each device. `None`: all that is free.
    pub memory_limit: Option<u64>,
    /// Maximum bytes of the proving keys that are cached between calls. `None`: the adapter's default.
    pub key_cache: Option<u64>,
    /// Whether parameter files are copied to memory instead of mapped.
    pub copy_parameters: bool,
    /// Whether every proof is verified before it is returned. `None`: the adapter's own default.
    pub verify: Option<bool>,
    /// File that gets a line for every operation, if any.
    pub report: Option<PathBuf>,
    /// Folder that caches compiled OpenCL programs. `None`: the user's cache folder.
    pub cache_dir: Option<PathBuf>,
    /// For tests: sumcheck rounds over at most 2^`sumcheck_tail` rows run on the host. A call's own options take
    /// precedence.
    pub sumcheck_tail: Option<u32>,
}

impl Settings {
    /// Returns the settings of this process, which the first call reads from the environment.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a variable is malformed. All later calls give this error too.
    pub fn get() -> Result<&'static Self> {
        static SETTINGS: OnceLock<Result<Settings>> = OnceLock::new();
        let read = || {
            warn_unknown_vars(std::env::vars_os().map(|(name, _)| name));
            Self::read(|name| std::env::var_os(name))
        };
        SETTINGS.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// Reads the settings from `environment`, a function that returns a variable's value by its name, or `None` if it
    /// is unset.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a variable is malformed.
    pub fn read(environment: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let get = |variable: &Variable| environment(variable.name);
        Ok(Self {
            backend: parse_variable(&BACKEND, get(&BACKEND), |text| text.parse().ok())?,
            opencl_cpu: parse_variable(&OPENCL_CPU, get(&OPENCL_CPU), parse_switch)?.unwrap_or(false),
            memory_limit: parse_variable(&MEMORY_LIMIT, get(&MEMORY_LIMIT), parse_bytes)?,
            key_cache: parse_variable(&KEY_CACHE, get(&KEY_CACHE), parse_bytes)?,
            copy_parameters: parse_variable(&COPY_PARAMETERS, get(&COPY_PARAMETERS), parse_switch)?.unwrap_or(false),
            verify: parse_variable(&VERIFY, get(&VERIFY), parse_switch)?,
            report: parse_path(get(&REPORT)),
            cache_dir: parse_path(get(&CACHE_DIR)),
            sumcheck_tail: parse_variable(&SUMCHECK_TAIL, get(&SUMCHECK_TAIL), parse_log2)?,
        })
    }
}

/// Returns the value of the environment variable [`NO_GPU`] if it forces bellperson to prove on the CPU, `None`
/// otherwise. Any value but 0 does, even an empty one. Each call reads the variable anew, as bellperson does.
pub fn no_gpu() -> Option<String> {
    cpu_forcing_value(std::env::var(NO_GPU).ok())
}

fn cpu_forcing_value(no_gpu: Option<String>) -> Option<String> {
    no_gpu.filter(|value| value != "0")
}

/// Parses the `value` of `variable` by `parse`. Returns `None` if the value is unset or empty, and an error if it is
/// malformed.
fn parse_variable<T>(
    variable: &Variable,
    value: Option<OsString>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    let malformed = || Error::invalid("settings", variable.name, variable.form, format!("\"{}\"", value.display()));
    let text = value.to_str().ok_or_else(malformed)?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    parse(text).map(Some).ok_or_else(malformed)
}

/// Parses a switch in any letter case: true for `1`, `true` or `on`, false for `0`, `false` or `off`. Returns `None`
/// for any other text.
fn parse_switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "on" => Some(true),
        "0" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// Parses a number of bytes, or returns `None` if `text` is malformed. K, M, G and T are powers of 1024, with or
/// without B or iB.
fn parse_bytes(text: &str) -> Option<u64> {
    parse_size::Config::new().with_binary().parse_size(text).ok()
}

/// Limits the binary logarithm of a column's number of rows to 32.
const MAX_LOG: u32 = 32;

/// Parses the binary logarithm of a number of rows. Returns `None` if `text` is not a number from 0 to [`MAX_LOG`].
fn parse_log2(text: &str) -> Option<u32> {
    text.parse().ok().filter(|log| *log <= MAX_LOG)
}

/// Returns the trimmed `value` as a path, or `None` if it is unset or empty. A value that is not Unicode is not
/// trimmed.
fn parse_path(value: Option<OsString>) -> Option<PathBuf> {
    let value = value?;
    let trimmed = value.to_str().map(str::trim);
    let path = trimmed.map_or_else(|| PathBuf::from(&value), PathBuf::from);
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Warns of each of `names` that [`find_unknown_vars`] returns. A misspelt setting would go unnoticed otherwise.
fn warn_unknown_vars(names: impl Iterator<Item = OsString>) {
    for name in find_unknown_vars(names) {
        warn_log_or_stderr(&format!("{name}: no such setting; docs/settings.md lists those that there are"));
    }
}

/// Logs `text` as a warning, or writes it to the standard error stream if no logger takes warnings.
pub(crate) fn warn_log_or_stderr(text: &str) {
    if log::log_enabled!(log::Level::Warn) {
        log::warn!("{text}");
    } else {
        // If that stream is closed, no place is left for the warning.
        let _ = writeln!(std::io::stderr(), "proofwarp: {text}");
    }
}

/// Returns those of `names` that start with [`PREFIX`] but are not in [`VARIABLES`], such as misspelt ones.
pub fn find_unknown_vars(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let ours = names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(PREFIX));
    ours.filter(|name| VARIABLES.iter().all(|variable| variable.name != name)).collect()
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Backend => "cuda, opencl or cpu",
            Self::Switch => "1, true or on; 0, false or off",
            Self::Bytes => "bytes, such as 8G, 1.5GiB or 512MB (powers of 1024)",
            Self::Path => "a path",
            Self::Programs => "paths of programs, with commas between",
            Self::Other(form) => form,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one_setting(name: &str, value: &str) -> Result<Settings> {
        Settings::read(|asked| (asked == name).then(|| value.into()))
    }

    #[test]
    fn empty_is_unset_everywhere() {
        for variable in VARIABLES {
            for value in ["", " ", "\t\n"] {
                let settings = read_one_setting(variable.name, value).expect(variable.name);
                assert_eq!(settings, Settings::default(), "{}={value:?}", variable.name);
            }
        }
    }

    #[test]
    fn any_value_but_0_asks_for_the_cpu() {
        for value in ["1", "", "yes"] {
            assert_eq!(cpu_forcing_value(Some(value.to_owned())).as_deref(), Some(value));
        }
        assert_eq!([Some("0".to_owned()), None].map(cpu_forcing_value), [None, None]);
    }

    #[test]
    fn bytes_in_all_spellings() {
        let spellings = [
            ("0", 0),
            ("8192", 8192),
            (" 8k ", 8192),
            ("8 K", 8192),
            ("8KiB", 8192),
            ("8G", 8 << 30),
            ("8GB", 8 << 30),
            ("8GiB", 8 << 30),
            ("8g", 8 << 30),
            ("1T", 1 << 40),
            ("1.5G", 3 << 29),
            ("0.5 MiB", 1 << 19),
            ("17179869183G", (u64::MAX >> 30) << 30),
        ];
        for (text, expected) in spellings {
            for name in ["PROOFWARP_MEMORY_LIMIT", "PROOFWARP_KEY_CACHE"] {
                let settings = read_one_setting(name, text).expect(text);
                assert_eq!(settings.memory_limit.or(settings.key_cache), Some(expected), "{name}={text}");
            }
        }
    }

    #[test]
    fn what_is_malformed_is_named() {
        let malformed = [
            ("PROOFWARP_MEMORY_LIMIT", vec!["8 parsecs", "-1", "G", "1.5.2G", "17179869184G", "1e30", "8Q", "0x10"]),
            ("PROOFWARP_KEY_CACHE", vec!["much", "17179869184G"]),
            ("PROOFWARP_BACKEND", vec!["cudda", "gpu", "1", "cuda,opencl"]),
            ("PROOFWARP_OPENCL_CPU", vec!["2", "maybe", "onn"]),
            ("PROOFWARP_VERIFY", vec!["please"]),
            ("PROOFWARP_SUMCHECK_TAIL", vec!["33", "-1", "none"]),
        ];
        for (name, values) in malformed {
            for value in values {
                let error = read_one_setting(name, value).expect_err(value).to_string();
                let variable = VARIABLES.iter().find(|variable| variable.name == name).expect(name);
                for part in [name, &format!("{value:?}"), &variable.form.to_string()] {
                    assert!(error.contains(part), "{name}={value}: {error}");
                }
            }
        }
    }

    #[test]
    fn names_and_switches_are_trimmed_and_of_any_case() {
        assert_eq!(
            read_one_setting("PROOFWARP_BACKEND", "opencl ").expect("a name").backend,
            Some(BackendKind::OpenCl)
        );
        assert_eq!(read_one_setting("PROOFWARP_BACKEND", "\tCUDA").expect("a name").backend, Some(BackendKind::Cuda));
        for (text, expected) in
            [("1", true), ("true", true), ("ON", true), ("0", false), ("False", false), ("off ", false)]
        {
            assert_eq!(read_one_setting("PROOFWARP_VERIFY", text).expect(text).verify, Some(expected));
            assert_eq!(read_one_setting("PROOFWARP_OPENCL_CPU", text).expect(text).opencl_cpu, expected);
        }
        assert_eq!(read_one_setting("PROOFWARP_REPORT", " a b ").expect("a path").report, Some("a b".into()));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_unicode_is_a_path_or_an_error() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = || OsString::from_vec(vec![b'a', 0xff]);
        let read = |name: &'static str| Settings::read(move |asked| (asked == name).then(bytes));
        assert_eq!(read("PROOFWARP_CACHE_DIR").expect("a path").cache_dir, Some(bytes().into()));
        assert!(read("PROOFWARP_BACKEND").is_err());
    }

    #[test]
    fn misspelt_names_are_found() {
        let names = ["PROOFWARP_MEMORYLIMIT", "PROOFWARP_VERIFY", "HOME"].map(OsString::from);
        assert_eq!(find_unknown_vars(names.into_iter()), ["PROOFWARP_MEMORYLIMIT"]);
    }

    /// Checks that `docs/settings.md` is the page that [`table::page`] returns. `cargo run -p xtask --
    /// settings > docs/settings.md` writes it anew.
    #[test]
    fn the_page_is_the_tables() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/settings.md"));
        assert!(
            page.expect("docs/settings.md") == table::render_settings_page(),
            "docs/settings.md: not what the table says"
        );
    }
}
