//! Proves with a circuit's parameters, and repeats on the CPU what fails on devices.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use blstrs::{Bls12, Scalar};
use proofwarp::backend::Device;
use proofwarp::groth16::{Batch, Circuit, Densities, PreparedVerifyingKey, Proof, ProvingKeyOnDevice, Witness};
use proofwarp::rayon_waits::block_in_place;
use proofwarp::{Accelerator, BackendKind, report};

use crate::assignment::{AssignmentSlices, Bits};
use crate::devices::DeviceSelection;
use crate::error::{Error, check_equal};
use crate::file;

/// Selects the device of a batch. The default is any device, beside other batches.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProvingDevice<'a> {
    /// The driver's ordinal of the device that makes all proofs.
    pub ordinal: Option<usize>,
    /// Lock that is held while devices work.
    pub lock: Option<&'a Mutex<()>>,
}

/// Holds a proving key on the devices, its verifying key, and the circuit that was last proved by them.
pub(crate) struct Prover {
    key: ProvingKeyOnDevice<Bls12>,
    verifying_key: PreparedVerifyingKey<Bls12>,
    asked_for_cpu: bool,
    circuit: Mutex<Option<Arc<CachedCircuit>>>,
}

/// Holds a circuit, with the number of constraints and the densities by which it is recognised.
struct CachedCircuit {
    constraints: usize,
    densities: [(Vec<usize>, usize); 3],
    circuit: Circuit<Scalar>,
}

/// Borrows the inputs of a batch of proofs: the circuit, and for each proof a witness and random scalars r and s.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub circuit: &'a Circuit<Scalar>,
    pub witnesses: &'a [Witness<'a, Scalar>],
    pub r: &'a [Scalar],
    pub s: &'a [Scalar],
    /// Whether a witness that does not satisfy the constraints gives a proof, as in the stock crate. Otherwise it is an
    /// error.
    pub allow_unsatisfied: bool,
}

impl Prover {
    /// Reads the parameters in `file`, which was opened at `path`, for the devices `place`. The first device decodes
    /// the queries' points. The host decodes them only once it needs them.
    pub(crate) fn read(place: DeviceSelection, path: &Path, file: File) -> Result<Self, Error> {
        let (verifying_key, parameters) = file::read(path, file)?;
        let DeviceSelection { accelerator, asked_for_cpu } = place;
        let key = ProvingKeyOnDevice::new(&accelerator, parameters)
            .map_err(|reason| Error::from_parameter_file(path, reason))?;
        let verifying_key = PreparedVerifyingKey::new(verifying_key);
        Ok(Self { key, verifying_key, asked_for_cpu, circuit: Mutex::default() })
    }

    /// Returns a proof for each of `parts`, in the same order, as [`Self::prove_witnesses`] does. `r` and `s` have one
    /// random scalar per proof.
    pub(crate) fn prove(
        &self,
        device: ProvingDevice<'_>,
        parts: &[AssignmentSlices<'_>],
        r: &[Scalar],
        s: &[Scalar],
    ) -> Result<Vec<Proof<Bls12>>, Error> {
        let known = self.get_or_build_circuit(parts)?;
        let witnesses: Vec<_> = parts.iter().map(|part| part.witness).collect();
        let inputs = Inputs { circuit: &known.circuit, witnesses: &witnesses, r, s, allow_unsatisfied: true };
        self.prove_witnesses(device, inputs)
    }

    /// Returns a proof for each witness of `batch`, in the same order. `device` selects the device that makes them. If
    /// devices fail and no backend is forced, the CPU makes the whole batch again. It would refuse invalid inputs too.
    pub(crate) fn prove_witnesses(
        &self,
        device: ProvingDevice<'_>,
        batch: Inputs<'_>,
    ) -> Result<Vec<Proof<Bls12>>, Error> {
        let accelerator = &self.select_device(device.ordinal)?;
        match self.prove_and_verify(&self.key, accelerator, device.lock, batch) {
            Err(error)
                if !error.is_invalid() && accelerator.forced().is_none() && !accelerator.devices().is_empty() =>
            {
                report::report_failure(&format!("supraseal-c2: {error}; the batch is made again on the CPU"));
                let (host, parameters) = (accelerator.with_devices(Vec::new()), self.key.parameters().clone());
                self.prove_and_verify(&ProvingKeyOnDevice::new(&host, parameters)?, &host, None, batch)
            }
            result => result,
        }
    }

    /// Returns the key's accelerator, restricted to the device with the driver's number `ordinal`. Without devices the CPU
    /// proves, whatever the number.
    fn select_device(&self, ordinal: Option<usize>) -> Result<Accelerator, Error> {
        let all = self.key.accelerator();
        let (devices, ordinal_of) = (all.devices(), |device: &Arc<Device>| device.info().ordinal);
        let Some(ordinal) = ordinal.filter(|_| !devices.is_empty()) else { return Ok(all.clone()) };
        let found = devices.iter().find(|device| ordinal_of(device) == ordinal);
        let known = || devices.iter().map(|device| ordinal_of(device).to_string()).collect::<Vec<_>>().join(" or ");
        let device = found.ok_or_else(|| Error::invalid("number of a device", known(), ordinal))?;
        Ok(all.with_devices(vec![device.clone()]))
    }

    /// Makes the proofs of `inputs` with `key` on `accelerator`, and verifies them. Holds `lock` while devices work. A
    /// proof that does not verify is an error if its witness satisfies the constraints.
    fn prove_and_verify(
        &self,
        key: &ProvingKeyOnDevice<Bls12>,
        accelerator: &Accelerator,
        lock: Option<&Mutex<()>>,
        inputs: Inputs<'_>,
    ) -> Result<Vec<Proof<Bls12>>, Error> {
        let Inputs { circuit, witnesses, r, s, .. } = inputs;
        let batch = Batch::new(key, circuit, witnesses, r, s)?;
        let report = match lock.filter(|_| !accelerator.devices().is_empty()) {
            None => batch.run(accelerator, None),
            // Not on a rayon worker, which may start another call meanwhile, and wait for its own lock.
            Some(lock) => block_in_place(|| {
                let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
                batch.run(accelerator, None)
            }),
        }?;
        let proofs = batch.proofs()?;
        if report.backend == BackendKind::Cpu && !self.asked_for_cpu {
            log::error!("supraseal-c2: proofs were made on the CPU: {}", report.fallbacks.join("; "));
        }
        for (number, proof) in proofs.iter().enumerate() {
            self.check_proof(inputs, number, proof, report.backend)?;
        }
        Ok(proofs)
    }

    /// Verifies `proof`, which has the index `number` in the batch of `inputs`.
    fn check_proof(
        &self,
        inputs: Inputs<'_>,
        number: usize,
        proof: &Proof<Bls12>,
        backend: BackendKind,
    ) -> Result<(), Error> {
        let witness = &inputs.witnesses[number];
        check_equal("number of inputs", self.verifying_key.public_input_count() + 1, witness.inputs.len())?;
        let public = witness.public_inputs();
        if public.map_or(Ok(false), |public| self.verifying_key.verify(public, proof))? {
            return Ok(());
        }
        if public.is_some() && inputs.circuit.is_satisfied(self.key.accelerator(), witness)? {
            return Err(Error::DoesNotVerify { number, backend });
        }
        if !inputs.allow_unsatisfied {
            let expected = "one that satisfies the circuit's constraints";
            return Err(Error::invalid(
                format!("witness {number}"),
                expected,
                "another, or matrices of another circuit",
            ));
        }
        log::warn!("supraseal-c2: assignment {number} does not satisfy its constraints: its proof does not verify");
        Ok(())
    }

    /// Returns the circuit of all assignments in `parts`, which is the kept one or a new one. Returns an error if their
    /// circuits differ.
    fn get_or_build_circuit(&self, parts: &[AssignmentSlices<'_>]) -> Result<Arc<CachedCircuit>, Error> {
        let first = parts.first().ok_or_else(|| Error::invalid("assignments", "at least one", 0))?;
        let place = || self.circuit.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = place().clone();
        let known = if let Some(known) = kept.filter(|known| known.matches(first)) {
            known
        } else {
            // Not under the lock: a rayon worker may start another batch meanwhile, which takes the lock.
            let known = Arc::new(CachedCircuit::new(first)?);
            *place() = Some(known.clone());
            known
        };
        match parts.iter().position(|part| !known.matches(part)) {
            None => Ok(known),
            Some(number) => {
                check_equal(
                    format!("constraints of assignment {number}"),
                    known.constraints,
                    parts[number].constraints,
                )?;
                Err(Error::invalid(format!("densities of assignment {number}"), "those of assignment 0", "others"))
            }
        }
    }
}

impl CachedCircuit {
    fn new(parts: &AssignmentSlices<'_>) -> Result<Self, Error> {
        let [a_aux, b_inputs, b_aux] = &parts.densities.map(Bits::to_vec);
        let circuit = Circuit::new(parts.constraints, Densities { a_aux, b_inputs, b_aux })?;
        let densities = parts.densities.map(|bits| (bits.words().collect(), bits.len()));
        Ok(Self { constraints: parts.constraints, densities, circuit })
    }

    fn matches(&self, parts: &AssignmentSlices<'_>) -> bool {
        let same = |((words, len), bits): (&(Vec<usize>, usize), &Bits<'_>)| {
            *len == bits.len() && bits.words().eq(words.iter().copied())
        };
        self.constraints == parts.constraints && self.densities.iter().zip(&parts.densities).all(same)
    }
}
