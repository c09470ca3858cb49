//! What the ranks of an MPI job compute, against what one process does. `tests/cluster.sh` runs it by mpirun; alone it is a
//! job of one rank.
//!
//! usage: cluster [all | backends | batch FOLDER [DEAD] | file FOLDER | deaf | speeds]

mod batch;
mod errors;
mod files;
mod msm;
mod ntt;
mod proof;
#[path = "../common/random_parameters.rs"]
mod random_parameters;
mod tools;

use proofwarp::cluster::{Cluster, ClusterOptions, mpi};
use tools::{Checks, lengths, local_speed};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let universe = mpi::initialize().expect("MPI runs once");
    let world = universe.world();
    // A rank that panics would wait for the others in the end of MPI, and they for it.
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&world, &arguments))).is_err();
    if failed {
        mpi::traits::Communicator::abort(&world, 1);
    }
}

fn run(world: &mpi::topology::SimpleCommunicator, arguments: &[String]) {
    let mode = arguments.first().map_or("all", String::as_str);
    let speed = (mode != "speeds").then(|| local_speed(mpi::traits::Communicator::rank(world) as usize));
    let cluster =
        Cluster::with_options(world, ClusterOptions { speed, ..ClusterOptions::default() }).expect("a cluster");
    let checks = Checks::new(&cluster);
    match mode {
        "all" => all(&checks),
        "backends" => backends(&checks),
        "batch" => batch::killed(&checks, &arguments[1], arguments.get(2).map(|rank| rank.parse().expect("a rank"))),
        "file" => files::differ(&checks, arguments[1].as_ref()),
        "speeds" => msm::measured(&checks),
        other => panic!("no mode {other}"),
    }
    checks.end(mode);
}

fn all(checks: &Checks) {
    let ranks = checks.cluster.size();
    msm::every_length::<blstrs::G1Affine>(checks, &lengths(ranks));
    msm::every_length::<halo2curves::bn256::G2Affine>(checks, &[ranks + 1]);
    msm::every_length::<pasta_curves::EpAffine>(checks, &[ranks - 1, 30]);
    ntt::every_size::<blstrs::Scalar>(checks, 11);
    ntt::every_size::<pasta_curves::Fp>(checks, 4);
    proof::every_root(checks);
    batch::twice(checks);
    files::same(checks);
    files::key(checks);
    errors::on_all_ranks(checks);
}

/// What each rank does with another backend.
fn backends(checks: &Checks) {
    msm::every_length::<blstrs::G1Affine>(checks, &[0, 2, 3, 100]);
    ntt::every_size::<blstrs::Scalar>(checks, 6);
    let name = |line: &proofwarp::cluster::RankRow| line.devices.clone();
    let names: Vec<_> = checks.cluster.gather_stats().iter().map(name).collect();
    checks.check(
        "ranks have different backends",
        names.windows(2).any(|pair| pair[0] != pair[1]),
        format!("{names:?}"),
    );
}
