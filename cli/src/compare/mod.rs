//! Runs the same work on proofwarp and on stock crates, in one run.
//!
//! [`msm`], [`ntt`], [`groth16`], [`halo2`] and [`circom`] measure; `results` holds the numbers for the terminal, a file
//! and a page.

mod circom;
mod groth16;
mod halo2;
mod html;
mod measure;
mod msm;
mod ntt;
mod outputs;
mod plot;
mod print;
mod results;
mod stock_kernels;
mod verdict;

use anyhow::Result;

use crate::cli;
use measure::{Peers, Session};

/// Compares MSMs by proofwarp with those by other libraries, on the curves that `options` name.
pub fn msm(options: &cli::Msm) -> Result<()> {
    compare_sizes("msm", &options.common, |session| {
        options.curve.iter().try_for_each(|curve| msm::measure(session, *curve))
    })
}

/// Compares NTTs by proofwarp with those by other libraries, over the fields that `options` name.
pub fn ntt(options: &cli::Ntt) -> Result<()> {
    compare_sizes("ntt", &options.common, |session| {
        options.field.iter().try_for_each(|field| ntt::measure(session, *field))
    })
}

/// Compares Groth16 proofs by proofwarp with those by stock bellperson.
pub fn groth16(options: &cli::Groth16) -> Result<()> {
    compare_sizes("groth16", &options.common, groth16::measure)
}

/// Compares keys and proofs by proofwarp with those by stock halo2-axiom.
pub fn halo2(options: &cli::Halo2) -> Result<()> {
    compare_sizes("halo2", &options.common, halo2::measure)
}

/// Compares proofs of a circom circuit by proofwarp with those by snarkjs and rapidsnark.
pub fn circom(options: &cli::Circom) -> Result<()> {
    compare("circom", Peers::Programs, &options.report, Vec::new(), |session| circom::measure(session, options))
}

fn compare_sizes(what: &str, options: &cli::Common, work: impl FnOnce(&mut Session) -> Result<()>) -> Result<()> {
    compare(what, Peers::Crates, &options.report, options.log.0.clone(), work)
}

fn compare(
    what: &str,
    peers: Peers,
    options: &cli::ReportOptions,
    logs: Vec<u32>,
    work: impl FnOnce(&mut Session) -> Result<()>,
) -> Result<()> {
    // Opened before any work, so that none is lost.
    let [mut json, mut html] = outputs::open(options)?;
    let mut session = Session::new(what, peers, options, logs)?;
    work(&mut session)?;
    let comparison = session.finish();
    let printed = print::print(&comparison);
    let numbers = serde_json::to_string_pretty(&comparison).map_err(Into::into);
    let json = json.as_mut().map_or(Ok(()), |json| json.write(numbers));
    let html = html.as_mut().map_or(Ok(()), |html| html.write(html::page(&comparison)));
    outputs::all([printed, json, html])
}
