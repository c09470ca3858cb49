//! MSM over BLS12-381 G1 and G2, random scalars, host slices to host result, on every backend and the
//! stock crate.
//!
//! `PROOFWARP_BENCH_LOG=10..24 cargo bench --features cuda --bench msm`

mod common;

use blstrs::{G1Affine, G2Affine};
use common::{Failure, Stock, accelerators, group, inputs, print_ratios, sizes};
use criterion::Criterion;
use group::Curve;
use proofwarp::curve::MsmCurve;
use proofwarp::msm::msm;
use proofwarp::{Accelerator, BackendKind};

fn main() -> Result<(), Failure> {
    let mut criterion = Criterion::default().configure_from_args();
    let (sizes, accelerators, mut stock) = (sizes()?, accelerators(), Stock::start()?);
    bench::<G1Affine>(&mut criterion, "g1", &sizes, &accelerators, &mut stock);
    bench::<G2Affine>(&mut criterion, "g2", &sizes, &accelerators, &mut stock);
    criterion.final_summary();
    print_ratios(&name::<G1Affine>(), &sizes);
    print_ratios(&name::<G2Affine>(), &sizes);
    Ok(())
}

fn name<C: MsmCurve>() -> String {
    format!("msm {}", C::NAME)
}

fn bench<C: MsmCurve>(
    criterion: &mut Criterion,
    operation: &str,
    sizes: &[u32],
    accelerators: &[(BackendKind, Accelerator)],
    stock: &mut Stock,
) where
    C::Curve: Curve<AffineRepr = C>,
{
    for &log_n in sizes {
        let (bases, scalars) = (inputs::bases::<C>(1 << log_n), inputs::random_scalars::<C>(1 << log_n));
        let mut group = group(criterion, &name::<C>(), log_n);
        for (backend, accelerator) in accelerators {
            group.bench_function(backend.to_string(), |bench| {
                bench.iter(|| msm(accelerator, &bases, &scalars, None).expect("the backend multiplies"));
            });
        }
        group.bench_function(stock.name.clone(), |bench| {
            bench.iter_custom(|iterations| stock.time(operation, log_n, iterations).expect("stock multiplies"));
        });
    }
}
