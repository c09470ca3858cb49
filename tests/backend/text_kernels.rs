//! Kernels given as text: only OpenCL compiles at run time. CUDA's launches are tested by the kernels'
//! own tests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proofwarp::backend::opencl::{OpenClDriver, drivers};
use proofwarp::backend::{Arg, Device, Driver as _, KernelCode, KernelSource, Launch, Stream};
use proofwarp::{BackendKind, Error};
use sha2::{Digest as _, Sha256};

use crate::{common, downloaded, uploaded};

const AXPY: &str = "__kernel void axpy(__global uint *y, __global const uint *x, uint a, ulong b, uint n) {
    uint i = get_global_id(0);
    if (i < n) y[i] += a * x[i] + (uint)(b >> 32);
}";
const LENGTH: u32 = 1000;

/// A driver, unless OpenCL is absent or another backend is forced (which is printed).
fn driver() -> Option<OpenClDriver> {
    let backends = common::accelerators();
    if backends.iter().any(|accelerator| accelerator.forced() == Some(BackendKind::OpenCl)) {
        return Some(drivers().unwrap().remove(0));
    }
    common::skip("only OpenCL compiles kernels given as text");
    None
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
}

fn run(stream: &mut Stream, text: &str, kernel: &str, group_size: u32) -> proofwarp::Result<Vec<u32>> {
    run_module(stream, &|| text.to_owned(), kernel, group_size)
}

fn run_module(
    stream: &mut Stream,
    text: &dyn Fn() -> String,
    kernel: &str,
    group_size: u32,
) -> proofwarp::Result<Vec<u32>> {
    let x: Vec<u8> = (0..LENGTH).flat_map(u32::to_ne_bytes).collect();
    let (x, y) = (uploaded(stream, &x), uploaded(stream, &[0; 4 * LENGTH as usize]));
    let source = KernelSource { module: "test_axpy", code: KernelCode::Text(text) };
    let launch = Launch { source, kernel, groups: LENGTH.div_ceil(group_size.max(1)), group_size };
    let args = [Arg::Memory(y.handle()), Arg::Memory(x.handle()), Arg::U32(3), Arg::U64(5 << 32), Arg::U32(LENGTH)];
    // SAFETY: arguments match `axpy` above, which stays below LENGTH.
    unsafe {
        stream.begin_timing()?;
        stream.launch(launch, &args)?;
        stream.end_timing()?;
    }
    stream.synchronize(None)?;
    Ok(numbers(&downloaded(stream, &y)))
}

fn expected() -> Vec<u32> {
    (0..LENGTH).map(|x| 3 * x + 5).collect()
}

#[test]
fn a_kernel_gets_its_arguments() {
    let Some(driver) = driver() else { return };
    let device = Device::new(Box::new(driver), None);
    let mut stream = device.stream().unwrap();
    assert_eq!(run(&mut stream, AXPY, "axpy", 64).unwrap(), expected());
    assert_eq!(stream.stats().launches, 1);
}

/// The text is asked for when the kernel is compiled, which takes longer than that.
#[test]
fn compilation_is_no_kernels_time() {
    const SLOW: Duration = Duration::from_secs(1);
    let Some(driver) = driver() else { return };
    let device = Device::new(Box::new(driver), None);
    let text = || {
        std::thread::sleep(SLOW);
        AXPY.to_owned()
    };
    let mut stream = device.stream().unwrap();
    assert_eq!(run_module(&mut stream, &text, "axpy", 64).unwrap(), expected());
    let first = stream.stats();
    assert!(first.compile >= SLOW && first.kernels < first.compile, "{first:?}");
    assert_eq!(run_module(&mut stream, &text, "axpy", 64).unwrap(), expected());
    assert!(stream.stats().compile == first.compile && stream.stats().kernels > first.kernels);
}

/// PoCL compiles a kernel for the size of its groups when it is first launched with that.
#[test]
fn specialisation_is_no_kernels_time() {
    let Some(driver) = driver() else { return };
    if !driver.jits_per_launch_shape() {
        return common::skip("first launches of this driver do not compile");
    }
    let device = Device::new(Box::new(driver), None);
    // Text that no cache has.
    let text = AXPY.replace("a * x[i]", &format!("a * x[i] + 0 * {}u", std::process::id()));
    let mut stream = device.stream().unwrap();
    let mut times = || {
        let before = stream.stats();
        assert_eq!(run(&mut stream, &text, "axpy", 96).unwrap(), expected());
        let after = stream.stats();
        (after.compile.saturating_sub(before.compile), after.kernels.saturating_sub(before.kernels))
    };
    let [(compile, kernels), (none, later)] = [times(), times()];
    assert!(none.is_zero() && kernels < 10 * later.max(Duration::from_micros(100)), "{kernels:?}, later {later:?}");
    assert!(kernels < compile, "{kernels:?} of kernels, {compile:?} of compilation");
}

#[test]
fn threads_share_a_kernel() {
    let Some(driver) = driver() else { return };
    let device = Device::new(Box::new(driver), None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut stream = device.stream().unwrap();
                    assert_eq!(run(&mut stream, AXPY, "axpy", 64).unwrap(), expected());
                }
            });
        }
    });
}

#[test]
fn an_injected_failure_comes_once() {
    let Some(driver) = driver() else { return };
    let device = Device::new(Box::new(driver), None);
    let mut stream = device.stream().unwrap();
    device.inject_launch_fault(1);
    assert_eq!(run(&mut stream, AXPY, "axpy", 64).unwrap(), expected());
    assert!(matches!(run(&mut stream, AXPY, "axpy", 64), Err(Error::Device { .. })));
    for _ in 0..3 {
        assert_eq!(run(&mut stream, AXPY, "axpy", 64).unwrap(), expected());
    }
}

#[test]
fn an_abort_hook_is_asked_while_a_kernel_runs() {
    const SLOW: &str = "__kernel void slow(__global uint *y, uint rounds) {
        uint value = get_global_id(0);
        for (uint i = 0; i < rounds; i++) value = value * 1664525u + 1013904223u ^ value >> 3;
        y[get_global_id(0)] = value;
    }";
    let Some(driver) = driver() else { return };
    let device = Device::new(Box::new(driver), None);
    let mut stream = device.stream().unwrap();
    let y = stream.allocate(4 * 64).unwrap();
    let source = KernelSource { module: "test_slow", code: KernelCode::Text(&|| SLOW.to_owned()) };
    let launch = Launch { source, kernel: "slow", groups: 1, group_size: 64 };
    // A first launch may compile the kernel, and waits then.
    for rounds in [1, 4_000_000] {
        // SAFETY: arguments match `slow` above.
        unsafe { stream.launch(launch, &[Arg::Memory(y.handle()), Arg::U32(rounds)]).unwrap() };
    }
    let asked = AtomicU32::new(0);
    // Says no at first, so that a later question is seen to count.
    let hook = || asked.fetch_add(1, Ordering::Relaxed) == 2;
    assert!(matches!(stream.synchronize(Some(&hook)), Err(Error::Aborted)));
    assert_eq!(asked.load(Ordering::Relaxed), 3, "asked again after its yes");
}

#[test]
fn wrong_launches_and_programs_are_errors() {
    let Some(driver) = driver() else { return };
    let device = Device::new(Box::new(driver), None);
    let mut stream = device.stream().unwrap();
    let broken = run(&mut stream, "__kernel void axpy( { no_such_word }", "axpy", 64).unwrap_err().to_string();
    assert!(broken.contains("clBuildProgram of test_axpy"), "{broken}");
    assert!(broken.lines().count() > 1, "no build log: {broken}");
    let missing = run(&mut stream, AXPY, "no_such_kernel", 64).unwrap_err().to_string();
    assert!(missing.contains("no_such_kernel"), "{missing}");
    let too_large = run(&mut stream, AXPY, "axpy", 1 << 20).unwrap_err().to_string();
    assert!(too_large.contains("work-group size"), "{too_large}");
    assert!(matches!(run(&mut stream, AXPY, "axpy", 0), Err(Error::Device { .. })));
    assert_eq!(run(&mut stream, AXPY, "axpy", 64).unwrap(), expected());
}

#[test]
fn programs_are_kept_and_damaged_or_refused_ones_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let once = || {
        let driver = driver()?.with_cache(folder.path());
        let device = Device::new(Box::new(driver), None);
        assert_eq!(run(&mut device.stream().unwrap(), AXPY, "axpy", 64).unwrap(), expected());
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "one program, one file: {files:?}");
        Some(files[0].clone())
    };
    let Some(file) = once() else { return };
    let whole = std::fs::read(&file).unwrap();
    let written = std::fs::metadata(&file).unwrap().modified().unwrap();
    once();
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), written, "not found again");
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    once();
    assert_eq!(std::fs::read(&file).unwrap().len(), whole.len(), "not written anew");
    // Whole, but not a binary that the driver takes: 16 bytes of magic, the digest, the rest.
    let foreign = [&whole[..16], &Sha256::digest(b"foreign")[..], b"foreign"].concat();
    std::fs::write(&file, foreign).unwrap();
    once();
    assert_eq!(std::fs::read(&file).unwrap().len(), whole.len(), "not written anew");
}
