//! Handles first launches on drivers, such as PoCL, that compile a kernel again for its launch shape.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::Result;
use crate::backend::{KernelHandle, LaunchConfig, lock};

/// Minimum number of work-groups, 65,536, for which PoCL compiles another version of a kernel.
const LARGE: u32 = 1 << 16;

/// Serialises first launches in the process. PoCL 3.1 may fail an assertion, which ends the process, if two threads
/// launch one kernel for the first time at once.
static FIRST_LAUNCH_LOCK: Mutex<()> = Mutex::new(());

/// Identifies a compiled version of a kernel: its handle, its number of work-items per group, and whether it has at
/// least `LARGE` groups.
type LaunchShape = (usize, u32, bool);

/// Records the compiled kernel versions that a device has launched.
#[derive(Debug, Default)]
pub(crate) struct LaunchedShapes(Mutex<HashSet<LaunchShape>>);

fn launch_shape(kernel: KernelHandle, shape: LaunchConfig) -> LaunchShape {
    (kernel.0, shape.group_size, shape.groups >= LARGE)
}

impl LaunchedShapes {
    /// Returns whether `kernel` has been launched in a shape that uses the same compiled version as `shape`.
    pub(crate) fn was_launched(&self, kernel: KernelHandle, shape: LaunchConfig) -> bool {
        lock(&self.0).contains(&launch_shape(kernel, shape))
    }

    /// Calls `launch`, which launches `kernel` in this `shape` for the first time, while no other first launch runs.
    /// Records the version if `launch` succeeds.
    pub(crate) fn run_first_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchConfig,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _turn = lock(&FIRST_LAUNCH_LOCK);
        launch()?;
        lock(&self.0).insert(launch_shape(kernel, shape));
        Ok(())
    }
}
