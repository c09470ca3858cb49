//! Defines the curves that proofs are made over.

use group::Curve;

use crate::curve::MsmCurve;
use crate::field::NttField;

/// A curve whose scalars are a field with transforms.
pub trait ProofCurve: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = Self>> + 'static {}

impl<C: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = C>> + 'static> ProofCurve for C {}
