//! Which devices there are, and what is kept of their programs.

use std::fs;

use super::cache::Cache;
use super::target::find;
use super::{Driver, OpenClDriver};
use crate::backend::{Code, KernelSource};

/// A processor is left out, with the reason, unless it is asked for.
#[test]
fn why_there_is_no_device_is_said() {
    let Err(error) = find(false) else { return println!("left out: there is a GPU") };
    let no_device = find(true).is_err();
    assert!(no_device || error.to_string().contains("used only with PROOFWARP_OPENCL_CPU=1"), "{error}");
}

/// A driver that compiles kernels once more for each shape keeps what it compiles itself: a program that was read back
/// would be compiled again all the same.
#[test]
fn programs_are_kept_unless_the_driver_does() {
    let Ok(mut targets) = find(true) else { return println!("left out: no OpenCL device") };
    let (target, folder) = (targets.remove(0), tempfile::tempdir().expect("a folder"));
    let specialises = target.specialises;
    let driver = OpenClDriver::new(target, Cache::at(folder.path())).expect("a driver");
    let text = || "__kernel void one(__global uint *y) { y[get_global_id(0)] = 1; }".to_owned();
    driver.kernel(KernelSource { module: "test_one", code: Code::Text(&text) }, "one").expect("it compiles");
    let kept = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(kept == 0, specialises, "{kept} programs");
    assert!(!driver.is_linked_to(0), "devices of OpenCL do not read each other's memory");
}
