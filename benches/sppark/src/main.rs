//! Times sppark on request: `crates/bench-support/src/protocol.rs` says how it is asked, operations are
//! `msm_bls12_381_g1`, `msm_bn254_g1`, `ntt_bls12_381_fr` and `ntt_bn254_fr`.
//!
//! Place `resident`: points and scalars (or the elements to transform) are in device memory before the clock
//! starts, and the sum ends on the host. Place `host`: all is in pageable host memory before and after.

mod device;
mod msm;
mod ntt;

use std::process::ExitCode;

use bench_support::exit;
use bench_support::protocol::{error_line, serve};
use halo2curves::bn256;
// The crate whose C code sppark's host side calls.
use blst as _;

use device::{BLS12_381, BN254};
use msm::Msm;

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), bench_support::Failure> {
    let mut bls12_381 = Msm::<blstrs::G1Affine>::new(&BLS12_381);
    let mut bn254 = Msm::<bn256::G1Affine>::new(&BN254);
    let name = device::name().inspect_err(|error| println!("{}", error_line(error)))?;
    serve(&name, |request| match request.operation.as_str() {
        "msm_bls12_381_g1" => bls12_381.answer(request),
        "msm_bn254_g1" => bn254.answer(request),
        "ntt_bls12_381_fr" => ntt::answer::<blstrs::Scalar>(&BLS12_381, request),
        "ntt_bn254_fr" => ntt::answer::<bn256::Fr>(&BN254, request),
        other => Err(format!("no operation of sppark here: {other}").into()),
    })
}
