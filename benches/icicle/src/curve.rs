//! Calls icicle's functions of one curve, with lengths checked.

use std::ffi::c_int;
use std::ptr::null_mut;

use bench_support::Failure;

use crate::device::{Extension, Input, Memory, Output, Stream};
use crate::ffi::{Curve, MsmConfig, NttConfig, NttInitDomainConfig, VecOpsConfig};

/// Counts the bytes of a scalar or an element of a scalar field.
const SCALAR_BYTES: usize = 32;

/// Names the order of elements before and after a transform: natural, `Ordering::kNN`.
const NATURAL: c_int = 0;

/// Names the direction of a transform: `NTTDir::kForward`.
const FORWARD: c_int = 0;

/// Maximum binary logarithm of a transform's size, 30: icicle counts elements by 32-bit integers with a sign.
const MAX_LOG: u32 = 30;

/// Configures a multi-scalar multiplication.
#[derive(Debug, Clone, Copy)]
pub struct MsmOptions {
    /// Bits of a window.
    pub window: u32,
    /// Number of chunks that inputs on the host are copied in, each while the one before is computed. 0 lets icicle
    /// choose.
    pub chunks: u32,
}

/// Holds a multi-scalar multiplication, ready to run.
pub struct Multiplication {
    curve: &'static Curve,
    stream: Stream,
    extension: Extension,
    options: MsmOptions,
}

impl Multiplication {
    /// Prepares multiplications of points of `curve`.
    pub fn new(curve: &'static Curve, options: MsmOptions) -> Result<Self, Failure> {
        let mut extension = Extension::new();
        extension.set_int(c"nof_chunks", options.chunks as c_int);
        Ok(Self { curve, stream: Stream::new()?, extension, options })
    }

    pub fn options(&self) -> MsmOptions {
        self.options
    }

    /// Returns the sum over the first `count` scalars and points in projective coordinates. Nothing is in Montgomery
    /// form, which icicle would convert first.
    pub fn run(&self, scalars: Input<'_>, points: Input<'_>, count: usize) -> Result<Vec<u8>, Failure> {
        let mut sum = vec![0; self.curve.point_bytes / 2 * 3];
        let config = self.config(scalars.is_on_device(), points.is_on_device());
        let scalars = scalars.address(count * SCALAR_BYTES)?;
        let points = points.address(count * self.curve.point_bytes)?;
        // SAFETY: as many scalars and points are there, as just checked, and one projective point is written.
        let status = unsafe {
            (self.curve.msm)(scalars, points, c_int::try_from(count)?, &raw const config, sum.as_mut_ptr().cast())
        };
        status.check("msm").map(|()| sum)
    }

    fn config(&self, are_scalars_on_device: bool, are_points_on_device: bool) -> MsmConfig {
        MsmConfig {
            stream: self.stream.handle(),
            precompute_factor: 1,
            c: self.options.window as c_int,
            bitsize: 0,
            batch_size: 1,
            are_points_shared_in_batch: true,
            are_scalars_on_device,
            are_scalars_montgomery_form: false,
            are_points_on_device,
            are_points_montgomery_form: false,
            are_results_on_device: false,
            is_async: false,
            ext: self.extension.handle(),
        }
    }
}

impl Curve {
    /// Uploads points in Montgomery form, and converts them to icicle's own form.
    pub fn upload_points(&self, montgomery: &[u8]) -> Result<Memory, Failure> {
        let points = Memory::allocate(montgomery.len())?;
        self.convert(false, montgomery, Output::Device(&points))?;
        Ok(points)
    }

    /// Returns a projective point of icicle's as an affine one in Montgomery form.
    pub fn affine_montgomery(&self, mut projective: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let bytes = self.point_bytes / 2 * 3;
        if projective.len() != bytes {
            return Err(format!("expected {bytes} bytes of a point, got {}", projective.len()).into());
        }
        let [mut affine, mut montgomery] = [(); 2].map(|()| vec![0; self.point_bytes]);
        // SAFETY: three coordinates are read, and two of as many bytes are written.
        unsafe { (self.to_affine)(projective.as_mut_ptr().cast(), affine.as_mut_ptr().cast()) };
        self.convert(true, &affine, Output::Host(&mut montgomery))?;
        Ok(montgomery)
    }

    /// Converts affine points on the host into Montgomery form, or from it.
    fn convert(&self, into: bool, points: &[u8], output: Output<'_>) -> Result<(), Failure> {
        let (to, is_result_on_device) = match output {
            Output::Host(host) if host.len() == points.len() => (host.as_mut_ptr().cast(), false),
            Output::Host(host) => return Err(format!("expected {} bytes, got {}", points.len(), host.len()).into()),
            Output::Device(memory) => (memory.address(points.len())?, true),
        };
        let config = VecOpsConfig {
            stream: null_mut(),
            is_a_on_device: false,
            is_b_on_device: false,
            is_result_on_device,
            is_async: false,
            batch_size: 1,
            columns_batch: false,
            ext: null_mut(),
        };
        let count = (points.len() / self.point_bytes) as u64;
        // SAFETY: as many points are read and written as both have room for.
        let status = unsafe { (self.convert)(points.as_ptr().cast(), count, into, &raw const config, to) };
        status.check("affine_convert_montgomery")
    }
}

/// Holds icicle's domain of one size of a scalar field: roots of unity on the device. icicle has one for each field.
pub struct Domain {
    curve: &'static Curve,
    /// Binary logarithm of the size, and whether there are fast twiddles. `None` if there is no domain.
    current: Option<(u32, bool)>,
    /// Whether icicle failed to release a domain. It then makes no other one.
    is_stuck: bool,
}

impl Domain {
    pub fn new(curve: &'static Curve) -> Self {
        Self { curve, current: None, is_stuck: false }
    }

    /// Makes the domain of transforms of 2^`log_n` elements, unless it is there.
    pub fn require(&mut self, log_n: u32, fast_twiddles: bool) -> Result<(), Failure> {
        let wanted = Some((log_n, fast_twiddles));
        if self.current == wanted {
            return Ok(());
        }
        self.release()?;
        let mut root = [0; 4];
        // SAFETY: one element is written.
        unsafe { (self.curve.root_of_unity)(1 << log_n, &raw mut root) }.check("get_root_of_unity")?;
        let mut extension = Extension::new();
        extension.set_bool(c"fast_twiddles", fast_twiddles);
        let config = NttInitDomainConfig { stream: null_mut(), is_async: false, ext: extension.handle() };
        // SAFETY: one element and the configuration are read.
        let status = unsafe { (self.curve.init_domain)(&raw const root, &raw const config) };
        status.check("ntt_init_domain")?;
        self.current = wanted;
        Ok(())
    }

    /// Releases the domain, if there is one.
    fn release(&mut self) -> Result<(), Failure> {
        if self.is_stuck {
            return Err("icicle: an earlier domain could not be released".into());
        }
        if self.current.take().is_none() {
            return Ok(());
        }
        // SAFETY: the function takes nothing, and no transform is running.
        let released = unsafe { (self.curve.release_domain)() }.check("ntt_release_domain");
        self.is_stuck = released.is_err();
        released
    }
}

/// Selects the algorithm of transforms, by icicle's `CudaBackendConfig::NttAlgorithm`.
#[derive(Debug, Clone, Copy)]
pub enum Algorithm {
    Radix2 = 1,
    MixedRadix = 2,
}

/// Holds a forward transform, ready to run. Its domain has to be there.
pub struct Transform {
    curve: &'static Curve,
    stream: Stream,
    extension: Extension,
    log_n: u32,
}

impl Transform {
    /// Prepares transforms of 2^`log_n` elements, natural order in and out.
    pub fn new(curve: &'static Curve, log_n: u32, algorithm: Algorithm) -> Result<Self, Failure> {
        if log_n > MAX_LOG {
            return Err(format!("expected at most 2^{MAX_LOG} elements, got 2^{log_n}").into());
        }
        let mut extension = Extension::new();
        extension.set_int(c"ntt_algorithm", algorithm as c_int);
        Ok(Self { curve, stream: Stream::new()?, extension, log_n })
    }

    /// Transforms from `input` to `output` `count` times, one after the other, and waits for all of them together.
    pub fn run_on_device(&self, input: &Memory, output: &Memory, count: u64) -> Result<(), Failure> {
        let enqueued = (0..count).try_for_each(|_| self.enqueue(input, output));
        // Even after a failure: until then transforms use the memory.
        let waited = self.stream.synchronize();
        enqueued.and(waited)
    }

    /// Enqueues a transform. The caller must wait for the stream while it holds both memories.
    fn enqueue(&self, input: &Memory, output: &Memory) -> Result<(), Failure> {
        let bytes = SCALAR_BYTES << self.log_n;
        let (input, output) = (input.address(bytes)?, output.address(bytes)?);
        let config = self.config(true);
        // SAFETY: both have as many elements, as just checked, and the caller waits for the stream before they go.
        let status = unsafe { (self.curve.ntt)(input, 1 << self.log_n, FORWARD, &raw const config, output) };
        status.check("ntt")
    }

    /// Transforms elements on the host.
    pub fn run_on_host(&self, values: &mut [u8]) -> Result<(), Failure> {
        if values.len() != SCALAR_BYTES << self.log_n {
            return Err(format!("expected {} bytes, got {}", SCALAR_BYTES << self.log_n, values.len()).into());
        }
        let (values, config) = (values.as_mut_ptr().cast(), self.config(false));
        // SAFETY: as many elements are read, and written when all were read.
        let status = unsafe { (self.curve.ntt)(values, 1 << self.log_n, FORWARD, &raw const config, values) };
        status.check("ntt")
    }

    fn config(&self, is_on_device: bool) -> NttConfig {
        NttConfig {
            stream: self.stream.handle(),
            // One, which is no coset.
            coset_gen: [1, 0, 0, 0],
            batch_size: 1,
            columns_batch: false,
            ordering: NATURAL,
            are_inputs_on_device: is_on_device,
            are_outputs_on_device: is_on_device,
            is_async: is_on_device,
            ext: self.extension.handle(),
        }
    }
}
