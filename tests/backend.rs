//! The device contract, on every backend present.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proofwarp::Error;
use proofwarp::backend::{Buffer, Device, Driver, Stream};

/// Larger than one slot of the staging ring, and not a multiple of anything.
const OVER_A_SLOT: usize = (5 << 20) + 7;
/// Larger than the whole staging ring.
const OVER_THE_RING: usize = (37 << 20) + 13;
const MIB: usize = 1 << 20;

/// A device of each backend, shared with the other tests of this process.
fn devices() -> Vec<Arc<Device>> {
    let backends = common::accelerators();
    let devices: Vec<_> = backends.iter().filter_map(|accelerator| accelerator.devices().first().cloned()).collect();
    if devices.is_empty() {
        eprintln!("left out: the device contract, since the CPU that PROOFWARP_BACKEND names has no device");
    }
    devices
}

/// A driver of each backend, for tests that change or count what a device does.
fn drivers() -> Vec<Box<dyn Driver>> {
    devices().iter().map(|device| common::fresh_driver(device)).collect()
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index.wrapping_mul(2_654_435_761) >> 7) as u8 | 1).collect()
}

fn uploaded(stream: &mut Stream, bytes: &[u8]) -> Buffer {
    let buffer = stream.allocate(bytes.len()).unwrap();
    stream.upload(&buffer, bytes).unwrap();
    buffer
}

fn downloaded(stream: &mut Stream, buffer: &Buffer) -> Vec<u8> {
    let mut bytes = vec![0xee; buffer.bytes()];
    stream.download(&mut bytes, buffer).unwrap();
    bytes
}

#[test]
fn what_goes_up_comes_down() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let lengths = [0, 1, 3, 4096, OVER_A_SLOT, OVER_THE_RING];
        for length in lengths {
            let bytes = pattern(length);
            let buffer = uploaded(&mut stream, &bytes);
            assert_eq!(buffer.bytes(), length);
            assert!(downloaded(&mut stream, &buffer) == bytes, "{length} bytes on {:?}", device.info());
        }
        let total: usize = lengths.iter().sum();
        assert_eq!((stream.traffic().bytes_up, stream.traffic().bytes_down), (total as u64, total as u64));
    }
}

#[test]
fn an_upload_at_an_offset_leaves_the_rest() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let mut expected = pattern(OVER_A_SLOT);
        let buffer = uploaded(&mut stream, &expected);
        stream.upload_at(&buffer, 4 << 20, &[7; 1000]).unwrap();
        expected[4 << 20..(4 << 20) + 1000].fill(7);
        assert!(downloaded(&mut stream, &buffer) == expected);
    }
}

#[test]
fn workers_of_the_pool_upload_all_at_once() {
    use rayon::prelude::*;
    for device in devices() {
        let bytes = pattern(OVER_THE_RING);
        // More than there are cores: each of them waits for copies that the others, or nobody, could make.
        (0..=rayon::current_num_threads()).into_par_iter().for_each(|_| {
            let mut stream = device.stream().unwrap();
            let buffer = uploaded(&mut stream, &bytes);
            assert!(downloaded(&mut stream, &buffer) == bytes);
        });
    }
}

#[test]
fn copies_take_the_named_range() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let bytes = pattern(10_000);
        let from = uploaded(&mut stream, &bytes);
        let to = uploaded(&mut stream, &[0; 10_000]);
        stream.copy((&to, 100), (&from, 2000), 3001).unwrap();
        stream.copy((&to, 9000), (&from, 0), 0).unwrap();
        let mut expected = vec![0; 10_000];
        expected[100..3101].copy_from_slice(&bytes[2000..5001]);
        assert_eq!(downloaded(&mut stream, &to), expected);
    }
}

#[test]
fn ranges_outside_a_buffer_are_refused() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let bytes = pattern(100);
        let buffer = uploaded(&mut stream, &bytes);
        let other = uploaded(&mut stream, &bytes);
        let refused = [
            stream.upload(&buffer, &[0; 101]),
            stream.upload_at(&buffer, 100, &[0]),
            stream.upload_at(&buffer, usize::MAX, &[0]),
            stream.download(&mut [0; 101], &buffer),
            stream.copy((&buffer, 1), (&other, 0), 100),
            stream.copy((&buffer, 0), (&other, 1), 100),
        ];
        for result in refused {
            assert!(matches!(result, Err(Error::Invalid { .. })), "{result:?}");
        }
        assert_eq!(downloaded(&mut stream, &buffer), bytes);
    }
}

#[test]
fn zero_clears_the_whole_buffer() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        for length in [0, 1, 4095, OVER_A_SLOT] {
            let buffer = uploaded(&mut stream, &pattern(length));
            stream.zero(&buffer).unwrap();
            assert!(downloaded(&mut stream, &buffer).iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn a_secret_is_cleared_before_its_memory_is_used_again() {
    for driver in drivers() {
        // Room for one buffer: the second can only be the first one's memory.
        let device = Device::new(driver, Some(6 * MIB as u64));
        let mut stream = device.stream().unwrap();
        let secret = stream.allocate(OVER_A_SLOT).unwrap().secret();
        stream.upload(&secret, &pattern(OVER_A_SLOT)).unwrap();
        drop(secret);
        let next = stream.allocate(OVER_A_SLOT).unwrap();
        assert!(downloaded(&mut stream, &next).iter().all(|byte| *byte == 0));
    }
}

#[test]
fn buffers_of_another_device_are_refused() {
    for (driver, other) in drivers().into_iter().zip(drivers()) {
        let [device, other] = [driver, other].map(|driver| Device::new(driver, None));
        let (mut stream, mut others) = (device.stream().unwrap(), other.stream().unwrap());
        let buffer = uploaded(&mut others, &pattern(MIB));
        assert!(other.owns(&buffer) && !device.owns(&buffer));
        for error in [stream.upload(&buffer, &[1]), stream.download(&mut [0], &buffer)] {
            assert!(error.unwrap_err().to_string().contains("another device"));
        }
        assert_eq!(downloaded(&mut others, &buffer), pattern(MIB));
    }
}

#[test]
fn scratch_memory_is_cleared_before_anything_else_has_it() {
    for driver in drivers() {
        // Room for one buffer, as above.
        let device = Device::new(driver, Some(6 * MIB as u64));
        let mut stream = device.stream().unwrap();
        let scratch = stream.scratch(OVER_A_SLOT).unwrap();
        stream.upload(&scratch, &pattern(OVER_A_SLOT)).unwrap();
        drop(scratch);
        let again = stream.scratch(OVER_A_SLOT).unwrap();
        assert_eq!(downloaded(&mut stream, &again), pattern(OVER_A_SLOT), "scratch memory is not cleared for its like");
        drop(again);
        let next = stream.allocate(OVER_A_SLOT).unwrap();
        assert!(downloaded(&mut stream, &next).iter().all(|byte| *byte == 0));
    }
}

#[test]
fn memory_of_a_dropped_buffer_is_used_again() {
    for driver in drivers() {
        let device = Device::new(driver, Some(MIB as u64));
        let mut stream = device.stream().unwrap();
        let bytes = pattern(MIB);
        drop(uploaded(&mut stream, &bytes));
        let again = stream.allocate(MIB).unwrap();
        assert_eq!(downloaded(&mut stream, &again), bytes, "not the pooled block");
        drop(again);
        // Too small for the pooled block, so that has to be given back first.
        let small = stream.allocate(1).unwrap();
        drop(stream);
        // The same for a block in the pool of an idle stream.
        let first = device.stream().unwrap();
        drop((first.allocate(MIB / 2).unwrap(), small));
        let second = device.stream().unwrap();
        drop(first);
        second.allocate(MIB).unwrap();
    }
}

#[test]
fn the_memory_limit_gives_out_of_memory() {
    for driver in drivers() {
        let device = Device::new(driver, Some(MIB as u64));
        let stream = device.stream().unwrap();
        assert_eq!(device.free_memory().unwrap(), MIB as u64);
        match stream.allocate(2 * MIB) {
            Err(Error::OutOfMemory { requested, available, .. }) => {
                assert_eq!((requested, available), (2 * MIB as u64, MIB as u64));
            }
            other => panic!("{other:?}"),
        }
        let half = stream.allocate(MIB / 2).unwrap();
        let other_half = stream.allocate(MIB / 2).unwrap();
        assert_eq!(device.free_memory().unwrap(), 0);
        assert!(matches!(stream.allocate(1), Err(Error::OutOfMemory { available: 0, .. })));
        drop((half, other_half));
        stream.allocate(MIB).unwrap();
    }
}

#[test]
fn more_than_the_device_has_gives_out_of_memory() {
    for driver in drivers() {
        let device = Device::new(driver, None);
        let before = device.free_memory().unwrap();
        let stream = device.stream().unwrap();
        let result = stream.allocate(1 << 46);
        assert!(matches!(result, Err(Error::OutOfMemory { requested, .. }) if requested == 1 << 46), "{result:?}");
        assert!(before <= device.info().memory);
        stream.allocate(MIB).unwrap();
    }
}

#[test]
fn a_device_ends_with_its_last_user() {
    for driver in drivers() {
        let device = Device::new(driver, None);
        let stream = device.stream().unwrap();
        let buffer = stream.allocate(100).unwrap();
        let watch = Arc::downgrade(&device);
        drop(device);
        drop(stream);
        drop(buffer);
        assert!(watch.upgrade().is_none(), "idle streams keep the device alive");
    }
}

#[test]
fn streams_of_many_threads_do_not_disturb_each_other() {
    for device in devices() {
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let device = &device;
                scope.spawn(move || {
                    for round in 0..8 {
                        let mut stream = device.stream().unwrap();
                        let bytes: Vec<u8> = pattern(100_000).iter().map(|byte| byte ^ (thread * 8 + round)).collect();
                        let buffer = uploaded(&mut stream, &bytes);
                        let copy = stream.allocate(bytes.len()).unwrap();
                        stream.copy((&copy, 0), (&buffer, 0), bytes.len()).unwrap();
                        assert!(downloaded(&mut stream, &copy) == bytes);
                    }
                });
            }
        });
    }
}

#[test]
fn time_between_marks_is_counted() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let buffer = uploaded(&mut stream, &pattern(OVER_A_SLOT));
        stream.wait(None).unwrap();
        assert_eq!(stream.traffic().kernels, Duration::ZERO, "no mark was set");
        stream.mark_start().unwrap();
        for _ in 0..8 {
            stream.zero(&buffer).unwrap();
        }
        stream.mark_end().unwrap();
        stream.wait(None).unwrap();
        let time = stream.traffic().kernels;
        assert!(time > Duration::ZERO && time < Duration::from_secs(10), "{time:?}");
    }
}

#[test]
fn an_abort_is_reported_and_leaves_the_stream_usable() {
    for device in devices() {
        let mut stream = device.stream().unwrap();
        let bytes = pattern(OVER_A_SLOT);
        let buffer = uploaded(&mut stream, &bytes);
        let asked = AtomicU32::new(0);
        let hook = |answer: bool| {
            let asked = &asked;
            move || {
                asked.fetch_add(1, Ordering::Relaxed);
                answer
            }
        };
        assert!(matches!(stream.wait(Some(&hook(true))), Err(Error::Aborted)));
        assert!(asked.load(Ordering::Relaxed) > 0);
        stream.wait(Some(&hook(false))).unwrap();
        assert!(downloaded(&mut stream, &buffer) == bytes);
    }
}

#[test]
fn a_stream_waits_for_a_mark_on_another() {
    for driver in drivers() {
        let pinned = driver.pinned_allocate(MIB).unwrap();
        let (first, second) = (driver.stream_create().unwrap(), driver.stream_create().unwrap());
        let memory = driver.memory_allocate(MIB).unwrap();
        // SAFETY: handles are live, ranges are whole, and the pinned memory is read after its stream has
        // passed the copy.
        unsafe {
            pinned.pointer.write_bytes(0xaa, MIB);
            driver.copy_in(first, memory, 0, pinned.pointer, MIB).unwrap();
            driver.zero(first, memory, MIB / 2, MIB / 2).unwrap();
            let mark = driver.event_record(first).unwrap();
            driver.stream_wait(second, mark).unwrap();
            driver.copy_out(second, pinned.pointer, memory, 0, MIB).unwrap();
            driver.stream_synchronize(second).unwrap();
            assert!(driver.event_passed(mark).unwrap());
            driver.event_free(mark);
            let bytes = std::slice::from_raw_parts(pinned.pointer, MIB);
            assert!(bytes[..MIB / 2].iter().all(|byte| *byte == 0xaa));
            assert!(bytes[MIB / 2..].iter().all(|byte| *byte == 0));
            driver.memory_free(memory);
            driver.stream_free(first);
            driver.stream_free(second);
            driver.pinned_free(pinned);
        }
    }
}

/// Kernels given as text: only OpenCL compiles at run time. CUDA's launches are tested by the kernels'
/// own tests.
#[cfg(feature = "opencl")]
mod text_kernels {
    use super::*;
    use proofwarp::BackendKind;
    use proofwarp::backend::opencl::{OpenClDriver, drivers};
    use proofwarp::backend::{Arg, Code, KernelSource, Launch};
    use sha2::{Digest as _, Sha256};

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
        eprintln!("left out: kernels given as text, which only OpenCL compiles");
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
        let source = KernelSource { module: "test_axpy", code: Code::Text(text) };
        let launch = Launch { source, kernel, groups: LENGTH.div_ceil(group_size.max(1)), group_size };
        let args = [Arg::Memory(y.handle()), Arg::Memory(x.handle()), Arg::U32(3), Arg::U64(5 << 32), Arg::U32(LENGTH)];
        // SAFETY: arguments match `axpy` above, which stays below LENGTH.
        unsafe {
            stream.mark_start()?;
            stream.launch(launch, &args)?;
            stream.mark_end()?;
        }
        stream.wait(None)?;
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
        assert_eq!(stream.traffic().launches, 1);
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
        let first = stream.traffic();
        assert!(first.compile >= SLOW && first.kernels < first.compile, "{first:?}");
        assert_eq!(run_module(&mut stream, &text, "axpy", 64).unwrap(), expected());
        assert!(stream.traffic().compile == first.compile && stream.traffic().kernels > first.kernels);
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
        device.fail_after(1);
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
        let source = KernelSource { module: "test_slow", code: Code::Text(&|| SLOW.to_owned()) };
        let launch = Launch { source, kernel: "slow", groups: 1, group_size: 64 };
        // SAFETY: arguments match `slow` above.
        unsafe { stream.launch(launch, &[Arg::Memory(y.handle()), Arg::U32(4_000_000)]).unwrap() };
        let asked = AtomicU32::new(0);
        // Says no at first, so that a later question is seen to count.
        let hook = || asked.fetch_add(1, Ordering::Relaxed) == 2;
        assert!(matches!(stream.wait(Some(&hook)), Err(Error::Aborted)));
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
}
