//! Cust has the linker look for the driver's library, which need not be here: the functions are this crate's. An empty
//! library of that name keeps the linker content.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // An archive without members.
    std::fs::write(folder.join("libcuda.a"), "!<arch>\n")?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}
