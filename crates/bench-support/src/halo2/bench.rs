//! `cargo bench -p proofwarp-benches --bench halo2`: this crate, halo2-axiom on the host's cores and the published halo2-axiom-gpu,
//! each of the same circuits with the same setup, in one run; halo2-axiom verifies all proofs.

use std::path::PathBuf;

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::Circuit;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::{Accelerator, BackendKind};
use rand::rngs::OsRng;

use super::measure::measure;
use super::ours::Ours;
use super::outcome::Outcome;
use super::run::{free_devices, same_keys};
use super::shape::Shape;
use super::stock::Stock;
use super::task::{Circuits, Setup, Task};
use super::work::{Kind, Work, name};
use super::{peer, table};
use crate::inputs::RANDOM;
use crate::peers::listed;
use crate::results::{self, Measurement};
use crate::session::{Session, circuit_options};
use crate::{Failure, progress};

const HELP: &str = "Times halo2 proofs by proofwarp, halo2-axiom and halo2-axiom-gpu; halo2-axiom verifies them.

Variables:
  PROOFWARP_BENCH_CIRCUITS=measured:16,wide:18   circuits (measured, wide) and binary logarithms of their rows;
                                                 measured:12,wide:12 without it
  PROOFWARP_BENCH_PROOFS=5                       number of timed proofs of each circuit (default 3); the median is reported
  PROOFWARP_BENCH_LIMIT=20                       halo2-axiom is left out where it would take more seconds for a proof
  PROOFWARP_BENCH_OUT=DIR                        where halo2.json and halo2_*.svg go; target/bench without it
  PROOFWARP_BACKEND=cuda                         the backend of proofwarp's
  PROOFWARP_PEERS=stock                          whether halo2-axiom runs; it does without the variable
  PROOFWARP_HALO2_AXIOM_GPU=PROGRAM              the program of benches/halo2-axiom-gpu; the one built there without it

Example:
  benches/halo2-axiom-gpu/build.sh
  PROOFWARP_BENCH_PROOFS=5 PROOFWARP_BENCH_CIRCUITS=measured:16,measured:18,measured:20,wide:18 \\
      cargo bench -p proofwarp-benches --features cuda --bench halo2";

/// Default circuits, each with 2^12 rows: small enough to prove on a CPU.
const CIRCUITS: &str = "measured:12,wide:12";

/// Runs the bench, or prints its help.
///
/// # Errors
/// Returns an error if a variable is malformed, if a proof does not verify, if keys differ, or if a file cannot be written.
pub fn bench() -> Result<(), Failure> {
    if std::env::args().any(|argument| argument == "--help" || argument == "-h") {
        println!("{HELP}");
        return Ok(());
    }
    let mut session = Session::new("halo2")?;
    let all = session.circuits(CIRCUITS);
    let all = all.iter().map(|circuit| parse(circuit)).collect::<Result<Vec<_>, _>>()?;
    session.note_devices(Accelerator::global()?);
    for work in &all {
        match work.circuit {
            Kind::Measured => bench_circuit(&mut session, work, &Circuits::filled(Shape::measured(work.k)))?,
            Kind::Wide => bench_circuit(&mut session, work, &Circuits::filled(Shape::wide(work.k)))?,
            Kind::Base => return Err("PROOFWARP_BENCH_CIRCUITS: expected measured or wide, got base".into()),
        }
    }
    session.finish()
}

/// Parses a circuit such as `wide:18`.
fn parse(circuit: &str) -> Result<Work, Failure> {
    let (kind, k) = circuit
        .split_once(':')
        .ok_or_else(|| format!("PROOFWARP_BENCH_CIRCUITS: expected CIRCUIT:LOG with commas between, got {circuit}"))?;
    let proofs = std::env::var("PROOFWARP_BENCH_PROOFS").ok().map(|proofs| format!("--proofs={proofs}"));
    let line = [format!("--circuit={kind}"), format!("--k={k}")].into_iter().chain(proofs);
    circuit_options(circuit, line.collect())
}

/// Measures all ways to prove one circuit, with one setup.
fn bench_circuit<C: Circuit<Fr>>(session: &mut Session, work: &Work, circuits: &Circuits<C>) -> Result<(), Failure> {
    let setup = progress::step("the setup", || Ok::<_, Failure>(ParamsKZG::setup(work.k, OsRng)))?;
    let task = Task { setup: &setup, circuits, work };
    println!("{}: {}", name(&work.circuit), table::shape(&circuits.for_keys, work.k));
    let mut outcomes = vec![measure(&Ours::new(&setup, work.opening), &task)?];
    record(session, work, &ours()?, Ok(&outcomes[0]));
    free_devices()?;
    for (name, outcome) in [("halo2-axiom", stock(session, &task)), (peer::NAME, peer(work, &setup))] {
        record(session, work, name, outcome.as_ref());
        outcomes.extend(outcome);
    }
    println!("{}", table::times(&outcomes));
    same_keys(&outcomes)
}

/// Returns this crate's name with its backend.
fn ours() -> Result<String, Failure> {
    let backend = Accelerator::global()?.devices().first().map_or(BackendKind::Cpu, |device| device.info().backend);
    Ok(match backend {
        BackendKind::Cuda => "proofwarp CUDA".to_owned(),
        BackendKind::OpenCl => "proofwarp OpenCL".to_owned(),
        BackendKind::Cpu => "proofwarp on the CPU".to_owned(),
    })
}

fn stock<C: Circuit<Fr>>(session: &Session, task: &Task<'_, C>) -> Result<Outcome, String> {
    if !listed("stock") {
        return Err("PROOFWARP_PEERS does not list stock".to_owned());
    }
    session.in_time("halo2-axiom", PROOF, &operation(task.work), task.work.k)?;
    let stock = Stock { setup: task.setup, opening: task.work.opening };
    measure(&stock, task).map_err(|error| error.to_string())
}

fn peer(work: &Work, setup: &Setup) -> Result<Outcome, String> {
    let named = std::env::var_os("PROOFWARP_HALO2_AXIOM_GPU").map(PathBuf::from);
    let outcome = peer::find(named.as_deref()).and_then(|program| peer::run(&program, work, setup));
    outcome.map_err(|error| error.to_string())
}

/// Place of the cells that time a whole proof, from the circuit to the proof's bytes.
const PROOF: &str = "a proof";

fn operation(work: &Work) -> String {
    format!("halo2_{}", name(&work.circuit))
}

/// Returns operations and places: a proof, the same without its synthesis, and both keys.
fn cells(work: &Work) -> [(String, &'static str); 3] {
    let operation = operation(work);
    let keys = format!("{operation}_keys");
    [(operation.clone(), PROOF), (operation, "less its synthesis"), (keys, "both keys")]
}

/// Returns milliseconds and samples of the cells.
fn times(outcome: &Outcome) -> [(f64, usize); 3] {
    let (synthesis, proofs) = (outcome.steps.first().map_or(0.0, |step| step.ms), outcome.runs_ms.len());
    let keys = outcome.keygen_vk_ms + outcome.keygen_pk_ms;
    [(outcome.proof_ms, proofs), (outcome.proof_ms - synthesis, proofs), (keys, 1)]
}

/// Keeps a prover's times, or why there are none.
fn record(session: &mut Session, work: &Work, implementation: &str, outcome: Result<&Outcome, &String>) {
    for (number, (operation, place)) in cells(work).into_iter().enumerate() {
        let outcome = match outcome {
            Err(reason) => results::Outcome::Absent(reason.clone()),
            Ok(outcome) => {
                let (ms, samples) = times(outcome)[number];
                results::Outcome::Time { nanoseconds: (ms * 1e6) as u64, samples, note: outcome.ran_on.join(", ") }
            }
        };
        session.record(Measurement {
            operation,
            implementation: implementation.to_owned(),
            place: place.to_owned(),
            distribution: RANDOM.to_owned(),
            log_n: work.k,
            outcome,
        });
    }
}
