//! Defines the curves that proofs are made over.

use group::Curve;

use crate::curve::MsmCurve;
use crate::field::NttField;

/// Describes a curve with MSMs whose scalar field has number-theoretic transforms.
pub trait ProofCurve: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = Self>> + 'static {}

impl<C: MsmCurve<Scalar: NttField, Curve: Curve<AffineRepr = C>> + 'static> ProofCurve for C {}
