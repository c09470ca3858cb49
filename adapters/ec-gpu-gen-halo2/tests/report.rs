//! What the report of a read tells: what was copied and launched since the read before.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::sync::Mutex;

use common::{first, on, random};
use ec_gpu_gen::rust_gpu_tools::Device;
use proofwarp::BackendKind;
use proofwarp::report::observe;

/// Bytes up, bytes down and launches of each read.
static READS: Mutex<Vec<(u64, u64, u32)>> = Mutex::new(Vec::new());

#[test]
fn a_read_tells_what_came_before() {
    if Device::all()[0].backend() == BackendKind::Cpu {
        return eprintln!("skipped: the host copies nothing");
    }
    observe(|report| {
        if report.operation == "kernel columns bn254_fr" {
            let traffic = report.traffic;
            READS.lock().unwrap().push((traffic.bytes_up, traffic.bytes_down, traffic.launches));
        }
    });
    let values = random(1 << 10, 1);
    let mut back = random(1 << 10, 2);
    on(&first(), |program| {
        let buffer = program.create_buffer_from_slice(&values)?;
        program.read_into_buffer(&buffer, &mut back)?;
        program.create_kernel("Bn256_Fr_batch_mont", 8, 128)?.arg(&buffer).run()?;
        program.create_kernel("Bn256_Fr_batch_unmont", 8, 128)?.arg(&buffer).run()?;
        Ok(program.read_into_buffer(&buffer, &mut back)?)
    })
    .expect("two reads");
    assert!(back == values);
    let bytes = 32 << 10;
    assert_eq!(*READS.lock().unwrap(), [(bytes, bytes, 0), (0, bytes, 2)]);
}
