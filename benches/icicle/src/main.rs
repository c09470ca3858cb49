//! Times open-icicle on request: `crates/bench-support/src/protocol.rs` says how it is asked, operations are
//! `msm_bls12_381_g1`, `msm_bn254_g1`, `ntt_bls12_381_fr` and `ntt_bn254_fr`.
//!
//! Place `resident`: points and scalars (or the elements to transform) are in device memory before the clock
//! starts, and the sum ends on the host. Place `host`: all is in pageable host memory before and after.
//!
//! `ICICLE_BACKEND_INSTALL_DIR` names the folder of icicle's backends, as for icicle's own programs. `ICICLE_DEVICE`
//! names icicle's device, `CUDA` without it: with libraries that have icicle's CPU backend, `CPU` checks the program.

mod curve;
mod device;
mod driver;
mod fastest;
mod ffi;
mod msm;
mod ntt;

use std::process::ExitCode;

use bench_support::protocol::{error_line, serve};
use bench_support::{Failure, exit};
use halo2curves::bn256;

use ffi::{BLS12_381, BN254};
use msm::Msm;
use ntt::Ntt;

fn main() -> ExitCode {
    exit::code(env!("CARGO_CRATE_NAME"), run())
}

fn run() -> Result<(), Failure> {
    let name = device::open().inspect_err(|error| println!("{}", error_line(error)))?;
    let mut bls12_381 = Msm::<blstrs::G1Affine>::new(&BLS12_381);
    let mut bn254 = Msm::<bn256::G1Affine>::new(&BN254);
    let mut bls12_381_fr = Ntt::<blstrs::Scalar>::new(&BLS12_381);
    let mut bn254_fr = Ntt::<bn256::Fr>::new(&BN254);
    serve(&name, |request| match request.operation.as_str() {
        "msm_bls12_381_g1" => bls12_381.answer(request),
        "msm_bn254_g1" => bn254.answer(request),
        "ntt_bls12_381_fr" => bls12_381_fr.answer(request),
        "ntt_bn254_fr" => bn254_fr.answer(request),
        other => Err(format!("no operation of icicle here: {other}").into()),
    })
}
