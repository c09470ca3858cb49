//! Encoded points of any bytes: what blstrs says of them, on the CPU, and on a device if there is one.
#![no_main]

use std::fs::Metadata;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use blstrs::{G1Affine, G1Projective};
use group::{Curve, Group};
use libfuzzer_sys::fuzz_target;
use proofwarp::Accelerator;
use proofwarp::msm::{EncodedPoints, FilePoints, MappedFile, PointChecks, decode};
use proofwarp_fuzz::{Damage, file};

static ACCELERATOR: LazyLock<Accelerator> = LazyLock::new(|| Accelerator::from_env().expect("settings"));

/// Some points, and infinity.
static POINTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let points = [0u64, 1, 2, 3, 500].map(|n| (G1Projective::generator() * blstrs::Scalar::from(n)).to_affine());
    points.iter().flat_map(|point| point.to_uncompressed().as_ref().to_vec()).collect()
});

#[derive(Debug, Arbitrary)]
struct Input {
    damage: Damage,
    in_subgroup: bool,
    not_infinity: bool,
    start: u8,
    count: u8,
}

fuzz_target!(|input: Input| {
    let bytes = input.damage.of(&POINTS);
    let expected = PointChecks { in_subgroup: input.in_subgroup, not_infinity: input.not_infinity };
    let (start, count) = (usize::from(input.start), usize::from(input.count));
    let Some(points) = mapped(&bytes, start, count, expected) else { return };
    let decoded: proofwarp::Result<Vec<G1Affine>> = points.decode();
    let range = bytes.get(start..start + 96 * count);
    let reference = range.and_then(|range| range.chunks_exact(96).map(|chunk| point(chunk, expected)).collect());
    assert_eq!(decoded.ok(), reference, "on the CPU");
    let (Some(device), Some(range)) = (ACCELERATOR.devices().first(), range) else { return };
    let mut stream = device.stream().expect("a stream");
    let buffer = stream.allocate(range.len().max(1)).expect("memory");
    let on_device = decode::<G1Affine>(&mut stream, &buffer, range, expected);
    assert_eq!(on_device.is_ok(), reference.is_some(), "on the device");
});

fn mapped(bytes: &[u8], start: usize, count: usize, expected: PointChecks) -> Option<FilePoints> {
    let (_folder, path) = file(bytes);
    let opened = std::fs::File::open(&path).expect("it is there");
    // SAFETY: nobody else knows the file.
    let file = unsafe { MappedFile::new(opened, path, same) }.ok()?;
    Some(FilePoints { file: Arc::new(file), start, count, expected, query: "fuzz", name })
}

fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}

fn name(_: &Path, query: &str, number: usize, _: usize) -> String {
    format!("{query} {number}")
}

/// What blstrs makes of the bytes.
fn point(bytes: &[u8], expected: PointChecks) -> Option<G1Affine> {
    let encoding = bytes.try_into().ok()?;
    let point = match expected.in_subgroup {
        true => G1Affine::from_uncompressed(encoding),
        false => G1Affine::from_uncompressed_unchecked(encoding),
    };
    let point = Option::from(point).filter(|_| bytes[0] & 0x80 == 0)?;
    let is_infinity = bool::from(group::prime::PrimeCurveAffine::is_identity(&point));
    (!(expected.not_infinity && is_infinity)).then_some(point)
}
