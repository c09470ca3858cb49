//! Queues the coefficients of h on a device, without waiting.

use std::sync::Arc;

use super::proof_streams::ProofStreams;
use crate::backend::{Arg, Buffer, Stream};
use crate::field::{DeviceVector, NttField, as_bytes};
use crate::groth16::circuit_and_witness::{DeviceMatrices, missing_matrices_error};
use crate::groth16::pairing_engine::ERROR_CONTEXT;
use crate::groth16::{Circuit, Witness};
use crate::kernels::Family;
use crate::matrix::DeviceVectors;
use crate::module_launcher::{KernelModule, buffer_arg};
use crate::ntt::{Direction, NttDomain};
use crate::{Error, Result};

/// Number of work-items of a group, `GROTH16_GROUP` of `cl/groth16.cl`.
const GROUP: u32 = 128;
/// Maximum number of groups of a launch. With more elements, each work-item takes several.
const MAX_GROUPS: u64 = 1 << 16;

/// Returns 1/Z on the coset of `domain` with generator g. The polynomial Z = xᵐ − 1 has the value gᵐ − 1 at every point
/// of the coset, where m is the domain's order.
pub(crate) fn inverse_vanishing_value<F: NttField>(domain: &NttDomain<F>) -> Result<F> {
    let power = (0..domain.log_n()).fold(domain.coset(), |power, _| power.square());
    let inverse: Option<F> = (power - F::ONE).invert().into();
    inverse
        .ok_or_else(|| Error::invalid(ERROR_CONTEXT, "generator of the coset", "one outside the domain", "one in it"))
}

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

    /// Queues the computation of the coefficients of h from `witness`, or from `matrices` and `assignment`. Returns as
    /// many coefficients as the domain has elements.
    pub(super) fn quotient(
        self,
        lane: &mut ProofStreams<'_>,
        domain: &NttDomain<F>,
        matrices: Option<&DeviceMatrices<F>>,
        witness: &Witness<'_, F>,
        assignment: &DeviceVector<F>,
    ) -> Result<DeviceVector<F>> {
        let Self([mut a, mut b, mut c]) = self;
        let factor = upload_factor(&mut lane.compute, inverse_vanishing_value(domain)?)?;
        for (number, vector) in [&mut a, &mut b, &mut c].into_iter().enumerate() {
            enqueue_evaluation(lane, matrices, witness, assignment, (number, vector))?;
            lane.enqueue_timed(vector.len(), |stream| domain.enqueue(Direction::Inverse, stream, vector))?;
            if number < 2 {
                lane.enqueue_timed(vector.len(), |stream| domain.enqueue(Direction::CosetForward, stream, vector))?;
            }
        }
        lane.enqueue_timed(a.len(), |stream| {
            enqueue_pointwise_kernel(stream, "groth16_multiply", &factor, &a, &b)?;
            domain.enqueue(Direction::CosetInverse, stream, &mut a)?;
            enqueue_pointwise_kernel(stream, "groth16_subtract", &factor, &a, &c)
        })?;
        Ok(a)
    }
}

/// Queues the upload or the computation of A·z, B·z or C·z into `vector`, for `number` 0, 1 or 2. It is uploaded if
/// `witness` has it, and otherwise computed from `matrices` and `assignment`.
fn enqueue_evaluation<F: NttField>(
    lane: &mut ProofStreams<'_>,
    matrices: Option<&DeviceMatrices<F>>,
    witness: &Witness<'_, F>,
    assignment: &DeviceVector<F>,
    (number, vector): (usize, &DeviceVector<F>),
) -> Result<()> {
    if let Some(evaluations) = &witness.evaluations {
        return lane.upload(vector, &[evaluations[number]]);
    }
    let matrices = matrices.ok_or_else(missing_matrices_error)?;
    let [x, y] = [assignment, vector].map(|vector| DeviceVectors::one(vector.buffer()));
    lane.enqueue_timed(vector.len(), |stream| matrices[number].enqueue(stream, x, y, 1))
}

/// Uploads the field element `factor` into a new buffer, as an argument for kernels.
fn upload_factor<F: NttField>(stream: &mut Stream, factor: F) -> Result<Buffer> {
    let buffer = stream.allocate(size_of::<F>())?;
    stream.upload(&buffer, as_bytes(&[factor]))?;
    Ok(buffer)
}

fn enqueue_pointwise_kernel<F: NttField>(
    stream: &mut Stream,
    kernel: &str,
    factor: &Buffer,
    to: &DeviceVector<F>,
    with: &DeviceVector<F>,
) -> Result<()> {
    let args = [buffer_arg(factor), buffer_arg(to.buffer()), buffer_arg(with.buffer())];
    launch::<F>(stream, kernel, to.len(), &args)
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
    launch::<F>(
        stream,
        "groth16_gather",
        count,
        &[buffer_arg(chosen), buffer_arg(assignment.buffer()), buffer_arg(scalars.buffer())],
    )?;
    Ok(scalars.buffer().clone())
}

fn launch<F: NttField>(stream: &mut Stream, kernel: &str, count: usize, buffers: &[Arg]) -> Result<()> {
    let number = u32::try_from(count).map_err(|_| Error::invalid(ERROR_CONTEXT, "elements", "below 2^32", count))?;
    let items = u64::from(number).min(MAX_GROUPS * u64::from(GROUP));
    let args = [&[Arg::U32(number)], buffers].concat();
    // SAFETY: callers pass the buffers that the kernel declares, each of `count` elements; indices are variables.
    unsafe { KernelModule::for_family(Family::Groth16, F::NAME)?.launch(stream, kernel, items, GROUP, &args) }
}
