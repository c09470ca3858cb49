//! A circuit proved by everybody who can, and what is said of it.

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use rand_core::OsRng;
use serde::Serialize;

use crate::adapter::Ours;
use crate::cli::Options;
use crate::measure::measure;
use crate::outcome::Outcome;
use crate::stock::Stock;
use crate::task::{Circuits, Setup, Task};
use crate::{Failure, device, options, output, peer, progress, table};

/// What is written with `--json`.
#[derive(Serialize)]
struct Written<'a> {
    opening: String,
    cores: usize,
    outcomes: &'a [Outcome],
}

/// Makes circuits, keys and proofs as a command line says, and prints what they took.
///
/// # Errors
/// A step failed, a proof does not verify, or keys differ.
pub fn run<C: Circuit<Fr>>(options: &Options, circuits: impl FnOnce() -> Circuits<C>) -> Result<(), Failure> {
    let accelerator = Accelerator::global()?;
    println!("host: {} cores", rayon::current_num_threads());
    device::announce(accelerator, device::asked_for_cpu(accelerator));
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

/// The peer's outcome. What was not named may be absent.
fn peer(options: &Options, setup: &Setup) -> Result<Option<Outcome>, Failure> {
    // It takes memory on the device too.
    proofwarp_halo2::clear_setups();
    Accelerator::global()?.devices().iter().for_each(|device| device.trim());
    let found = peer::find(options.peer.as_deref()).and_then(|program| peer::run(&program, &options.work, setup));
    match found {
        Err(error) if options.peer.is_none() => {
            println!("left out: {}: {error}", peer::NAME);
            Ok(None)
        }
        found => found.map(Some),
    }
}

/// All keys are to be the same.
fn same_keys(outcomes: &[Outcome]) -> Result<(), Failure> {
    match outcomes.windows(2).find(|pair| pair[0].key != pair[1].key) {
        Some([one, other]) => {
            Err(format!("the keys differ: {} has {}, {} has {}", one.prover, one.key, other.prover, other.key).into())
        }
        _ => Ok(()),
    }
}

fn write_json(options: &Options, outcomes: &[Outcome]) -> Result<(), Failure> {
    let Some(path) = &options.json else { return Ok(()) };
    let (opening, cores) = (options::name(&options.work.opening), rayon::current_num_threads());
    Ok(output::write_json(path, &Written { opening, cores, outcomes })?)
}
