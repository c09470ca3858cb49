//! Bases of mapped files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use group::UncompressedEncoding;
use proofwarp::cluster::{ClusterKey, ClusterMsm, Input, KeyLayout};
use proofwarp::groth16::{Circuit, Parameters, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp::msm::{BasePoints, FilePoints, MappedFile, PointChecks, msm};

use crate::msm::bases;
use crate::tools::{Checks, random};

const HEADER: usize = 11;
const COUNT: usize = 40;
const VARIABLES: usize = 17;

/// A file of points, in which one byte of the header may be another one.
fn points(path: &Path, mark: u8) -> FilePoints {
    file(path, mark, &bases::<G1Affine>(COUNT))
}

fn file<C: UncompressedEncoding>(path: &Path, mark: u8, points: &[C]) -> FilePoints {
    let mut bytes = vec![mark; HEADER];
    bytes.extend(points.iter().flat_map(|point| point.to_uncompressed().as_ref().to_vec()));
    std::fs::write(path, &bytes).expect("a file");
    let file = File::open(path).expect("it is there");
    // SAFETY: nobody writes to it while this process runs.
    let file =
        unsafe { MappedFile::new(file, path.to_owned(), |one, other| one.len() == other.len()) }.expect("mapped");
    let expected = PointChecks { in_subgroup: true, not_infinity: false };
    let name = |path: &Path, query: &str, number, place| format!("{}: {query} {number} at {place}", path.display());
    FilePoints { file: Arc::new(file), start: HEADER, count: points.len(), expected, query: "base", name }
}

fn of_rank(checks: &Checks, folder: &Path) -> std::path::PathBuf {
    folder.join(format!("points-{}", checks.cluster.rank()))
}

/// Equal files give the sum of one process.
pub fn same(checks: &Checks) {
    let temp = tempfile::tempdir().expect("a folder");
    let points = points(&of_rank(checks, temp.path()), 0);
    let sum = ClusterMsm::<G1Affine>::from_file(checks.cluster, &points).expect("bases");
    let scalars = random::<Scalar>(3, COUNT);
    let expected = msm(&checks.cpu, &bases::<G1Affine>(COUNT), &scalars, None).expect("a sum").0;
    checks.equal("file", &expected, &sum.run(&scalars[sum.local_range()], None).expect("a sum").0);
}

/// A key whose queries are files, of which each rank decodes its part: it is the part of what is in memory, and so are proofs.
pub fn key(checks: &Checks) {
    let (rank, temp) = (checks.cluster.rank(), tempfile::tempdir().expect("a folder"));
    let (circuit, memory) = circuit_and_key();
    let mapped = files(temp.path(), &memory);
    let load = |layout: &KeyLayout| {
        let [part, other] = [&mapped, &memory].map(|whole| layout.part(rank, whole));
        let (part, expected) = (layout.part(rank, &mapped)?, [part?, other?]);
        checks.check("decoded on the host", part.l.is_empty() || part.l.in_memory().is_none(), "l");
        for query in QUERIES {
            let [actual, expected] = expected.each_ref().map(|key| query(key).on_host().expect("points"));
            checks.equal("part of a file", expected, actual);
        }
        Ok(part)
    };
    let key = ClusterKey::new(checks.cluster, &circuit, load).expect("a key");
    let assignment = random::<Scalar>(5, VARIABLES);
    let (inputs, aux) = assignment.split_at(1);
    let (witness, r, s) = (Witness { inputs, aux: aux.into(), evaluations: None }, Scalar::from(3), Scalar::from(4));
    let input = (rank == 0).then_some(Input { circuit: &circuit, witness, blinding: (r, s) });
    let proof = key.prove(0, input, None).expect("a proof").0;
    let whole = ProvingKeyOnDevice::new(&checks.cpu, memory).expect("a key");
    let expected = prove(&whole, &circuit, &[witness], &[r], &[s], None).expect("a proof").0.remove(0);
    checks.equal("proof by a key of a file", &(rank == 0).then_some(expected), &proof);
}

type Key = Parameters<Bls12>;

const QUERIES: [fn(&Key) -> &BasePoints<G1Affine>; 4] = [|key| &key.h, |key| &key.l, |key| &key.a, |key| &key.b_g1];

/// A circuit of 20 constraints, and a key of its shape that satisfies nothing.
fn circuit_and_key() -> (Circuit<Scalar>, Key) {
    let rows = |matrix: usize| (0..20).map(move |row| vec![((row + matrix) % VARIABLES, Scalar::from(row as u64 + 1))]);
    let matrices = [0, 1, 2].map(|matrix| Arc::new(Csr::from_rows(VARIABLES, rows(matrix)).expect("a matrix")));
    let circuit = Circuit::from_matrices(1, matrices).expect("a circuit");
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let (g1, g2) = (bases::<G1Affine>(3), bases::<G2Affine>(2));
    let key = Parameters {
        alpha_g1: g1[0],
        beta_g1: g1[1],
        beta_g2: g2[0],
        delta_g1: g1[2],
        delta_g2: g2[1],
        h: bases(31).into(),
        l: bases(circuit.aux_count()).into(),
        a: bases(a).into(),
        b_g1: bases(b_inputs + b_aux).into(),
        b_g2: bases(b_inputs + b_aux).into(),
    };
    (circuit, key)
}

/// The same key, its queries in a file each.
fn files(folder: &Path, key: &Key) -> Key {
    let g1 = |name: &str, points: &BasePoints<G1Affine>| {
        let file = file(&folder.join(name), 0, points.on_host().expect("points"));
        BasePoints::encoded(file).expect("points that devices decode")
    };
    let b_g2 = file(&folder.join("b_g2"), 0, key.b_g2.on_host().expect("points"));
    Parameters {
        h: g1("h", &key.h),
        l: g1("l", &key.l),
        a: g1("a", &key.a),
        b_g1: g1("b_g1", &key.b_g1),
        b_g2: BasePoints::encoded(b_g2).expect("points that devices decode"),
        ..key.clone()
    }
}

/// A rank whose file differs, though not in its points: all ranks hear of it.
pub fn differ(checks: &Checks, folder: &Path) {
    let last = checks.cluster.size() - 1;
    let points = points(&of_rank(checks, folder), u8::from(checks.cluster.rank() == last));
    let result = ClusterMsm::<G1Affine>::from_file(checks.cluster, &points);
    checks.failed("a file that differs", last, "as rank 0 has", result);
    same(checks);
}
