//! Computes the coefficients of h in slices.

use rayon::prelude::*;

use crate::Result;
use crate::backend::Abort;
use crate::cluster::cluster_handle::Cluster;
use crate::cluster::ntt::ClusterNtt;
use crate::field::{NttField, as_bytes, as_bytes_mut};
use crate::groth16::{Circuit, Witness, inverse_vanishing_value};
use crate::matrix::SparseMatrix;
use crate::ntt::Direction;
use crate::secret_vec::SecretVec;
use crate::{Accelerator, Error};

/// Returns A·z, B·z and C·z for the `assignment` z, padded with zeros to `domain` elements. They are copied from
/// `witness` if it has them, and otherwise computed from the circuit's matrices.
pub(super) fn evaluate_constraints<F: NttField>(
    accelerator: &Accelerator,
    domain: usize,
    circuit: &Circuit<F>,
    witness: &Witness<'_, F>,
    assignment: &[F],
    abort: Abort<'_>,
) -> Result<[SecretVec<F>; 3]> {
    let mut vectors = [(); 3].map(|()| SecretVec::zeros(domain));
    if let Some(evaluations) = &witness.evaluations {
        vectors.iter_mut().zip(evaluations).for_each(|(to, from)| to[..from.len()].copy_from_slice(from));
        return Ok(vectors);
    }
    let none =
        || Error::invalid("cluster groth16", "evaluations", "some, or a circuit with its three matrices", "neither");
    let matrices: &[_; 3] = circuit.matrices().try_into().map_err(|_| none())?;
    for (to, matrix) in vectors.iter_mut().zip(matrices) {
        let matrix = SparseMatrix::new(accelerator, matrix.clone())?;
        matrix.multiply(assignment, &mut to[..circuit.constraint_count()], abort)?;
    }
    Ok(vectors)
}

/// Sends each rank its part of a vector that rank `root` has, and returns this rank's part, of `length` elements. On
/// the root, `part` returns the part of a given rank.
pub(super) fn scatter<F: NttField>(
    cluster: &Cluster,
    root: usize,
    part: impl Fn(usize) -> Vec<F>,
    length: usize,
) -> SecretVec<F> {
    if cluster.rank() != root {
        let mut own = SecretVec::zeros(length);
        // SAFETY: the bytes received are those of elements, from a rank of the same build.
        let bytes = unsafe { as_bytes_mut(&mut own.0) };
        let receives = if bytes.is_empty() { Vec::new() } else { vec![(root, bytes)] };
        cluster.time_mpi(|| cluster.exchange(Vec::new(), receives));
        return own;
    }
    let parts: Vec<_> = (0..cluster.size()).filter(|rank| *rank != root).map(|r| (r, SecretVec(part(r)))).collect();
    let sends = parts.iter().filter(|(_, part)| !part.is_empty()).map(|(rank, part)| (*rank, as_bytes(part)));
    let sends = sends.collect();
    cluster.time_mpi(|| cluster.exchange(sends, Vec::new()));
    SecretVec(part(root))
}

/// Computes this rank's coefficients of h, from its slices of a, b and c. All ranks compute together.
pub(super) fn quotient<F: NttField>(
    ntt: &ClusterNtt<'_, F>,
    cluster: &Cluster,
    [mut a, mut b, mut c]: [SecretVec<F>; 3],
    abort: Abort<'_>,
) -> Result<SecretVec<F>> {
    let factor = cluster.all_or_error(inverse_vanishing_value(ntt.domain()))?;
    for vector in [&mut a, &mut b, &mut c] {
        ntt.run(Direction::Inverse, &mut vector.0, abort)?;
    }
    for vector in [&mut a, &mut b] {
        ntt.run(Direction::CosetForward, &mut vector.0, abort)?;
    }
    cluster.time_compute(|| a.par_iter_mut().zip(&b.0).for_each(|(a, b)| *a *= *b * factor));
    ntt.run(Direction::CosetInverse, &mut a.0, abort)?;
    cluster.time_compute(|| a.par_iter_mut().zip(&c.0).for_each(|(a, c)| *a -= *c * factor));
    Ok(a)
}
