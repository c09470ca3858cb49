//! Proves from advice columns that another library has on a device.

use std::sync::Arc;

use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::poly::commitment::Prover;
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use proofwarp::Accelerator;
use proofwarp::backend::{Device, ForeignMemory};
use proofwarp::plonk::{AdviceStage, Circuit, Column};
use proofwarp::secret_vec::SecretVec;
use rand_core::RngCore;

use crate::check::prove_checked;
use crate::committer::Committer;
use crate::error::to_halo2_error;
use crate::opening::{Opening, Scheme};
use crate::options::Options;
use crate::random::Seed;
use crate::synthesis::{Phases, ProofWriter};
use crate::task::Task;
use crate::witness::{Source, check_advice_shape};

/// Returns an accelerator for the device number `ordinal` alone, on which proofwarp can use memory of other libraries.
/// `None`: the process-wide accelerator does not use that device, or only by a backend whose memory has no addresses.
///
/// # Errors
/// - `Transcript`: a setting is malformed, or a forced backend is not there.
pub fn find_accelerator(ordinal: usize) -> Result<Option<Accelerator>, Error> {
    let all = Accelerator::global().map_err(to_halo2_error)?;
    let takes = |device: &&Arc<Device>| device.info().caps.unified_addresses && device.info().ordinal == ordinal;
    Ok(all.devices().iter().find(takes).map(|device| all.with_devices(vec![device.clone()])))
}

/// Proves one circuit of one phase from `advice`, its advice columns in device memory of another library. They are used
/// where they are, without a copy. The accelerator of `options` has their device alone, as [`find_accelerator`] returns
/// it.
///
/// `advice` stays on the device until the call returns: the host needs it to say why a proof does not verify. In the
/// end it is cleared and dropped, also after an error once the device has taken it over.
///
/// # Safety
/// Once the commands of the library's stream have run, each memory holds n reduced elements in Montgomery form.
///
/// # Errors
/// - The errors of [`create_proof_from_advice_with`](crate::create_proof_from_advice_with).
/// - `Transcript`: `options` have no accelerator, or one that does not have exactly one device.
/// - `Transcript`: that device is not the columns' device, has no unified addresses, or makes no stream.
pub unsafe fn create_proof_from_resident_advice_with<
    'params,
    'a,
    S: Scheme,
    P: Prover<'params, S> + Opening,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    options: &Options,
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: Vec<Box<dyn ForeignMemory>>,
    mut rng: R,
    transcript: &'a mut T,
) -> Result<(), Error> {
    let devices = options.accelerator.as_ref().map_or(0, |accelerator| accelerator.devices().len());
    proofwarp::Error::check_eq("advice on a device", "number of devices", 1, devices).map_err(to_halo2_error)?;
    let mut source = ResidentAdvice { foreign: advice, columns: Vec::new() };
    let task = Task { options, params, pk, instances: &[instances], seed: Seed::new(&mut rng) };
    prove_checked::<P, E, T>(&task, transcript, &mut source)
}

/// Holds the advice columns of one circuit of one phase on a device.
struct ResidentAdvice {
    /// Columns that no proof has taken over yet.
    foreign: Vec<Box<dyn ForeignMemory>>,
    /// Columns that a proof has taken over.
    columns: Vec<Column<Fr>>,
}

impl ResidentAdvice {
    /// Takes the columns over on the device of `proof`, at the first call.
    fn adopt(&mut self, proof: &AdviceStage<'_, G1Affine>, circuit: &Circuit<Fr>) -> Result<(), Error> {
        if !self.foreign.is_empty() {
            check_advice_shape(circuit, self.foreign.iter().map(|memory| memory.bytes() / size_of::<Fr>()))?;
            // SAFETY: the caller of `create_proof_from_resident_advice_with` promises it.
            let adopted = unsafe { proof.engine().adopt_columns(std::mem::take(&mut self.foreign)) };
            self.columns = adopted.map_err(to_halo2_error)?;
        }
        check_advice_shape(circuit, self.columns.iter().map(|column| column.view().len()))
    }

    /// Returns the columns for a proof on their device, numbered.
    fn share(&self) -> Result<Vec<(usize, Column<Fr>)>, Error> {
        let shared = self.columns.iter().map(Column::share).enumerate().map(|(number, column)| Ok((number, column?)));
        shared.collect::<proofwarp::Result<_>>().map_err(to_halo2_error)
    }
}

impl Source for ResidentAdvice {
    fn write<E: EncodedChallenge<G1Affine>, T: TranscriptWrite<G1Affine, E>>(
        &mut self,
        proof: &Committer<'_>,
        circuit: &Circuit<Fr>,
        pen: &mut ProofWriter<'_, E, T>,
    ) -> Result<(), Error> {
        proof.with_proof(|proof| Ok(self.adopt(proof, circuit))).map_err(to_halo2_error)??;
        let on_device = proof.with_proof(|proof| Ok(proof.engine().device_name().is_some())).map_err(to_halo2_error)?;
        let mut phases = Phases { circuit, proof, challenges: vec![None; circuit.challenge_phases.len()] };
        if on_device {
            phases.commit_resident(self.share()?, pen)?;
        } else {
            let fetched = self.columns.iter().map(Column::download).collect::<proofwarp::Result<Vec<_>>>();
            let mut fetched: Vec<SecretVec<Fr>> = fetched.map_err(to_halo2_error)?;
            phases.commit(fetched.iter_mut().map(|column| &mut column.0).enumerate().collect(), pen)?;
        }
        phases.squeeze_phase_challenges(0, pen)
    }
}
