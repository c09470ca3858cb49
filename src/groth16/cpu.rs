//! Computes a proof's MSMs on the host's cores.

use ff::Field;
use rayon::prelude::*;

use super::circuit_and_witness::missing_matrices_error;
use super::msm_sums_and_proof::MsmSums;
use super::parameters::{ERROR_CONTEXT, inverse_vanishing_value};
use super::{Circuit, Engine, ProvingKeyOnDevice, QuotientForm, Witness};
use crate::curve::{MsmCurve, scalar_to_bytes};
use crate::exec::ExecCtx;
use crate::field::NttField;
use crate::matrix::SparseMatrix;
use crate::msm::{BasePoints, msm};
use crate::ntt::{Direction, NttDomain};
use crate::rayon_waits::install;
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error, Result};

pub(super) fn compute_msm_sums<E: Engine>(
    key: &ProvingKeyOnDevice<E>,
    circuit: &Circuit<E::Fr>,
    witness: &Witness<'_, E::Fr>,
    ctx: ExecCtx<'_>,
) -> Result<MsmSums<E>> {
    let (host, parameters) = (key.accelerator().with_devices(Vec::new()), key.parameters());
    let assignment = witness.to_assignment();
    let mut vectors = [(); 3].map(|()| SecretVec(vec![E::Fr::ZERO; key.domain_size()]));
    evaluate_constraints(&host, circuit, witness, &assignment, &mut vectors, ctx)?;
    let h = to_canonical_bytes(
        quotient(&key.domain().with_accelerator(&host), &key.quotient_form(), vectors, ctx)?.par_iter().copied(),
    );
    let select = |chosen: &[u32]| to_canonical_bytes(chosen.par_iter().map(|i| assignment[*i as usize]));
    let aux = assignment[circuit.inputs..].par_iter().copied();
    let (l, a, b) = (to_canonical_bytes(aux), select(&circuit.a), select(&circuit.b));
    Ok(MsmSums {
        h: run_msm(&host, &parameters.h, &h.0[..parameters.h.len()], ctx)?,
        l: run_msm(&host, &parameters.l, &l.0, ctx)?,
        a: run_msm(&host, &parameters.a, &a.0, ctx)?,
        b_g1: run_msm(&host, &parameters.b_g1, &b.0, ctx)?,
        b_g2: run_msm(&host, &parameters.b_g2, &b.0, ctx)?,
    })
}

fn run_msm<C: MsmCurve>(
    host: &Accelerator,
    bases: &BasePoints<C>,
    scalars: &[[u8; 32]],
    ctx: ExecCtx<'_>,
) -> Result<C::Curve> {
    msm(host, bases.on_host()?, scalars, ctx.abort()).map(|(sum, _)| sum)
}

/// Converts `scalars` to canonical integers, 32 bytes each, little-endian.
fn to_canonical_bytes<F: NttField>(scalars: impl IndexedParallelIterator<Item = F>) -> SecretVec<[u8; 32]> {
    SecretVec(scalars.map(scalar_to_bytes).collect())
}

/// Computes the quotient in the given `form` from the values a, b and c on `domain`, with one element for each of them.
fn quotient<F: NttField>(
    domain: &NttDomain<F>,
    form: &QuotientForm<F>,
    [mut a, mut b, mut c]: [SecretVec<F>; 3],
    ctx: ExecCtx<'_>,
) -> Result<SecretVec<F>> {
    domain.run(Direction::Inverse, &mut [&mut a, &mut b, &mut c], ctx.abort())?;
    domain.run(Direction::CosetForward, &mut [&mut a, &mut b], ctx.abort())?;
    if let QuotientForm::CosetValues { .. } = form {
        domain.run(Direction::CosetForward, &mut [&mut c], ctx.abort())?;
        a.par_iter_mut().zip(&b.0).zip(&c.0).for_each(|((a, b), c)| *a = *a * *b - *c);
        return Ok(a);
    }
    let factor = inverse_vanishing_value(domain)?;
    a.par_iter_mut().zip(&b.0).for_each(|(a, b)| *a *= *b * factor);
    domain.run(Direction::CosetInverse, &mut [&mut a], ctx.abort())?;
    a.par_iter_mut().zip(&c.0).for_each(|(a, c)| *a -= *c * factor);
    Ok(a)
}

impl<F: NttField> Circuit<F> {
    /// Returns whether `witness` satisfies all constraints. The host's cores compute that.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: the witness has other lengths than the circuit.
    /// - [`Error::Invalid`]: the witness has no evaluations, and the circuit not all three matrices.
    /// - [`Error::Invalid`]: the matrices lie in a file that has changed.
    pub fn is_satisfied(&self, accelerator: &Accelerator, witness: &Witness<'_, F>) -> Result<bool> {
        witness.check_lengths(0, self)?;
        let satisfied = |[a, b, c]: [&[F]; 3]| install(|| a.par_iter().zip(b).zip(c).all(|((a, b), c)| *a * *b == *c));
        if let Some(evaluations) = witness.evaluations {
            return Ok(satisfied(evaluations));
        }
        Error::check_eq(ERROR_CONTEXT, "matrices of the circuit", 3, self.matrices().len())?;
        let mut vectors = [(); 3].map(|()| SecretVec(vec![F::ZERO; self.constraints]));
        let (host, assignment) = (accelerator.with_devices(Vec::new()), witness.to_assignment());
        evaluate_constraints(&host, self, witness, &assignment, &mut vectors, ExecCtx::unreported(None))?;
        Ok(satisfied(vectors.each_ref().map(|vector| &vector[..])))
    }
}

/// Writes A·z, B·z and C·z to the start of `vectors`, which must be zeros. They are copied from `witness` if it has
/// them, and otherwise computed from the circuit's matrices. Without a matrix C, C·z is the product of the others.
fn evaluate_constraints<F: NttField>(
    host: &Accelerator,
    circuit: &Circuit<F>,
    witness: &Witness<'_, F>,
    assignment: &[F],
    vectors: &mut [SecretVec<F>; 3],
    ctx: ExecCtx<'_>,
) -> Result<()> {
    if let Some(evaluations) = &witness.evaluations {
        let pairs = vectors.iter_mut().zip(evaluations);
        pairs.for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
        return Ok(());
    }
    let [_, _, matrix_c @ ..] = circuit.matrices() else { return Err(missing_matrices_error()) };
    for (to, matrix) in vectors.iter_mut().zip(circuit.matrices()) {
        let matrix = SparseMatrix::new(host, matrix.clone())?;
        matrix.multiply(assignment, &mut to[..circuit.constraints], ctx.abort())?;
    }
    if matrix_c.is_empty() {
        let [a, b, c] = vectors;
        c.par_iter_mut().zip(&a.0).zip(&b.0).for_each(|((c, a), b)| *c = *a * *b);
    }
    Ok(())
}
