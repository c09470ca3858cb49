//! `proofwarp bench cluster`: a multiplication, a transform, a batch of proofs and one proof by all ranks of an MPI job, each checked
//! and timed, with what each rank did.

mod inputs;
mod model;
mod options;
mod predict;
mod proofs;
mod steps;
mod table;

use proofwarp::cluster::{Cluster, ClusterOptions, mpi};
use serde::{Deserialize, Serialize};

use crate::{Failure, output};
use options::Step;
use steps::Timed;

pub use options::Options;

/// Holds the numbers that `--json` writes and `--fit` reads.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    ranks: usize,
    devices: Vec<String>,
    steps: Vec<Timed>,
}

/// Runs the program as one rank of a job, and prints the tables on the first.
///
/// # Errors
/// Returns an error if a step fails or its result is wrong, or if a file cannot be read or written.
pub fn run(options: &Options) -> Result<(), Failure> {
    if options.predict { predict::print(&options.fit) } else { on_all_ranks(options) }
}

fn on_all_ranks(options: &Options) -> Result<(), Failure> {
    let universe = mpi::initialize().ok_or("MPI runs already")?;
    let world = universe.world();
    let result = run_steps(options, &world);
    if let Err(error) = &result {
        // Others may wait for this rank, if it failed in what they have not agreed on.
        eprintln!("cluster: {error}");
        mpi::traits::Communicator::abort(&world, 1);
    }
    result
}

fn run_steps(options: &Options, world: &mpi::topology::SimpleCommunicator) -> Result<(), Failure> {
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
    say!("{}", table::steps(&devices, &done));
    say!("all results are right: {} ranks", cluster.size());
    let written = Written { ranks: cluster.size(), devices, steps: done };
    options.json.iter().try_for_each(|path| Ok(output::write_json(path, &written)?))
}
