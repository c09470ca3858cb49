//! Compares keys and proofs of halo2-axiom's circuits by proofwarp and by halo2-axiom.

mod circuit;

use anyhow::{Context, Result, ensure};
use proofwarp_halo2::TimedTranscript;
use proofwarp_halo2::halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use proofwarp_halo2::halo2_axiom::plonk::{self, ProvingKey, verify_proof};
use proofwarp_halo2::halo2_axiom::poly::commitment::ParamsProver;
use proofwarp_halo2::halo2_axiom::poly::kzg::commitment::{KZGCommitmentScheme, ParamsKZG};
use proofwarp_halo2::halo2_axiom::poly::kzg::multiopen::{ProverSHPLONK, VerifierSHPLONK};
use proofwarp_halo2::halo2_axiom::poly::kzg::strategy::SingleStrategy;
use proofwarp_halo2::halo2_axiom::transcript::{
    Blake2bRead, Blake2bWrite, Challenge255, TranscriptReadBuffer, TranscriptWriterBuffer,
};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

use super::measure::Session;
use super::results::Phase;
use circuit::Chains;

const KEYS: &str = "halo2 bn254, both keys";
const PROOF: &str = "halo2 bn254, proof";
const OURS: &str = "proofwarp";
const STOCK: &str = "halo2-axiom 0.5.3, CPU";
/// Minimum binary logarithm of the number of rows, 5: fewer rows do not hold the table and the blinded rows.
const MIN_LOG: u32 = 5;

type Kzg = KZGCommitmentScheme<Bn256>;
type Setup = ParamsKZG<Bn256>;
type Key = ProvingKey<G1Affine>;
type Transcript = TimedTranscript<Blake2bWrite<Vec<u8>, G1Affine, Challenge255<G1Affine>>>;

/// Holds the setup, the circuit and its public values.
struct Work<'a> {
    setup: &'a Setup,
    circuit: Chains,
    ends: Vec<Fr>,
}

/// Measures key generation and proofs by proofwarp and by stock halo2-axiom, at all sizes of `session`.
pub fn measure(session: &mut Session) -> Result<()> {
    let logs = session.logs.clone();
    ensure!(logs.iter().all(|log| *log >= MIN_LOG), "--log: expected {MIN_LOG} or more for a circuit with lookups");
    session.expect(4 * logs.len());
    logs.into_iter().try_for_each(|log| one_size(session, log))
}

fn one_size(session: &mut Session, log: u32) -> Result<()> {
    let setup = session.preparing(&format!("halo2, 2^{log}: the setup"), || {
        Setup::setup(log, ChaCha20Rng::seed_from_u64(u64::from(log)))
    });
    let circuit = Chains::new(log, 3);
    let work = Work { setup: &setup, circuit, ends: circuit.ends() };
    let ours =
        session.timed((KEYS, OURS, log), || keys(&work, proofwarp_halo2::keygen_vk, proofwarp_halo2::keygen_pk))?;
    let stock = session.timed((KEYS, STOCK, log), || keys(&work, plonk::keygen_vk, plonk::keygen_pk))?;
    let digest = |key: &Key| key.get_vk().transcript_repr();
    ensure!(digest(&ours) == digest(&stock), "2^{log}: keys differ");
    let proofs = [
        session.phased((PROOF, OURS, log), || proved(&work, &ours, by_us))?,
        session.phased((PROOF, STOCK, log), || proved(&work, &stock, by_stock))?,
    ];
    for proof in &proofs {
        work.verify(&ours, proof).with_context(|| format!("2^{log}: a proof does not verify"))?;
    }
    proofwarp_halo2::clear_setups();
    session.checked(format!("halo2, 2^{log} rows: equal keys, and both proofs valid"));
    Ok(())
}

fn keys<V>(
    work: &Work<'_>,
    vk: impl FnOnce(&Setup, &Chains) -> Result<V, plonk::Error>,
    pk: impl FnOnce(&Setup, V, &Chains) -> Result<Key, plonk::Error>,
) -> Result<Key> {
    let vk = vk(work.setup, &work.circuit).context("a verifying key")?;
    pk(work.setup, vk, &work.circuit).context("a proving key")
}

type Prove = fn(&Work<'_>, &Key, ChaCha20Rng, &mut Transcript) -> Result<(), plonk::Error>;

/// Proves `work` by calling `prove`, and returns the proof's bytes and the times of its phases.
fn proved(work: &Work<'_>, key: &Key, prove: Prove) -> Result<(Vec<u8>, Vec<Phase>)> {
    let mut transcript = TimedTranscript::new(Blake2bWrite::init(Vec::new()));
    prove(work, key, ChaCha20Rng::from_entropy(), &mut transcript).context("a proof")?;
    let phases = transcript.steps().map(|(name, time)| Phase::new(name, time)).to_vec();
    Ok((transcript.into_inner().finalize(), phases))
}

fn by_us(work: &Work<'_>, key: &Key, rng: ChaCha20Rng, transcript: &mut Transcript) -> Result<(), plonk::Error> {
    let (circuits, columns) = ([work.circuit], [work.ends.as_slice()]);
    proofwarp_halo2::create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, Challenge255<_>, _, _, _>(
        work.setup,
        key,
        &circuits,
        &[&columns[..]],
        rng,
        transcript,
    )
}

fn by_stock(work: &Work<'_>, key: &Key, rng: ChaCha20Rng, transcript: &mut Transcript) -> Result<(), plonk::Error> {
    let (circuits, columns) = ([work.circuit], [work.ends.as_slice()]);
    plonk::create_proof::<Kzg, ProverSHPLONK<'_, Bn256>, Challenge255<_>, _, _, _>(
        work.setup,
        key,
        &circuits,
        &[&columns[..]],
        rng,
        transcript,
    )
}

impl Work<'_> {
    fn verify(&self, key: &Key, proof: &[u8]) -> Result<(), plonk::Error> {
        let mut transcript = Blake2bRead::<_, G1Affine, Challenge255<_>>::init(proof);
        let strategy = SingleStrategy::new(self.setup);
        let columns = [self.ends.as_slice()];
        verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(
            self.setup.verifier_params(),
            key.get_vk(),
            strategy,
            &[&columns[..]],
            &mut transcript,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_proof_is_none() {
        let setup = Setup::setup(6, ChaCha20Rng::seed_from_u64(1));
        let circuit = Chains::new(6, 5);
        let mut work = Work { setup: &setup, circuit, ends: circuit.ends() };
        let key = keys(&work, proofwarp_halo2::keygen_vk, proofwarp_halo2::keygen_pk).expect("keys");
        let (proof, phases) = proved(&work, &key, by_us).expect("a proof");
        assert!(work.verify(&key, &proof).is_ok());
        assert!(phases.len() == 6 && phases.iter().all(|phase| phase.milliseconds > 0.0), "{phases:?}");
        work.ends[0] += Fr::one();
        assert!(work.verify(&key, &proof).is_err());
    }
}
