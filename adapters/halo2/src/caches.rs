//! Keeps bases of setups and columns of keys between calls.

use std::io::{self, Write};
use std::sync::Arc;

use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine, G2Affine};
use halo2_axiom::halo2curves::serde::SerdeObject;
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::poly::Polynomial;
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use proofwarp::backend::{BackendKind, MemoryBudget};
use proofwarp::plonk::{CompiledCircuit, Engine, KeyOnDevice, MemoryEstimate, MemoryPlan, Srs};
use rayon::prelude::*;

use crate::arena::clear_arenas;
use crate::consistent::is_setup_consistent;
use crate::constraints;
use crate::error::to_halo2_error;
use crate::lru::LruCache;

/// Bytes that a point takes in a setup's file format.
const POINT: usize = 64;

/// Caches up to 4 setups (SRS) per device: a proof, its aggregation and the aggregation of that use one each.
static SETUPS: LruCache<SetupIdentity, Srs<G1Affine>> = LruCache::new(4, |one, other| one.place == other.place);
/// Caches the columns of up to 2 proving keys per device: those of a large key take gigabytes.
static KEYS: LruCache<KeyIdentity, KeyOnDevice<Fr>> = LruCache::new(2, |one, other| one.place == other.place);

/// Identifies a device by the address of its object in host memory (`None` for the CPU), and by the backend if that is
/// forced. Cached values hold the device, so no other device can get that address.
type DeviceKey = (Option<usize>, Option<BackendKind>);

/// Caches up to 16 compiled constraint systems: they are small.
static CIRCUITS: LruCache<CircuitIdentity, CompiledCircuit<Fr>> = LruCache::new(16, |_, _| true);

/// Identifies a setup (SRS) with a secret s.
///
/// Cached bases have been checked ([`is_consistent`]): they are s^i·G1 and the Lagrange bases of the same s. The first
/// two bases and s·G2 therefore determine all others. A setup with the same first two bases but another base elsewhere
/// is damaged, and gets the right bases.
#[derive(PartialEq)]
struct SetupIdentity {
    place: DeviceKey,
    k: u32,
    bases: [Option<G1Affine>; 3],
    secret: G2Affine,
}

impl SetupIdentity {
    fn from_params(params: &ParamsKZG<Bn256>, place: DeviceKey) -> Self {
        let bases = params.get_g();
        let bases = [bases.first(), bases.get(1), bases.last()].map(Option::<&_>::copied);
        Self { place, k: params.k(), bases, secret: params.s_g2() }
    }
}

/// Identifies a proving key.
///
/// The digest is a hash of everything that verifiers know of a key: its size, constraints, and commitments to its fixed
/// columns and σ. A commitment determines its column, unless the setup's secret is known, and only columns are cached.
/// But `keygen_pk` trusts that its verifying key is the circuit's. If it is another circuit's, the columns do not match
/// the digest. Samples of their elements show that, because a coefficient depends on all rows.
#[derive(PartialEq)]
struct KeyIdentity {
    place: DeviceKey,
    digest: Fr,
    samples: Vec<Fr>,
}

impl KeyIdentity {
    fn from_key(pk: &ProvingKey<G1Affine>, place: DeviceKey) -> Self {
        let permutation = pk.permutation();
        let values = pk.fixed_values().iter().chain(permutation.permutations()).map(Polynomial::values);
        let coefficients = pk.fixed_polys().iter().chain(permutation.polys()).map(Polynomial::values);
        let samples = |column: &[Fr]| [0, 1, 2].map(|part| column.get(part * column.len() / 3).copied());
        let samples = values.chain(coefficients).flat_map(samples).flatten().collect();
        Self { place, digest: pk.get_vk().transcript_repr(), samples }
    }
}

/// Identifies a constraint system by a key's digest and by the properties that the digest leaves out. The degree
/// depends on the environment in which a key was made. Phases are left out of the digest if there is no challenge.
/// Names of lookups, used in warnings, are not compared.
#[derive(PartialEq)]
struct CircuitIdentity {
    digest: Fr,
    degree: usize,
    phases: Vec<u8>,
}

impl CircuitIdentity {
    fn from_proving_key(pk: &ProvingKey<G1Affine>) -> Self {
        let key = pk.get_vk();
        let (degree, phases) = (key.get_domain().get_quotient_poly_degree(), key.cs().advice_column_phase());
        Self { digest: key.transcript_repr(), degree, phases }
    }
}

fn device_key(accelerator: &Accelerator) -> DeviceKey {
    (accelerator.devices().first().map(|device| Arc::as_ptr(device).addr()), accelerator.forced())
}

/// Returns an engine over the bases of `params`, which are uploaded unless they are cached from an earlier call.
pub(crate) fn engine(accelerator: &Accelerator, params: &ParamsKZG<Bn256>) -> Result<Engine<G1Affine>, Error> {
    Engine::new(accelerator, params.k(), find_or_upload_srs(accelerator, params)?).map_err(to_halo2_error)
}

/// Returns an engine for key generation on the process-wide accelerator. It takes columns from host memory and returns
/// its results there. It handles as many columns at a time as fit the device's free memory.
pub(crate) fn create_keygen_engine(params: &ParamsKZG<Bn256>) -> Result<Engine<G1Affine>, Error> {
    let engine = engine(Accelerator::global().map_err(to_halo2_error)?, params)?;
    let column = (params.n() as usize * size_of::<Fr>()) as u64;
    let at_once = |free: u64| MemoryPlan { columns_resident: false, max_columns: (free / column).max(1) as usize };
    let plan = engine.free_memory().map_err(to_halo2_error)?.map_or(MemoryPlan::ALL, at_once);
    Ok(engine.with_memory_plan(plan))
}

/// Returns the columns of `pk` on the engine's device, which are uploaded unless they are cached from an earlier call.
/// Returns `None` if there is no device, or its free memory is unknown. Returns `None` also if the columns do not fit
/// beside a proof that takes `memory`. The proof may use the reservation `held` for itself.
pub(crate) fn find_or_upload_key(
    accelerator: &Accelerator,
    engine: &Engine<G1Affine>,
    pk: &ProvingKey<G1Affine>,
    memory: &MemoryEstimate,
    held: Option<&MemoryBudget>,
) -> Result<Option<Arc<KeyOnDevice<Fr>>>, Error> {
    let identity = || KeyIdentity::from_key(pk, device_key(accelerator));
    // Either the host works, or the device does not report its free memory.
    if engine.free_memory().map_err(to_halo2_error)?.is_none() {
        return Ok(None);
    }
    let upload = || {
        let mut reserved = engine.reserve_key(memory, held)?;
        if reserved.is_none() {
            // Keys that no proof uses make room.
            KEYS.clear_unused(&identity());
            reserved = engine.reserve_key(memory, held)?;
        }
        let Some(_reserved) = reserved else {
            log::info!("halo2: the key stays in host memory, the device has no room for it beside a proof");
            return Ok(None);
        };
        engine.upload_key(&constraints::key_column_views(pk))
    };
    KEYS.get_or_insert_with(identity(), upload).map_err(to_halo2_error)
}

/// Returns the constraint system of `pk`, which is compiled unless it is cached from an earlier call.
///
/// # Errors
/// - The errors of [`constraints::check_points`].
/// - `Transcript`: holds the error of [`CompiledCircuit::new`].
pub(crate) fn find_or_compile_circuit(pk: &ProvingKey<G1Affine>) -> Result<Arc<CompiledCircuit<Fr>>, Error> {
    let made = || {
        let circuit = constraints::convert_circuit(pk);
        constraints::check_duplicate_queries(&circuit)?;
        CompiledCircuit::new(circuit, MemoryPlan::ALL).map(Some).map_err(to_halo2_error)
    };
    CIRCUITS.get_or_insert_with(CircuitIdentity::from_proving_key(pk), made)?.ok_or(Error::Synthesis)
}

/// Drops all cached setups, keys and constraint systems, and the host memory that is kept for witnesses. Memory of
/// setups and keys is freed once no proof uses it.
pub fn clear_setups() {
    clear_arenas();
    KEYS.clear();
    CIRCUITS.clear();
    SETUPS.clear();
}

/// Returns the bases of `params` on the device of `accelerator`, which are uploaded unless they are cached from an
/// earlier call. They are cached only if a check by random sums finds them consistent. A damaged setup is used as it
/// is, but never in place of another one.
fn find_or_upload_srs(accelerator: &Accelerator, params: &ParamsKZG<Bn256>) -> Result<Arc<Srs<G1Affine>>, Error> {
    let identity = SetupIdentity::from_params(params, device_key(accelerator));
    if let Some(kept) = SETUPS.get(&identity) {
        return Ok(kept);
    }
    let new = Srs::new(accelerator, params.get_g().to_vec(), read_lagrange_bases(params)?).map_err(to_halo2_error)?;
    let srs = Arc::new(new);
    let engine = Engine::new(accelerator, params.k(), srs.clone()).map_err(to_halo2_error)?;
    if is_setup_consistent(&engine, params)? {
        SETUPS.insert(identity, srs.clone());
    } else {
        log::warn!("halo2: the setup is damaged: its bases are not powers of its secret, or not both sets are");
    }
    Ok(srs)
}

/// Returns the Lagrange bases of `params`, which the setup exposes only in its file format. The format is a number of 4
/// bytes, n bases, then n Lagrange bases.
fn read_lagrange_bases(params: &ParamsKZG<Bn256>) -> Result<Vec<G1Affine>, Error> {
    let length = params.get_g().len() * POINT;
    let mut part = RangeWriter { skip: 4 + length, bytes: Vec::with_capacity(length) };
    params.write_custom(&mut part, SerdeFormat::RawBytesUnchecked)?;
    if part.bytes.len() != length {
        return Err(io::Error::other("a setup that writes fewer bytes than its points have").into());
    }
    Ok(part.bytes.par_chunks_exact(POINT).map(G1Affine::from_raw_bytes_unchecked).collect())
}

/// A writer that skips `skip` bytes, keeps those after them up to the capacity of `bytes`, and drops the rest.
struct RangeWriter {
    skip: usize,
    bytes: Vec<u8>,
}

impl Write for RangeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        let kept = (bytes.len() - skipped).min(self.bytes.capacity() - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[skipped..skipped + kept]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
