//! What goes to a device, from it, and from one buffer to another.

use proofwarp::Error;
use proofwarp::backend::Device;

use crate::{MIB, OVER_A_SLOT, devices, downloaded, drivers, pattern, uploaded};

/// Larger than the whole staging ring.
const OVER_THE_RING: usize = (37 << 20) + 13;

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
        assert_eq!((stream.stats().bytes_up, stream.stats().bytes_down), (total as u64, total as u64));
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
