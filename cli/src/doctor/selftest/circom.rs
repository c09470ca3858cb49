//! Proves 3·11 = 33 by a key and a witness of circom and snarkjs, and checks the proof and its public signals.

use proofwarp::{Accelerator, Error, Result};
use proofwarp_circom::{AnyProvingKey, JsonText, ProofTexts, Witness, Zkey, verify_json};

use super::{Answer, report, timed};

/// Files of the circuit `tests/circom/multiplier.circom`, as `tests/circom.sh` makes them.
const ZKEY: &[u8] = include_bytes!("../data/multiplier.zkey");
const WTNS: &[u8] = include_bytes!("../data/multiplier.wtns");

/// Binary logarithm of the circuit's domain, which has four elements.
pub const LOG_DOMAIN: u32 = 2;

/// The public signals: the product, and the factor that is public.
const PUBLIC: [&str; 2] = ["33", "3"];

pub fn test(accelerator: &Accelerator, _: u32) -> Result<Answer> {
    let zkey = Zkey::from_bytes("multiplier.zkey", ZKEY.to_vec()).map_err(engine_error)?;
    let witness = Witness::from_bytes("multiplier.wtns", WTNS.to_vec()).map_err(engine_error)?;
    let key = AnyProvingKey::new(accelerator, &zkey).map_err(engine_error)?;
    let run = || key.prove_to_json(&witness).map_err(engine_error);
    run()?;
    let (texts, time) = timed(run)?;
    let is_right = is_right(&key, &texts).map_err(engine_error)?;
    Ok(Answer { report: report(accelerator, 1 << LOG_DOMAIN, time), time, is_right })
}

fn is_right(key: &AnyProvingKey, texts: &ProofTexts) -> proofwarp_circom::Result<bool> {
    let verification_key = key.verification_key_json();
    let verification_key = JsonText { file: "multiplier.zkey", text: &verification_key };
    let [public, proof] = [&texts.public, &texts.proof].map(|text| JsonText { file: "self-test", text });
    let signals: Option<Vec<String>> = serde_json::from_str(&texts.public).ok();
    Ok(verify_json(verification_key, public, proof)? && signals.is_some_and(|signals| signals == PUBLIC))
}

/// Returns the engine's error, or that of a proof by it.
fn engine_error(error: proofwarp_circom::Error) -> Error {
    match error {
        proofwarp_circom::Error::Engine(error) => error,
        error => Error::invalid("self-test", "circom", "a valid proof", error),
    }
}
