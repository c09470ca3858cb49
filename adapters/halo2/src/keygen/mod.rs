//! Generates keys that are equal to those of halo2-axiom's own functions, byte for byte.

mod assembly;
mod columns;
mod fixed;
mod keys;
mod permutation;
mod steps;

use ff::FromUniformBytes;
use halo2_axiom::halo2curves::CurveAffine;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, Error, ProvingKey, VerifyingKey};
use halo2_axiom::poly::commitment::Params;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;

/// Generates keys from a setup (SRS) of KZG on BN254, where `C` is the curve of its bases.
///
/// With this trait, [`keygen_vk`] and the other functions have the type parameters of halo2-axiom's functions.
pub trait Setup<'params, C: CurveAffine>: Params<'params, C> {
    /// Generates the verifying key of `circuit`, as [`keygen_vk_custom`] does. If `compress` is true, selectors are
    /// combined.
    ///
    /// # Errors
    /// Returns the errors of [`keygen_vk`].
    fn verifying_key<K: Circuit<C::Scalar>>(&self, circuit: &K, compress: bool) -> Result<VerifyingKey<C>, Error>;

    /// Generates the proving key of `circuit`, as [`keygen_pk_impl`] does. `key` is the circuit's verifying key, if it
    /// exists.
    ///
    /// # Errors
    /// Returns the errors of [`keygen_pk_impl`].
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
        keys::generate_verifying_key(self, circuit, compress)
    }

    fn proving_key<K: Circuit<Fr>>(
        &self,
        key: Option<VerifyingKey<G1Affine>>,
        circuit: &K,
        compress: bool,
    ) -> Result<ProvingKey<G1Affine>, Error> {
        keys::generate_proving_key(self, key, circuit, compress)
    }
}

/// Generates the verifying key of `circuit` for the setup `params`, as `halo2_axiom::plonk::keygen_vk` does. Every
/// selector becomes a fixed column of its own.
///
/// # Errors
/// - `NotEnoughRowsAvailable`: the setup has fewer rows than the circuit needs.
/// - `BoundsFailure`: the setup's number of bases is not its number of rows.
/// - `BoundsFailure`: no proof can have the circuit's degree.
/// - `BoundsFailure`: the permutation has more than 2^32 cells.
/// - `NotEnoughRowsAvailable`: the circuit assigns or copies a cell behind the usable rows (halo2-axiom panics).
/// - `BoundsFailure`: the circuit assigns a column that does not exist (halo2-axiom panics).
/// - `ColumnNotInPermutation`: the circuit copies a cell of a column that is not in the permutation (halo2-axiom
///   panics).
/// - `Synthesis`: the circuit fills a column with an unknown value.
/// - `Transcript`: proofwarp's own error.
/// - Others are the circuit's.
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

/// Generates the verifying key of `circuit` for the setup `params`. If `compress_selectors` is true, selectors are
/// combined into fewer fixed columns.
///
/// # Errors
/// Returns the errors of [`keygen_vk`].
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

/// Generates the proving key of `circuit` for the setup `params`. `vk` is a verifying key that was made for the
/// circuit.
///
/// # Errors
/// - The errors of [`keygen_vk`].
/// - `NotEnoughRowsAvailable`: the setup has fewer rows than `vk`.
/// - `BoundsFailure`: the setup has more rows than `vk`.
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

/// Generates the proving key of `circuit`, which contains the verifying key. The circuit is synthesized only once.
///
/// # Errors
/// Returns the errors of [`keygen_vk`].
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

/// Generates the proving key of `circuit` from the verifying key `vk`, as [`keygen_pk`] does. If `vk` is `None`,
/// generates both keys, as [`keygen_pk2`] does.
///
/// # Errors
/// - The errors of [`keygen_pk`] if there is a `vk`.
/// - The errors of [`keygen_vk`] otherwise.
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
