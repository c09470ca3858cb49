//! Callers that are all the cores of rayon's pool: what devices' threads need of the pool must still be done.
#![allow(missing_docs)]

mod common;

use std::sync::mpsc::channel;
use std::time::Duration;

use common::accelerators_with_devices;
use common::ntt::{omega, random, reference};
use proofwarp::ntt::{Transform, transform_many};

/// Longer than the transforms take on the slowest machine by far.
const LIMIT: Duration = Duration::from_secs(300);

/// Four vectors of 1 and of 16 MiB in lanes that take turns, called from the only core of the pool.
#[test]
fn a_pool_of_one_core() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("nobody has made a pool yet");
    for log_n in [15, 19] {
        let transform = Transform::new(log_n, omega::<blstrs::Scalar>(log_n));
        let x = random(log_n, 12);
        let expected = reference(&x, &transform);
        for accelerator in accelerators_with_devices() {
            let mut vectors = vec![x.clone(); 4];
            let (sender, ended) = channel();
            rayon::spawn(move || {
                let mut slices: Vec<&mut [_]> = vectors.iter_mut().map(Vec::as_mut_slice).collect();
                let result = transform_many(&accelerator, &mut slices, &[transform; 4], None);
                sender.send((result, vectors)).expect("the test waits");
            });
            let (result, vectors) = ended.recv_timeout(LIMIT).expect("an end, not a deadlock");
            result.expect("transformed");
            assert!(vectors.iter().all(|values| *values == expected), "2^{log_n}");
        }
    }
}
