//! Computes a proof's MSMs on the host's cores.

use rayon::prelude::*;

use super::circuit_and_witness::missing_matrices_error;
use super::gpu::inverse_vanishing_value;
use super::msm_sums_and_proof::MsmSums;
use super::{Circuit, Engine, ProvingKeyOnDevice, Witness};
use crate::backend::Abort;
use crate::curve::{MsmCurve, scalar_to_bytes};
use crate::field::{NttField, SecretVec};
use crate::matrix::SparseMatrix;
use crate::msm::{BasePoints, ZeroizingScalars, msm};
use crate::ntt::{Direction, NttDomain};
use crate::{Accelerator, Result};

pub(super) fn compute_msm_sums<E: Engine>(
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witness: &Witness<'_, E::Fr>,
    abort: Abort<'_>,
) -> Result<MsmSums<E>> {
    let (host, parameters) = (key.accelerator().with_devices(Vec::new()), key.parameters());
    let assignment = SecretVec([witness.inputs, witness.aux].concat());
    let h = to_canonical_bytes(
        quotient(&host, key.domain_size(), circuit, witness, &assignment, abort)?.par_iter().copied(),
    );
    let select = |chosen: &[u32]| to_canonical_bytes(chosen.par_iter().map(|i| assignment[*i as usize]));
    let (l, a, b) = (to_canonical_bytes(witness.aux.par_iter().copied()), select(&circuit.a), select(&circuit.b));
    Ok(MsmSums {
        h: run_msm(&host, &parameters.h, &h.0[..parameters.h.len()], abort)?,
        l: run_msm(&host, &parameters.l, &l.0, abort)?,
        a: run_msm(&host, &parameters.a, &a.0, abort)?,
        b_g1: run_msm(&host, &parameters.b_g1, &b.0, abort)?,
        b_g2: run_msm(&host, &parameters.b_g2, &b.0, abort)?,
    })
}

fn run_msm<C: MsmCurve>(
    host: &Accelerator,
    bases: &BasePoints<C>,
    scalars: &[[u8; 32]],
    abort: Abort<'_>,
) -> Result<C::Curve> {
    msm(host, bases.on_host()?, scalars, abort).map(|(sum, _)| sum)
}

/// Converts `scalars` to canonical integers, 32 bytes each, little-endian.
fn to_canonical_bytes<F: NttField>(scalars: impl IndexedParallelIterator<Item = F>) -> ZeroizingScalars {
    ZeroizingScalars(scalars.map(scalar_to_bytes).collect())
}

/// Computes the coefficients of h on the host, as many as `domain`, the order of the evaluation domain.
fn quotient<F: NttField>(
    host: &Accelerator,
    domain: usize,
    circuit: &Circuit<F>,
    witness: &Witness<'_, F>,
    assignment: &[F],
    abort: Abort<'_>,
) -> Result<SecretVec<F>> {
    let mut vectors = [(); 3].map(|()| SecretVec(vec![F::ZERO; domain]));
    evaluate_constraints(host, circuit, witness, assignment, &mut vectors, abort)?;
    let [mut a, mut b, mut c] = vectors;
    let ntt = NttDomain::<F>::new(host, domain.trailing_zeros())?;
    ntt.run(Direction::Inverse, &mut [&mut a, &mut b, &mut c], abort)?;
    ntt.run(Direction::CosetForward, &mut [&mut a, &mut b], abort)?;
    let factor = inverse_vanishing_value(&ntt)?;
    a.par_iter_mut().zip(&b.0).for_each(|(a, b)| *a *= *b * factor);
    ntt.run(Direction::CosetInverse, &mut [&mut a], abort)?;
    a.par_iter_mut().zip(&c.0).for_each(|(a, c)| *a -= *c * factor);
    Ok(a)
}

/// Writes A·z, B·z and C·z to the start of `vectors`, which must be zeros. They are copied from `witness` if it has
/// them, and otherwise computed from the circuit's matrices.
fn evaluate_constraints<F: NttField>(
    host: &Accelerator,
    circuit: &Circuit<F>,
    witness: &Witness<'_, F>,
    assignment: &[F],
    vectors: &mut [SecretVec<F>; 3],
    abort: Abort<'_>,
) -> Result<()> {
    if let Some(evaluations) = &witness.evaluations {
        let pairs = vectors.iter_mut().zip(evaluations);
        pairs.for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
        return Ok(());
    }
    let matrices = circuit.matrices().ok_or_else(missing_matrices_error)?;
    for (to, matrix) in vectors.iter_mut().zip(matrices) {
        let matrix = SparseMatrix::new(host, matrix.clone())?;
        matrix.multiply(assignment, &mut to[..circuit.constraints], abort)?;
    }
    Ok(())
}
