//! Compares proofs of a circom circuit by proofwarp with those by snarkjs and rapidsnark.

mod peers;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use proofwarp_circom::{AnyProvingKey, JsonText, ProofTexts, Witness, Zkey, verify_json};
use serde_json::Value;

use super::measure::Session;
use crate::cli::Circom;
use crate::prove::with_text;
use peers::Peer;

/// Holds a proof's inputs, and what valid proofs have in common.
struct CircomComparison<'a> {
    options: &'a Circom,
    operation: String,
    log: u32,
    verification_key: String,
}

/// Measures proofs by proofwarp, with a resident key and by one process each, and proofs by the peers that are there.
pub fn measure(session: &mut Session, options: &Circom) -> Result<()> {
    let zkey = Zkey::open(&options.zkey).map_err(with_text)?;
    let key = session.preparing("preparing the key", || AnyProvingKey::new(&session.accelerator, &zkey));
    let key = key.map_err(with_text)?;
    drop(zkey);
    let work = CircomComparison::new(options, &key);
    session.environment("circuit", describe(&options.zkey, &key));
    let resident = work.resident(session, &key)?;
    work.check("proofwarp", &resident, &resident)?;
    let peers = [Ok(Peer::this_program()?), Peer::rapidsnark(&options.rapidsnark), Peer::snarkjs(&options.snarkjs)];
    let mut count = 1;
    for peer in peers {
        count += usize::from(work.measure_peer(session, peer, &resident)?);
    }
    session.checked(format!("{}: {count} valid proofs with equal public signals", work.operation));
    Ok(())
}

fn describe(path: &Path, key: &AnyProvingKey) -> String {
    let header = key.header();
    let name = path.file_name().unwrap_or_default().display();
    format!("{name}, {}, {} signals, domain {}", header.curve, header.signals, header.domain_size)
}

impl<'a> CircomComparison<'a> {
    fn new(options: &'a Circom, key: &AnyProvingKey) -> Self {
        let header = key.header();
        let name = options.zkey.file_stem().unwrap_or_default().display();
        let operation = format!("circom {} {name}, witness to proof", header.curve.json_name());
        Self { options, operation, log: header.domain_size.ilog2(), verification_key: key.verification_key_json() }
    }

    /// Measures proofs with a key that stays on the devices. Each call reads the witness from its file.
    fn resident(&self, session: &mut Session, key: &AnyProvingKey) -> Result<ProofTexts> {
        session.expect(1);
        session.timed((&self.operation, "proofwarp, resident", self.log), || {
            let witness = Witness::open(&self.options.wtns).map_err(with_text)?;
            key.prove_to_json(&witness).map_err(with_text)
        })
    }

    /// Measures `peer`, and returns whether it is there and proves. Its proof has to verify with the signals of `ours`.
    fn measure_peer(&self, session: &mut Session, peer: Result<Peer, String>, ours: &ProofTexts) -> Result<bool> {
        let peer = match peer {
            Ok(peer) => peer,
            Err(reason) => {
                session.leave_out(reason);
                return Ok(false);
            }
        };
        session.expect(1);
        let prove = || peer.prove(&self.options.zkey, &self.options.wtns);
        match session.timed((&self.operation, peer.name, self.log), prove) {
            Ok(theirs) => self.check(peer.name, &theirs, ours).map(|()| true),
            Err(error) => {
                session.leave_out(format!("{}: {error:#}", peer.name));
                Ok(false)
            }
        }
    }

    /// Checks that the proof of `name` verifies, and that its public signals are those of `ours`.
    fn check(&self, name: &str, theirs: &ProofTexts, ours: &ProofTexts) -> Result<()> {
        let text = |file, text| JsonText { file, text };
        let key = text("verification key", self.verification_key.as_str());
        let (public, proof) = (text("public.json", &theirs.public), text("proof.json", &theirs.proof));
        let is_valid = verify_json(key, public, proof).map_err(with_text).with_context(|| name.to_owned())?;
        ensure!(is_valid, "{name}: expected a proof that verifies, got an invalid one");
        let [theirs, ours] = [theirs, ours].map(|texts| serde_json::from_str::<Value>(&texts.public));
        if theirs? != ours? {
            bail!("{name}: expected the public signals of proofwarp, got others");
        }
        Ok(())
    }
}
