//! Links icicle's libraries of both curves, which `ICICLE_LIB_DIR` names the folder of.

use std::path::{Path, PathBuf};

const LIBRARIES: [&str; 5] =
    ["icicle_device", "icicle_field_bls12_381", "icicle_curve_bls12_381", "icicle_field_bn254", "icicle_curve_bn254"];

/// Tells how the libraries are made.
const ADVICE: &str = "benches/README.md (Peers) builds open-icicle for bls12_381 and for bn254 by cmake, with \
    -DCUDA_BACKEND=local, and installs both to one folder PREFIX; set ICICLE_LIB_DIR=PREFIX/lib";

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=ICICLE_LIB_DIR");
    let folder = find_folder()?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    for library in LIBRARIES {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    // First beside the program, for machines that the program is copied to, then where it was linked.
    println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/lib:{}", folder.display());
    println!("cargo::rustc-env=ICICLE_LINKED_DIR={}", folder.display());
    Ok(())
}

/// Returns the folder that `ICICLE_LIB_DIR` names. It is an error if the folder lacks a library.
fn find_folder() -> Result<PathBuf, String> {
    let folder = std::env::var_os("ICICLE_LIB_DIR").ok_or(format!("ICICLE_LIB_DIR is not set: {ADVICE}"))?;
    let folder = Path::new(&folder)
        .canonicalize()
        .map_err(|error| format!("ICICLE_LIB_DIR={}: {error}: {ADVICE}", Path::new(&folder).display()))?;
    for library in LIBRARIES {
        let file = folder.join(format!("lib{library}.so"));
        if !file.is_file() {
            return Err(format!("{}: there is no such file: {ADVICE}", file.display()));
        }
        println!("cargo::rerun-if-changed={}", file.display());
    }
    Ok(folder)
}
