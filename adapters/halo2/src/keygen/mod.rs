//! Keys, equal to those of halo2-axiom's own functions to the last byte.

mod assembly;
mod columns;
mod cycles;
mod fixed;
mod keys;
mod steps;

use ff::FromUniformBytes;
use halo2_axiom::halo2curves::CurveAffine;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, Error, ProvingKey, VerifyingKey};
use halo2_axiom::poly::commitment::Params;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;

/// Setups that keys are made with: those of KZG on BN254, whose curve is `C`.
///
/// It lets [`keygen_vk`] and the others have the type parameters of halo2-axiom's.
pub trait Setup<'params, C: CurveAffine>: Params<'params, C> {
    /// As [`keygen_vk_custom`].
    ///
    /// # Errors
    /// As there.
    fn verifying_key<K: Circuit<C::Scalar>>(&self, circuit: &K, compress: bool) -> Result<VerifyingKey<C>, Error>;

    /// As [`keygen_pk_impl`].
    ///
    /// # Errors
    /// As there.
    fn proving_key<K: Circuit<C::Scalar>>(
        &self,
        key: Option<VerifyingKey<C>>,
        circuit: &K,
        compress: bool,
    ) -> Result<ProvingKey<C>, Error>;
}

impl<'params> Setup<'params, G1Affine> for ParamsKZG<Bn256>
where
    Self: Params<'params, G1Affine>,
{
    fn verifying_key<K: Circuit<Fr>>(&self, circuit: &K, compress: bool) -> Result<VerifyingKey<G1Affine>, Error> {
        keys::verifying(self, circuit, compress)
    }

    fn proving_key<K: Circuit<Fr>>(
        &self,
        key: Option<VerifyingKey<G1Affine>>,
        circuit: &K,
        compress: bool,
    ) -> Result<ProvingKey<G1Affine>, Error> {
        keys::proving(self, key, circuit, compress)
    }
}

/// The key that verifies a circuit's proofs, as `halo2_axiom::plonk::keygen_vk` makes it: every selector is a fixed column.
///
/// # Errors
/// `NotEnoughRowsAvailable`: the setup has fewer rows than the circuit needs. `BoundsFailure`, `ColumnNotInPermutation`: the
/// circuit assigns or copies what it has not got (halo2-axiom panics). `Transcript`: proofwarp's own error. Others are the
/// circuit's.
pub fn keygen_vk<'params, C, P, ConcreteCircuit>(
    params: &P,
    circuit: &ConcreteCircuit,
) -> Result<VerifyingKey<C>, Error>
where
    C: CurveAffine,
    P: Setup<'params, C> + Sync,
    ConcreteCircuit: Circuit<C::Scalar>,
    C::Scalar: FromUniformBytes<64>,
{
    keygen_vk_custom(params, circuit, false)
}

/// As [`keygen_vk`]; selectors are combined into fewer columns if `compress_selectors`.
///
/// # Errors
/// As [`keygen_vk`].
pub fn keygen_vk_custom<'params, C, P, ConcreteCircuit>(
    params: &P,
    circuit: &ConcreteCircuit,
    compress_selectors: bool,
) -> Result<VerifyingKey<C>, Error>
where
    C: CurveAffine,
    P: Setup<'params, C> + Sync,
    ConcreteCircuit: Circuit<C::Scalar>,
    C::Scalar: FromUniformBytes<64>,
{
    params.verifying_key(circuit, compress_selectors)
}

/// The key that proves a circuit, for a verifying key that was made for it.
///
/// # Errors
/// As [`keygen_vk`].
pub fn keygen_pk<'params, C, P, ConcreteCircuit>(
    params: &P,
    vk: VerifyingKey<C>,
    circuit: &ConcreteCircuit,
) -> Result<ProvingKey<C>, Error>
where
    C: CurveAffine,
    P: Setup<'params, C> + Sync,
    ConcreteCircuit: Circuit<C::Scalar>,
    C::Scalar: FromUniformBytes<64>,
{
    let compress_selectors = vk.compress_selectors();
    keygen_pk_impl(params, Some(vk), circuit, compress_selectors)
}

/// Both keys: the circuit's synthesis runs once.
///
/// # Errors
/// As [`keygen_vk`].
pub fn keygen_pk2<'params, C, P, ConcreteCircuit>(
    params: &P,
    circuit: &ConcreteCircuit,
    compress_selectors: bool,
) -> Result<ProvingKey<C>, Error>
where
    C: CurveAffine,
    P: Setup<'params, C> + Sync,
    ConcreteCircuit: Circuit<C::Scalar>,
    C::Scalar: FromUniformBytes<64>,
{
    keygen_pk_impl(params, None, circuit, compress_selectors)
}

/// [`keygen_pk`] with a verifying key, [`keygen_pk2`] without one.
///
/// # Errors
/// As [`keygen_vk`].
pub fn keygen_pk_impl<'params, C, P, ConcreteCircuit>(
    params: &P,
    vk: Option<VerifyingKey<C>>,
    circuit: &ConcreteCircuit,
    compress_selectors: bool,
) -> Result<ProvingKey<C>, Error>
where
    C: CurveAffine,
    P: Setup<'params, C> + Sync,
    ConcreteCircuit: Circuit<C::Scalar>,
    C::Scalar: FromUniformBytes<64>,
{
    params.proving_key(vk, circuit, compress_selectors)
}
