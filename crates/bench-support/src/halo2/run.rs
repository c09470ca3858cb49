//! Has a circuit proved by each prover that was asked for, and shows what they took.

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use rand::rngs::OsRng;
use serde::Serialize;

use super::measure::measure;
use super::options::Options;
use super::ours::Ours;
use super::outcome::Outcome;
use super::shape::Shape;
use super::stock::Stock;
use super::task::{Circuits, Setup, Task};
use super::work::{Kind, name};
use super::{peer, table};
use crate::{Failure, device, output, progress};

/// Results as they are written with `--json`.
#[derive(Serialize)]
struct Results<'a> {
    opening: String,
    cores: usize,
    outcomes: &'a [Outcome],
}

/// Runs the program with the circuits that it has, and prints its tables.
///
/// # Errors
/// Returns an error if it has no such circuit, if a step fails, if a proof does not verify, or if keys differ.
pub fn run(options: &Options) -> Result<(), Failure> {
    let k = options.work.k;
    let shape = match options.work.circuit {
        Kind::Measured => Shape::measured(k),
        Kind::Wide => Shape::wide(k),
        Kind::Base => {
            return Err("--circuit: this program has measured or wide, got base; benches/halo2-base has base".into());
        }
    };
    run_circuits(options, || Circuits::filled(shape))
}

/// Makes keys and proofs of what `circuits` returns, and prints what they took.
///
/// # Errors
/// Returns an error if a step fails, if a proof does not verify, or if keys differ.
pub fn run_circuits<C: Circuit<Fr>>(options: &Options, circuits: impl FnOnce() -> Circuits<C>) -> Result<(), Failure> {
    device::announce_all(Accelerator::global()?);
    let circuits = progress::step("making the witness", || Ok::<_, Failure>(circuits()))?;
    prove(options, &circuits)
}

fn prove<C: Circuit<Fr>>(options: &Options, circuits: &Circuits<C>) -> Result<(), Failure> {
    let work = &options.work;
    println!("{}", table::shape(&circuits.for_keys, work.k));
    let setup = progress::step("making the setup", || Ok::<_, Failure>(ParamsKZG::setup(work.k, OsRng)))?;
    let task = Task { setup: &setup, circuits, work };
    let mut outcomes = vec![measure(&Ours::new(&setup, work.opening).on_devices(options.devices), &task)?];
    if options.compare {
        outcomes.push(measure(&Stock { setup: &setup, opening: work.opening }, &task)?);
    }
    if options.compare || options.peer.is_some() {
        outcomes.extend(peer(options, &setup)?);
    }
    println!("{}", table::times(&outcomes));
    for outcome in &outcomes {
        println!("{}", table::verified(outcome));
    }
    same_keys(&outcomes)?;
    write_json(options, &outcomes)
}

/// Returns the peer's outcome. A program that was not named may be absent.
fn peer(options: &Options, setup: &Setup) -> Result<Option<Outcome>, Failure> {
    free_devices()?;
    let found = peer::find(options.peer.as_deref()).and_then(|program| peer::run(&program, &options.work, setup));
    match found {
        Err(error) if options.peer.is_none() => {
            println!("left out: {}: {error}", peer::NAME);
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// Frees what proofwarp holds on devices: the peer takes memory there too.
///
/// # Errors
/// Returns the error of a malformed setting.
pub fn free_devices() -> Result<(), Failure> {
    proofwarp_halo2::clear_setups();
    Accelerator::global()?.devices().iter().for_each(|device| device.trim());
    Ok(())
}

/// Checks that all keys are equal.
///
/// # Errors
/// Returns an error with two keys that differ.
pub fn same_keys(outcomes: &[Outcome]) -> Result<(), Failure> {
    match outcomes.windows(2).find(|pair| pair[0].key != pair[1].key) {
        Some([one, other]) => {
            Err(format!("the keys differ: {} has {}, {} has {}", one.prover, one.key, other.prover, other.key).into())
        }
        _ => Ok(()),
    }
}

fn write_json(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let (opening, cores) = (name(&options.work.opening), rayon::current_num_threads());
    Ok(output::write_json(path, &Results { opening, cores, outcomes })?)
}
