//! Counts the copies, times and launches of a stream.

use std::time::{Duration, Instant};

/// Counts the bytes that a stream copied, and the time that it spent, since it was taken from its device.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StreamStats {
    /// Bytes copied to the device.
    pub bytes_up: u64,
    /// Bytes copied from the device.
    pub bytes_down: u64,
    /// Host time spent on uploads.
    pub upload: Duration,
    /// Device time of kernels within timing spans.
    pub kernels: Duration,
    /// Host time spent on downloads.
    pub download: Duration,
    /// Host time spent on preparing kernels at their first use. That is compiling or loading their modules, and first
    /// launches if the driver compiles a kernel for their shape
    /// (`Driver::jits_per_launch_shape`). It is not in `kernels`.
    pub compile: Duration,
    /// Number of kernels launched.
    pub launches: u32,
}

impl StreamStats {
    /// Returns the difference to `before`, earlier statistics of the same stream.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            bytes_up: self.bytes_up.saturating_sub(before.bytes_up),
            bytes_down: self.bytes_down.saturating_sub(before.bytes_down),
            upload: self.upload.saturating_sub(before.upload),
            kernels: self.kernels.saturating_sub(before.kernels),
            download: self.download.saturating_sub(before.download),
            compile: self.compile.saturating_sub(before.compile),
            launches: self.launches.saturating_sub(before.launches),
        }
    }
}

impl StreamStats {
    /// Adds `bytes` to the count of bytes copied to the device.
    pub(crate) fn count_upload(&mut self, bytes: usize) {
        self.bytes_up = self.bytes_up.saturating_add(bytes as u64);
    }

    /// Adds `bytes` to the count of bytes copied from the device.
    pub(crate) fn count_download(&mut self, bytes: usize) {
        self.bytes_down = self.bytes_down.saturating_add(bytes as u64);
    }

    /// Adds the time since `start` to the host time spent on uploads.
    pub(crate) fn add_upload_time(&mut self, start: Instant) {
        self.upload = self.upload.saturating_add(start.elapsed());
    }

    /// Adds the time since `start` to the host time spent on downloads.
    pub(crate) fn add_download_time(&mut self, start: Instant) {
        self.download = self.download.saturating_add(start.elapsed());
    }

    /// Adds the time since `start` to the host time spent on preparing kernels.
    pub(crate) fn add_compile_time(&mut self, start: Instant) {
        self.compile = self.compile.saturating_add(start.elapsed());
    }
}

impl std::ops::Add for StreamStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bytes_up: self.bytes_up.saturating_add(other.bytes_up),
            bytes_down: self.bytes_down.saturating_add(other.bytes_down),
            upload: self.upload.saturating_add(other.upload),
            kernels: self.kernels.saturating_add(other.kernels),
            download: self.download.saturating_add(other.download),
            compile: self.compile.saturating_add(other.compile),
            launches: self.launches.saturating_add(other.launches),
        }
    }
}
