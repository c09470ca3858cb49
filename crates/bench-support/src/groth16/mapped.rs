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

/// Wait before a file is mapped, 2100 ms: from 2 s after a change, a further change alters the file's timestamps.
const SETTLED: Duration = Duration::from_millis(2100);

/// Holds the time and the memory that loading a key took.
struct Loaded {
    ms: f64,
    /// Bytes of the key on the device.
    bytes: u64,
    /// Whether the host decoded points that the device was to decode.
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

/// Loads the key of `task` from its mapped file and prints the times, decoded by the device and then by the host.
/// Loads are repeated, first with points only checked to be on their curves, then with points checked in full. The
/// first load may read the file from disk. Without a device only the host decodes.
///
/// # Errors
/// Returns an error if the file cannot be mapped, or if a forced backend fails.
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

/// Loads the key of `mapped` for `circuit` to the first device. If `on_host`, the host decodes its points first.
/// Returns the time, the key's bytes on the device, and whether the host decoded points that the device was to decode.
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
