//! The same work on proofwarp and on what is stock, in one run.
//!
//! [`msm`], [`ntt`], [`groth16`] and [`halo2`] measure; `results` has what comes out, for the terminal, for a file and for a page.

mod groth16;
mod halo2;
mod html;
mod measure;
mod msm;
mod ntt;
mod plot;
mod print;
mod results;

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::cli;
use measure::Session;

/// Compares sums.
pub fn msm(options: &cli::Msm) -> Result<()> {
    compare("msm", &options.common, |session| options.curve.iter().try_for_each(|curve| msm::measure(session, *curve)))
}

/// Compares transforms.
pub fn ntt(options: &cli::Ntt) -> Result<()> {
    compare("ntt", &options.common, |session| options.field.iter().try_for_each(|field| ntt::measure(session, *field)))
}

/// Compares proofs.
pub fn groth16(options: &cli::Groth16) -> Result<()> {
    compare("groth16", &options.common, groth16::measure)
}

/// Compares keys and proofs of halo2-axiom's.
pub fn halo2(options: &cli::Halo2) -> Result<()> {
    compare("halo2", &options.common, halo2::measure)
}

fn compare(what: &str, options: &cli::Common, work: impl FnOnce(&mut Session) -> Result<()>) -> Result<()> {
    for path in options.html.iter().chain(&options.json) {
        check_writable(path)?;
    }
    let mut session = Session::new(what, options)?;
    work(&mut session)?;
    let comparison = session.finish();
    print::print(&comparison);
    write(options.json.as_deref(), || Ok(serde_json::to_string_pretty(&comparison)?))?;
    write(options.html.as_deref(), || html::page(&comparison))?;
    Ok(())
}

/// An error before any work, if nothing can be written there after it.
fn check_writable(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{}: expected a file in a folder that there is", path.display());
    Ok(())
}

fn write(path: Option<&Path>, text: impl FnOnce() -> Result<String>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()?).with_context(|| path.display().to_string())?;
    eprintln!("written: {}", path.display());
    Ok(())
}
