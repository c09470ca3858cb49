//! Checks device discovery, and the cache of programs.

use std::process::Command;
use std::sync::Barrier;
use std::{env, fs, thread};

use super::discovery::find_devices;
use super::disk_cache::DiskCache;
use super::{Driver, OpenClDriver};
use crate::backend::{KernelCode, KernelSource};

/// Checks that a processor is refused as a device, with the reason, unless it is requested.
#[test]
fn why_there_is_no_device_is_said() {
    let Err(error) = find_devices(false) else { return println!("skipped: there is a GPU") };
    let no_device = find_devices(true).is_err();
    assert!(no_device || error.to_string().contains("used only with PROOFWARP_OPENCL_CPU=1"), "{error}");
}

/// Checks that the system's reason is told if a vendor's library, or OpenCL's own, cannot be loaded. Each case runs in a
/// process of its own, since a process loads the libraries once.
#[cfg(target_os = "linux")]
#[test]
fn reasons_of_the_loader_are_said() {
    const NAME: &str = "backend::opencl::tests::reasons_of_the_loader_are_said";
    if env::var_os("PROOFWARP_TEST_LOADER").is_some() {
        return println!("no device: {}", find_devices(true).expect_err("no library"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("x.icd"), "libproofwarp-missing.so.1").expect("a file");
    fs::write(path("libOpenCL.so.1"), "no library, but a text that is as long as the header of one".repeat(2))
        .expect("a file");
    let cases = [
        ("OCL_ICD_VENDORS", ".so.1: cannot open shared object file"),
        ("LD_LIBRARY_PATH", "libOpenCL.so.1: invalid ELF header"),
    ];
    for (variable, expected) in cases {
        let mut child = Command::new(env::current_exe().expect("this program"));
        child.args(["--exact", NAME, "--nocapture"]).env("PROOFWARP_TEST_LOADER", "1").env(variable, folder.path());
        let output = child.output().expect("it starts");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && out.contains("no device: ") && out.contains(expected), "{variable}: {out}");
    }
}

/// Checks that programs are not cached on disk if the driver compiles kernels again for each launch shape. Such a
/// driver caches them itself, and would compile a cached program again.
#[test]
fn programs_are_kept_unless_the_driver_does() {
    let Ok(mut targets) = find_devices(true) else { return println!("skipped: no OpenCL device") };
    let (target, folder) = (targets.remove(0), tempfile::tempdir().expect("a folder"));
    let specialises = target.specialises;
    let driver = OpenClDriver::new(target, DiskCache::with_folder(folder.path())).expect("a driver");
    let text = || "__kernel void one(__global uint *y) { y[get_global_id(0)] = 1; }".to_owned();
    driver.load_kernel(KernelSource { module: "test_one", code: KernelCode::Text(&text) }, "one").expect("it compiles");
    let kept = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(kept == 0, specialises, "{kept} programs");
    assert!(!driver.has_p2p_link(0), "devices of OpenCL do not read each other's memory");
}

/// Checks that a compiler's warnings do not reach standard error, to which PoCL would write their number. The compilation
/// runs in a process of its own, with an empty cache of PoCL's.
#[test]
fn warnings_of_the_compiler_are_off() {
    const NAME: &str = "backend::opencl::tests::warnings_of_the_compiler_are_off";
    if env::var_os("PROOFWARP_TEST_WARNINGS").is_some() {
        let Ok(mut targets) = find_devices(true) else { return println!("skipped: no OpenCL device") };
        let driver = OpenClDriver::new(targets.remove(0), DiskCache::disabled()).expect("a driver");
        let text = || "#warning a warning\n__kernel void one(__global uint *y) { y[get_global_id(0)] = 1; }".to_owned();
        let source = KernelSource { module: "test_warning", code: KernelCode::Text(&text) };
        driver.load_kernel(source, "one").expect("it compiles");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env::current_exe().expect("this program"));
    child.args(["--exact", NAME]).env("PROOFWARP_TEST_WARNINGS", "1").env("POCL_CACHE_DIR", folder.path());
    let output = child.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("warning"), "{said}");
}

/// Checks that threads may make their first OpenCL calls at once, when the loader and PoCL initialise. Each attempt
/// runs in a process of its own.
#[test]
fn threads_open_devices_at_once() {
    const NAME: &str = "backend::opencl::tests::threads_open_devices_at_once";
    if env::var_os("PROOFWARP_TEST_AT_ONCE").is_some() {
        let start = Barrier::new(8);
        let opened = || (start.wait(), find_devices(true).map(|targets| targets.len()).ok()).1;
        let counts =
            thread::scope(|scope| [(); 8].map(|()| scope.spawn(opened)).map(|thread| thread.join().expect("no panic")));
        return assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    }
    let program = env::current_exe().expect("this program");
    for attempt in 0..4 {
        let child = Command::new(&program).args(["--exact", NAME]).env("PROOFWARP_TEST_AT_ONCE", "1").output();
        let output = child.expect("it starts");
        assert!(
            output.status.success(),
            "attempt {attempt}: {}, {}",
            output.status,
            String::from_utf8_lossy(&output.stdout)
        );
    }
}
