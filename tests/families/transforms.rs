//! `ntt_…` and `ntt_small_…`: one pass and several, and over several devices.

use proofwarp::field::{DeviceVector, NttField};
use proofwarp::ntt::{Direction, ExtendedDomain, NttDomain, NttOptions, Order};
use proofwarp::{Accelerator, BackendKind};

use crate::common::accelerators_with_devices;
use crate::common::ntt::random;
use crate::{agree, every_field};

fn transformed<F: NttField>(log_n: u32, options: NttOptions<F>) {
    let values = random::<F>(log_n, 1);
    agree(|accelerator| {
        let domain = NttDomain::<F>::with_options(accelerator, log_n, options)?;
        let mut result = values.clone();
        domain.run(Direction::CosetForward, &mut [&mut result], None)?;
        let there = result.clone();
        domain.run(Direction::CosetInverse, &mut [&mut result], None)?;
        assert!(result == values, "there and back");
        Ok(there)
    });
}

/// One pass, three passes of few levels, and values in another order.
fn transforms<F: NttField>() {
    transformed::<F>(6, NttOptions::default());
    transformed::<F>(9, NttOptions { max_radix_log: 4, ..NttOptions::default() });
    let reversed = Order::BitReversed;
    transformed::<F>(8, NttOptions { input: reversed, output: reversed, max_radix_log: 5, ..NttOptions::default() });
}
every_field!(transforms);

/// Tiles that all run at once.
fn small_transforms<F: NttField>() {
    transformed::<F>(11, NttOptions::default());
}
every_field!(small_transforms);

fn extended<F: NttField>() {
    let coefficients = random::<F>(4, 2);
    agree(|accelerator| Ok(ExtendedDomain::<F>::new(accelerator, 4, 2)?.forward(&coefficients)?.0));
}
every_field!(extended);

/// Parts of a vector on the first device twice, or on all devices where there are several.
fn over_devices<F: NttField>() {
    let log_n = 14;
    let x = random::<F>(log_n, 3);
    for accelerator in accelerators_with_devices() {
        let devices = accelerator.devices();
        let cards = devices.iter().filter(|device| !device.info().is_cpu).count();
        let count = 1 << cards.max(1).ilog2();
        let on = if count > 1 { devices[..count].to_vec() } else { vec![devices[0].clone(); 2] };
        let options = NttOptions { max_radix_log: 5, ..NttOptions::default() };
        let domain = NttDomain::<F>::with_options(&accelerator.with_devices(on), log_n, options).expect("domain");
        let mut vector = match domain.allocate_sharded_vector() {
            Ok(vector) => vector,
            Err(_) if count > 1 && devices[0].info().backend == BackendKind::OpenCl => {
                eprintln!("left out: one transform over several OpenCL devices, which do not share memory");
                continue;
            }
            Err(error) => panic!("{accelerator:?}: {error}"),
        };
        vector.upload(&x).expect("upload");
        domain.enqueue_on_peers(Direction::CosetForward, &mut vector).expect("enqueue");
        let mut found = vec![F::ZERO; x.len()];
        vector.download(&mut found).expect("download");
        assert!(found == on_one(&accelerator, &x), "{accelerator:?}");
    }
}
every_field!(over_devices);

fn on_one<F: NttField>(accelerator: &Accelerator, x: &[F]) -> Vec<F> {
    let domain = NttDomain::new(accelerator, x.len().trailing_zeros()).expect("domain");
    let mut stream = accelerator.devices()[0].stream().expect("stream");
    let mut vector = DeviceVector::upload(&mut stream, x).expect("upload");
    domain.enqueue(Direction::CosetForward, &mut stream, &mut vector).expect("enqueue");
    let mut result = vec![F::ZERO; x.len()];
    vector.download(&mut stream, &mut result).expect("download");
    result
}
