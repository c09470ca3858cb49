//! Handles first launches on drivers, such as PoCL, that compile a kernel again for its launch shape.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{KernelHandle, LaunchShape, lock};
use crate::Result;

/// Minimum number of groups for which PoCL compiles another version of a kernel.
const LARGE: u32 = 1 << 16;

/// Serialises first launches in the process: PoCL 3.1 may fail an assertion, which ends the process, if threads use one
/// kernel for the first time at once.
static TURN: Mutex<()> = Mutex::new(());

/// Identifies a version: the kernel, the work-items of its groups, and whether there are many groups.
type Version = (usize, u32, bool);

/// Records the versions that a device has launched.
#[derive(Debug, Default)]
pub(super) struct Specialised(Mutex<HashSet<Version>>);

fn version(kernel: KernelHandle, shape: LaunchShape) -> Version {
    (kernel.0, shape.group_size, shape.groups >= LARGE)
}

impl Specialised {
    /// Returns whether the version has been launched.
    pub fn has(&self, kernel: KernelHandle, shape: LaunchShape) -> bool {
        lock(&self.0).contains(&version(kernel, shape))
    }

    /// Launches a version for the first time.
    pub fn first(&self, kernel: KernelHandle, shape: LaunchShape, launch: impl FnOnce() -> Result<()>) -> Result<()> {
        let _turn = lock(&TURN);
        launch()?;
        lock(&self.0).insert(version(kernel, shape));
        Ok(())
    }
}
