//! Proves from advice columns in device memory of openvm-cuda-common.

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::transcript::{EncodedChallenge, TranscriptWrite};
use openvm_cuda_common::copy::MemCopyD2H;
use openvm_cuda_common::d_buffer::DeviceBuffer;
use proofwarp_halo2::proofwarp::backend::ForeignMemory;
use proofwarp_halo2::proofwarp::secret_vec::SecretVec;
use proofwarp_halo2::{Options, Scheme};
use rand_core::RngCore;

use super::column_memory::{ColumnMemory, on_device};
use super::error::GpuError;
use crate::cuda::utils::HALO2_GPU_CTX;
use crate::poly::commitment::Prover;

/// Holds advice columns on a device, n elements each.
pub type AdviceColumns<F> = Vec<DeviceBuffer<F>>;

/// Proves one circuit of one phase from `advice`, its advice columns on the device of [`HALO2_GPU_CTX`]. Callers
/// allocate and write them on its stream, as the stock crate requires.
///
/// The columns are used where they are. The proof's commands wait for the stream's by an event, the host does not. In
/// the end, and after an error, columns are cleared and freed. If proofwarp does not use CUDA on that device, the
/// columns are copied to the host, and the log says so. An example is another forced backend.
///
/// # Errors
/// - The errors of [`proofwarp_halo2::create_proof_from_advice`].
/// - `Canonical(Transcript)`: a copy to the host failed, or the device cannot take the columns over.
pub fn create_proof_from_advice<
    'params: 'a,
    'a,
    S: Scheme,
    P: Prover<'params, S>,
    E: EncodedChallenge<S::Curve>,
    R: RngCore + Send + 'a,
    T: TranscriptWrite<S::Curve, E>,
>(
    params: &'params S::ParamsProver,
    pk: &ProvingKey<S::Curve>,
    instances: &'a [&'a [S::Scalar]],
    advice: AdviceColumns<S::Scalar>,
    rng: R,
    transcript: &'a mut T,
) -> Result<(), GpuError> {
    let advice: Vec<_> = advice.into_iter().map(ColumnMemory::new).collect();
    let Some(accelerator) = proofwarp_halo2::find_accelerator(HALO2_GPU_CTX.device_id as usize)? else {
        log::warn!("halo2: advice columns are copied to the host, for proofwarp does not use their device by CUDA");
        let advice = copy_to_host(&advice)?.into_iter().map(|mut column| std::mem::take(&mut column.0)).collect();
        return Ok(proofwarp_halo2::create_proof_from_advice::<S, P, E, R, T>(
            params, pk, instances, advice, rng, transcript,
        )?);
    };
    let options = Options { accelerator: Some(accelerator), ..Options::default() };
    let advice = advice.into_iter().map(|column| Box::new(column) as Box<dyn ForeignMemory>).collect();
    // SAFETY: the columns hold elements of the field, which are reduced and in Montgomery form in host memory too.
    let proved = unsafe {
        proofwarp_halo2::create_proof_from_resident_advice_with::<S, P, E, R, T>(
            &options, params, pk, instances, advice, rng, transcript,
        )
    };
    Ok(proved?)
}

/// Copies `columns` to the host.
fn copy_to_host(columns: &[ColumnMemory]) -> Result<Vec<SecretVec<Fr>>, Error> {
    let copy = |column: &ColumnMemory| column.column().to_host_on(&HALO2_GPU_CTX).map(SecretVec);
    let copied = on_device(|| Ok(columns.iter().map(copy).collect::<Result<Vec<_>, _>>()));
    copied.map_err(transcript_error)?.map_err(transcript_error)
}

fn transcript_error(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Transcript(std::io::Error::other(error))
}
