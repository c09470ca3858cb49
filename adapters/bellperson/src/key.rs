//! Converts bellperson's parameters to a proving key.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bellperson::SynthesisError;
use bellperson::groth16::ParameterSource;
use ec_gpu_gen::multiexp_cpu::SourceBuilder;
use group::prime::PrimeCurveAffine;
use pairing::MultiMillerLoop;
use proofwarp::groth16::{Circuit, Engine, Parameters};
use proofwarp::rayon_waits::panic_message;

use crate::mapped_params;

/// Returns the proving parameters of `circuit` from bellperson's parameters `source`, in memory or in a mapped file.
/// Vectors in memory that hold exactly the needed points are shared, not copied.
///
/// # Errors
/// - The source's error.
/// - [`SynthesisError::MalformedSrs`]: the source has too few points.
/// - [`SynthesisError::IoError`]: the source panics, as a mapped file does that is too short.
/// - [`SynthesisError::IoError`]: a mapped file cannot be read or copied, or a point in it is malformed.
pub fn parameters<E, P>(source: &P, circuit: &Circuit<E::Fr>) -> Result<Parameters<E>, SynthesisError>
where
    E: Engine + MultiMillerLoop,
    P: ParameterSource<E>,
{
    if let Some(mapped) = mapped_params::as_mapped_parameters(source) {
        return mapped_params::read(mapped, circuit);
    }
    let (inputs, [a, b_inputs, b_aux]) = (circuit.input_count(), circuit.query_lengths());
    let vk = source.get_vk(inputs)?;
    let h = circuit.constraint_count().next_power_of_two() - 1;
    Ok(Parameters {
        alpha_g1: vk.alpha_g1,
        beta_g1: vk.beta_g1,
        beta_g2: vk.beta_g2,
        delta_g1: vk.delta_g1,
        delta_g2: vk.delta_g2,
        h: take_points(catch_short_file(|| source.get_h(h))?, h)?.into(),
        l: take_points(catch_short_file(|| source.get_l(circuit.aux_count()))?, circuit.aux_count())?.into(),
        a: join_points(catch_short_file(|| source.get_a(inputs, a - inputs))?, [inputs, a - inputs])?.into(),
        b_g1: join_points(catch_short_file(|| source.get_b_g1(b_inputs, b_aux))?, [b_inputs, b_aux])?.into(),
        b_g2: join_points(catch_short_file(|| source.get_b_g2(b_inputs, b_aux))?, [b_inputs, b_aux])?.into(),
    })
}

/// Calls `get` on a source and converts a panic to an error: bellperson's mapped files panic if they are shorter than
/// declared.
fn catch_short_file<T>(get: impl FnOnce() -> Result<T, SynthesisError>) -> Result<T, SynthesisError> {
    let panicked = |text: &str| std::io::Error::other(format!("the parameters' source panicked: a short file? {text}"));
    catch_unwind(AssertUnwindSafe(get)).unwrap_or_else(|panic| Err(panicked(panic_message(&*panic)).into()))
}

/// Returns the first `count` points of `source`. A vector that holds exactly these points is shared, not copied.
fn take_points<C: PrimeCurveAffine>(
    source: impl SourceBuilder<C>,
    count: usize,
) -> Result<Arc<Vec<C>>, SynthesisError> {
    let (points, skip) = source.get();
    match skip.checked_add(count).and_then(|end| points.get(skip..end)) {
        Some(all) if all.len() == points.len() => Ok(points),
        Some(some) => Ok(Arc::new(some.to_vec())),
        None => Err(SynthesisError::MalformedSrs),
    }
}

/// Returns `counts[0]` points of inputs, then `counts[1]` points of auxiliary variables, in one vector. bellperson's
/// own sources give two adjacent ranges of one vector, which need no joining.
fn join_points<C: PrimeCurveAffine, S: SourceBuilder<C>>(
    (inputs, aux): (S, S),
    counts: [usize; 2],
) -> Result<Arc<Vec<C>>, SynthesisError> {
    let ((first, skip), (second, skip_aux)) = (inputs.clone().get(), aux.clone().get());
    if Arc::ptr_eq(&first, &second) && skip.checked_add(counts[0]) == Some(skip_aux) {
        return take_points(inputs, counts[0] + counts[1]);
    }
    let parts = [take_points(inputs, counts[0])?, take_points(aux, counts[1])?];
    Ok(Arc::new(parts.iter().flat_map(|part| part.iter().copied()).collect()))
}

#[cfg(test)]
mod tests {
    use blstrs::G1Affine;

    use super::*;

    /// Checks that ranges behind the end of a source's vector are refused, wherever they start.
    #[test]
    fn places_behind_a_vector() {
        let all = Arc::new(vec![G1Affine::generator(); 5]);
        for skip in [4, 5, 6, usize::MAX - 1, usize::MAX] {
            assert!(matches!(take_points((all.clone(), skip), 2), Err(SynthesisError::MalformedSrs)), "from {skip} on");
            let parts = ((all.clone(), skip), (all.clone(), skip.wrapping_add(2)));
            assert!(join_points(parts, [2, 2]).is_err(), "from {skip} on");
        }
        let parts = ((all.clone(), 0), (all.clone(), 2));
        assert!(Arc::ptr_eq(&join_points(parts, [2, 3]).expect("all of them"), &all));
    }
}
