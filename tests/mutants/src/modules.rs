//! Which files mutants are drawn from, by modules, and how many of each.

use std::fs;
use std::path::Path;

use crate::Result;
use crate::candidates::{Candidate, of_file};

pub struct Module {
    pub name: &'static str,
    /// Mutants of the sample.
    pub count: usize,
    /// Folders and files below `src`.
    paths: &'static [&'static str],
}

/// The first module that has a file gets it.
pub const MODULES: &[Module] = &[
    Module {
        name: "secrets",
        count: 20,
        paths: &[
            "backend/memory/device_buffer.rs",
            "backend/host_copies/nontemporal_copy.rs",
            "backend/host_copies/pinned_buffer.rs",
            "backend/host_copies/pinned_upload.rs",
            "backend/host_copies/nontemporal_copy.rs",
            "backend/host_copies/staging.rs",
            "field/host_vector.rs",
            "secret_vec.rs",
            "groth16/proof.rs",
            "groth16/circuit_and_witness.rs",
            "plonk/columns.rs",
            "plonk/advice.rs",
        ],
    },
    Module { name: "sumcheck", count: 40, paths: &["sumcheck"] },
    Module { name: "plonk", count: 35, paths: &["plonk"] },
    Module { name: "groth16", count: 25, paths: &["groth16"] },
    Module { name: "matrix", count: 30, paths: &["matrix"] },
    Module { name: "backend", count: 30, paths: &["backend"] },
    // None is drawn of these; the table ends with some that the issue named.
    Module { name: "named", count: 0, paths: &["field/mod.rs"] },
];

/// Files without mutants: what runs on CUDA alone, which no machine without such a card can test, and models of time, which
/// choose among ways to one answer.
const LEFT_OUT: &[&str] = &[
    "backend/cuda",
    "backend/device_info.rs",
    "backend/device_info.rs",
    "backend/opencl/owned_handles.rs",
    "matrix/dense/gpu_crt.rs",
    "matrix/dense/plan.rs",
    "matrix/dynamic/policy.rs",
    "matrix/sparse/explain.rs",
    "matrix/sparse/plan.rs",
    "plonk/work_sharing.rs",
    "sumcheck/field/basis_change.rs",
    "sumcheck/gpu/kernels.rs",
    "sumcheck/rounds/plan.rs",
];

fn below(file: &str, paths: &[&str]) -> bool {
    paths.iter().any(|path| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn rust_files(folder: &Path, found: &mut Vec<std::path::PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            rust_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// Returns the candidates of each module, by files in the order of their names, then by places.
///
/// # Errors
/// A file cannot be read or parsed.
pub fn candidates(root: &Path) -> Result<Vec<(&'static Module, Vec<Candidate>)>> {
    let source = root.join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files)?;
    files.sort();
    let mut all: Vec<_> = MODULES.iter().map(|module| (module, Vec::new())).collect();
    for path in files {
        let name = path.strip_prefix(&source)?.to_string_lossy().into_owned();
        if below(&name, LEFT_OUT) {
            continue;
        }
        if let Some((_, found)) = all.iter_mut().find(|(module, _)| below(&name, module.paths)) {
            found.extend(of_file(&format!("src/{name}"), &fs::read_to_string(&path)?)?);
        }
    }
    Ok(all)
}
