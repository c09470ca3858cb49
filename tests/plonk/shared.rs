//! What tests of the steps share.

use ff::Field;
use proofwarp::Error;
use proofwarp::backend::Stream;
use proofwarp::field::{DeviceVector, NttField};
use proofwarp::plonk::steps::StridedColumns;
use rand::Rng;

use crate::common::{accelerators_with_devices, rng};

/// Calls a body with a stream of each device.
pub fn on_devices(mut body: impl FnMut(&mut Stream)) {
    for accelerator in accelerators_with_devices() {
        body(&mut accelerator.devices()[0].stream().expect("stream"));
    }
}

/// The same elements in every run, as columns of witnesses are: zeros, ones and others.
pub fn column<F: Field>(length: usize, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    (0..length).map(|_| [F::ZERO, F::ONE, F::random(&mut rng), -F::random(&mut rng)][rng.gen_range(0..4)]).collect()
}

pub fn random<F: Field>(length: usize, seed: u64) -> Vec<F> {
    let mut rng = rng(seed);
    (0..length).map(|_| F::random(&mut rng)).collect()
}

/// Columns at a place in a vector whose other elements are 7.
pub fn spread<F: NttField>(columns: &[Vec<F>], place: StridedColumns, length: usize) -> Vec<F> {
    let mut all = vec![F::from(7); length];
    for (k, column) in columns.iter().enumerate() {
        all[place.start(k)..][..column.len()].copy_from_slice(column);
    }
    all
}

pub fn upload<F: NttField>(stream: &mut Stream, values: &[F]) -> DeviceVector<F> {
    DeviceVector::upload(stream, values).expect("upload")
}

pub fn download<F: NttField>(stream: &mut Stream, vector: &DeviceVector<F>) -> Vec<F> {
    let mut values = vec![F::ZERO; vector.len()];
    vector.download(stream, &mut values).expect("download");
    values
}

/// That an error says what was expected and what came.
pub fn refused<T>(result: Result<T, Error>, expected: &str, actual: &str) {
    match result.err().expect("refused") {
        Error::Invalid { expected: e, actual: a, what, .. } => {
            assert!(e.contains(expected) && a.contains(actual), "{what}: expected {e}, got {a}");
        }
        other => panic!("{other}"),
    }
}

/// A test for each field.
macro_rules! every_field {
    ($check:ident) => {
        mod $check {
            #[test]
            fn bls12_377() {
                super::$check::<proofwarp::curve::bls12_377::Fr>();
            }
            #[test]
            fn bn254() {
                super::$check::<halo2curves::bn256::Fr>();
            }
            #[test]
            fn bls12_381() {
                super::$check::<blstrs::Scalar>();
            }
            #[test]
            fn pasta_fp() {
                super::$check::<pasta_curves::Fp>();
            }
        }
    };
}
pub(crate) use every_field;
