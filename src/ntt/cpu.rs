use super::Transform;
use crate::backend::Abort;
use crate::field::NttField;
use crate::{Error, Result};
pub(super) fn transform_many<F: NttField>(
    _values: &mut [&mut [F]],
    _transforms: &[Transform<F>],
    _abort: Abort<'_>,
) -> Result<()> {
    Err(Error::Aborted)
}
