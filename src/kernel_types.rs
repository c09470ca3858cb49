//! Lists the Rust types of the registry's curves and of its fields with transforms. A new curve or field adds a line
//! here.

/// Calls the macro `$callback` with its arguments, then a line `name: type;` for each curve of the registry whose
/// feature is on. The crate that calls it depends on the crates of the types.
///
/// A type of the list holds the integers of its coordinates alone: all bit patterns are values, and there is no padding.
/// `crate::bytes` relies on that.
#[doc(hidden)]
#[cfg_attr(feature = "unstable-device-api", macro_export)]
macro_rules! for_each_curve {
    ($($callback:ident)::+ ! { $($arguments:tt)* }) => {
        $crate::with_bn254! {
            [
                bn254_g1: ::halo2curves::bn256::G1Affine;
                bn254_g2: ::halo2curves::bn256::G2Affine;
                grumpkin: ::halo2curves::grumpkin::G1Affine;
            ]
            ($crate::with_pasta)
            [
                pallas: ::pasta_curves::EpAffine;
                vesta: ::pasta_curves::EqAffine;
            ]
            ($($callback)::+)
            $($arguments)*
            bls12_377_g1: $crate::curve::bls12_377::G1Affine;
            bls12_377_g2: $crate::curve::bls12_377::G2Affine;
            bls12_381_g1: ::blstrs::G1Affine;
            bls12_381_g2: ::blstrs::G2Affine;
        }
    };
}

/// Calls the macro `$callback` with its arguments, then a line `name: type;` for each field of the registry that has
/// transforms and whose feature is on. The crate that calls it depends on the crates of the types.
#[doc(hidden)]
#[cfg_attr(feature = "unstable-device-api", macro_export)]
macro_rules! for_each_ntt_field {
    ($($callback:ident)::+ ! { $($arguments:tt)* }) => {
        $crate::with_bn254! {
            [bn254_fr: ::halo2curves::bn256::Fr;]
            ($crate::with_pasta)
            [
                pasta_fp: ::pasta_curves::Fp;
                pasta_fq: ::pasta_curves::Fq;
            ]
            ($($callback)::+)
            $($arguments)*
            bls12_377_fr: $crate::curve::bls12_377::Fr;
            bls12_381_fr: ::blstrs::Scalar;
        }
    };
}

/// Calls the macro `$callback` with its arguments, and with the `$lines` after them if the feature `bn254` is on.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "bn254")]
macro_rules! with_bn254 {
    ([$($lines:tt)*] ($($callback:tt)*) $($arguments:tt)*) => { $($callback)* ! { $($arguments)* $($lines)* } };
}
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "bn254"))]
macro_rules! with_bn254 {
    ([$($lines:tt)*] ($($callback:tt)*) $($arguments:tt)*) => { $($callback)* ! { $($arguments)* } };
}

/// Calls the macro `$callback` with its arguments, and with the `$lines` after them if the feature `pasta` is on.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "pasta")]
macro_rules! with_pasta {
    ([$($lines:tt)*] ($($callback:tt)*) $($arguments:tt)*) => { $($callback)* ! { $($arguments)* $($lines)* } };
}
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "pasta"))]
macro_rules! with_pasta {
    ([$($lines:tt)*] ($($callback:tt)*) $($arguments:tt)*) => { $($callback)* ! { $($arguments)* } };
}

/// Calls a generic function with the Rust type that a list has for a name. Returns the result of the function, or
/// [`Error::Invalid`](crate::Error::Invalid) if the list lacks the name.
macro_rules! call_with_type {
    ($name:expr, $function:ident $arguments:tt; $($listed:ident: $type:ty;)*) => {
        match $name {
            $(name if name == stringify!($listed) => $function::<$type> $arguments,)*
            name => Err($crate::Error::invalid(
                "bytes",
                "name of a curve or field",
                format!("{}{}", concat!($("`", stringify!($listed), "` "),*).trim_end(), $crate::kernel_types::OTHERS),
                name,
            )),
        }
    };
}

/// Ends a list of types: says which features would add others.
pub(crate) const OTHERS: &str = match (cfg!(feature = "bn254"), cfg!(feature = "pasta")) {
    (true, true) => "",
    (true, false) => "; proofwarp's feature `pasta` adds others",
    (false, true) => "; proofwarp's feature `bn254` adds others",
    (false, false) => "; proofwarp's features `bn254` and `pasta` add others",
};

pub(crate) use {call_with_type, for_each_curve, for_each_ntt_field};
