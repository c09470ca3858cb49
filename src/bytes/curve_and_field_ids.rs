//! Names curves and fields of the registry at run time.

use std::fmt;
use std::str::FromStr;

use crate::kernels::registry;
use crate::kernels::spec::{CurveSpec, FieldKind, FieldSpec};
use crate::{Error, Result};

/// Names a curve of the kernels, such as `bn254_g1`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CurveId(&'static CurveSpec);

/// Names a field of the kernels, such as `bn254_fr`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldId(&'static FieldSpec);

impl CurveId {
    /// Finds the curve `name`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no curve of this name.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::all().find(|curve| curve.name() == name).ok_or_else(|| unknown("curve", Self::all(), name))
    }

    /// Returns all curves.
    pub fn all() -> impl Iterator<Item = Self> {
        registry::curves().map(Self)
    }

    /// Returns the curve's name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the field of the coordinates.
    pub fn coordinate_field(self) -> FieldId {
        FieldId(self.0.coordinates)
    }

    /// Returns the field of the scalars. Its modulus is the order of the curve's group of points.
    pub fn scalar_field(self) -> FieldId {
        FieldId(self.0.scalars)
    }

    /// Returns the bytes of an affine point.
    pub fn point_bytes(self) -> usize {
        2 * self.coordinate_field().element_bytes()
    }
}

impl FieldId {
    /// Finds the field `name`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there is no field of this name.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::all().find(|field| field.name() == name).ok_or_else(|| unknown("field", Self::all(), name))
    }

    /// Returns all fields. [`Self::has_transforms`] tells which ones a [`ByteDomain`](super::ByteDomain) serves.
    pub fn all() -> impl Iterator<Item = Self> {
        registry::fields().map(Self)
    }

    /// Returns the field's name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns whether a [`ByteDomain`](super::ByteDomain) serves the field, if its feature is on: there are transforms over
    /// it, and elements have more than two 32-bit limbs.
    pub fn has_transforms(self) -> bool {
        let is_multi_limb = self.0.prime_limbs().is_some_and(|limbs| limbs > 2);
        is_multi_limb && self.0.families.contains(&crate::kernels::ntt::FAMILY.name)
    }

    /// Returns the bytes of an element.
    pub fn element_bytes(self) -> usize {
        match self.0.base().kind {
            FieldKind::Prime { .. } => 4 * self.0.base().prime_limbs().unwrap_or_default() * self.0.degree(),
            // Both bases of the binary field have 128 bits.
            _ => 16,
        }
    }
}

/// Returns the error for a `name` that none of `known` has.
fn unknown(what: &str, known: impl Iterator<Item: fmt::Display>, name: &str) -> Error {
    let names: Vec<String> = known.map(|known| known.to_string()).collect();
    Error::invalid("bytes", format!("name of a {what}"), format!("one of {}", names.join(", ")), name)
}

/// Implements the traits of text for an id.
macro_rules! id_text {
    ($id:ident) => {
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($id)).field(&self.name()).finish()
            }
        }

        impl FromStr for $id {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                Self::from_name(name)
            }
        }
    };
}

id_text!(CurveId);
id_text!(FieldId);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::MsmCurve;
    use crate::field::Element;
    use crate::kernel_types::{for_each_curve, for_each_ntt_field};

    /// Lists the names of types, and checks them and their sizes against the registry.
    macro_rules! check_names {
        ($id:ident, $trait:ident, $size:ident; $($name:ident: $type:ty;)*) => {{
            $(
                assert_eq!(<$type as $trait>::NAME, stringify!($name));
                let id = $id::from_name(stringify!($name)).expect("a name of the registry");
                assert_eq!(id.$size(), size_of::<$type>(), "{id}");
            )*
            [$(stringify!($name)),*]
        }};
    }

    #[test]
    fn types_are_those_of_the_registry() {
        let curves = for_each_curve!(check_names! { CurveId, MsmCurve, point_bytes; });
        assert_eq!(CurveId::all().map(CurveId::name).collect::<Vec<_>>(), curves);
        let fields = for_each_ntt_field!(check_names! { FieldId, Element, element_bytes; });
        let with_transforms = FieldId::all().filter(|field| field.has_transforms());
        assert_eq!(with_transforms.map(FieldId::name).collect::<Vec<_>>(), fields);
    }

    #[test]
    fn names() {
        for curve in CurveId::all() {
            assert_eq!(curve.to_string().parse::<CurveId>().expect("its name"), curve);
            assert_eq!(curve.point_bytes(), 2 * curve.coordinate_field().element_bytes());
        }
        let error = CurveId::from_name("bn254").expect_err("a name without a group").to_string();
        assert!(error.contains("bn254_g1, bn254_g2") && error.ends_with("got bn254"), "{error}");
        let error = "secp256k1".parse::<FieldId>().expect_err("an unknown field").to_string();
        assert!(error.contains("bn254_fr") && error.ends_with("got secp256k1"), "{error}");
        assert_eq!(FieldId::from_name("goldilocks").map(FieldId::element_bytes).expect("a field"), 8);
    }
}
