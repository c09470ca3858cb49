//! Checks a proof with halo2-axiom's verifier, and finds the cause if that refuses.

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::{Error, verify_proof};
use halo2_axiom::poly::commitment::ParamsProver;
use halo2_axiom::poly::kzg::commitment::KZGCommitmentScheme;
use halo2_axiom::poly::kzg::multiopen::{VerifierGWC, VerifierSHPLONK};
use halo2_axiom::poly::kzg::strategy::SingleStrategy;
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::Accelerator;
use proofwarp::backend::BackendKind;
use proofwarp::report::record_host_work;

use crate::caches::clear_setups;
use crate::error::to_halo2_error;
use crate::opening::{Kind, Opening};
use crate::options::Options;
use crate::random::unpredictable_rng;
use crate::record::{Record, ReplayTranscript};
use crate::synthesis::ProofWriter;
use crate::task::Task;
use crate::witness::Source;

type Kzg = KZGCommitmentScheme<Bn256>;

/// Writes the proof of `task` to `transcript`, with the witness that `source` supplies. Verifies the proof if the
/// task's options say so.
///
/// # Errors
/// - The errors of [`Task::prove`].
/// - `Transcript`: a setting is malformed.
/// - `Transcript`: a device computed a wrong value.
/// - The host cannot make the proof again: the error of its attempt.
pub(crate) fn prove_checked<P: Opening, E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
    task: &Task<'_, '_>,
    transcript: &mut T,
    source: &mut impl Source,
) -> Result<(), Error> {
    let mut pen = ProofWriter::new(transcript, task.seed.create_rng());
    let device = task.prove::<P, E, T>(task.options, &mut pen, source)?;
    match task.options.is_check_enabled(device.is_some())? {
        true => check_proof::<P>(task, pen.record(), device.as_deref().unwrap_or("host"), source),
        false => Ok(()),
    }
}

/// Verifies the proof of `task` from the `record` of its messages. `device` names the device that worked on it.
///
/// If halo2-axiom's verifier refuses the proof, the host makes it again from the same seed. If the host's messages are
/// the same, the witness does not satisfy the circuit. The call then returns `Ok`, as halo2-axiom does.
///
/// # Errors
/// - `Transcript`: the host's messages differ.
/// - The host cannot make the proof again: the error of its attempt.
fn check_proof<P: Opening>(
    task: &Task<'_, '_>,
    record: &Record,
    device: &str,
    source: &mut impl Source,
) -> Result<(), Error> {
    if !can_be_verified(task) {
        log::warn!("halo2: the proof is not verified, for an instance column is queried too many rows away");
        return Ok(());
    }
    let rows = 1 << task.pk.get_vk().get_domain().k();
    if record_host_work("halo2 verify", rows, || verify_record::<P>(task, record)) {
        return Ok(());
    }
    let host = Accelerator::with_backend(BackendKind::Cpu).map_err(to_halo2_error)?;
    let abort = task.options.abort.clone();
    let options =
        Options { accelerator: Some(host), devices: Some(1), abort, check: Some(false), ..Options::default() };
    let mut said = ReplayTranscript::new(record, Fr::ZERO);
    let again = task.prove::<P, _, _>(&options, &mut ProofWriter::new(&mut said, task.seed.create_rng()), source);
    match (said.first_difference_index(), again) {
        (Some(message), _) => {
            // A setup or key that the device keeps may have changed.
            clear_setups();
            let reason = format!("message {message} of {} is not the host's: a wrong result", record.message_count());
            log::error!("halo2: the proof does not verify: {device}: {reason}");
            Err(to_halo2_error(proofwarp::Error::device(device, "a proof", reason)))
        }
        (None, Ok(_)) if said.is_fully_replayed() => {
            log::warn!("halo2: the proof does not verify: the witness does not satisfy the circuit");
            Ok(())
        }
        (None, Ok(_)) => {
            Err(to_halo2_error(proofwarp::Error::device(device, "a proof", "it has other messages than the host's")))
        }
        (None, Err(error)) => {
            log::error!("halo2: the proof does not verify, and the host cannot make it again to say why: {error}");
            Err(error)
        }
    }
}

/// Returns whether all rotations of instance queries are at most the number of rows. The verifier takes memory in
/// proportion to the rotations, so it could not verify other proofs.
fn can_be_verified(task: &Task<'_, '_>) -> bool {
    let key = task.pk.get_vk();
    let rows = 1_u64 << key.get_domain().k();
    key.cs().instance_queries().iter().all(|(_, rotation)| u64::from(rotation.0.unsigned_abs()) <= rows)
}

fn verify_record<P: Opening>(task: &Task<'_, '_>, record: &Record) -> bool {
    // GWC's verifier squeezes one more challenge than its prover, to weigh points against each other.
    let mut transcript = ReplayTranscript::new(record, Fr::random(unpredictable_rng()));
    let (strategy, params) = (SingleStrategy::new(task.params), task.params.verifier_params());
    let (key, instances) = (task.pk.get_vk(), task.instances);
    let verified = match P::KIND {
        Kind::Shplonk => {
            verify_proof::<Kzg, VerifierSHPLONK<'_, Bn256>, _, _, _>(params, key, strategy, instances, &mut transcript)
        }
        Kind::Gwc => {
            verify_proof::<Kzg, VerifierGWC<'_, Bn256>, _, _, _>(params, key, strategy, instances, &mut transcript)
        }
    };
    verified.is_ok() && transcript.is_fully_replayed()
}
