//! Adopts device memory that another library allocated.

use super::Stream;
use crate::backend::{Buffer, ForeignMemory, UNIFIED_ALIGN};
use crate::{Error, Result};

/// Number of the last special stream handle of CUDA, `CU_STREAM_PER_THREAD`. Such handles name default streams.
const LAST_DEFAULT_STREAM: usize = 2;

impl Stream {
    /// Takes over `memory`, which another library allocated on this stream's device. Nothing is copied, and the host
    /// does not wait: the stream's next command runs after those that the library has queued on its own stream.
    ///
    /// When the buffer is dropped, its contents are cleared, the library's stream waits for that, and `memory` is
    /// dropped. Adopted memory does not count towards `PROOFWARP_MEMORY_LIMIT`.
    ///
    /// # Errors
    /// - [`Error::Unsupported`]: the backend's handles of memory are no addresses, as on OpenCL.
    /// - [`Error::Invalid`]: the memory is on another device.
    /// - [`Error::Invalid`]: the memory is empty, or its address is no multiple of 256 bytes.
    /// - [`Error::Invalid`]: the library's stream is a default stream.
    /// - [`Error::Device`]: the driver failed.
    ///
    /// After an error, `memory` is dropped.
    pub fn adopt(&self, memory: Box<dyn ForeignMemory>) -> Result<Buffer> {
        let info = self.device.info();
        if !info.caps.unified_addresses {
            let reason = format!("memory handles of the {} backend are no addresses", info.backend);
            return Err(Error::unsupported(&info.name, "memory of another library", reason));
        }
        Error::check_eq("adopt", "number of the device", info.ordinal, memory.ordinal())?;
        let (address, bytes) = (memory.address(), memory.bytes());
        if memory.stream() <= LAST_DEFAULT_STREAM {
            return Err(Error::invalid("adopt", "stream", "one that was created", memory.stream()));
        }
        if address == 0 || bytes == 0 || !address.is_multiple_of(UNIFIED_ALIGN) || !bytes.is_multiple_of(4) {
            let expected = format!("words at a multiple of {UNIFIED_ALIGN}");
            return Err(Error::invalid("adopt", "memory", expected, format!("{bytes} bytes at {address:#x}")));
        }
        self.core.wait_foreign(&*memory)?;
        Ok(Buffer::adopted(memory, self.core.clone()))
    }
}
