//! Keys of mapped files, whose points devices decode, and the host only where it has to.

use std::path::Path;
use std::time::Duration;

use bellperson::groth16::{MappedParameters, Parameters, Proof};
use blstrs::{Bls12, G1Affine, Scalar};
use proofwarp::backend::Device;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::Prover;
use rand::RngCore;
use tempfile::NamedTempFile;

use crate::circuits::{Chain, Kind, batch, bytes, setup, stock};
use crate::common::{accelerators_and_cpu, accelerators_with_devices, alone, fresh_driver, rng};
use crate::memory::capped;

const NAMES: [&str; 5] = ["h", "l", "a", "b_g1", "b_g2"];

/// A key, and bellperson's proofs by it.
struct Sample {
    key: Parameters<Bls12>,
    circuits: Vec<Chain>,
    r: Vec<Scalar>,
    s: Vec<Scalar>,
    expected: Vec<Proof<Bls12>>,
}

impl Sample {
    fn new(links: usize) -> Self {
        let key = setup(links, Kind::Dense);
        let (circuits, r, s) = batch(2, links, Kind::Dense);
        let expected = stock(&circuits, &key, &r, &s);
        Self { key, circuits, r, s, expected }
    }

    fn file(&self) -> NamedTempFile {
        let mut file = NamedTempFile::new().expect("file");
        self.key.write(&mut file).expect("written");
        file
    }

    /// A file that has settled, so that a change of it would show in its times.
    fn mapped(&self, checked: bool) -> (NamedTempFile, MappedParameters<Bls12>) {
        let file = self.file();
        settle();
        let mapped = map(file.path(), checked);
        (file, mapped)
    }

    fn prover(&self, accelerator: &Accelerator, mapped: &MappedParameters<Bls12>) -> Result<Prover<Bls12>, String> {
        let prover = Prover::<Bls12>::new(accelerator, self.circuits[0], &mapped);
        prover.map(|(prover, _)| prover).map_err(|error| error.to_string())
    }

    fn prove(&self, prover: &Prover<Bls12>) -> Result<BackendKind, String> {
        let assignments = prover.assign(self.circuits.clone()).expect("assignments");
        let (proofs, report) = prover.prove(&assignments, &self.r, &self.s, None).map_err(|error| error.to_string())?;
        assert_eq!(bytes(&proofs), bytes(&self.expected), "{report}");
        Ok(report.backend)
    }
}

fn map(path: &Path, checked: bool) -> MappedParameters<Bls12> {
    Parameters::<Bls12>::build_mapped_parameters(path.to_owned(), checked).expect("mapped")
}

fn settle() {
    std::thread::sleep(Duration::from_millis(2100));
}

/// Which queries the host has decoded.
fn on_host(prover: &Prover<Bls12>) -> [bool; 5] {
    let key = prover.key().parameters();
    let g1 = [&key.h, &key.l, &key.a, &key.b_g1].map(|query| query.in_memory().is_some());
    [g1[0], g1[1], g1[2], g1[3], key.b_g2.in_memory().is_some()]
}

/// Accelerators that may fall back to the CPU, on a device of their own.
fn automatic() -> Vec<Accelerator> {
    alone(None)
        .iter()
        .map(|forced| Accelerator::automatic().expect("settings").with_devices(forced.devices().to_vec()))
        .collect()
}

/// On every backend they are those by the key in memory; with a device nothing is decoded on the host.
#[test]
fn proofs() {
    let sample = Sample::new(30);
    for checked in [false, true] {
        let (_file, mapped) = sample.mapped(checked);
        for accelerator in accelerators_and_cpu() {
            let prover = sample.prover(&accelerator, &mapped).expect("prover");
            assert_eq!(Some(sample.prove(&prover).expect("proofs")), accelerator.forced());
            assert_eq!(on_host(&prover), [accelerator.devices().is_empty(); 5]);
        }
    }
}

/// A file that was written a moment ago is decoded at once: changes could not be told.
#[test]
fn file_that_has_not_settled() {
    let sample = Sample::new(3);
    for accelerator in accelerators_and_cpu() {
        let file = sample.file();
        let prover = sample.prover(&accelerator, &map(file.path(), false)).expect("prover");
        assert_eq!(on_host(&prover), [true; 5]);
        sample.prove(&prover).expect("proofs");
    }
}

/// Every further device decodes for itself.
#[test]
fn several_devices() {
    let sample = Sample::new(6);
    let (_file, mapped) = sample.mapped(true);
    for like in accelerators_with_devices() {
        let device = || Device::new(fresh_driver(&like.devices()[0]), None);
        let both = like.with_devices(vec![device(), device()]);
        let prover = sample.prover(&both, &mapped).expect("prover");
        let before = prover.key().device_bytes();
        sample.prove(&prover).expect("proofs");
        assert_eq!(prover.key().device_bytes(), 2 * before);
        assert_eq!(on_host(&prover), [false; 5]);
    }
}

/// Queries that do not fit are decoded on the host, and streamed.
#[test]
fn little_memory() {
    let sample = Sample::new(240);
    let (_file, mapped) = sample.mapped(false);
    for accelerator in capped(Some(7 << 20)) {
        let prover = sample.prover(&accelerator, &mapped).expect("prover");
        assert!(on_host(&prover).contains(&true));
        sample.prove(&prover).expect("proofs");
    }
}

/// Where the device fails the host decodes, and the CPU proves.
#[test]
fn fallback() {
    let sample = Sample::new(6);
    let (_file, mapped) = sample.mapped(false);
    for accelerator in automatic() {
        let prover = sample.prover(&accelerator, &mapped).expect("prover");
        accelerator.devices()[0].inject_launch_fault(0);
        assert_eq!(sample.prove(&prover), Ok(BackendKind::Cpu));
        assert_eq!(on_host(&prover), [true; 5]);
        // Where it fails before, too.
        accelerator.devices()[0].inject_launch_fault(3);
        let prover = sample.prover(&accelerator, &mapped).expect("prover");
        sample.prove(&prover).expect("proofs");
    }
}

/// Of a file that was changed behind the key nothing is used any more; what a device has, it has.
#[test]
fn changed_files() {
    let sample = Sample::new(6);
    for accelerator in automatic() {
        for truncate in [false, true] {
            let (file, mapped) = sample.mapped(false);
            let prover = sample.prover(&accelerator, &mapped).expect("prover");
            let whole = std::fs::read(file.path()).expect("bytes");
            let half = &whole[..whole.len() / 2];
            std::fs::write(file.path(), if truncate { half } else { &whole }).expect("written");
            sample.prove(&prover).expect("proofs by what the device has");
            accelerator.devices()[0].inject_launch_fault(0);
            let error = sample.prove(&prover).expect_err("there are no points for the CPU");
            let path = file.path().display().to_string();
            let reason = if truncate { "as when it was mapped" } else { "changed since" };
            assert!(error.contains(&path) && error.contains(reason), "{error}");
        }
    }
}

/// A point on the curve, outside its subgroup.
fn outside() -> G1Affine {
    let (mut rng, mut bytes) = (rng(3), [0; 48]);
    loop {
        rng.fill_bytes(&mut bytes);
        bytes[0] = bytes[0] & 0x1f | 0x80;
        let point: Option<G1Affine> = G1Affine::from_compressed_unchecked(&bytes).into();
        if let Some(point) = point.filter(|point| !bool::from(point.is_torsion_free())) {
            return point;
        }
    }
}

/// A faulty point anywhere in the file is named, with its query and the file, on every backend.
#[test]
fn faulty_points() {
    let sample = Sample::new(6);
    let (key, mut whole) = (&sample.key, Vec::new());
    key.write(&mut whole).expect("memory");
    let lengths = [key.h.len(), key.l.len(), key.a.len(), key.b_g1.len(), key.b_g2.len()];
    let mut start = 3 * 96 + 3 * 192 + 4 + 96 * key.vk.ic.len();
    let mut files = Vec::new();
    for (query, (name, length)) in NAMES.into_iter().zip(lengths).enumerate() {
        let size = if query == 4 { 192 } else { 96 };
        start += 4;
        for number in [0, length / 2, length - 1] {
            let mut bytes = whole.clone();
            bytes[start + size * number + size - 1] ^= 1;
            files.push((written(&bytes), false, number, name));
        }
        let mut bytes = whole.clone();
        bytes[start + size..start + 2 * size].fill(0);
        bytes[start + size] = 0x40;
        files.push((written(&bytes), false, 1, name));
        if size == 96 {
            let mut bytes = whole.clone();
            bytes[start + size..start + 2 * size].copy_from_slice(&outside().to_uncompressed());
            files.push((written(&bytes), true, 1, name));
        }
        start += size * length;
    }
    assert_eq!(start, whole.len());
    settle();
    for accelerator in accelerators_and_cpu() {
        for (file, checked, number, name) in &files {
            let error = sample.prover(&accelerator, &map(file.path(), *checked)).expect_err("a faulty point");
            let named = format!("{}: point {number} of {name}: ", file.path().display());
            assert!(error.contains(&named), "{named}{error}");
        }
    }
}

fn written(bytes: &[u8]) -> NamedTempFile {
    let file = NamedTempFile::new().expect("file");
    std::fs::write(file.path(), bytes).expect("written");
    file
}
