//! Bases of mapped files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use blstrs::{G1Affine, Scalar};
use proofwarp::cluster::ClusterMsm;
use proofwarp::msm::{Expected, FilePoints, MappedFile, msm};

use crate::msm::bases;
use crate::tools::{Checks, random};

const HEADER: usize = 11;
const COUNT: usize = 40;

/// A file of points, in which one byte of the header may be another one.
fn points(path: &Path, mark: u8) -> FilePoints {
    let mut bytes = vec![mark; HEADER];
    bytes.extend(bases::<G1Affine>(COUNT).iter().flat_map(G1Affine::to_uncompressed));
    std::fs::write(path, &bytes).expect("a file");
    let file = File::open(path).expect("it is there");
    // SAFETY: nobody writes to it while this process runs.
    let file =
        unsafe { MappedFile::new(file, path.to_owned(), |one, other| one.len() == other.len()) }.expect("mapped");
    let expected = Expected { in_subgroup: true, not_infinity: false };
    let name = |path: &Path, query: &str, number, place| format!("{}: {query} {number} at {place}", path.display());
    FilePoints { file: Arc::new(file), start: HEADER, count: COUNT, expected, query: "base", name }
}

fn of_rank(checks: &Checks, folder: &Path) -> std::path::PathBuf {
    folder.join(format!("points-{}", checks.cluster.rank()))
}

/// Equal files give the sum of one process.
pub fn same(checks: &Checks) {
    let temp = tempfile::tempdir().expect("a folder");
    let points = points(&of_rank(checks, temp.path()), 0);
    let sum = ClusterMsm::<G1Affine>::of_file(checks.cluster, &points).expect("bases");
    let scalars = random::<Scalar>(3, COUNT);
    let expected = msm(&checks.cpu, &bases::<G1Affine>(COUNT), &scalars, None).expect("a sum").0;
    checks.equal("file", &expected, &sum.run(&scalars[sum.own()], None).expect("a sum").0);
}

/// A rank whose file differs, though not in its points: all ranks hear of it.
pub fn differ(checks: &Checks, folder: &Path) {
    let last = checks.cluster.size() - 1;
    let points = points(&of_rank(checks, folder), u8::from(checks.cluster.rank() == last));
    let result = ClusterMsm::<G1Affine>::of_file(checks.cluster, &points);
    checks.failed("a file that differs", last, "as rank 0 has", result);
    same(checks);
}
