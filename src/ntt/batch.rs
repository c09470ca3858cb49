//! Transforms vectors in host memory, all or none.

use super::transform::Transform;
use super::{cpu, gpu};
use crate::backend::{Abort, catch_hook_panic};
use crate::field::NttField;
use crate::report::OpScope;
use crate::{Accelerator, Error, Report, Result};

/// Transforms each of `values` in place by the transform at its index in `transforms`, spread over the accelerator's
/// devices. After an error or an abort, every vector is unchanged.
///
/// # Errors
/// - [`Error::Invalid`]: the numbers of vectors and transforms differ.
/// - [`Error::Invalid`]: a transform does not fit its vector ([`Transform::check`]).
/// - [`Error::Aborted`]: the hook aborted.
/// - The error of a forced backend that failed.
pub fn transform_many<F: NttField>(
    accelerator: &Accelerator,
    values: &mut [&mut [F]],
    transforms: &[Transform<F>],
    abort: Abort<'_>,
) -> Result<Report> {
    if values.len() != transforms.len() {
        return Err(Error::invalid("ntt", "number of transforms", values.len(), transforms.len()));
    }
    values.iter().zip(transforms).try_for_each(|(values, transform)| transform.check(values.len()))?;
    let call = OpScope { operation: format!("ntt {}", F::NAME), elements: values.iter().map(|v| v.len()).sum() };
    // Both closures borrow the vectors, but only one runs at a time.
    let values = std::cell::RefCell::new(values);
    catch_hook_panic(abort, |abort| {
        let ((), report) = accelerator.dispatch(
            call,
            |devices| {
                gpu::transform_many(devices, &mut values.borrow_mut(), transforms, abort).map(|traffic| ((), traffic))
            },
            || cpu::transform_many(&mut values.borrow_mut(), transforms, abort),
        )?;
        Ok(report)
    })
}
