//! Transforms vectors that are bytes, by the field's Rust type.

use std::fmt;

use rayon::prelude::*;

use super::FieldId;
use crate::field::{NttField, as_bytes, as_bytes_mut, is_below};
use crate::kernel_types::{call_with_type, for_each_ntt_field};
use crate::module_launcher::KernelModule;
use crate::ntt::{Direction, NttDomain, NttOptions};
use crate::rayon_waits::check_host_threads;
use crate::secret_vec::SecretVec;
use crate::{Abort, Accelerator, Error, Report, Result, kernels};

/// Minimum elements per rayon task, 4096: enough work to outweigh the handover to another thread.
const MIN_ELEMENTS: usize = 1 << 12;

/// Describes a multiplicative subgroup of order `2^log_n` of a field and a coset of it, with the transforms on them:
/// [`NttDomain`] over bytes.
pub struct ByteDomain {
    field: FieldId,
    domain: Box<dyn TypedDomain>,
}

impl ByteDomain {
    /// Creates the domain of order `2^log_n` in `field`. The generator of its coset is the field's multiplicative
    /// generator.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the field has no transforms ([`FieldId::has_transforms`]).
    /// - [`Error::Invalid`]: the field's feature, `bn254` or `pasta`, is off.
    /// - [`Error::Invalid`]: `log_n` is above the field's two-adicity.
    pub fn new(accelerator: &Accelerator, field: FieldId, log_n: u32) -> Result<Self> {
        Self::with_options(accelerator, field, log_n, NttOptions::default())
    }

    /// Creates the domain of order `2^log_n` in `field` with `options`, whose elements are bytes ([`super`]).
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the field has no transforms ([`FieldId::has_transforms`]).
    /// - [`Error::Invalid`]: the field's feature, `bn254` or `pasta`, is off.
    /// - [`Error::Invalid`]: an element of `options` has another length, or is not below the modulus.
    /// - [`NttDomain::with_options`] lists the others.
    pub fn with_options(
        accelerator: &Accelerator,
        field: FieldId,
        log_n: u32,
        options: NttOptions<&[u8]>,
    ) -> Result<Self> {
        let domain =
            for_each_ntt_field!(call_with_type! { field.name(), create_domain(accelerator, log_n, options); })?;
        Ok(Self { field, domain })
    }

    /// Returns the field.
    pub fn field(&self) -> FieldId {
        self.field
    }

    /// Returns the bytes of ω, a primitive `2^log_n`-th root of unity.
    pub fn omega(&self) -> Vec<u8> {
        self.domain.omega()
    }

    /// Returns the bytes of the generator of the coset.
    pub fn coset(&self) -> Vec<u8> {
        self.domain.coset()
    }

    /// Transforms each of `vectors` in place in `direction`, spread over the accelerator's devices. Vectors at a multiple
    /// of 8 bytes are not copied. The report's total leaves out the check of the elements. The abort hook `abort` is polled
    /// every few milliseconds ([`Abort`]).
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a vector has another length than `2^log_n` elements.
    /// - [`Error::Invalid`]: an element is not below the modulus. The error names the first one.
    /// - [`NttDomain::run`] lists the others.
    ///
    /// After an error, all vectors are unchanged.
    pub fn run(&self, direction: Direction, vectors: &mut [&mut [u8]], abort: Abort<'_>) -> Result<Report> {
        self.domain.run(direction, vectors, abort)
    }
}

impl fmt::Debug for ByteDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteDomain").field("field", &self.field).finish_non_exhaustive()
    }
}

/// Serves [`ByteDomain`] by the domain of one type.
trait TypedDomain: Send + Sync {
    fn run(&self, direction: Direction, vectors: &mut [&mut [u8]], abort: Abort<'_>) -> Result<Report>;
    fn omega(&self) -> Vec<u8>;
    fn coset(&self) -> Vec<u8>;
}

impl<F: NttField> TypedDomain for NttDomain<F> {
    fn run(&self, direction: Direction, vectors: &mut [&mut [u8]], abort: Abort<'_>) -> Result<Report> {
        let lent = vectors.iter_mut().map(|bytes| LentElements::<F>::new(bytes));
        let mut lent = lent.collect::<Result<Vec<_>>>()?;
        let mut elements: Vec<&mut [F]> = lent.iter_mut().map(LentElements::as_mut_slice).collect();
        let report = self.run(direction, &mut elements, abort)?;
        lent.into_iter().for_each(LentElements::write_back);
        Ok(report)
    }

    fn omega(&self) -> Vec<u8> {
        as_bytes(&[self.omega()]).to_vec()
    }

    fn coset(&self) -> Vec<u8> {
        as_bytes(&[self.coset()]).to_vec()
    }
}

fn create_domain<F: NttField>(
    accelerator: &Accelerator,
    log_n: u32,
    options: NttOptions<&[u8]>,
) -> Result<Box<dyn TypedDomain>> {
    let NttOptions { omega, coset, input, output, max_radix_log, tables } = options;
    let [omega, coset] = [(omega, "omega"), (coset, "generator of the coset")]
        .map(|(bytes, what)| bytes.map(|bytes| read_element::<F>(what, bytes)).transpose());
    let options = NttOptions { omega: omega?, coset: coset?, input, output, max_radix_log, tables };
    Ok(Box::new(NttDomain::with_options(accelerator, log_n, options)?))
}

/// Returns the element of `bytes`, which an error calls `what`.
fn read_element<F: NttField>(what: &str, bytes: &[u8]) -> Result<F> {
    if bytes.len() != size_of::<F>() {
        return Err(Error::invalid("ntt", what, format!("{} bytes", size_of::<F>()), bytes.len()));
    }
    check_elements::<F>(bytes)?;
    Ok(copy_elements(bytes)[0])
}

/// Holds the elements of a caller's bytes: its memory, or a copy if that is not aligned.
enum LentElements<'a, F: NttField> {
    Memory(&'a mut [F]),
    Copy(SecretVec<F>, &'a mut [u8]),
}

impl<'a, F: NttField> LentElements<'a, F> {
    /// Checks `bytes`, and takes them as elements.
    fn new(bytes: &'a mut [u8]) -> Result<Self> {
        check_elements::<F>(bytes)?;
        let count = bytes.len() / size_of::<F>();
        let start = bytes.as_mut_ptr().cast::<F>();
        if !start.is_aligned() {
            return Ok(Self::Copy(copy_elements(bytes), bytes));
        }
        // SAFETY: the bytes hold `count` elements and are aligned; all are below the modulus, so that `NttField` promises
        // values. A transform writes elements only.
        Ok(Self::Memory(unsafe { std::slice::from_raw_parts_mut(start, count) }))
    }

    fn as_mut_slice(&mut self) -> &mut [F] {
        match self {
            Self::Memory(elements) => elements,
            Self::Copy(elements, _) => elements,
        }
    }

    /// Writes a copy back to the caller's bytes.
    fn write_back(self) {
        if let Self::Copy(elements, bytes) = self {
            bytes.copy_from_slice(as_bytes(&elements));
        }
    }
}

/// Copies elements from `bytes`, which [`check_elements`] has accepted.
fn copy_elements<F: NttField>(bytes: &[u8]) -> SecretVec<F> {
    SecretVec::par_from_fn(bytes.len() / size_of::<F>(), |first, piece| {
        let start = first * size_of::<F>();
        let length = size_of_val(piece);
        // SAFETY: the bytes are reduced elements in Montgomery form.
        unsafe { as_bytes_mut(piece) }.copy_from_slice(&bytes[start..start + length]);
    })
}

/// Checks that `bytes` are whole elements below the modulus.
fn check_elements<F: NttField>(bytes: &[u8]) -> Result<()> {
    check_host_threads()?;
    let size = size_of::<F>();
    if !bytes.len().is_multiple_of(size) {
        return Err(Error::invalid("ntt", "number of bytes", format!("a multiple of {size}"), bytes.len()));
    }
    let modulus = KernelModule::find(&kernels::ntt::FAMILY, F::NAME)?.modulus();
    let elements = bytes.par_chunks_exact(size).with_min_len(MIN_ELEMENTS);
    match elements.position_first(|element| !is_below(element, modulus)) {
        None => Ok(()),
        Some(index) => Err(Error::invalid("ntt", format!("element {index}"), "limbs below the modulus", "others")),
    }
}
