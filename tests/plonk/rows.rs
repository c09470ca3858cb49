//! Blinding rows and random elements.

use ff::FromUniformBytes;
use proofwarp::field::NttField;
use proofwarp::plonk::steps::StridedColumns;
use proofwarp::plonk::steps::blinding::{enqueue, enqueue_uniform, on_cpu, uniform_on_cpu};
use rand::RngCore;

use crate::common::rng;
use crate::shared::{column, download, every_field, on_devices, random, refused, upload};

fn fills<F: NttField>() {
    for (n, rows) in [(2, 1..2), (16, 10..16), (16, 11..16), (4096, 4090..4096), (1000, 0..1000), (8, 3..3)] {
        let place = StridedColumns { first: 3, stride: n + 1, count: 5 };
        let columns = column::<F>(3 + 5 * (n + 1), 1);
        let values = random::<F>(5 * rows.len(), 2);
        let mut expected = columns.clone();
        for (k, row) in (0..5).flat_map(|k| rows.clone().map(move |row| (k, row))) {
            expected[place.start(k) + row] = values[k * rows.len() + row - rows.start];
        }
        let mut host = columns.clone();
        on_cpu(n, &mut host, place, rows.clone(), &values).expect("on the CPU");
        assert!(host == expected);
        on_devices(|stream| {
            let mut there = upload(stream, &columns);
            enqueue(stream, n, &mut there, place, rows.clone(), &values).expect("enqueue");
            assert!(download(stream, &there) == expected, "{n} {rows:?}");
        });
    }
}
every_field!(fills);

fn makes_elements<F: NttField>() {
    let mut bytes = vec![0; 64 * 1000];
    rng(7).fill_bytes(&mut bytes);
    // The largest number and the smallest, and numbers of one half.
    bytes[..64].fill(255);
    bytes[64..128].fill(0);
    bytes[128..160].fill(0);
    bytes[224..256].fill(0);
    let expected = uniform_on_cpu::<F>(&bytes).expect("on the CPU");
    let digits = |bytes: &[u8]| bytes.iter().rfold(F::ZERO, |sum, byte| sum * F::from(256) + F::from(u64::from(*byte)));
    assert!(bytes.chunks(64).map(digits).eq(expected.iter().copied()));
    on_devices(|stream| {
        let elements = enqueue_uniform::<F>(stream, &bytes).expect("enqueue");
        assert!(download(stream, &elements) == expected);
        assert!(enqueue_uniform::<F>(stream, &[]).expect("none").is_empty());
    });
}
every_field!(makes_elements);

/// As halo2's trait has it.
#[test]
fn elements_are_those_of_halo2() {
    let mut bytes = [0; 64];
    rng(8).fill_bytes(&mut bytes);
    let expected = halo2curves::bn256::Fr::from_uniform_bytes(&bytes);
    assert_eq!(uniform_on_cpu::<halo2curves::bn256::Fr>(&bytes).expect("on the CPU"), [expected]);
}

#[test]
fn refuses() {
    type F = halo2curves::bn256::Fr;
    let values = random::<F>(4, 1);
    on_devices(|stream| {
        let mut vector = upload::<F>(stream, &random(16, 1));
        let place = StridedColumns::packed(8, 2);
        refused(enqueue(stream, 8, &mut vector, place, 6..9, &values), "within 0 to 8", "6 to 9");
        refused(enqueue(stream, 8, &mut vector, place, 5..8, &values), "6", "4");
        refused(
            enqueue(stream, 8, &mut vector, StridedColumns { stride: 7, ..place }, 6..8, &values),
            "at least 8",
            "7",
        );
        refused(
            enqueue(stream, 8, &mut vector, StridedColumns { first: 1, ..place }, 6..8, &values),
            "within 16",
            "from 1 on",
        );
        refused(enqueue_uniform::<F>(stream, &[0; 65]), "a multiple of 64", "65");
        assert_eq!(stream.stats().launches, 0);
    });
    refused(on_cpu(8, &mut random::<F>(16, 1), StridedColumns::packed(8, 2), 7..8, &values), "2", "4");
}
