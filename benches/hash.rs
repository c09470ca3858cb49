//! Commitments to matrices by Merkle trees of Poseidon2: every backend from host and device memory, beside
//! `p3-merkle-tree` on the host's cores. All of them must give the same root.
//!
//! `cargo bench -p proofwarp-benches --features plonky3,cuda --bench hash -- --log 25 --columns 16,128`
//!
//! The cores' vectors are as wide as the compiler may assume: `RUSTFLAGS="-C target-cpu=native"` lets it use all.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use bench_support::{Failure, exit, inputs};
use clap::Parser;
use comfy_table::{Table, presets};
use proofwarp::field::DeviceVector;
use proofwarp::field::plonky3::{BabyBear, Goldilocks, KoalaBear};
use proofwarp::hash::{
    HashField, MerkleTreeMmcs, PaddingFreeSponge, Poseidon2, Poseidon2Field, RowMajorMatrix, TruncatedPermutation,
};
use proofwarp::{Accelerator, BackendKind};
use serde::Serialize;
use serde::de::DeserializeOwned;

type Plonky3<F> = <F as HashField>::Plonky3;

#[derive(Debug, Parser)]
struct Options {
    /// Binary logarithms of the numbers of elements.
    #[arg(long, value_delimiter = ',', default_value = "20")]
    log: Vec<u32>,
    /// Numbers of columns, which divide the numbers of elements.
    #[arg(long, value_delimiter = ',', default_value = "16,128")]
    columns: Vec<usize>,
    /// Samples of each time, after one call to warm up.
    #[arg(long, default_value_t = 5)]
    samples: usize,
    /// Measures only schemes whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Ignored: cargo passes it to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["scheme", "elements", "columns", "on", "from", "total ms", "kernels ms", "permutations/s"]);
    for log in &options.log {
        for columns in &options.columns {
            bench(&mut table, options, (*log, *columns), &scheme::<KoalaBear, 16, 8, 16, 8>())?;
            bench(&mut table, options, (*log, *columns), &scheme::<KoalaBear, 24, 16, 16, 8>())?;
            bench(&mut table, options, (*log, *columns), &scheme::<BabyBear, 16, 8, 16, 8>())?;
            bench(&mut table, options, (*log, *columns), &scheme::<BabyBear, 24, 16, 16, 8>())?;
            bench(&mut table, options, (*log, *columns), &scheme::<Goldilocks, 8, 4, 8, 4>())?;
            bench(&mut table, options, (*log, *columns), &scheme::<Goldilocks, 12, 8, 8, 4>())?;
        }
    }
    println!("{table}");
    Ok(())
}

/// The scheme of Plonky3's default permutations, with the root as commitment.
fn scheme<F, const WIDTH: usize, const RATE: usize, const NODE: usize, const DIGEST: usize>()
-> MerkleTreeMmcs<F, WIDTH, RATE, NODE, DIGEST>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE>,
    [Plonky3<F>; DIGEST]: Serialize + DeserializeOwned,
{
    let sponge = PaddingFreeSponge::new(Poseidon2::plonky3());
    MerkleTreeMmcs::new(sponge, TruncatedPermutation::new(Poseidon2::plonky3()), 0)
}

fn bench<F, const WIDTH: usize, const RATE: usize, const NODE: usize, const DIGEST: usize>(
    table: &mut Table,
    options: &Options,
    (log, columns): (u32, usize),
    scheme: &MerkleTreeMmcs<F, WIDTH, RATE, NODE, DIGEST>,
) -> Result<(), Failure>
where
    F: Poseidon2Field<WIDTH> + Poseidon2Field<NODE>,
    [Plonky3<F>; DIGEST]: Serialize + DeserializeOwned,
{
    let name = format!("{} {WIDTH}/{NODE}, rate {RATE}", F::NAME);
    if !name.contains(&options.only) {
        return Ok(());
    }
    let values = inputs::elements::<F>(1 << log, 0);
    let rows = values.len() / columns;
    let permutations = rows * columns.div_ceil(RATE) + rows - 1;
    let mut expected = None;
    for (on, accelerator) in accelerators() {
        let mut vector = None;
        if let Some(device) = accelerator.devices().first() {
            vector = Some(DeviceVector::upload(&mut device.stream()?, &values)?);
        }
        let resident = vector.as_ref().map(|vector| RowMajorMatrix::device(vector, columns)).transpose()?;
        let host = RowMajorMatrix::host(&values, columns)?;
        for (from, matrix) in [("host", Some(host)), ("device", resident)] {
            let Some(matrix) = matrix else { continue };
            let (root, total, kernels) = time(options.samples, || {
                let (tree, report) = scheme.commit(&accelerator, &[matrix])?;
                Ok((tree.cap()[0], report.traffic.kernels))
            })?;
            if *expected.get_or_insert(root) != root {
                return Err(format!("{name} on {on}: another root").into());
            }
            let milliseconds = [total, kernels].map(|time| format!("{:.3}", time.as_secs_f64() * 1e3));
            let rate = format!("{:.3e}", permutations as f64 / total.as_secs_f64());
            let cells = [name.clone(), format!("2^{log}"), columns.to_string(), on.clone(), from.to_owned()];
            table.add_row(cells.into_iter().chain(milliseconds).chain([rate]));
        }
    }
    Ok(())
}

/// Plonky3 on the host's cores, and each backend that is there.
fn accelerators() -> Vec<(String, Accelerator)> {
    let mut all = Vec::new();
    for backend in [BackendKind::Cpu, BackendKind::Cuda, BackendKind::OpenCl] {
        let on = if backend == BackendKind::Cpu { "p3-merkle-tree".to_owned() } else { backend.to_string() };
        match Accelerator::with_backend(backend) {
            Ok(accelerator) => all.push((on, accelerator)),
            Err(error) => eprintln!("absent: {error}"),
        }
    }
    all
}

/// The result of `commit`, its median time, and the median time of its kernels.
fn time<T>(
    samples: usize,
    commit: impl Fn() -> Result<(T, Duration), Failure>,
) -> Result<(T, Duration, Duration), Failure> {
    let (root, _) = commit()?;
    let mut times = Vec::new();
    for _ in 0..samples.max(1) {
        let start = Instant::now();
        let (_, kernels) = commit()?;
        times.push((start.elapsed(), kernels));
    }
    times.sort_unstable();
    let (total, kernels) = times[times.len() / 2];
    Ok((root, total, kernels))
}
