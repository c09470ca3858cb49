//! Shares a device's stream among all programs, so that their work runs in order whatever buffers they share.

use std::sync::{Arc, Mutex, PoisonError};

use proofwarp::backend::{Device, Stream, StreamStats};
use proofwarp::rayon_waits::run_off_pool;
use proofwarp::report::record_kernel;
use proofwarp::{Accelerator, Error, Result};

use crate::base_cache;

/// Holds a device and the stream that all programs of the device share.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The accelerator forced to the device's backend, on this device alone: a failure is an error.
    accelerator: Result<Accelerator>,
    device: Arc<Device>,
    place: Mutex<Option<OpenStream>>,
}

/// Holds a stream, and those of its statistics that have been reported.
#[derive(Debug)]
struct OpenStream {
    stream: Stream,
    reported: StreamStats,
}

impl Queue {
    pub(crate) fn new(device: &Arc<Device>) -> Self {
        let forced = Accelerator::with_backend(device.info().backend);
        let one = |all: Accelerator| all.with_devices(vec![device.clone()]);
        Self { accelerator: forced.map(one), device: device.clone(), place: Mutex::default() }
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Returns the accelerator that runs whole operations, such as an MSM, on this device alone.
    pub(crate) fn accelerator(&self) -> Result<&Accelerator> {
        self.accelerator.as_ref().map_err(Clone::clone)
    }

    /// Runs `work` on the device's stream. If device memory is exhausted, drops the bases cached on the device and runs
    /// `work` once more.
    pub(crate) fn with<T: Send>(&self, work: impl Fn(&mut Stream) -> Result<T> + Send) -> Result<T> {
        match self.once(&work) {
            Err(Error::OutOfMemory { .. }) if base_cache::give_back(&self.device) => self.once(work),
            done => done,
        }
    }

    fn once<T>(&self, work: impl FnOnce(&mut Stream) -> Result<T>) -> Result<T> {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut self.filled(&mut place)?.stream)
    }

    fn filled<'a>(&self, place: &'a mut Option<OpenStream>) -> Result<&'a mut OpenStream> {
        match place {
            Some(filled) => Ok(filled),
            none => Ok(none.insert(OpenStream { stream: self.device.stream()?, reported: StreamStats::default() })),
        }
    }

    /// Runs `work` as [`Self::with`] does, but outside the caller's thread pool. It is for copies, which use many
    /// cores, while the threads of that pool may wait for this device.
    pub(crate) fn copy<T: Send>(&self, work: impl Fn(&mut Stream) -> Result<T> + Send + Sync) -> Result<T> {
        run_off_pool(|| self.with(&work))
    }

    /// Waits for the queued kernels, and downloads `elements` results by calling `copy`. Reports the transfers and
    /// kernels since the last call.
    pub(crate) fn read(&self, elements: usize, copy: impl FnOnce(&mut Stream) -> Result<()> + Send) -> Result<()> {
        run_off_pool(|| {
            let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
            let filled = self.filled(&mut place)?;
            record_kernel(self.device.info(), "columns bn254_fr", elements, || {
                copy(&mut filled.stream)?;
                filled.stream.zeroize_staging();
                let traffic = filled.stream.stats();
                Ok(traffic.since(std::mem::replace(&mut filled.reported, traffic)))
            })
        })
    }
}
