//! Queues the constraints' evaluation and the quotient of a proof on a device, without waiting.

use std::sync::Arc;

use super::proof_streams::ProofStreams;
use crate::backend::{Buffer, Stream};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::groth16::circuit_and_witness::{DeviceMatrices, missing_matrices_error};
use crate::groth16::parameters::{ERROR_CONTEXT, inverse_vanishing_value};
use crate::groth16::{Circuit, QuotientForm};
use crate::kernel_arguments::{In, Kernel};
use crate::kernels::groth16::{FAMILY, GROTH16_GROUP, Gather, Multiply, Numerator, Product, Subtract};
use crate::matrix::DeviceVectors;
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
        let mut allocate = || {
            let vector = DeviceVector::allocate_uninit(stream, 1 << domain.log_n())?;
            if circuit.constraint_count() < vector.len() {
                stream.zero(vector.buffer())?;
            }
            Ok::<_, Error>(vector)
        };
        Ok(Self([allocate()?, allocate()?, allocate()?]))
    }

    /// Queues the computation of a, b and c from `matrices` and `assignment`. Without a matrix C, c is the elementwise
    /// product of a and b.
    pub(super) fn enqueue_products(
        &self,
        lane: &mut ProofStreams<'_>,
        matrices: &DeviceMatrices<F>,
        assignment: &DeviceVector<F>,
    ) -> Result<()> {
        let Self([a, b, c]) = self;
        let [_, _, matrix_c @ ..] = matrices.as_slice() else { return Err(missing_matrices_error()) };
        for (vector, matrix) in self.0.iter().zip(matrices) {
            let [x, y] = [assignment, vector].map(|vector| DeviceVectors::one(vector.buffer()));
            lane.enqueue_timed(vector.len(), |stream| matrix.enqueue(stream, x, y, 1))?;
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
                lane.upload(vector, &[evaluations[number]])?;
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
