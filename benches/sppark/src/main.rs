//! Times sppark on request: `../common/protocol.rs` says how it is asked, operations are
//! `msm_bls12_381_g1`, `msm_bn254_g1`, `ntt_bls12_381_fr` and `ntt_bn254_fr`.
//!
//! Place `resident`: points and scalars (or the elements to transform) are in device memory before the clock
//! starts, and the sum ends on the host. Place `host`: all is in pageable host memory before and after.

mod device;
#[path = "../../../examples/groth16/exit.rs"]
mod exit;
#[path = "../../common/inputs.rs"]
#[allow(dead_code, reason = "the benches use more of it")]
mod inputs;
mod msm;
mod ntt;
#[path = "../../common/protocol.rs"]
#[allow(dead_code, reason = "the benches use the other half of it")]
mod protocol;

use std::process::ExitCode;

use device::{BLS12_381, BN254};
use halo2curves::bn256;
use msm::Msm;
use protocol::{Failure, error_line, serve};
// The crate whose C code sppark's host side calls.
use blst as _;

fn main() -> ExitCode {
    exit::code(run())
}

fn run() -> Result<(), Failure> {
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
