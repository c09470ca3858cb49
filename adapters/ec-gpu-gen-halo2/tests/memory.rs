//! A device that has too little memory: an error that says how much, and all goes on where less is asked for.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::bn254::Fr;
use common::{first, on, random};
use ec_gpu_gen::rust_gpu_tools::Device;
use proofwarp::BackendKind;

#[test]
fn too_little_memory() {
    // SAFETY: the process has one test, and nothing has read the variable.
    unsafe { std::env::set_var("PROOFWARP_MEMORY_LIMIT", "16M") };
    if Device::all()[0].backend() == BackendKind::Cpu {
        return eprintln!("skipped: the host's memory has no limit");
    }
    on(&first(), |program| {
        // SAFETY: it is zero.
        let text = unsafe { program.create_buffer::<Fr>(1 << 20) }.expect_err("32 MiB").to_string();
        assert!(text.contains("out of device memory: 33554432 bytes"), "{text}");
        let values = random(1 << 10, 1);
        let mut back = random(1 << 10, 2);
        for _ in 0..2000 {
            let buffer = program.create_buffer_from_slice(&values)?;
            program.create_kernel("Bn256_Fr_batch_mont", 8, 128)?.arg(&buffer).run()?;
            program.create_kernel("Bn256_Fr_batch_unmont", 8, 128)?.arg(&buffer).run()?;
            program.read_into_buffer(&buffer, &mut back)?;
        }
        assert!(back == values);
        Ok(())
    })
    .expect("buffers that fit");
}
