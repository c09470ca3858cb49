//! Memory: what it holds when it is given out again, and how much of it there is.

use proofwarp::Error;
use proofwarp::backend::Device;

use crate::{MIB, OVER_A_SLOT, devices, downloaded, drivers, pattern, uploaded};

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
        let secret = stream.allocate(OVER_A_SLOT).unwrap().mark_secret();
        stream.upload(&secret, &pattern(OVER_A_SLOT)).unwrap();
        drop(secret);
        let next = stream.allocate(OVER_A_SLOT).unwrap();
        assert!(downloaded(&mut stream, &next).iter().all(|byte| *byte == 0));
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

/// What streams give back in short memory others take in parts: nothing goes back to the driver to be asked for again.
#[test]
fn streams_take_turns_with_memory() {
    for driver in drivers() {
        let device = Device::new(driver, Some(6 * MIB as u64));
        if !device.supports_suballocation() {
            eprintln!("left out: parts of blocks, which {} does not have", device.info().name);
            continue;
        }
        let streams = [(); 3].map(|()| device.stream().unwrap());
        for _ in 0..5 {
            for (stream, parts) in streams.iter().zip(1..) {
                let held: Vec<_> = (0..parts).map(|_| stream.allocate(6 * MIB / parts).unwrap()).collect();
                assert_eq!(held.len(), parts);
                assert_eq!(device.free_memory().unwrap(), 0);
            }
        }
        assert_eq!((device.driver_alloc_count(), device.peak_memory()), (1, 6 * MIB as u64));
    }
}

/// Under an aim what is free is used again, in parts, before there is more than that. It is no limit.
#[test]
fn no_more_is_taken_than_aimed_at_where_that_does() {
    for driver in drivers() {
        let device = Device::new(driver, None);
        if !device.supports_suballocation() {
            eprintln!("left out: parts of blocks, which {} does not have", device.info().name);
            continue;
        }
        let streams = [(); 3].map(|()| device.stream().unwrap());
        let kept = streams[0].allocate(MIB).unwrap();
        let aim = device.set_memory_budget(6 * MIB as u64);
        for (stream, parts) in streams.iter().zip(1..) {
            let held: Vec<_> = (0..parts).map(|_| stream.allocate(6 * MIB / parts).unwrap()).collect();
            assert_eq!(held.len(), parts);
        }
        assert_eq!(device.peak_memory(), 7 * MIB as u64);
        // The free block is too small: it goes back.
        drop(streams[0].allocate(8 * MIB).unwrap());
        assert_eq!(device.peak_memory(), 9 * MIB as u64);
        drop((aim, kept));
        drop([6, 3].map(|size| streams[0].allocate(size * MIB).unwrap()));
        assert_eq!(device.peak_memory(), 18 * MIB as u64, "nothing is aimed at");
    }
}
