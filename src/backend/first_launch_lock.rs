//! Handles first launches on drivers, such as PoCL, that compile a kernel again for its launch shape.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{KernelHandle, LaunchConfig, lock};
use crate::Result;

/// Minimum number of groups for which PoCL compiles another version of a kernel.
const LARGE: u32 = 1 << 16;

/// Serialises first launches in the process: PoCL 3.1 may fail an assertion, which ends the process, if threads use one
/// kernel for the first time at once.
static FIRST_LAUNCH_LOCK: Mutex<()> = Mutex::new(());

/// Identifies a version: the kernel, the work-items of its groups, and whether there are many groups.
type LaunchShape = (usize, u32, bool);

/// Records the versions that a device has launched.
#[derive(Debug, Default)]
pub(super) struct LaunchedShapes(Mutex<HashSet<LaunchShape>>);

fn launch_shape(kernel: KernelHandle, shape: LaunchConfig) -> LaunchShape {
    (kernel.0, shape.group_size, shape.groups >= LARGE)
}

impl LaunchedShapes {
    /// Returns whether the version has been launched.
    pub fn has(&self, kernel: KernelHandle, shape: LaunchConfig) -> bool {
        lock(&self.0).contains(&launch_shape(kernel, shape))
    }

    /// Launches a version for the first time.
    pub fn first(&self, kernel: KernelHandle, shape: LaunchConfig, launch: impl FnOnce() -> Result<()>) -> Result<()> {
        let _turn = lock(&FIRST_LAUNCH_LOCK);
        launch()?;
        lock(&self.0).insert(launch_shape(kernel, shape));
        Ok(())
    }
}
