//! A backend that is forced and not there: one device, and an error that says why.

#![allow(missing_docs, clippy::unwrap_used)]

use ec_gpu_gen::rust_gpu_tools::Device;

#[test]
fn the_reason_is_given() {
    if cfg!(feature = "cuda") {
        return eprintln!("skipped: CUDA may be there");
    }
    // SAFETY: the process has one test, and nothing has read the variable.
    unsafe { std::env::set_var("PROOFWARP_BACKEND", "cuda") };
    let devices = Device::all();
    assert_eq!(devices.len(), 1);
    let text = ec_gpu_gen::program!(devices[0]).expect_err("refused").to_string();
    assert!(text.contains("cuda") && text.contains("feature"), "{text}");
}
