//! Points that devices decode: on every backend those that the CPU decodes, and of faulty ones the first is named.

use std::io::Write;
use std::sync::Arc;

use ff::Field;
use group::{Curve, Group, UncompressedEncoding};
use proofwarp::backend::Device;
use proofwarp::curve::MsmCurve;
use proofwarp::msm::{BasePoints, EncodedPoints, FilePoints, MappedFile, Msm, MsmOptions, PointChecks, decode};
use proofwarp::{Accelerator, BackendKind, Error};
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;

use crate::common::{accelerators_with_devices, rng};

/// Points of one upload, as in `src/msm/bases/check.rs`.
const CHUNK: usize = 1 << 18;
const ANY: PointChecks = PointChecks { in_subgroup: false, not_infinity: false };
const IN_SUBGROUP: PointChecks = PointChecks { in_subgroup: true, ..ANY };
const NOT_INFINITY: PointChecks = PointChecks { not_infinity: true, ..ANY };

trait TestCurve: MsmCurve<Curve: Curve<AffineRepr = Self>> + UncompressedEncoding {
    /// Random bytes as a compressed point, which may be on the curve.
    fn uncompress(bytes: &[u8]) -> Option<Self>;
}

impl TestCurve for blstrs::G1Affine {
    fn uncompress(bytes: &[u8]) -> Option<Self> {
        Self::from_compressed_unchecked(bytes[..48].try_into().expect("48 bytes")).into()
    }
}

impl TestCurve for blstrs::G2Affine {
    fn uncompress(bytes: &[u8]) -> Option<Self> {
        Self::from_compressed_unchecked(bytes[..96].try_into().expect("96 bytes")).into()
    }
}

fn encoded<C: TestCurve>(point: &C) -> Vec<u8> {
    point.to_uncompressed().as_ref().to_vec()
}

/// The CPU's decoding, which checks no subgroup.
fn on_cpu<C: TestCurve>(bytes: &[u8]) -> Option<C> {
    let mut encoding = C::Uncompressed::default();
    encoding.as_mut().copy_from_slice(bytes);
    C::from_uncompressed_unchecked(&encoding).into()
}

/// blst takes compressed points for uncompressed ones, whatever follows them; devices do not.
fn is_compressed(bytes: &[u8]) -> bool {
    bytes[0] & 0x80 != 0
}

/// Encodings of random points, every seventh infinity, some hundred of them over and over again.
fn good<C: TestCurve>(count: usize) -> Vec<u8> {
    let mut rng = rng(7);
    let point = |i: usize| if i % 7 == 3 { C::identity() } else { C::Curve::random(&mut rng).to_affine() };
    let some: Vec<u8> = (0..131.min(count)).map(point).flat_map(|point| encoded(&point)).collect();
    some.iter().copied().cycle().take(count * C::AFFINE_BYTES).collect()
}

/// Points on the curve, outside its subgroup.
fn outside<C: TestCurve>(rng: &mut ChaCha8Rng) -> C {
    let mut bytes = [0; 96];
    loop {
        rng.fill_bytes(&mut bytes);
        bytes[0] = bytes[0] & 0x3f | 0x80;
        let point = C::uncompress(&bytes).filter(|point| point.is_on_curve() && !point.is_torsion_free());
        if let Some(point) = point {
            return point;
        }
    }
}

/// What a device makes of encodings.
fn on_device<C: TestCurve>(device: &Arc<Device>, bytes: &[u8], expected: PointChecks) -> Result<Vec<u8>, Error> {
    let mut stream = device.stream()?;
    let buffer = stream.allocate(bytes.len())?;
    decode::<C>(&mut stream, &buffer, bytes, expected)?;
    let mut points = vec![0; bytes.len()];
    stream.download(&mut points, &buffer)?;
    Ok(points)
}

fn devices() -> Vec<Arc<Device>> {
    accelerators_with_devices().iter().map(|accelerator| accelerator.devices()[0].clone()).collect()
}

/// Refused for point `index`, of which something else was expected.
fn refused<C: TestCurve>(device: &Arc<Device>, bytes: &[u8], how: PointChecks, index: usize, expectation: &str) {
    match on_device::<C>(device, bytes, how) {
        Err(Error::Invalid { place: "msm", what, expected, .. }) => {
            assert_eq!((what, &*expected), (format!("point {index}"), expectation), "{}", C::NAME);
        }
        other => panic!("{}: point {index}, {expectation}: {:?}", C::NAME, other.map(drop)),
    }
}

fn decoded_as_by_the_cpu<C: TestCurve>() {
    for count in [0, 1, 127, 300, CHUNK - 1, CHUNK, CHUNK + 1] {
        let bytes = good::<C>(count);
        let points: Vec<C> = bytes.chunks(C::AFFINE_BYTES).map(|bytes| on_cpu(bytes).expect("a point")).collect();
        for device in devices() {
            let actual = on_device::<C>(&device, &bytes, ANY).expect("points");
            assert!(actual == *C::to_device(&points), "{count} points");
        }
    }
    let bytes = good::<C>(150);
    for device in devices() {
        on_device::<C>(&device, &bytes, IN_SUBGROUP).expect("points of the subgroup, and infinity");
    }
}

/// Encodings with one fault each, and what is expected instead.
fn faulty<C: TestCurve>() -> Vec<(Vec<u8>, PointChecks, &'static str)> {
    let good = encoded(&C::generator());
    let infinity = encoded(&C::identity());
    let mut all = Vec::new();
    for (flags, bytes) in [(0x80, &good), (0x20, &good), (0x40, &good), (0xc0, &infinity), (0x20, &infinity)] {
        let mut bytes = bytes.clone();
        bytes[0] |= flags;
        all.push((bytes, ANY, "the flags of an uncompressed point"));
    }
    for place in [1, C::AFFINE_BYTES / 2, C::AFFINE_BYTES - 1] {
        let mut bytes = infinity.clone();
        bytes[place] = 1;
        all.push((bytes, ANY, "the flags of an uncompressed point"));
    }
    for coefficient in (0..C::AFFINE_BYTES).step_by(48) {
        let mut bytes = good.clone();
        bytes[coefficient + 47] ^= 1;
        all.push((bytes, ANY, "a point on the curve"));
        let mut bytes = good.clone();
        bytes[coefficient..coefficient + 48].fill(0xff);
        bytes[coefficient] = 0x1f;
        all.push((bytes, ANY, "coordinates below the field's modulus"));
        // The modulus itself: −1, and one more, without a carry since p ends in ab.
        let minus_one = blstrs::Fp::ZERO - blstrs::Fp::ONE;
        let mut bytes = good.clone();
        bytes[coefficient..coefficient + 48].copy_from_slice(&minus_one.to_bytes_be());
        bytes[coefficient + 47] += 1;
        all.push((bytes, ANY, "coordinates below the field's modulus"));
    }
    all.push((vec![0; C::AFFINE_BYTES], ANY, "a point on the curve"));
    all.push((infinity, NOT_INFINITY, "a point of the group other than infinity"));
    all.push((encoded(&outside::<C>(&mut rng(1))), IN_SUBGROUP, "a point of the prime-order subgroup"));
    all
}

fn faults_are_named<C: TestCurve>() {
    let bytes = good::<C>(300);
    let finite: Vec<u8> = good::<C>(1).repeat(300);
    for (fault, how, expectation) in faulty::<C>() {
        assert!(is_compressed(&fault) || on_cpu::<C>(&fault).is_none() == (how == ANY), "the CPU agrees");
        for device in devices() {
            let mut bytes = if how.not_infinity { finite.clone() } else { bytes.clone() };
            for place in [299, 128, 0] {
                // Those before stay as they are: the first is named.
                bytes[place * C::AFFINE_BYTES..][..C::AFFINE_BYTES].copy_from_slice(&fault);
                refused::<C>(&device, &bytes, how, place, expectation);
            }
            if how != ANY {
                on_device::<C>(&device, &bytes, ANY).expect("this was not to be refused");
            }
        }
    }
}

fn faults_in_chunks<C: TestCurve>() {
    let good = good::<C>(2 * CHUNK + 3);
    let (fault, how, expectation) = faulty::<C>().remove(0);
    for device in devices() {
        let mut bytes = good.clone();
        for place in [2 * CHUNK + 2, 2 * CHUNK - 1, CHUNK, CHUNK - 1] {
            bytes[place * C::AFFINE_BYTES..][..C::AFFINE_BYTES].copy_from_slice(&fault);
            refused::<C>(&device, &bytes, how, place, expectation);
        }
    }
}

/// Whatever the bytes are, the device and the CPU agree.
fn random_changes<C: TestCurve>() {
    let (good, mut rng) = (good::<C>(5), rng(9));
    for _ in 0..60 {
        let mut bytes = good.clone();
        bytes[rng.gen_range(0..5 * C::AFFINE_BYTES)] ^= 1 << rng.gen_range(0..8);
        let point = |bytes: &[u8]| on_cpu(bytes).filter(|_| !is_compressed(bytes));
        let points: Option<Vec<C>> = bytes.chunks(C::AFFINE_BYTES).map(point).collect();
        for device in devices() {
            let actual = on_device::<C>(&device, &bytes, ANY).ok();
            assert_eq!(actual, points.as_ref().map(|points| C::to_device(points).to_vec()));
        }
    }
}

/// Encoded points in memory.
#[derive(Debug)]
struct Memory(Vec<u8>);

impl<C: TestCurve> EncodedPoints<C> for Memory {
    fn count(&self) -> usize {
        self.0.len() / C::AFFINE_BYTES
    }

    fn expected(&self) -> PointChecks {
        IN_SUBGROUP
    }

    fn read(&self, user: &mut dyn FnMut(&[u8]) -> proofwarp::Result<()>) -> proofwarp::Result<()> {
        user(&self.0)
    }

    fn decode(&self) -> proofwarp::Result<Vec<C>> {
        let points: Option<_> = self.0.chunks(C::AFFINE_BYTES).map(on_cpu).collect();
        points.ok_or_else(|| Error::invalid("test", "points", "good ones", "others"))
    }

    fn name(&self, number: usize) -> String {
        format!("point {number} of memory")
    }
}

/// Bases that are decoded on the device are not decoded on the host, but by who needs them there.
fn multiplication<C: TestCurve>() {
    let bytes = good::<C>(100);
    let points: Vec<C> = bytes.chunks(C::AFFINE_BYTES).map(|bytes| on_cpu(bytes).expect("a point")).collect();
    let scalars: Vec<[u8; 32]> =
        (0..100_u8).map(|i| std::array::from_fn(|at| if at < 31 { i ^ at as u8 } else { 0 })).collect();
    let expected = C::msm_cpu(&points, &scalars);
    for accelerator in crate::common::accelerators_and_cpu() {
        for precompute in [0, 2] {
            let bases = BasePoints::<C>::encoded(Memory(bytes.clone())).expect("a curve that devices decode");
            let msm = Msm::shared(&accelerator, bases.clone(), MsmOptions { precompute, ..MsmOptions::default() })
                .expect("bases");
            assert_eq!(msm.run(&scalars, None).expect("sum").0, expected);
            assert_eq!(bases.in_memory().is_none(), !accelerator.devices().is_empty());
        }
        let mut bytes = bytes.clone();
        bytes[42 * C::AFFINE_BYTES + 5] ^= 1;
        let bases = BasePoints::<C>::encoded(Memory(bytes)).expect("a curve that devices decode");
        let error =
            Msm::shared(&accelerator, bases, MsmOptions::default()).map(drop).expect_err("one is not on the curve");
        assert!(accelerator.devices().is_empty() || error.to_string().contains("point 42 of memory: "), "{error}");
    }
}

/// The points of a file of these bytes, as adapters map theirs.
fn mapped(bytes: &[u8], expected: PointChecks, count: usize) -> FilePoints {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("written");
    let (file, path) = file.into_parts();
    // SAFETY: nobody else knows the file.
    let file = unsafe { MappedFile::new(file, path.to_path_buf(), |_, _| true) }.expect("mapped");
    FilePoints {
        file: Arc::new(file),
        start: 0,
        count,
        expected,
        query: "h",
        name: |_, query, number, _| format!("{query} {number}"),
    }
}

/// What a key of encoded points is refused for, by each backend and by the CPU.
fn refusals<C: TestCurve>(bytes: &[u8], expected: PointChecks) -> Vec<String> {
    let points = mapped(bytes, expected, bytes.len() / C::AFFINE_BYTES);
    let cpu = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU is always there");
    let refusal = |accelerator: &Accelerator| {
        let points = BasePoints::<C>::encoded(points.clone()).expect("a curve that devices decode");
        Msm::shared(accelerator, points, MsmOptions::default()).map(drop).expect_err("a fault").to_string()
    };
    accelerators_with_devices().iter().chain([&cpu]).map(refusal).collect()
}

/// The host names the first fault, and in the devices' words.
fn the_host_says_what_devices_say<C: TestCurve>() {
    let faults = faulty::<C>();
    for (number, (fault, how, expectation)) in faults.iter().enumerate() {
        let mut bytes = if how.not_infinity { good::<C>(1).repeat(20) } else { good::<C>(20) };
        let (later, _, _) = &faults[(number + 7) % faults.len()];
        for (place, encoding) in [(13, fault), (14, later), (18, fault)] {
            bytes[place * C::AFFINE_BYTES..][..C::AFFINE_BYTES].copy_from_slice(encoding);
        }
        let refusals = refusals::<C>(&bytes, *how);
        let expected = format!("msm: h 13: expected {expectation}, got ");
        assert!(refusals.iter().all(|refusal| refusal.starts_with(&expected)), "{refusals:#?}");
        assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:#?}");
    }
}

/// Parts of a file stay encoded, those of other sources do not; picked points are in memory. Numbers are checked.
fn parts<C: TestCurve>() {
    let bytes = good::<C>(20);
    let all: Vec<C> = bytes.chunks(C::AFFINE_BYTES).map(|bytes| on_cpu(bytes).expect("a point")).collect();
    let file = BasePoints::<C>::encoded(mapped(&bytes, IN_SUBGROUP, 20)).expect("a curve that devices decode");
    let memory = BasePoints::<C>::encoded(Memory(bytes)).expect("a curve that devices decode");
    for (points, stays) in [(file, true), (memory, false), (all.clone().into(), false)] {
        for range in [0..20, 3..7, 19..20, 5..5, 20..20] {
            let part = points.slice(range.clone()).expect("a part");
            assert_eq!((part.len(), part.in_memory().is_none()), (range.len(), stays));
            assert_eq!(**part.on_host().expect("points"), all[range]);
        }
        for numbers in [&[19, 0, 4, 4][..], &[]] {
            let expected: Vec<C> = numbers.iter().map(|number| all[*number]).collect();
            assert_eq!(points.gather(numbers).expect("points").in_memory().map(|points| &**points), Some(&expected));
        }
        assert_eq!(points.in_memory().is_none(), stays);
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        for range in [0..21, 21..21, 7..3] {
            let error = points.slice(range.clone()).map(drop).expect_err("no part").to_string();
            assert_eq!(error, format!("msm: part of the points: expected a range within 20, got {range:?}"));
        }
        let error = points.gather(&[3, 20, 21]).map(drop).expect_err("no point").to_string();
        assert_eq!(error, "msm: number of a point: expected below 20, got 20");
    }
}

/// A file's fault is one of those who pick its point.
fn faults_of_picked_points<C: TestCurve>() {
    let mut bytes = good::<C>(20);
    bytes[11 * C::AFFINE_BYTES + 5] ^= 1;
    let points = BasePoints::<C>::encoded(mapped(&bytes, IN_SUBGROUP, 20)).expect("a curve that devices decode");
    points.gather(&[0, 10, 12, 19]).expect("good ones");
    let error = points.gather(&[10, 11]).map(drop).expect_err("a fault").to_string();
    assert!(error.starts_with("msm: h 11: expected "), "{error}");
}

/// Points of order three, which have x = 0: outside the subgroup, even where that is not asked for.
#[test]
fn points_of_order_three() {
    for y in [blstrs::Fp::from(2), -blstrs::Fp::from(2)] {
        let bytes = [[0; 48], y.to_bytes_be()].concat();
        for refusal in refusals::<blstrs::G1Affine>(&bytes, ANY) {
            assert_eq!(refusal, "msm: h 0: expected a point of the prime-order subgroup, got one outside it");
        }
    }
}

macro_rules! both_groups {
    ($($test:ident)*) => {
        mod g1 {
            $(#[test] fn $test() { super::$test::<blstrs::G1Affine>(); })*
        }
        mod g2 {
            $(#[test] fn $test() { super::$test::<blstrs::G2Affine>(); })*
        }
    };
}

both_groups! {
    decoded_as_by_the_cpu faults_are_named faults_in_chunks random_changes multiplication the_host_says_what_devices_say
    parts faults_of_picked_points
}

/// Bytes that are not those of points, a buffer that is too small, and curves that have another encoding.
#[test]
fn arguments() {
    use halo2curves::bn256;
    for device in devices() {
        let mut stream = device.stream().expect("stream");
        let buffer = stream.allocate(200).expect("buffer");
        let refused = |error: Result<(), Error>, what: &str| {
            assert!(matches!(error, Err(Error::Invalid { what: actual, .. }) if actual == what));
        };
        refused(decode::<blstrs::G1Affine>(&mut stream, &buffer, &[0; 95], ANY), "encoded bytes");
        refused(decode::<blstrs::G1Affine>(&mut stream, &buffer, &[0; 288], ANY), "encoded bytes");
        refused(decode::<bn256::G1Affine>(&mut stream, &buffer, &[0; 64], ANY), "encoded points");
    }
}
