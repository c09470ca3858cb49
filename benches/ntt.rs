//! NTT over BLS12-381 Fr, host slice to host slice, on every backend and the stock crate.
//!
//! `PROOFWARP_BENCH_LOG=10..24 cargo bench --features cuda --bench ntt`

mod common;

use blstrs::Scalar;
use common::{Failure, Stock, accelerators, group, inputs, print_ratios, sizes};
use criterion::Criterion;
use proofwarp::ntt::NttDomain;

const NAME: &str = "ntt bls12_381_fr";

fn main() -> Result<(), Failure> {
    let mut criterion = Criterion::default().configure_from_args();
    let (sizes, accelerators, mut stock) = (sizes()?, accelerators(), Stock::start()?);
    for &log_n in &sizes {
        let mut values: Vec<Scalar> = inputs::coefficients(1 << log_n);
        let domain = NttDomain::new(log_n)?;
        let mut group = group(&mut criterion, NAME, log_n);
        for (backend, accelerator) in &accelerators {
            group.bench_function(backend.to_string(), |bench| {
                bench.iter(|| domain.forward(accelerator, &mut values).expect("the backend transforms"));
            });
        }
        group.bench_function(stock.name.clone(), |bench| {
            bench.iter_custom(|iterations| stock.time("ntt", log_n, iterations).expect("stock transforms"));
        });
    }
    criterion.final_summary();
    print_ratios(NAME, &sizes);
    Ok(())
}
