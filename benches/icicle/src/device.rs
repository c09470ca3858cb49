//! Opens icicle's device, and wraps its memory, its streams and its extensions of configurations.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use bench_support::Failure;
use bench_support::protocol::{HOST, RESIDENT};

use crate::driver::Driver;
use crate::ffi;

/// Loads icicle's backends, selects the device for this thread, and returns its name.
pub fn open() -> Result<String, Failure> {
    let kind = std::env::var("ICICLE_DEVICE").unwrap_or_else(|_| "CUDA".to_owned());
    let device = device_named(&kind)?;
    // First, since backends for CUDA end the program if there is no driver.
    let driver = (kind == "CUDA").then(Driver::open).transpose()?;
    if driver.is_some() {
        load_backends()?;
    }
    // SAFETY: the device is read only.
    unsafe { ffi::icicle_is_device_available(&raw const device) }
        .check("icicle_is_device_available")
        .map_err(|error| format!("no backend of icicle for {kind} in {}: {error}", backends().display()))?;
    // SAFETY: the device is read only.
    unsafe { ffi::icicle_set_device(&raw const device) }.check("icicle_set_device")?;
    let Some(driver) = driver else { return Ok(kind.to_lowercase()) };
    driver.keep_pool_memory()?;
    driver.card_name()
}

/// Returns the folder of icicle's backends.
fn backends() -> PathBuf {
    let installed = std::env::var_os("ICICLE_BACKEND_INSTALL_DIR").map(PathBuf::from);
    installed.unwrap_or_else(|| PathBuf::from(env!("ICICLE_LINKED_DIR")).join("backend"))
}

/// Loads all backends of icicle's for CUDA.
fn load_backends() -> Result<(), Failure> {
    let folder = backends();
    if !folder.is_dir() {
        return Err(format!("{}: expected the folder of icicle's backends", folder.display()).into());
    }
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: the path is a string with its end.
    unsafe { ffi::icicle_load_backend(path.as_ptr(), true) }.check("icicle_load_backend")
}

/// Describes the first device of a kind.
fn device_named(kind: &str) -> Result<ffi::Device, Failure> {
    let mut device = ffi::Device { kind: [0; 64], id: 0 };
    if kind.len() >= device.kind.len() {
        return Err(format!("expected the name of a device of icicle, got {kind}").into());
    }
    for (to, from) in device.kind.iter_mut().zip(kind.bytes()) {
        *to = from as c_char;
    }
    Ok(device)
}

/// Holds memory on the device.
pub struct Memory {
    address: *mut c_void,
    bytes: usize,
}

impl Memory {
    /// Allocates memory, of any contents.
    pub fn allocate(bytes: usize) -> Result<Self, Failure> {
        let mut address = std::ptr::null_mut();
        // SAFETY: one pointer is written.
        unsafe { ffi::icicle_malloc(&raw mut address, bytes) }.check("icicle_malloc")?;
        Ok(Self { address, bytes })
    }

    /// Copies bytes to the device, which has them when this returns.
    pub fn upload(bytes: &[u8]) -> Result<Self, Failure> {
        let memory = Self::allocate(bytes.len())?;
        // SAFETY: both have as many bytes.
        let status = unsafe { ffi::icicle_copy_to_device(memory.address, bytes.as_ptr().cast(), bytes.len()) };
        status.check("icicle_copy_to_device")?;
        // SAFETY: the function takes nothing. A copy from pageable memory may return before it has reached the device.
        unsafe { ffi::icicle_device_synchronize() }.check("icicle_device_synchronize")?;
        Ok(memory)
    }

    /// Copies the first bytes back.
    pub fn download(&self, to: &mut [u8]) -> Result<(), Failure> {
        let from = self.address(to.len())?;
        // SAFETY: the memory is at least as long, as just checked.
        unsafe { ffi::icicle_copy_to_host(to.as_mut_ptr().cast(), from, to.len()) }.check("icicle_copy_to_host")
    }

    /// Returns the address, if there are at least that many bytes.
    pub fn address(&self, bytes: usize) -> Result<*mut c_void, Failure> {
        match self.bytes >= bytes {
            true => Ok(self.address),
            false => Err(format!("expected {bytes} bytes on the device, got {}", self.bytes).into()),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: icicle allocated the memory, and no call uses it any more.
        let _ = unsafe { ffi::icicle_free(self.address) };
    }
}

/// Holds an input, on the host or on the device.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    Host(&'a [u8]),
    Device(&'a Memory),
}

impl Input<'_> {
    /// Returns the address, if there are at least that many bytes.
    pub fn address(&self, bytes: usize) -> Result<*const c_void, Failure> {
        match self {
            Self::Host(host) if host.len() >= bytes => Ok(host.as_ptr().cast()),
            Self::Host(host) => Err(format!("expected {bytes} bytes on the host, got {}", host.len()).into()),
            Self::Device(memory) => memory.address(bytes).map(<*mut c_void>::cast_const),
        }
    }

    pub fn is_on_device(&self) -> bool {
        matches!(self, Self::Device(_))
    }
}

/// Holds an output, on the host or on the device.
pub enum Output<'a> {
    Host(&'a mut [u8]),
    Device(&'a Memory),
}

/// Returns whether a place's inputs are on the device.
pub fn is_resident(place: &str) -> Result<bool, Failure> {
    match place {
        RESIDENT => Ok(true),
        HOST => Ok(false),
        other => Err(format!("expected {RESIDENT} or {HOST}, got {other}").into()),
    }
}

/// Holds a stream.
pub struct Stream(*mut c_void);

impl Stream {
    pub fn new() -> Result<Self, Failure> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: one pointer is written.
        unsafe { ffi::icicle_create_stream(&raw mut stream) }.check("icicle_create_stream")?;
        Ok(Self(stream))
    }

    /// Waits for all that was enqueued.
    pub fn synchronize(&self) -> Result<(), Failure> {
        // SAFETY: the stream exists until it is dropped.
        unsafe { ffi::icicle_stream_synchronize(self.0) }.check("icicle_stream_synchronize")
    }

    pub fn handle(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: created by icicle, and destroyed once. A failure changes nothing that is measured.
        let _ = unsafe { ffi::icicle_destroy_stream(self.0) };
    }
}

/// Holds options of a backend, by their names.
pub struct Extension(*mut c_void);

impl Extension {
    pub fn new() -> Self {
        // SAFETY: the function takes nothing, and returns an object that this one owns.
        Self(unsafe { ffi::create_config_extension() })
    }

    pub fn set_int(&mut self, key: &CStr, value: c_int) {
        // SAFETY: the object exists until it is dropped, and the key is copied.
        unsafe { ffi::config_extension_set_int(self.0, key.as_ptr(), value) };
    }

    pub fn set_bool(&mut self, key: &CStr, value: bool) {
        // SAFETY: the object exists until it is dropped, and the key is copied.
        unsafe { ffi::config_extension_set_bool(self.0, key.as_ptr(), value) };
    }

    pub fn handle(&self) -> *mut c_void {
        self.0
    }
}

impl Drop for Extension {
    fn drop(&mut self) {
        // SAFETY: created by icicle, and destroyed once.
        unsafe { ffi::destroy_config_extension(self.0) };
    }
}
