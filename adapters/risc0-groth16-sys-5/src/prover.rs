//! Proves with the bytes of a zkey.

use halo2curves::bn256::Bn256;
use proofwarp::Accelerator;
use proofwarp_circom::{CurveId, KeyCache, ProvingKey, Witness, Zkey, ZkeyHeader, ZkeyIdentity};

use crate::copies::try_copy;
use crate::params::ProveParams;
use crate::proof::Groth16Proof;

/// Name of the witness in errors.
const WITNESS: &str = "witness";

/// Name of the zkey in errors.
const SRS: &str = "srs";

/// Keeps the last two keys. RISC Zero has one, of about 3 GiB on the device.
static KEYS: KeyCache<ZkeyIdentity, ProvingKey<Bn256>> = KeyCache::new(2);

/// Proves `witness`, verifies the proof, and returns it. `witness` has 32 bytes for each signal of the zkey
/// `prove_params.srs`, canonical and little-endian. The first value is 1.
///
/// The zkey's key stays on the devices for later proofs. A third key takes the place of the least recently used one.
///
/// # Errors
/// - `witness` has another length, its first value is not 1, or a value is at least r.
/// - The zkey is malformed, or of another curve than BN254.
/// - The witness does not satisfy the circuit.
/// - `PROOFWARP_BACKEND` forces a backend that has too little memory or fails.
/// - There is too little memory for a copy of the zkey, which is made if its key is not on the devices yet.
pub fn prove(witness: &[u8], prove_params: &ProveParams<'_>) -> anyhow::Result<Groth16Proof> {
    let srs = prove_params.srs;
    let header = ZkeyHeader::from_bytes(SRS, srs)?;
    let witness = Witness::from_values(WITNESS, CurveId::Bn254, try_copy(WITNESS, witness)?)?;
    witness.check_against(&header)?;
    let key = KEYS.find_or_load(ZkeyIdentity::from_bytes(srs), || load(srs))?;
    Ok(Groth16Proof::from(&key.prove(&witness)?))
}

fn load(srs: &[u8]) -> anyhow::Result<ProvingKey<Bn256>> {
    let zkey = Zkey::from_bytes(SRS, try_copy(SRS, srs)?)?;
    Ok(ProvingKey::new(&Accelerator::from_env()?, &zkey)?)
}
