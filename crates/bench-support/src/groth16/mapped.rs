//! How long a key of a mapped file takes to its first device, decoded there or on the host.

use std::fmt;
use std::time::{Duration, Instant};

use bellperson::groth16::{MappedParameters, Parameters};
use blstrs::{Bls12, Scalar};
use proofwarp::Accelerator;
use proofwarp::groth16::{Circuit, ProvingKeyOnDevice};
use proofwarp_bellperson::recorder::SynthesisRecorder;
use proofwarp_bellperson::{Matrices, parameters};

use super::parameters::path;
use super::task::{Task, ms};
use crate::Failure;

/// From then on a change of a file would show in its times.
const SETTLED: Duration = Duration::from_millis(2100);

/// What became of a key.
struct Loaded {
    ms: f64,
    /// Bytes of it on the device.
    bytes: u64,
    /// By the host although the device was asked to.
    by_host: bool,
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.ms)?;
        match self.bytes {
            0 => f.write_str(", all of it on the host")?,
            bytes => write!(f, " for {bytes} bytes on the device")?,
        }
        if self.by_host { f.write_str(" (by the host after all: there was no room)") } else { Ok(()) }
    }
}

/// Both ways, one after the other and again, points checked or only on their curves; the first time is that of a file
/// that may not be in memory. Without a device there is only the host's.
///
/// # Errors
/// The file cannot be mapped, or a forced backend failed.
pub fn measure(accelerator: &Accelerator, task: &Task) -> Result<(), Failure> {
    let capture = SynthesisRecorder::<_, Matrices<Scalar>>::from_circuit(task.batch.circuits[0].clone())?;
    let circuit = capture.record.circuit(capture.inputs.len(), capture.aux.len())?;
    // A file that was made just now would be decoded by the host either way.
    std::thread::sleep(SETTLED);
    for checked in [false, true] {
        let mapped = Parameters::build_mapped_parameters(path(&task.work)?, checked)?;
        let name = if checked { "mapped key, points checked" } else { "mapped key" };
        for _ in 0..task.work.proofs {
            let load = |on_host| load(accelerator, &mapped, &circuit, on_host);
            let by_device = (!accelerator.devices().is_empty()).then(|| load(false)).transpose()?;
            println!("{name}: {}", describe(by_device.as_ref(), &load(true)?));
        }
    }
    Ok(())
}

fn describe(by_device: Option<&Loaded>, by_host: &Loaded) -> String {
    match by_device {
        Some(by_device) => format!("decoded by the device {by_device}, by the host {by_host}"),
        None => format!("decoded by the host {by_host}, as there is no device"),
    }
}

/// What a key took, and whether the host has decoded its points.
fn load(
    accelerator: &Accelerator,
    mapped: &MappedParameters<Bls12>,
    circuit: &Circuit<Scalar>,
    on_host: bool,
) -> Result<Loaded, Failure> {
    let start = Instant::now();
    let key = parameters::<Bls12, _>(&mapped, circuit)?;
    if on_host {
        key.decode()?;
    }
    let key = ProvingKeyOnDevice::new(accelerator, key)?;
    let ms = ms(start.elapsed());
    let stayed_encoded = key.parameters().h.in_memory().is_none();
    Ok(Loaded { ms, bytes: key.device_bytes(), by_host: !on_host && !stayed_encoded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_what_happened() {
        let loaded = |bytes, by_host| Loaded { ms: 1.5, bytes, by_host };
        assert_eq!(
            describe(None, &loaded(0, false)),
            "decoded by the host 1.5 ms, all of it on the host, as there is no device"
        );
        let both = describe(Some(&loaded(7, false)), &loaded(7, false));
        assert_eq!(
            both,
            "decoded by the device 1.5 ms for 7 bytes on the device, by the host 1.5 ms for 7 bytes on the device"
        );
        assert!(describe(Some(&loaded(0, true)), &loaded(0, false)).contains("by the host after all"));
    }
}
