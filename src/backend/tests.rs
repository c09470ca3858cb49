//! Checks bounds, caches and events that no operation's result shows. `tests/mutants.py` found each of them untested.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use super::memory::{PeerMemory, TableCache};
use super::stream::{LaunchedShapes, QueueLimiter};
use super::{KernelHandle, LaunchConfig, Stream};
use crate::{Accelerator, Error};

/// Takes a stream of the first device. Prints a line and returns `None` if there is no device.
fn first_device_stream() -> Option<Stream> {
    let accelerator = Accelerator::automatic().expect("settings are right");
    let Some(device) = accelerator.devices().first() else {
        println!("skipped: no device");
        return None;
    };
    Some(device.stream().expect("a stream"))
}

/// Checks that at most 50 ms of work is queued, and that work without a hook, or of less than 1 ms, is not counted.
#[test]
fn queued_work_is_bounded() {
    /// Number of compute units of the device that time estimates assume.
    const UNITS: u32 = 132;
    let Some(stream) = first_device_stream() else { return };
    let (pace, waits): (QueueLimiter, Cell<u32>) = (QueueLimiter::default(), Cell::new(0));
    let hook: &(dyn Fn() -> bool + Send + Sync) = &|| false;
    let turn = |time, abort| {
        let wait = |mark: &_| {
            waits.set(waits.get() + 1);
            stream.synchronize_event(mark, None)
        };
        pace.acquire(UNITS, time, abort, wait).expect("a turn")
    };
    let milliseconds = Duration::from_millis;
    assert!(turn(milliseconds(60_000), None).is_none(), "nobody aborts");
    assert!(turn(Duration::from_micros(999), Some(hook)).is_none(), "short");
    for _ in 0..2 {
        let mark = Arc::new(stream.record_event().expect("a mark"));
        turn(milliseconds(25), Some(hook)).expect("it is counted").release_on(mark);
    }
    assert_eq!(waits.get(), 0, "50 ms may be queued");
    drop(turn(milliseconds(1), Some(hook)));
    assert_eq!(waits.get(), 1, "51 ms are not: the first has been waited for");
    drop(turn(milliseconds(26), Some(hook)));
    assert_eq!(waits.get(), 2, "25 and 26 ms are not");
}

/// Checks that the least recently used tables are evicted, and no more than necessary.
#[test]
fn tables_that_were_used_last_stay() {
    let Some(stream) = first_device_stream() else { return };
    let mut cache = TableCache::default();
    let mut add = |name: u8, limit| {
        let buffer = stream.allocate(1000).expect("memory");
        cache.add(vec![name], Arc::new(buffer), limit);
    };
    add(1, 3000);
    add(2, 3000);
    add(3, 3000);
    add(4, 3000);
    assert_eq!([1, 2, 3, 4].map(|name| cache.find(&[name]).is_some()), [false, true, true, true]);
    cache.find(&[2]).expect("there");
    cache.add(vec![5], Arc::new(stream.allocate(1000).expect("memory")), 2000);
    assert_eq!([3, 4, 2, 5].map(|name| cache.find(&[name]).is_some()), [false, false, true, true]);
    assert_eq!(cache.take_all().len(), 2);
    assert!(cache.take_all().is_empty() && cache.find(&[5]).is_none());
}

/// Checks that threads which drop tables and threads which ask for free memory do not wait for each other forever. The
/// locks of the pool and of the tables are never taken in both orders.
#[test]
fn trimming_beside_questions_ends() {
    let Some(stream) = first_device_stream() else { return };
    let device = stream.device().clone();
    let (ended, end) = std::sync::mpsc::channel();
    for asks in [true, false] {
        let (device, ended) = (device.clone(), ended.clone());
        std::thread::spawn(move || {
            for round in 0..2000u32 {
                if asks {
                    device.free_memory().expect("free memory");
                    continue;
                }
                let make = || device.stream()?.allocate(1000);
                device.get_or_create_table(round.to_le_bytes().to_vec(), make).map(drop).expect("a table");
                device.trim();
            }
            ended.send(()).expect("the test waits");
        });
    }
    for _ in 0..2 {
        end.recv_timeout(Duration::from_secs(60)).expect("no thread waits forever");
    }
}

/// Checks that a launch of at least 2^16 groups counts as another compiled version than a smaller one. So does a
/// launch with another group size.
#[test]
fn versions_differ_by_groups() {
    let launched = LaunchedShapes::default();
    let shape = |groups, group_size| LaunchConfig { groups, group_size, beside: false };
    let kernel = KernelHandle(7);
    launched.run_first_launch(kernel, shape(1 << 16, 64), || Ok(())).expect("launched");
    for (groups, group_size, known) in
        [(1 << 16, 64, true), ((1 << 16) + 1, 64, true), ((1 << 16) - 1, 64, false), (1 << 16, 32, false)]
    {
        assert_eq!(launched.was_launched(kernel, shape(groups, group_size)), known, "{groups} groups of {group_size}");
    }
    launched.run_first_launch(kernel, shape(5, 64), || Err(Error::internal("launch"))).expect_err("it failed");
    assert!(!launched.was_launched(kernel, shape(5, 64)), "what failed has not been launched");
}

/// Checks that the parts of peer memory on one device are consecutive and of the requested size. Copies that reach
/// outside are refused.
#[test]
fn memory_of_peers_has_a_part_for_each() {
    const PART: u32 = 2 << 20;
    let Some(mut stream) = first_device_stream() else { return };
    let streams = [(); 3].map(|()| stream.device().stream().expect("a stream"));
    let before = stream.device().peak_memory();
    let memory = PeerMemory::new(&streams, PART as usize).expect("memory");
    assert!(stream.device().peak_memory() >= before.min(3 * u64::from(PART)));
    let bytes: Vec<u8> = (0..3 * PART).map(|index| (index.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    stream.upload_to_peers(&memory, 0, &bytes).expect("inside");
    let mut back = vec![0; bytes.len()];
    stream.download_from_peers(&memory, vec![(&mut back[..], 0)]).expect("inside");
    assert!(back == bytes);
    for (offset, length) in [(bytes.len(), 1), (1, bytes.len()), (usize::MAX, 1)] {
        let error = stream.upload_to_peers(&memory, offset, &bytes[..length]).expect_err("outside");
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
    }
    assert!(matches!(PeerMemory::new(&[], PART as usize), Err(Error::Invalid { .. })), "no device");
}

/// Checks that a device can access its own memory, and counts as linked to itself.
#[test]
fn a_device_reaches_itself() {
    let Some(stream) = first_device_stream() else { return };
    let device = stream.device();
    assert!(device.can_access(device) && device.has_p2p_link(device));
}

/// Checks that an upload through a caller's pinned buffer is refused if the target is too small. One that fits is
/// counted in the statistics.
#[test]
fn uploads_that_are_kept_stay_inside() {
    let Some(mut stream) = first_device_stream() else { return };
    let bytes = vec![7; 5000];
    let mut kept = stream.allocate_pinned(bytes.len()).expect("memory");
    let small = stream.allocate(bytes.len() - 1).expect("memory");
    let error = stream.upload_via_pinned(&small, &mut kept, &bytes, None).expect_err("a byte too many");
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let before = stream.stats();
    let whole = stream.allocate(bytes.len()).expect("memory");
    stream.upload_via_pinned(&whole, &mut kept, &bytes, None).expect("it fits");
    stream.synchronize(None).expect("it is there");
    assert!(kept.as_slice() == bytes);
    let traffic = stream.stats().since(before);
    assert!(traffic.bytes_up == 5000 && traffic.upload > Duration::ZERO, "{traffic:?}");
}

/// Checks that a copy of more than 512 MiB, which is queued in two pieces, copies all bytes to the end of the buffer.
#[test]
fn a_long_copy_ends_where_it_should() {
    const FIRST: usize = 512 << 20;
    let Some(mut stream) = first_device_stream() else { return };
    let mut from = stream.allocate_pinned(FIRST + 3).expect("memory");
    from.as_mut_slice()[FIRST - 1..].copy_from_slice(&[1, 2, 3, 4]);
    let to = stream.allocate(FIRST + 3).expect("memory");
    stream.copy_from_pinned(&to, &from).expect("it fits");
    stream.synchronize(None).expect("it is there");
    assert_eq!(stream.stats().bytes_up, FIRST as u64 + 3);
    let mut end = [0; 4];
    stream.download_at(&mut end, &to, FIRST - 1).expect("inside");
    assert_eq!(end, [1, 2, 3, 4]);
}
