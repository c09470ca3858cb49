//! Streams: their ends, their times, waiting and aborts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use proofwarp::Error;
use proofwarp::backend::Device;

use crate::{MIB, OVER_A_SLOT, devices, downloaded, drivers, pattern, uploaded};

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
        stream.synchronize(None).unwrap();
        assert_eq!(stream.stats().kernels, Duration::ZERO, "no mark was set");
        stream.begin_timing().unwrap();
        for _ in 0..8 {
            stream.zero(&buffer).unwrap();
        }
        stream.end_timing().unwrap();
        stream.synchronize(None).unwrap();
        let time = stream.stats().kernels;
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
        assert!(matches!(stream.synchronize(Some(&hook(true))), Err(Error::Aborted)));
        assert!(asked.load(Ordering::Relaxed) > 0);
        stream.synchronize(Some(&hook(false))).unwrap();
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
            driver.copy_h2d(first, memory, 0, pinned.pointer, MIB).unwrap();
            driver.zero_memory(first, memory, MIB / 2, MIB / 2).unwrap();
            let mark = driver.event_record(first).unwrap();
            driver.stream_wait_event(second, mark).unwrap();
            driver.copy_d2h(second, pinned.pointer, memory, 0, MIB).unwrap();
            driver.stream_synchronize(second).unwrap();
            assert!(driver.event_query(mark).unwrap());
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

/// Memory that another stream's queue still writes to is not used before it has done so.
#[test]
fn memory_of_another_stream_is_waited_for() {
    const LARGE: usize = 64 * MIB;
    for driver in drivers() {
        // No room but for what the first stream has.
        let device = Device::new(driver, Some((2 * LARGE + MIB) as u64));
        let (mut first, mut second) = (device.stream().unwrap(), device.stream().unwrap());
        let [one, other] = [(); 2].map(|()| first.allocate(LARGE).unwrap());
        let source = first.allocate(MIB / 2).unwrap();
        first.upload(&source, &pattern(MIB / 2)).unwrap();
        let memory = first.allocate(MIB / 2).unwrap();
        first.synchronize(None).unwrap();
        (0..10).for_each(|_| first.copy((&one, 0), (&other, 0), LARGE).unwrap());
        first.copy((&memory, 0), (&source, 0), MIB / 2).unwrap();
        drop(memory);
        let again = second.allocate(MIB / 2).unwrap();
        second.upload(&again, &vec![7; MIB / 2]).unwrap();
        first.synchronize(None).unwrap();
        assert!(downloaded(&mut second, &again).iter().all(|byte| *byte == 7), "written by the stream before");
    }
}
