//! Computes Σ scalarᵢ · pointᵢ over BLS12-381: from the host's memory, then with points that stay on the devices.
//!
//! `cargo run --release --example msm`. `proofwarp bench msm` measures plans, curves and distributions.

use blstrs::{G1Affine, G1Projective, Scalar};
use ff::Field;
use group::{Curve, Group};
use proofwarp::Accelerator;
use proofwarp::msm::{Msm, msm};

const COUNT: usize = 1 << 14;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    // All devices, as PROOFWARP_BACKEND and the other variables say; the CPU if there is none.
    let accelerator = Accelerator::from_env()?;

    // The points are G, 2G, 3G, …, so that the sum is (Σ scalarᵢ · (i + 1)) · G.
    let g = G1Projective::generator();
    let multiples = std::iter::successors(Some(g), |point| Some(point + g));
    let mut points = vec![G1Affine::default(); COUNT];
    G1Projective::batch_normalize(&multiples.take(COUNT).collect::<Vec<_>>(), &mut points);
    let mut rng = rand::thread_rng();
    let scalars: Vec<Scalar> = (0..COUNT).map(|_| Scalar::random(&mut rng)).collect();
    let factor: Scalar = scalars.iter().zip(1u64..).map(|(scalar, number)| scalar * Scalar::from(number)).sum();
    let expected = g * factor;

    // One call copies points and scalars to the devices, a part at a time.
    let (sum, report) = msm(&accelerator, &points, &scalars, None)?;
    assert_eq!(sum, expected);
    println!("from the host: {report}");

    // A prover that adds up the same points again uploads them once.
    let resident = Msm::new(&accelerator, &points)?;
    println!("plan: {}", resident.explain(None)?);
    let (sum, report) = resident.run(&scalars, None)?;
    assert_eq!(sum, expected);
    println!("points on the devices: {report}");

    // Several vectors of scalars share the launches.
    let (sums, report) = resident.run_batch(&[(&scalars).into(), (&scalars).into()], None)?;
    assert_eq!(sums, [expected; 2]);
    println!("two sums in one call: {report}");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_right() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
