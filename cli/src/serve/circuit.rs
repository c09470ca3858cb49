//! Loads the keys of the circuits that are served.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use bench_support::table;
use proofwarp::Accelerator;
use proofwarp_circom::{AnyProvingKey, CurveId, Zkey};

use super::metrics::CircuitMetrics;
use crate::output::say;
use crate::prove::with_text;

/// Holds a circuit that is served.
#[derive(Debug)]
pub(super) struct Circuit {
    pub name: String,
    pub key: AnyProvingKey,
    pub metrics: CircuitMetrics,
}

/// Number of bytes of a wtns file besides its values. These are magic, version, number of sections, types and lengths
/// of two sections, and the header (length of r, r, nWitness).
const WTNS_BYTES: u64 = 3 * 4 + 2 * (4 + 8) + 4 + CurveId::SCALAR_BYTES as u64 + 4;

/// Returns each path with its circuit's name: the name of the file without `.zkey`.
///
/// # Errors
/// Returns an error if a path ends with no name in UTF-8, or if two have one name.
pub(super) fn names(paths: &[PathBuf]) -> Result<Vec<(String, &Path)>> {
    let mut named: Vec<(String, &Path)> = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("{}: expected a file's name in UTF-8", path.display()))?;
        let name = name.strip_suffix(".zkey").unwrap_or(name);
        if let Some((_, other)) = named.iter().find(|(other, _)| other == name) {
            let [one, other] = [path, *other].map(Path::display);
            anyhow::bail!("{one}: expected another name than {name}, which is that of {other}");
        }
        ensure!(!name.is_empty(), "{}: expected a name before .zkey, got none", path.display());
        named.push((name.to_owned(), path));
    }
    Ok(named)
}

/// Opens the keys and uploads them to the devices of `accelerator`.
///
/// # Errors
/// Returns an error that names the file if one is malformed, or if a forced backend has too little memory.
pub(super) fn load(accelerator: &Accelerator, named: Vec<(String, &Path)>) -> Result<Vec<Arc<Circuit>>> {
    let load = |(name, path): (String, &Path)| {
        let start = Instant::now();
        say(format_args!("{name}: reading {}, then preparing the key", path.display()));
        let zkey = Zkey::open(path).map_err(with_text)?;
        let key = AnyProvingKey::new(accelerator, &zkey).map_err(with_text)?;
        let header = key.header();
        let bytes = table::bytes(key.device_bytes());
        say(format_args!(
            "{name}: {}, {} signals, domain 2^{}, {bytes} on the devices, loaded in {:.1} s",
            header.curve,
            header.signals,
            header.domain_size.ilog2(),
            start.elapsed().as_secs_f64()
        ));
        Ok(Arc::new(Circuit { name, key, metrics: CircuitMetrics::default() }))
    };
    named.into_iter().map(load).collect()
}

/// Returns the bytes of the largest witness file that `circuits` take, as snarkjs and circom write it.
pub(super) fn max_witness_bytes(circuits: &[Arc<Circuit>]) -> u64 {
    let signals = circuits.iter().map(|circuit| circuit.key.header().signals).max().unwrap_or(0);
    WTNS_BYTES + u64::from(signals) * CurveId::SCALAR_BYTES as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files_and_differ() {
        let paths = ["keys/one.zkey", "two.zkey", "keys/three.key"].map(PathBuf::from);
        let named = names(&paths).expect("three names");
        assert_eq!(named.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["one", "two", "three.key"]);
        let paths = ["a/one.zkey", "b/one.zkey"].map(PathBuf::from);
        let error = names(&paths).expect_err("one name").to_string();
        assert_eq!(error, "b/one.zkey: expected another name than one, which is that of a/one.zkey");
        for wrong in ["..", "/", "keys/.zkey"] {
            assert!(names(&[wrong.into()]).is_err(), "{wrong}");
        }
    }
}
