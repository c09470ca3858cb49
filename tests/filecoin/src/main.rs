//! Seals a sector of 2 KiB, makes its PoSts, and verifies each, by the published filecoin-proofs.
//!
//! Parameters are made from a fixed seed, so they are not secure. `FIL_PROOFS_PARAMETER_CACHE` is their folder.

mod keygen;
mod parameters;
mod post;
mod sector;
mod timed;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::sector::Sector;

/// Proves by filecoin-proofs: steps run in the order of their list.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to do, one after another.
    #[arg(required = true, value_enum)]
    steps: Vec<Step>,
}

/// Names a step of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Makes the parameters of WinningPoSt, if the folder has none.
    WinningParameters,
    /// Makes the parameters of WindowPoSt, if the folder has none.
    WindowParameters,
    /// Makes the parameters of PoRep, if the folder has none.
    SealParameters,
    /// Seals the sector, verifies the proof, and unseals.
    Seal,
    /// Proves and verifies a WinningPoSt twice.
    Winning,
    /// Proves and verifies a WindowPoSt twice.
    Window,
}

fn main() -> Result<()> {
    env_logger::init();
    let mut sector = None;
    for step in Arguments::parse().steps {
        match step {
            Step::WinningParameters => parameters::make_winning()?,
            Step::WindowParameters => parameters::make_window()?,
            Step::SealParameters => parameters::make_seal()?,
            Step::Seal => committed(&mut sector)?.seal()?,
            Step::Winning => post::prove_winning(committed(&mut sector)?)?,
            Step::Window => post::prove_window(committed(&mut sector)?)?,
        }
    }
    println!("all verified");
    Ok(())
}

/// Returns the sector, which is pre-committed at the first call.
fn committed(sector: &mut Option<Sector>) -> Result<&Sector> {
    if sector.is_none() {
        *sector = Some(Sector::pre_commit()?);
    }
    sector.as_ref().ok_or_else(|| anyhow::anyhow!("no sector"))
}
