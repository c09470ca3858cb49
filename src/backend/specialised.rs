//! First launches, for drivers that compile a kernel once more for the shape that it is launched in, as PoCL does.

use std::collections::HashSet;
use std::sync::Mutex;

use super::{KernelHandle, LaunchShape, lock};
use crate::Result;

/// PoCL has another version of a kernel for grids of so many groups.
const LARGE: u32 = 1 << 16;

/// One first launch at a time in the process: PoCL 3.1 may end it by an assertion where threads use one kernel for the first
/// time at once.
static TURN: Mutex<()> = Mutex::new(());

/// A kernel, the work-items of its groups, whether there are many groups.
type Version = (usize, u32, bool);

/// The versions that a device has launched.
#[derive(Debug, Default)]
pub(super) struct Specialised(Mutex<HashSet<Version>>);

fn version(kernel: KernelHandle, shape: LaunchShape) -> Version {
    (kernel.0, shape.group_size, shape.groups >= LARGE)
}

impl Specialised {
    /// Whether the version has been launched.
    pub fn has(&self, kernel: KernelHandle, shape: LaunchShape) -> bool {
        lock(&self.0).contains(&version(kernel, shape))
    }

    /// Launches a version that has not been.
    pub fn first(&self, kernel: KernelHandle, shape: LaunchShape, launch: impl FnOnce() -> Result<()>) -> Result<()> {
        let _turn = lock(&TURN);
        launch()?;
        lock(&self.0).insert(version(kernel, shape));
        Ok(())
    }
}
