//! Describes what a device can do, so that algorithms need not ask for the name of its backend.

use crate::kernels::msm;

/// Minimum alignment of memory on devices with unified addresses in bytes, 256. All allocations of CUDA have it, and so
/// have parts of them in the pool.
pub(crate) const UNIFIED_ALIGN: usize = 256;

/// Describes what a device can do beyond the portable kernels' needs. Its backend fills it when it finds the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "capabilities do not depend on each other")]
pub struct DeviceCaps {
    /// Whether work-groups that have started run on, whatever other groups do, so that groups may wait for each other.
    /// Kernels with `HAS_FORWARD_PROGRESS` rely on it. True on CUDA, false on OpenCL, which does not promise it.
    pub forward_progress: bool,
    /// Whether kernels may write to pinned memory at its host address (CUDA: unified virtual addressing). The host may
    /// then see the writes before the kernels end. False on OpenCL.
    pub mapped_host_memory: bool,
    /// Whether all memory of the backend's devices is in one address space (CUDA: unified virtual addressing). Handles
    /// are then addresses: kernels reach one buffer by an offset from another, and devices copy from each other's
    /// memory. False on OpenCL, whose handles are objects.
    pub unified_addresses: bool,
    /// Whether memory of several of the backend's devices can be mapped at consecutive addresses (CUDA: virtual memory
    /// management). False on OpenCL.
    pub peer_memory: bool,
    /// Whether streams can wait for events of the backend's other devices. False on OpenCL, where each device has its
    /// own context.
    pub cross_device_events: bool,
    /// Whether a kernel may start before the previous one of its stream has ended (CUDA: programmatic dependent launch,
    /// from compute capability 9.0 on). False on OpenCL.
    pub dependent_launch: bool,
    /// Whether tensor cores multiply 8-bit integers by `mma.sync` (CUDA, from compute capability 8.0 on). False on
    /// OpenCL, which has no access to them.
    pub int8_tensor_cores: bool,
    /// Whether warpgroups multiply matrices by `wgmma` (CUDA, compute capability 9.0 only). False on OpenCL.
    pub warpgroup_matrix: bool,
    /// Whether kernels with carry-less multiply-add (PTX `clmad`) run (CUDA, from compute capability 8.0 on). False on
    /// OpenCL.
    pub carryless_multiply: bool,
    /// Number of work-items that execute in lockstep: a warp (NVIDIA) or a wavefront (AMD). `None` if the driver does
    /// not report it.
    pub warp_width: Option<u32>,
    /// Maximum entries that a work-group of the MSM's sort handles: `SORT_TILE_MAX` of the backend's kernel language.
    /// Local memory bounds it.
    pub max_sort_tile: u32,
}

impl DeviceCaps {
    /// Capabilities that all devices have: those of OpenCL 1.2, with 32 KiB of local memory (`cl/dialect.cl`).
    pub const PORTABLE: Self = Self {
        forward_progress: false,
        mapped_host_memory: false,
        unified_addresses: false,
        peer_memory: false,
        cross_device_events: false,
        dependent_launch: false,
        int8_tensor_cores: false,
        warpgroup_matrix: false,
        carryless_multiply: false,
        warp_width: None,
        max_sort_tile: msm::OPENCL_SORT_TILE,
    };

    /// Returns the capabilities of a CUDA device of compute capability `capability` (major, minor), whose warps have
    /// `warp_width` work-items.
    #[cfg(any(feature = "cuda", test))]
    pub(super) fn for_cuda(capability: (u32, u32), warp_width: u32) -> Self {
        Self {
            forward_progress: true,
            mapped_host_memory: true,
            unified_addresses: true,
            peer_memory: true,
            cross_device_events: true,
            dependent_launch: capability >= (9, 0),
            int8_tensor_cores: capability >= (8, 0),
            warpgroup_matrix: capability == (9, 0),
            carryless_multiply: capability >= (8, 0),
            warp_width: Some(warp_width),
            max_sort_tile: msm::CUDA_SORT_TILE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceCaps;

    /// Returns whether the dialect `source` lets groups wait for others.
    fn has_forward_progress(source: &str) -> bool {
        source.lines().any(|line| line == "#define HAS_FORWARD_PROGRESS")
    }

    /// Checks that capabilities agree with the kernels that are compiled for the device.
    #[test]
    fn capabilities_are_those_of_the_dialects() {
        let dialects = [include_str!("../../cl/dialect.cl"), include_str!("../../cuda/dialect.cuh")];
        let caps = [DeviceCaps::PORTABLE, DeviceCaps::for_cuda((7, 5), 32)];
        assert_eq!(caps.map(|caps| caps.forward_progress), dialects.map(has_forward_progress));
    }

    /// Checks the instructions of compute capabilities 7.5 to 12.0.
    #[test]
    fn cuda_devices_have_the_instructions_of_their_generation() {
        let instructions = |capability| {
            let caps = DeviceCaps::for_cuda(capability, 32);
            [caps.int8_tensor_cores, caps.carryless_multiply, caps.warpgroup_matrix, caps.dependent_launch]
        };
        assert_eq!(instructions((7, 5)), [false; 4]);
        assert_eq!(instructions((8, 0)), [true, true, false, false]);
        assert_eq!(instructions((8, 9)), [true, true, false, false]);
        assert_eq!(instructions((9, 0)), [true; 4]);
        assert_eq!(instructions((12, 0)), [true, true, false, true]);
    }
}
