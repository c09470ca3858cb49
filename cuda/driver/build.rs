//! Makes an empty library named like the driver's. cust has the linker look for that library, which need not be here:
//! this crate defines its functions.

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    // Writes an archive without members.
    std::fs::write(folder.join("libcuda.a"), "!<arch>\n")?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}
