//! Peer access to other devices' memory: without it the driver copies between devices through the host.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;

use cust::device::Device;
use cust::sys as cu;

use super::context::{PrimaryContext, check_status};
use super::multi_device_mapping::{self, DriverFailure};
use crate::backend::lock;

/// Records to which other devices' memory a device's context has access, by the other device's ordinal. An entry
/// holds the other device's context, or `None` if the two devices have no link.
#[derive(Debug, Default)]
pub(super) struct PeerAccess(Mutex<HashMap<usize, Option<PrimaryContext>>>);

impl PeerAccess {
    /// Lets the current context, which belongs to device `own`, access the memory of the device `other`, given by
    /// ordinal and device. Does so once for each ordinal. If the two devices have no link, copies between them still
    /// go through the host.
    pub(super) fn ensure_enabled(&self, own: Device, other: (usize, Device)) -> Result<(), DriverFailure> {
        if let Entry::Vacant(entry) = lock(&self.0).entry(other.0) {
            entry.insert(open_peer_access(own, other.1)?);
        }
        Ok(())
    }
}

fn open_peer_access(own: Device, other: Device) -> Result<Option<PrimaryContext>, DriverFailure> {
    if !multi_device_mapping::can_access_peer(own.as_raw(), other.as_raw())? {
        return Ok(None);
    }
    let primary = PrimaryContext::new(other)
        .map_err(|_| ("primary context".to_owned(), cu::CUresult::CUDA_ERROR_INVALID_CONTEXT))?;
    // SAFETY: the other context is live as long as `primary`, which stays as long as this device is used.
    match unsafe { multi_device_mapping::enable_peer_access(primary.as_raw()) } {
        // Another user in this process did so.
        cu::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(Some(primary)),
        code => check_status(code).map(|()| Some(primary)).map_err(|code| ("cuCtxEnablePeerAccess".to_owned(), code)),
    }
}
