//! Manages a proof's turn on the devices that it shares with other processes.

use bellperson::SynthesisError;
use proofwarp::backend::Abort;
use proofwarp::groth16::{Batch, Engine, ProvingKeyOnDevice};
use proofwarp::settings::no_gpu;
use proofwarp::{Accelerator, Error, Report};

use crate::locks::{GpuLock, PriorityLock, PriorityPoll, priority_taken, wait_priority_released};
use crate::to_synthesis_error;

/// Holds the locks on devices that processes share, until it is dropped. Without devices, it holds no locks.
#[derive(Debug)]
pub(crate) struct DeviceLease {
    /// Accelerator with all devices of this process.
    accelerator: Accelerator,
    /// Locks on devices and an accelerator with these devices; `None` while it holds no locks.
    held: Option<(GpuLock, Accelerator)>,
    _priority: Option<PriorityLock>,
    /// Whether its proofs make way for proofs with priority.
    yields: bool,
}

/// Returns the process's accelerator, without devices if `BELLMAN_NO_GPU` is set to anything but 0.
pub(crate) fn accelerator() -> Result<Accelerator, SynthesisError> {
    let accelerator = Accelerator::global().map_err(to_synthesis_error)?;
    Ok(if no_gpu().is_some() { accelerator.with_devices(Vec::new()) } else { accelerator.clone() })
}

impl DeviceLease {
    /// Waits until it holds the locks on devices of `accelerator`. With `priority`, proofs without priority make way
    /// first.
    pub(crate) fn wait(accelerator: &Accelerator, priority: bool) -> Result<Self, SynthesisError> {
        let shared = !accelerator.devices().is_empty();
        // A thread that holds locks can neither release them for this proof nor wait for them.
        let first = !GpuLock::is_held() && !PriorityLock::is_held();
        let lock = (shared && priority && first).then(PriorityLock::take).transpose()?;
        let yields = shared && !priority && first;
        let mut turn = Self { accelerator: accelerator.clone(), held: None, _priority: lock, yields };
        if shared {
            turn.acquire()?;
        }
        Ok(turn)
    }

    /// Returns an accelerator with the locked devices, or with all devices of the process if none are locked.
    pub(crate) fn accelerator(&self) -> &Accelerator {
        self.held.as_ref().map_or(&self.accelerator, |(_, accelerator)| accelerator)
    }

    /// Makes all proofs of `batch`. Without priority, it releases the devices whenever another proof requests priority,
    /// and then continues with the missing proofs.
    pub(crate) fn run<E: Engine>(&mut self, batch: &Batch<'_, E>) -> Result<Report, SynthesisError> {
        self.retry_after_preemption(|accelerator, abort| {
            let result = batch.run(accelerator, abort);
            if matches!(result, Err(Error::Aborted)) {
                log::info!(
                    "groth16: makes way for a proof of high priority with {} proofs missing",
                    batch.missing_count()
                );
            }
            result
        })
    }

    /// Uploads `key` to the first of the locked devices. Without priority, it makes way for proofs with priority
    /// meanwhile.
    pub(crate) fn upload<E: Engine>(&mut self, key: &ProvingKeyOnDevice<E>) -> Result<(), SynthesisError> {
        self.retry_after_preemption(|accelerator, abort| key.upload(accelerator, abort))
    }

    /// Runs `work`, which must be resumable. Without priority, aborts it whenever another proof requests priority, and
    /// resumes it after that proof.
    fn retry_after_preemption<T>(
        &mut self,
        work: impl Fn(&Accelerator, Abort<'_>) -> proofwarp::Result<T>,
    ) -> Result<T, SynthesisError> {
        loop {
            let asked = PriorityPoll::new();
            let hook = || asked.poll();
            match work(self.accelerator(), if self.yields { Some(&hook) } else { None }) {
                Err(Error::Aborted) => self.yield_to_priority()?,
                result => return result.map_err(to_synthesis_error),
            }
        }
    }

    fn yield_to_priority(&mut self) -> Result<(), SynthesisError> {
        self.held = None;
        // The next process may need memory that is only pooled here.
        self.accelerator.devices().iter().for_each(|device| device.trim());
        self.acquire()
    }

    fn acquire(&mut self) -> Result<(), SynthesisError> {
        loop {
            if self.yields {
                wait_priority_released()?;
            }
            let lock = GpuLock::take(&self.accelerator)?;
            // Priority may have been requested during the wait.
            if !self.yields || !priority_taken() {
                let accelerator = self.accelerator.with_devices(lock.devices().to_vec());
                self.held = Some((lock, accelerator));
                return Ok(());
            }
        }
    }
}
