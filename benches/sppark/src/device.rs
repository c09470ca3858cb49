//! sppark's functions as `cuda/curve.cu` and `cuda/device.cu` give them.

use std::ffi::{CStr, c_char, c_void};

use bench_support::Failure;

type Status = sppark::Error;

/// The functions of one curve and its scalar field.
pub struct Curve {
    new: unsafe extern "C" fn(*mut *mut c_void, u32) -> Status,
    free: unsafe extern "C" fn(*mut c_void),
    host: unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_void, *const c_void, usize) -> Status,
    device: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void, usize) -> Status,
    ntt_host: unsafe extern "C" fn(*mut c_void, u32) -> Status,
    ntt_device: unsafe extern "C" fn(*mut c_void, u32) -> Status,
}

/// Declares a curve's functions and puts them into a [`Curve`].
macro_rules! curve {
    ($name:ident, $new:ident, $free:ident, $host:ident, $device:ident, $ntt_host:ident, $ntt_device:ident) => {
        unsafe extern "C" {
            fn $new(engine: *mut *mut c_void, window_bits: u32) -> Status;
            fn $free(engine: *mut c_void);
            fn $host(
                engine: *mut c_void,
                sum: *mut c_void,
                points: *const c_void,
                scalars: *const c_void,
                count: usize,
            ) -> Status;
            fn $device(
                engine: *mut c_void,
                sum: *mut c_void,
                points: *mut c_void,
                scalars: *mut c_void,
                count: usize,
            ) -> Status;
            fn $ntt_host(values: *mut c_void, log_n: u32) -> Status;
            fn $ntt_device(values: *mut c_void, log_n: u32) -> Status;
        }
        pub static $name: Curve = Curve {
            new: $new,
            free: $free,
            host: $host,
            device: $device,
            ntt_host: $ntt_host,
            ntt_device: $ntt_device,
        };
    };
}

curve!(
    BLS12_381,
    bls12_381_msm_new,
    bls12_381_msm_free,
    bls12_381_msm_host,
    bls12_381_msm_device,
    bls12_381_ntt_host,
    bls12_381_ntt_device
);
curve!(BN254, bn254_msm_new, bn254_msm_free, bn254_msm_host, bn254_msm_device, bn254_ntt_host, bn254_ntt_device);

unsafe extern "C" {
    fn peer_device_name(name: *mut c_char, size: usize) -> Status;
    fn peer_upload(out: *mut *mut c_void, from: *const c_void, bytes: usize) -> Status;
    fn peer_download(to: *mut c_void, from: *const c_void, bytes: usize) -> Status;
    fn peer_free(memory: *mut c_void);
}

fn check(status: Status) -> Result<(), Failure> {
    if status.code == 0 { Ok(()) } else { Err(format!("sppark: {status} ({})", status.code).into()) }
}

/// The name of the device that sppark takes.
pub fn name() -> Result<String, Failure> {
    let mut name: [c_char; 256] = [0; 256];
    // SAFETY: the function writes a string with its end of at most that size.
    check(unsafe { peer_device_name(name.as_mut_ptr(), name.len()) })?;
    // SAFETY: the array was zero before, so a string ends in it.
    Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
}

/// Memory on the device.
pub struct Memory {
    address: *mut c_void,
    bytes: usize,
}

impl Memory {
    pub fn upload(bytes: &[u8]) -> Result<Self, Failure> {
        let mut address = std::ptr::null_mut();
        // SAFETY: as many bytes are read as there are.
        let status = unsafe { peer_upload(&raw mut address, bytes.as_ptr().cast(), bytes.len()) };
        // Owned before it is checked: memory may be there although the copy failed.
        let memory = Self { address, bytes: bytes.len() };
        check(status).map(|()| memory)
    }

    /// Copies the first bytes back.
    pub fn download(&self, to: &mut [u8]) -> Result<(), Failure> {
        if to.len() > self.bytes {
            return Err(format!("expected at most {} bytes to read, got {}", self.bytes, to.len()).into());
        }
        // SAFETY: the memory is at least as long, as just checked.
        check(unsafe { peer_download(to.as_mut_ptr().cast(), self.address, to.len()) })
    }

    fn holds(&self, bytes: usize) -> Result<*mut c_void, Failure> {
        match self.bytes >= bytes {
            true => Ok(self.address),
            false => Err(format!("expected {bytes} bytes on the device, got {}", self.bytes).into()),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by the same runtime (or null), and nobody else has the address.
        unsafe { peer_free(self.address) };
    }
}

/// sppark's MSM object, which keeps its buckets between calls.
pub struct Engine {
    curve: &'static Curve,
    object: *mut c_void,
}

impl Engine {
    /// An engine with windows of that many bits, 10 to 18.
    pub fn new(curve: &'static Curve, window_bits: u32) -> Result<Self, Failure> {
        let mut object = std::ptr::null_mut();
        // SAFETY: the function writes one pointer.
        check(unsafe { (curve.new)(&raw mut object, window_bits) })?;
        Ok(Self { curve, object })
    }

    /// The sum of points and scalars on the host, written to `sum` in Jacobian coordinates.
    pub fn host(&self, sum: &mut [u8], points: &[u8], scalars: &[[u8; 32]]) -> Result<(), Failure> {
        check_lengths(sum, points.len(), scalars.len())?;
        let (points, count) = (points.as_ptr().cast(), scalars.len());
        // SAFETY: `count` points and scalars are read, and a point of the length just checked is written.
        check(unsafe {
            (self.curve.host)(self.object, sum.as_mut_ptr().cast(), points, scalars.as_ptr().cast(), count)
        })
    }

    /// The sum of the first points and scalars on the device, written to `sum` in Jacobian coordinates.
    pub fn device(&self, sum: &mut [u8], points: &Memory, scalars: &Memory, count: usize) -> Result<(), Failure> {
        let points = points.holds(count * sum.len() / 3 * 2)?;
        let scalars = scalars.holds(count * 32)?;
        // SAFETY: the device's memory holds `count` points and scalars, as just checked; a point of three
        // coordinates, of which affine points have two, is written.
        check(unsafe { (self.curve.device)(self.object, sum.as_mut_ptr().cast(), points, scalars, count) })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: made by the same curve's `new`, and dropped once.
        unsafe { (self.curve.free)(self.object) };
    }
}

/// Affine points have two of the three coordinates of a sum.
fn check_lengths(sum: &[u8], points: usize, scalars: usize) -> Result<(), Failure> {
    let expected = sum.len() / 3 * 2 * scalars;
    if points == expected { Ok(()) } else { Err(format!("expected {expected} bytes of points, got {points}").into()) }
}

impl Curve {
    /// Transforms elements on the host, natural order in and out.
    pub fn ntt_host(&self, values: &mut [u8], log_n: u32) -> Result<(), Failure> {
        if values.len() != 32 << log_n {
            return Err(format!("expected {} bytes, got {}", 32usize << log_n, values.len()).into());
        }
        // SAFETY: 2^log_n elements are read and written.
        check(unsafe { (self.ntt_host)(values.as_mut_ptr().cast(), log_n) })
    }

    /// Transforms elements on the device, natural order in and out.
    pub fn ntt_device(&self, values: &Memory, log_n: u32) -> Result<(), Failure> {
        let values = values.holds(32 << log_n)?;
        // SAFETY: the memory holds 2^log_n elements.
        check(unsafe { (self.ntt_device)(values, log_n) })
    }
}
