//! A multiplication, a transform, a batch of proofs and one proof by all ranks of an MPI job, each checked and timed, with what
//! each rank did.
//!
//! ```console
//! cargo build --release --example cluster --features mpi
//! mpirun -np 4 --bind-to none target/release/examples/cluster
//! target/release/examples/cluster --predict
//! ```

mod cli;
mod inputs;
mod model;
mod predict;
mod proofs;
mod steps;
mod table;

use std::process::ExitCode;

use clap::Parser;
use proofwarp::cluster::{Cluster, ClusterOptions, mpi};
use serde::{Deserialize, Serialize};

use cli::{Options, Step};
use steps::Timed;

/// Anything that ends the program.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is written with `--json`, and read with `--fit`.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    ranks: usize,
    devices: Vec<String>,
    steps: Vec<Timed>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = if options.predict { predict::print(&options.fit) } else { on_all_ranks(&options) };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

fn on_all_ranks(options: &Options) -> Result<(), Failure> {
    let universe = mpi::initialize().ok_or("MPI runs already")?;
    let world = universe.world();
    let result = run(options, &world);
    if let Err(error) = &result {
        // Others may wait for this rank, if it failed in what they have not agreed on.
        eprintln!("cluster: {error}");
        mpi::traits::Communicator::abort(&world, 1);
    }
    result
}

fn run(options: &Options, world: &mpi::topology::SimpleCommunicator) -> Result<(), Failure> {
    let cluster =
        Cluster::with_options(world, ClusterOptions { backend: options.backend, ..ClusterOptions::default() })?;
    let mut done = Vec::new();
    for step in &options.only {
        done.extend(match step {
            Step::Msm => steps::msm(&cluster, options)?,
            Step::Ntt => steps::ntt(&cluster, options)?,
            Step::Batch => proofs::batch(&cluster, options)?,
            Step::Proof => proofs::one(&cluster, options)?,
        });
    }
    let devices: Vec<String> = cluster.gather_stats().into_iter().map(|line| line.devices).collect();
    if cluster.rank() > 0 {
        return Ok(());
    }
    println!("{}", table::steps(&devices, &done));
    println!("all results are right: {} ranks", cluster.size());
    if let Some(path) = &options.json {
        let written = Written { ranks: cluster.size(), devices, steps: done };
        std::fs::write(path, serde_json::to_string_pretty(&written)? + "\n")?;
    }
    Ok(())
}
