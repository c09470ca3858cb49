//! Queues the constraints' evaluation and the quotient of a proof on a device, without waiting.

use std::sync::Arc;

use super::proof_streams::ProofStreams;
use crate::backend::{Buffer, Stream};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::groth16::circuit_and_witness::missing_matrices_error;
use crate::groth16::parameters::{ERROR_CONTEXT, inverse_vanishing_value};
use crate::groth16::{Circuit, QuotientForm};
use crate::kernel_arguments::{In, Kernel};
use crate::kernels::groth16::{FAMILY, GROTH16_GROUP, Gather, Multiply, Numerator, Product, Subtract};
use crate::matrix::{CsrOnDevice, DeviceVectors};
use crate::module_launcher::KernelModule;
use crate::ntt::{Direction, NttDomain};
use crate::{Error, Result};

/// Maximum number of groups of a launch. With more elements, each work-item takes several.
const MAX_GROUPS: u64 = 1 << 16;

/// Holds device memory for the vectors a, b and c, each with one element per element of the domain. Elements behind the
/// constraints are zero.
pub(crate) struct ConstraintVectors<F>([DeviceVector<F>; 3]);

impl<F: NttField> ConstraintVectors<F> {
    pub(super) fn allocate(stream: &mut Stream, domain: &NttDomain<F>, circuit: &Circuit<F>) -> Result<Self> {
        let mut allocate = || allocate_vector(stream, domain, circuit);
        Ok(Self([allocate()?, allocate()?, allocate()?]))
    }

    /// Queues the computation of a, b and c from `matrices` and `assignment`. Without a matrix C, c is the elementwise
    /// product of a and b.
    pub(super) fn enqueue_products(
        &self,
        lane: &mut ProofStreams<'_>,
        matrices: &[Arc<CsrOnDevice<F>>],
        assignment: &DeviceVector<F>,
    ) -> Result<()> {
        let Self([a, b, c]) = self;
        let [_, _, matrix_c @ ..] = matrices else { return Err(missing_matrices_error()) };
        for (vector, matrix) in self.0.iter().zip(matrices) {
            enqueue_product(lane, matrix, assignment, vector)?;
        }
        if matrix_c.is_empty() {
            lane.enqueue_timed(c.len(), |stream| {
                let n = element_count(c.len())?;
                enqueue_kernel::<F>(stream, n, Product { n, c: c.as_out(), a: a.as_in(), b: b.as_in() })
            })?;
        }
        Ok(())
    }

    /// Queues the computation of the quotient in the given `form` from a, b and c. They are uploaded if `evaluations`
    /// has them, each while the one before is transformed. Returns one element for each of `domain`.
    pub(super) fn quotient(
        mut self,
        lane: &mut ProofStreams<'_>,
        domain: &NttDomain<F>,
        form: &QuotientForm<F>,
        evaluations: Option<[&[F]; 3]>,
    ) -> Result<DeviceVector<F>> {
        // The degree of c is below the domain's order, so its coefficients suffice to subtract c/Z from those of h.
        let on_coset = [true, true, matches!(form, QuotientForm::CosetValues { .. })];
        for (number, vector) in self.0.iter_mut().enumerate() {
            if let Some(evaluations) = &evaluations {
                lane.upload(vector, evaluations[number])?;
            }
            lane.enqueue_timed(vector.len(), |stream| domain.enqueue(Direction::Inverse, stream, vector))?;
            if on_coset[number] {
                lane.enqueue_timed(vector.len(), |stream| domain.enqueue(Direction::CosetForward, stream, vector))?;
            }
        }
        match form {
            QuotientForm::Coefficients { .. } => self.enqueue_division(lane, domain),
            QuotientForm::CosetValues { .. } => self.enqueue_numerator(lane),
        }
    }

    /// Queues the computation of the coefficients of h = (a·b − c)/Z from the values of a and b on the coset and the
    /// coefficients of c.
    fn enqueue_division(self, lane: &mut ProofStreams<'_>, domain: &NttDomain<F>) -> Result<DeviceVector<F>> {
        let Self([mut a, b, c]) = self;
        let factor = upload_factor(&mut lane.compute, inverse_vanishing_value(domain)?)?;
        lane.enqueue_timed(a.len(), |stream| {
            let (n, factor) = (element_count(a.len())?, In::new(&factor));
            enqueue_kernel::<F>(stream, n, Multiply { n, factor, a: a.as_out(), b: b.as_in() })?;
            domain.enqueue(Direction::CosetInverse, stream, &mut a)?;
            enqueue_kernel::<F>(stream, n, Subtract { n, factor, a: a.as_out(), c: c.as_in() })
        })?;
        Ok(a)
    }

    /// Queues the computation of a·b − c from the values of a, b and c on the coset.
    fn enqueue_numerator(self, lane: &mut ProofStreams<'_>) -> Result<DeviceVector<F>> {
        let Self([a, b, c]) = self;
        lane.enqueue_timed(a.len(), |stream| {
            let n = element_count(a.len())?;
            enqueue_kernel::<F>(stream, n, Numerator { n, a: a.as_out(), b: b.as_in(), c: c.as_in() })
        })?;
        Ok(a)
    }
}

/// Makes the vectors a, b and c one after another. At most two of them are on the device at once. If the circuit has no
/// matrix C, a third vector is there while c is made.
pub(super) struct VectorSource<'a, F, P> {
    pub domain: &'a NttDomain<F>,
    pub circuit: &'a Circuit<F>,
    /// The vectors on the host.
    pub evaluations: Option<[&'a [F]; 3]>,
    /// Queues the product of the matrix with this index and the assignment, if there are no evaluations.
    pub product: P,
}

impl<F: NttField, P: Fn(&mut ProofStreams<'_>, usize, &DeviceVector<F>) -> Result<()>> VectorSource<'_, F, P> {
    /// Queues the computation of the quotient in the given `form`. Returns one element for each of the domain.
    pub(super) fn enqueue_quotient(
        &self,
        lane: &mut ProofStreams<'_>,
        form: &QuotientForm<F>,
    ) -> Result<DeviceVector<F>> {
        let divided = matches!(form, QuotientForm::Coefficients { .. });
        let factor = if divided { inverse_vanishing_value(self.domain)? } else { F::ONE };
        let factor = upload_factor(&mut lane.compute, factor)?;
        let mut a = self.enqueue_vector(lane, 0, true)?;
        let b = self.enqueue_vector(lane, 1, true)?;
        let n = element_count(a.len())?;
        let factor = || In::new(&factor);
        lane.enqueue_timed(a.len(), |stream| {
            enqueue_kernel::<F>(stream, n, Multiply { n, factor: factor(), a: a.as_out(), b: b.as_in() })
        })?;
        // Its memory is that of c.
        drop(b);
        let c = self.enqueue_vector(lane, 2, !divided)?;
        lane.enqueue_timed(a.len(), |stream| {
            if divided {
                self.domain.enqueue(Direction::CosetInverse, stream, &mut a)?;
            }
            enqueue_kernel::<F>(stream, n, Subtract { n, factor: factor(), a: a.as_out(), c: c.as_in() })
        })?;
        Ok(a)
    }

    /// Queues the computation of a, b or c, by `number`: its values on the coset if `on_coset` is set, else its
    /// coefficients.
    fn enqueue_vector(&self, lane: &mut ProofStreams<'_>, number: usize, on_coset: bool) -> Result<DeviceVector<F>> {
        let mut vector = allocate_vector(&mut lane.compute, self.domain, self.circuit)?;
        self.fill(lane, number, &vector)?;
        lane.enqueue_timed(vector.len(), |stream| self.domain.enqueue(Direction::Inverse, stream, &mut vector))?;
        if on_coset {
            lane.enqueue_timed(vector.len(), |stream| {
                self.domain.enqueue(Direction::CosetForward, stream, &mut vector)
            })?;
        }
        Ok(vector)
    }

    fn fill(&self, lane: &mut ProofStreams<'_>, number: usize, vector: &DeviceVector<F>) -> Result<()> {
        if let Some(evaluations) = &self.evaluations {
            lane.fence_upload_stream()?;
            return lane.upload(vector, evaluations[number]);
        }
        if number < self.circuit.matrices().len() {
            return (self.product)(lane, number, vector);
        }
        let b = allocate_vector(&mut lane.compute, self.domain, self.circuit)?;
        (self.product)(lane, 0, vector)?;
        (self.product)(lane, 1, &b)?;
        let (n, factor) = (element_count(b.len())?, upload_factor(&mut lane.compute, F::ONE)?);
        let multiply = Multiply { n, factor: In::new(&factor), a: vector.as_out(), b: b.as_in() };
        lane.enqueue_timed(b.len(), |stream| enqueue_kernel::<F>(stream, n, multiply))
    }
}

/// Allocates a vector with one element for each of `domain`. Elements behind the constraints of `circuit` are zero.
fn allocate_vector<F: NttField>(
    stream: &mut Stream,
    domain: &NttDomain<F>,
    circuit: &Circuit<F>,
) -> Result<DeviceVector<F>> {
    let vector = DeviceVector::allocate_uninit(stream, 1 << domain.log_n())?;
    if circuit.constraint_count() < vector.len() {
        stream.zero(vector.buffer())?;
    }
    Ok(vector)
}

/// Queues the product of `matrix` and `assignment` into the first elements of `to`.
pub(super) fn enqueue_product<F: NttField>(
    lane: &mut ProofStreams<'_>,
    matrix: &CsrOnDevice<F>,
    assignment: &DeviceVector<F>,
    to: &DeviceVector<F>,
) -> Result<()> {
    let [x, y] = [assignment, to].map(|vector| DeviceVectors::one(vector.buffer()));
    lane.enqueue_timed(to.len(), |stream| matrix.enqueue(stream, x, y, 1))
}

/// Uploads the field element `factor` into a new buffer, as an argument for kernels.
fn upload_factor<F: NttField>(stream: &mut Stream, factor: F) -> Result<Buffer> {
    let buffer = stream.allocate(size_of::<F>())?;
    stream.upload(&buffer, as_bytes(&[factor]))?;
    Ok(buffer)
}

/// Queues the gather of the values in `assignment` at the 32-bit indices `chosen`. Returns the buffer of these values,
/// in the order of the indices.
pub(crate) fn gather<F: NttField>(
    stream: &mut Stream,
    chosen: &Buffer,
    assignment: &DeviceVector<F>,
) -> Result<Arc<Buffer>> {
    let count = chosen.bytes() / 4;
    let scalars = DeviceVector::<F>::allocate_uninit(stream, count)?;
    let n = element_count(count)?;
    let gather = Gather { n, indices: In::new(chosen), x: assignment.as_in(), out: scalars.as_out() };
    enqueue_kernel::<F>(stream, n, gather)?;
    Ok(scalars.buffer().clone())
}

/// Returns `count` as a kernel's argument.
fn element_count(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::invalid(ERROR_CONTEXT, "elements", "below 2^32", count))
}

/// Queues `kernel` over `n` elements. Its buffers hold as many.
fn enqueue_kernel<F: NttField>(stream: &mut Stream, n: u32, kernel: impl Kernel) -> Result<()> {
    let items = u64::from(n).min(MAX_GROUPS * u64::from(GROTH16_GROUP));
    KernelModule::find(&FAMILY, F::NAME)?.run(stream, items, kernel)
}
