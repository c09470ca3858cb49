//! Declares the functions of icicle's C interface that the program calls, with their structures.
//!
//! icicle throws C++ exceptions at errors of a kernel. `C-unwind` lets one end the program, with icicle's own message.

use std::ffi::{c_char, c_int, c_void};

use bench_support::Failure;

/// Names icicle's errors by their codes.
const ERRORS: [&str; 14] = [
    "success",
    "invalid device",
    "out of memory",
    "invalid pointer",
    "allocation failed",
    "deallocation failed",
    "copy failed",
    "synchronization failed",
    "stream creation failed",
    "stream destruction failed",
    "API not implemented",
    "invalid argument",
    "backend load failed",
    "license check error",
];

/// Holds icicle's `eIcicleError`.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status(c_int);

impl Status {
    /// Returns an error that names the `call`, unless the code is that of success.
    pub fn check(self, call: &str) -> Result<(), Failure> {
        let name = usize::try_from(self.0).ok().and_then(|code| ERRORS.get(code)).unwrap_or(&"unknown error");
        if self.0 == 0 { Ok(()) } else { Err(format!("icicle: {call}: {name} ({})", self.0).into()) }
    }
}

/// Holds an `icicle::Device`.
#[repr(C)]
pub struct Device {
    pub kind: [c_char; 64],
    pub id: c_int,
}

/// Holds an `MSMConfig`.
#[repr(C)]
pub struct MsmConfig {
    pub stream: *mut c_void,
    pub precompute_factor: c_int,
    pub c: c_int,
    pub bitsize: c_int,
    pub batch_size: c_int,
    pub are_points_shared_in_batch: bool,
    pub are_scalars_on_device: bool,
    pub are_scalars_montgomery_form: bool,
    pub are_points_on_device: bool,
    pub are_points_montgomery_form: bool,
    pub are_results_on_device: bool,
    pub is_async: bool,
    pub ext: *mut c_void,
}

/// Holds an `NTTConfig` of a scalar field of 256 bits.
#[repr(C)]
pub struct NttConfig {
    pub stream: *mut c_void,
    pub coset_gen: [u64; 4],
    pub batch_size: c_int,
    pub columns_batch: bool,
    pub ordering: c_int,
    pub are_inputs_on_device: bool,
    pub are_outputs_on_device: bool,
    pub is_async: bool,
    pub ext: *mut c_void,
}

/// Holds an `NTTInitDomainConfig`.
#[repr(C)]
pub struct NttInitDomainConfig {
    pub stream: *mut c_void,
    pub is_async: bool,
    pub ext: *mut c_void,
}

/// Holds a `VecOpsConfig`.
#[repr(C)]
pub struct VecOpsConfig {
    pub stream: *mut c_void,
    pub is_a_on_device: bool,
    pub is_b_on_device: bool,
    pub is_result_on_device: bool,
    pub is_async: bool,
    pub batch_size: c_int,
    pub columns_batch: bool,
    pub ext: *mut c_void,
}

unsafe extern "C-unwind" {
    pub fn icicle_load_backend(path: *const c_char, is_recursive: bool) -> Status;
    pub fn icicle_is_device_available(device: *const Device) -> Status;
    pub fn icicle_set_device(device: *const Device) -> Status;
    pub fn icicle_malloc(address: *mut *mut c_void, bytes: usize) -> Status;
    pub fn icicle_free(address: *mut c_void) -> Status;
    pub fn icicle_copy_to_device(to: *mut c_void, from: *const c_void, bytes: usize) -> Status;
    pub fn icicle_copy_to_host(to: *mut c_void, from: *const c_void, bytes: usize) -> Status;
    pub fn icicle_device_synchronize() -> Status;
    pub fn icicle_create_stream(stream: *mut *mut c_void) -> Status;
    pub fn icicle_destroy_stream(stream: *mut c_void) -> Status;
    pub fn icicle_stream_synchronize(stream: *mut c_void) -> Status;

    pub fn create_config_extension() -> *mut c_void;
    pub fn destroy_config_extension(extension: *mut c_void);
    pub fn config_extension_set_int(extension: *mut c_void, key: *const c_char, value: c_int);
    pub fn config_extension_set_bool(extension: *mut c_void, key: *const c_char, value: bool);
}

type MsmFunction =
    unsafe extern "C-unwind" fn(*const c_void, *const c_void, c_int, *const MsmConfig, *mut c_void) -> Status;
type ConvertFunction =
    unsafe extern "C-unwind" fn(*const c_void, u64, bool, *const VecOpsConfig, *mut c_void) -> Status;
type NttFunction = unsafe extern "C-unwind" fn(*const c_void, c_int, c_int, *const NttConfig, *mut c_void) -> Status;

/// Holds the functions of one curve and its scalar field.
pub struct Curve {
    /// Bytes of an affine point, from which the lengths of all memory that icicle touches follow.
    pub point_bytes: usize,
    pub msm: MsmFunction,
    pub to_affine: unsafe extern "C-unwind" fn(*mut c_void, *mut c_void),
    pub convert: ConvertFunction,
    pub root_of_unity: unsafe extern "C-unwind" fn(u64, *mut [u64; 4]) -> Status,
    pub init_domain: unsafe extern "C-unwind" fn(*const [u64; 4], *const NttInitDomainConfig) -> Status,
    pub release_domain: unsafe extern "C-unwind" fn() -> Status,
    pub ntt: NttFunction,
}

/// Declares a curve's functions and puts them into a [`Curve`].
macro_rules! curve {
    ($name:ident: $point_bytes:literal, $msm:ident, $to_affine:ident, $convert:ident, $root:ident, $init:ident, $release:ident, $ntt:ident) => {
        unsafe extern "C-unwind" {
            fn $msm(
                scalars: *const c_void,
                points: *const c_void,
                count: c_int,
                config: *const MsmConfig,
                sum: *mut c_void,
            ) -> Status;
            fn $to_affine(projective: *mut c_void, affine: *mut c_void);
            fn $convert(
                points: *const c_void,
                count: u64,
                is_into: bool,
                config: *const VecOpsConfig,
                converted: *mut c_void,
            ) -> Status;
            fn $root(max_size: u64, root: *mut [u64; 4]) -> Status;
            fn $init(root: *const [u64; 4], config: *const NttInitDomainConfig) -> Status;
            fn $release() -> Status;
            fn $ntt(
                input: *const c_void,
                size: c_int,
                direction: c_int,
                config: *const NttConfig,
                output: *mut c_void,
            ) -> Status;
        }
        pub static $name: Curve = Curve {
            point_bytes: $point_bytes,
            msm: $msm,
            to_affine: $to_affine,
            convert: $convert,
            root_of_unity: $root,
            init_domain: $init,
            release_domain: $release,
            ntt: $ntt,
        };
    };
}

curve!(BLS12_381: 96, bls12_381_msm, bls12_381_to_affine, bls12_381_affine_convert_montgomery,
    bls12_381_get_root_of_unity, bls12_381_ntt_init_domain, bls12_381_ntt_release_domain, bls12_381_ntt);
curve!(BN254: 64, bn254_msm, bn254_to_affine, bn254_affine_convert_montgomery, bn254_get_root_of_unity,
    bn254_ntt_init_domain, bn254_ntt_release_domain, bn254_ntt);
