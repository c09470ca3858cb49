//! Every kernel family at the smallest sizes that run its kernels, a test for each family and field: what tools that slow a device
//! down a hundred times run (tests/sanitize.sh). Other sizes, and what is special of them, are the subjects' own tests'.

#[allow(clippy::cast_possible_wrap, reason = "few rows")]
#[path = "../columns/tools.rs"]
mod column_tools;
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../expression/tools.rs"]
mod expression_tools;
#[allow(dead_code, unused_macros, unused_imports, reason = "other tests use more of it")]
#[path = "../plonk/shared.rs"]
mod shared;

mod columns;
mod curves;
mod fields;
mod matrices;
mod plonk;
mod proofs;
mod sums;
mod transforms;

use std::fmt::Debug;

use proofwarp::{Accelerator, BackendKind, Result};

/// That every device says what the CPU says.
///
/// # Panics
/// One does not.
pub fn agree<T: PartialEq + Debug>(call: impl Fn(&Accelerator) -> Result<T>) {
    let expected = call(&Accelerator::with_backend(BackendKind::Cpu).expect("always there")).expect("on the CPU");
    for accelerator in common::accelerators_with_devices() {
        let found = call(&accelerator).unwrap_or_else(|error| panic!("{accelerator:?}: {error}"));
        assert!(found == expected, "{accelerator:?}: {found:?}, on the CPU {expected:?}");
    }
}

/// A module of tests, one for each field that transforms are over.
macro_rules! every_field {
    ($check:ident) => {
        mod $check {
            #[test]
            fn bls12_377() {
                super::$check::<proofwarp::curve::bls12_377::Fr>();
            }
            #[test]
            fn bls12_381() {
                super::$check::<blstrs::Scalar>();
            }
            #[test]
            fn bn254() {
                super::$check::<halo2curves::bn256::Fr>();
            }
            #[test]
            fn pasta_fp() {
                super::$check::<pasta_curves::Fp>();
            }
            #[test]
            fn pasta_fq() {
                super::$check::<pasta_curves::Fq>();
            }
        }
    };
}
pub(crate) use every_field;
