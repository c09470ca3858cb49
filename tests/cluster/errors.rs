//! Errors of one rank are errors of all, and the next call is right.

use blstrs::{G1Affine, Scalar};
use halo2curves::bn256::Bn256;
use proofwarp::cluster::{ClusterBatch, ClusterKey, ClusterMsm, ClusterNtt, Partition};
use proofwarp::msm::{MsmOptions, msm};
use proofwarp::ntt::Direction;
use proofwarp::{Error, Result};

use crate::msm::bases;
use crate::proof::Setup;
use crate::tools::{Checks, random};

const COUNT: usize = 20;

fn injected<T>() -> Result<T> {
    Err(Error::device("host", "test", "injected"))
}

pub fn on_all_ranks(checks: &Checks) {
    let cluster = checks.cluster;
    let last = cluster.size() - 1;
    let is_last = cluster.rank() == last;
    checks.failed("agree", last, "injected", cluster.all_or_error(if is_last { injected() } else { Ok(()) }));
    sums(checks, last);
    transforms(checks, last);
    let setup = Setup::new(45);
    let load = |layout: &proofwarp::cluster::KeyLayout| match is_last {
        true => injected(),
        false => layout.part(cluster.rank(), &setup.parameters),
    };
    checks.failed("key", last, "injected", ClusterKey::<Bn256>::new(cluster, &setup.circuit, load));
    batches(checks, last);
}

fn sums(checks: &Checks, last: usize) {
    let (cluster, all) = (checks.cluster, bases::<G1Affine>(COUNT));
    let is_last = cluster.rank() == last;
    let load = |range: std::ops::Range<usize>| if is_last { injected() } else { Ok(all[range].to_vec()) };
    checks.failed("bases", last, "injected", ClusterMsm::<G1Affine>::new(cluster, COUNT, load));
    let short = |_: std::ops::Range<usize>| Ok(all[..1].to_vec());
    let slices = Partition::even(COUNT * cluster.size(), cluster.size());
    let result = ClusterMsm::<G1Affine>::with_slices(cluster, slices.clone(), MsmOptions::default(), short);
    checks.failed("too few bases", 0, "number of bases", result);
    let others = Partition::even(COUNT + usize::from(is_last), cluster.size());
    let whole = |range: std::ops::Range<usize>| Ok(vec![all[0]; range.len()]);
    let result = ClusterMsm::<G1Affine>::with_slices(cluster, others, MsmOptions::default(), whole);
    if cluster.size() > 1 {
        checks.failed("other slices", last, "slices of the bases", result);
    }
    let more = Partition::even(COUNT, cluster.size() + 1);
    let result = ClusterMsm::<G1Affine>::with_slices(cluster, more, MsmOptions::default(), whole);
    checks.failed("other ranks", 0, "ranks of the slices", result);

    let sum = ClusterMsm::<G1Affine>::with_slices(
        cluster,
        Partition::even(COUNT, cluster.size()),
        MsmOptions::default(),
        |range| Ok(all[range].to_vec()),
    );
    let sum = sum.expect("bases");
    let scalars = random::<Scalar>(5, COUNT);
    let part = &scalars[sum.local_range()];
    let wrong = if is_last { &part[1..] } else { part };
    checks.failed("too few scalars", last, "number of scalars", sum.run(wrong, None));
    checks.failed("no such root", 0, "root", sum.run_to(cluster.size(), part, None));
    checks.failed("a root without scalars", 0, "scalars of the root", sum.run_from(0, None, None));
    let aborts = || is_last;
    let result = sum.run(part, Some(&aborts));
    match result {
        Err(Error::Aborted) => checks.check("abort", is_last, "on another rank"),
        other => checks.failed("abort", last, "aborted", other),
    }
    let expected = msm(&checks.cpu, &all, &scalars, None).expect("a sum").0;
    checks.equal("after errors", &expected, &sum.run(part, None).expect("a sum").0);
}

fn transforms(checks: &Checks, last: usize) {
    let (cluster, is_last) = (checks.cluster, checks.cluster.rank() == last);
    let sizes = ClusterNtt::<Scalar>::new(cluster, 6 + u32::from(is_last));
    if cluster.size() > 1 {
        checks.failed("other sizes", last, "size and options", sizes);
    }
    checks.failed("too large", 0, "log_n", ClusterNtt::<Scalar>::new(cluster, 33));
    let ntt = ClusterNtt::<Scalar>::new(cluster, 6).expect("a size");
    let whole = random::<Scalar>(6, 64);
    let before = ntt.coefficients().part(cluster.rank(), &whole);
    let mut slice = before.clone();
    if is_last {
        slice.push(whole[0]);
    }
    checks.failed("length", last, "length of the slice", ntt.run(Direction::Forward, &mut slice, None));
    slice.truncate(before.len());
    checks.equal("untouched", &before, &slice);
    let aborts = || is_last;
    match ntt.run(Direction::Forward, &mut slice, Some(&aborts)) {
        Err(Error::Aborted) => checks.check("abort", is_last, "on another rank"),
        other => checks.failed("abort", last, "aborted", other),
    }
    checks.equal("untouched", &before, &slice);
}

fn batches(checks: &Checks, last: usize) {
    let temp = tempfile::tempdir().expect("a folder");
    let batch =
        ClusterBatch { name: "errors".to_owned(), count: 5 * COUNT, folder: temp.path().to_owned(), at_once: 2 };
    let is_last = checks.cluster.rank() == last;
    let result = batch.run(checks.cluster, |numbers| {
        assert!(!is_last, "on purpose");
        std::thread::sleep(std::time::Duration::from_millis(5));
        Ok(vec![vec![1]; numbers.len()])
    });
    checks.failed("a panic", last, "on purpose", result);
    let outcome = batch.run(checks.cluster, |numbers| Ok(vec![vec![2]; numbers.len()])).expect("the rest");
    let made: usize = outcome.made.iter().sum();
    checks.check("the rest is made", outcome.found + made == batch.count, format!("{outcome:?}"));
}
