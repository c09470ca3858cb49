//! Copies between devices.

use std::sync::Arc;

use crate::backend::{Buffer, Device, Event, Stream};
use crate::{Error, Result};

impl Stream {
    /// Queues a copy of `bytes` from another device's buffer to a buffer of this stream's device. `to` is a buffer
    /// and a byte offset. `from` is a buffer, its device and a byte offset. The copy waits for `mark`, an event of
    /// the source's stream.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a range is not inside its buffer.
    /// - [`Error::Invalid`]: `to` is not a buffer of this stream's device.
    /// - [`Error::Invalid`]: `from` is not a buffer of the device that is given with it.
    /// - [`Error::Invalid`]: this stream's device cannot access the source's device.
    /// - [`Error::Invalid`]: `mark` is of a device whose events this stream cannot wait for.
    /// - [`Error::Device`]: the driver failed.
    pub(crate) fn copy_from_peer(
        &mut self,
        to: (&Buffer, usize),
        from: (&Arc<Buffer>, &Device, usize),
        bytes: usize,
        mark: &Event,
    ) -> Result<()> {
        self.check_range("copy across to", to.0, to.1, bytes)?;
        let (buffer, device, offset) = from;
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= buffer.bytes());
        if !(inside && device.owns(buffer) && self.device().can_access(device)) {
            let expected = format!("{bytes} bytes of a buffer of a device in reach");
            return Err(Error::invalid("copy across from", "range", expected, format!("from {offset} on")));
        }
        self.core.shared.driver.enable_peer_access(device.info().ordinal)?;
        self.wait_event(mark)?;
        self.retain_buffer(buffer.clone());
        // SAFETY: both ranges were checked; the driver takes addresses of all its devices, which do not overlap. The
        // buffer is kept until the copy has run.
        unsafe {
            self.core.shared.driver.copy_d2d(self.core.handle, (to.0.memory, to.1), (buffer.memory, offset), bytes)
        }
    }
}
