//! How long a key of a mapped file takes to its first device, decoded there or on the host.

use std::time::{Duration, Instant};

use bellperson::groth16::{MappedParameters, Parameters};
use blstrs::{Bls12, Scalar};
use proofwarp::Accelerator;
use proofwarp::groth16::{Circuit, ProvingKeyOnDevice};
use proofwarp_bellperson::capture::Capture;
use proofwarp_bellperson::{Matrices, parameters};

use crate::circuits::Workload;
use crate::options::WorkOptions;
use crate::prove::ms;
use crate::{Failure, parameters::path};

/// From then on a change of a file would show in its times.
const SETTLED: Duration = Duration::from_millis(2100);

/// Both ways, one after the other and again, points checked or only on their curves; the first time is that of a file
/// that may not be in memory.
///
/// # Errors
/// The file cannot be mapped, or a forced backend failed.
pub fn measure(accelerator: &Accelerator, work: &WorkOptions, workload: &Workload) -> Result<(), Failure> {
    let capture = Capture::<_, Matrices<Scalar>>::of(workload.clone())?;
    let circuit = capture.record.circuit(capture.inputs.len(), capture.aux.len())?;
    // A file that was made just now would be decoded by the host either way.
    std::thread::sleep(SETTLED);
    for checked in [false, true] {
        let mapped = Parameters::build_mapped_parameters(path(work)?, checked)?;
        let name = if checked { "mapped key, points checked" } else { "mapped key" };
        for _ in 0..work.proofs {
            let by_device = load(accelerator, &mapped, &circuit, false)?;
            let by_host = load(accelerator, &mapped, &circuit, true)?;
            println!("{name}: decoded by the device {by_device}, by the host {by_host}");
        }
    }
    Ok(())
}

/// What a key took, and whether the host has decoded its points.
fn load(
    accelerator: &Accelerator,
    mapped: &MappedParameters<Bls12>,
    circuit: &Circuit<Scalar>,
    on_host: bool,
) -> Result<String, Failure> {
    let start = Instant::now();
    let key = parameters::<Bls12, _>(&mapped, circuit)?;
    if on_host {
        key.decode()?;
    }
    let key = ProvingKeyOnDevice::new(accelerator, key)?;
    let time = ms(start.elapsed());
    let stayed_encoded = key.parameters().h.in_memory().is_none();
    let how = if on_host || stayed_encoded { "" } else { " (by the host: there is no device, or no room)" };
    Ok(format!("{time:.1} ms for {} bytes{how}", key.bytes()))
}
