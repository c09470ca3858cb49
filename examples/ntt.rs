//! Evaluates a polynomial at all roots of unity and interpolates it again: in the host's memory, then on a device.
//!
//! `cargo run --release --example ntt`. `proofwarp bench ntt` measures sizes, batches and several devices.

use blstrs::Scalar;
use ff::Field;
use proofwarp::Accelerator;
use proofwarp::field::DeviceVector;
use proofwarp::ntt::{Direction, NttDomain};

const LOG: u32 = 18;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Shows warnings, and what OpenCL compiles: that may take minutes in the first run.
    let _ = env_logger::Builder::new().parse_filters("proofwarp=warn,proofwarp::compile=info").try_init();
    let accelerator = Accelerator::from_env()?;
    let mut rng = rand::thread_rng();
    let coefficients: Vec<Scalar> = (0..1 << LOG).map(|_| Scalar::random(&mut rng)).collect();

    // A domain holds the tables of one size.
    let domain = NttDomain::<Scalar>::new(&accelerator, LOG)?;
    let mut values = coefficients.clone();
    let report = domain.forward(&mut values)?;
    println!("forward: {report}");

    // The first values are those at 1 and at ω.
    let at = |x: Scalar| coefficients.iter().rev().fold(Scalar::ZERO, |sum, coefficient| sum * x + coefficient);
    assert_eq!(values[..2], [at(Scalar::ONE), at(domain.omega())]);
    let report = domain.inverse(&mut values)?;
    assert_eq!(values, coefficients);
    println!("inverse: {report}");

    // On a device, transforms follow each other without a copy in between. Without a device, this part is left out.
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    let mut stream = device.stream()?;
    let mut vector = DeviceVector::upload(&mut stream, &coefficients)?;
    domain.enqueue(Direction::CosetForward, &mut stream, &mut vector)?;
    domain.enqueue(Direction::CosetInverse, &mut stream, &mut vector)?;
    vector.download(&mut stream, &mut values)?;
    assert_eq!(values, coefficients);
    println!("to a coset and back on {}, without a copy to the host between", device.info().name);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_right() {
        super::main().unwrap_or_else(|error| panic!("{error}"));
    }
}
