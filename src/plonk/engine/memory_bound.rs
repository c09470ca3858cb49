//! States the device memory of a proof before it starts.

use std::fmt;

use super::MemoryPlan;
use super::memory::MemoryEstimate;
use crate::backend::Device;
use crate::msm::{IN_FLIGHT, resident_batch_bytes};
use crate::plonk::circuit::ProofCurve;
use crate::{Error, Result};

/// States how a proof uses a device's memory, and the maximum bytes that it takes.
///
/// The proof reuses free memory, or returns it to the driver, before it takes more than the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBound {
    /// How the proof's steps are split.
    pub plan: MemoryPlan,
    /// Bytes of the setup's points in both bases, as long as the setup is used.
    pub setup: u64,
    /// Bytes of the key's columns if they stay on the device, else 0.
    pub key: u64,
    /// Maximum bytes that the proof takes in addition.
    pub proof: u64,
    /// Maximum bytes of workspace of an MSM, which `proof` includes.
    pub commitment: u64,
}

impl MemoryBound {
    fn of_proof(plan: MemoryPlan, proof: u64, commitment: u64) -> Self {
        Self { plan, setup: 0, key: 0, proof, commitment }
    }

    /// Returns the maximum bytes of setup, key and proof together.
    pub fn total(&self) -> u64 {
        self.setup.saturating_add(self.key).saturating_add(self.proof)
    }
}

impl fmt::Display for MemoryBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let [total, setup, key, proof] = [self.total(), self.setup, self.key, self.proof].map(mib);
        write!(f, "{total:.1} MiB of device memory at most: setup {setup:.1}, key {key:.1}, proof {proof:.1}")?;
        match self.plan {
            MemoryPlan::ALL => Ok(()),
            MemoryPlan { columns_resident, max_columns } => {
                let place = if columns_resident { "device" } else { "host" };
                write!(f, "; columns stay in {place} memory, and a step takes {max_columns} columns at once")
            }
        }
    }
}

impl MemoryEstimate {
    /// Returns the bound for a proof on `device`, which has `free` free bytes. `C` is the curve of the setup.
    ///
    /// # Errors
    /// - [`Error::TooLarge`]: `free` bytes do not suffice for the proof, even with its steps split as far as possible.
    pub fn bound<C: ProofCurve>(&self, device: &Device, free: u64) -> Result<MemoryBound> {
        self.check_fits(device, free)?;
        let setup = self.setup_bytes();
        let beside = free.saturating_sub(setup);
        let key_stays = self.has_room_for_key(beside);
        let key = if key_stays { self.column.saturating_mul(self.key as u64) } else { 0 };
        let bound = self.bound_beside::<C>(device, beside - key, key_stays);
        Ok(MemoryBound { setup, key, ..bound })
    }

    /// Checks that a proof on `device` with `free` free bytes fits if its steps are split as far as possible.
    ///
    /// # Errors
    /// - [`Error::TooLarge`]: it does not.
    pub fn check_fits(&self, device: &Device, free: u64) -> Result<()> {
        if self.fits(free.saturating_sub(self.setup_bytes())) {
            return Ok(());
        }
        let info = device.info();
        let requested = self.setup_bytes().saturating_add(self.min_bytes());
        let remedy = if requested <= device.memory() {
            "end other work of the device".to_owned()
        } else if requested <= info.memory {
            format!("set PROOFWARP_MEMORY_LIMIT to {requested} or more, or unset it")
        } else {
            "use a device with more memory, or let the host prove, without a forced backend".to_owned()
        };
        let what = format!("a proof with columns of {} bytes", self.column);
        Err(Error::TooLarge { device: info.name.clone(), what, requested, available: free, remedy })
    }

    fn setup_bytes(&self) -> u64 {
        self.column.saturating_mul(self.bases as u64)
    }

    /// Returns the bound for a proof on `device` with `free` bytes beside the setup's points, and beside the key if
    /// `key_stays` on the device. The bound counts neither points nor key.
    pub(super) fn bound_beside<C: ProofCurve>(&self, device: &Device, free: u64, key_stays: bool) -> MemoryBound {
        let unsplit = self.commitment_limits().map(|limit| {
            let peak = self.unsplit_peak::<C>(device, limit);
            MemoryBound::of_proof(MemoryPlan::ALL, self.planned_bytes(MemoryPlan::ALL, key_stays, peak, 0), limit)
        });
        let fitting = unsplit.into_iter().find(|bound| bound.proof <= free);
        fitting.unwrap_or_else(|| {
            let bound = self.bound_with_plan::<C>(device, self.split_plan(free, key_stays), key_stays);
            // MSMs take less if less is free.
            MemoryBound { proof: bound.proof.min(free), ..bound }
        })
    }

    /// Returns the bound for a proof on `device` with the memory plan `plan`. It counts neither the setup's points, nor
    /// the key if `key_stays` on the device.
    pub(super) fn bound_with_plan<C: ProofCurve>(
        &self,
        device: &Device,
        plan: MemoryPlan,
        key_stays: bool,
    ) -> MemoryBound {
        let peak = self.unsplit_peak::<C>(device, MemoryPlan::ALL.commitment_bytes(self.column));
        let commitment = plan.commitment_bytes(self.column);
        let sums = commitment.saturating_mul(IN_FLIGHT as u64);
        MemoryBound::of_proof(plan, self.planned_bytes(plan, key_stays, peak, sums), commitment)
    }

    /// Returns the maximum bytes of a proof on `device` if no step is split and each MSM takes at most `commitment`
    /// bytes of workspace.
    fn unsplit_peak<C: ProofCurve>(&self, device: &Device, commitment: u64) -> u64 {
        // Passes that wait for each other need no second buffer.
        let in_place = device.info().caps.forward_progress;
        let rows = (self.column / size_of::<C::Scalar>() as u64) as usize;
        self.peak_unsplit_bytes(in_place, |count| resident_batch_bytes::<C>(device, rows, count, commitment))
    }
}
