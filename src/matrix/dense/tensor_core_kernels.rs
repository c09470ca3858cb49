//! Loads and launches the kernels of tensor cores, which multiply matrices of bytes.

use super::layout::DeviceView;
use crate::backend::{Buffer, Device, Stream};
use crate::kernel_arguments::{In, Kernel, Local, Out, Value};
use crate::kernels::gemm::{
    HOPPER, INT8, INT8_COLUMNS, INT8_GROUP, INT8_MMA_DEPTH, INT8_ROWS, INT8_STAGES, INT8_WGMMA_DEPTH, Int8Residues,
    Int8ResiduesParams, Int8Words, Int8WordsParams, TENSOR,
};
use crate::module_launcher::KernelModule;
use crate::{Error, Result};

/// Holds the loaded tensor-core kernels and how they are launched.
#[derive(Clone, Copy)]
pub(super) struct TensorCoreKernels {
    pub program: KernelModule,
    /// Bytes of local memory per work-group.
    pub local_bytes: u32,
    /// Maximum number of work-groups per launch. If work-groups loop over tiles, it is the number that the device runs
    /// at once.
    pub groups: usize,
}

impl TensorCoreKernels {
    /// Loads the tensor-core kernels for `device`. On compute capability 9.0 it prefers the Hopper kernels.
    ///
    /// # Errors
    /// - [`Error::Unsupported`]: the device has no tensor cores that the kernels support.
    /// - [`Error::Device`]: the kernels were not built in, or the driver refuses them.
    pub(super) fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        if !info.caps.int8_tensor_cores {
            let reason = "expected a CUDA device of compute capability 8.0 or later";
            return Err(Error::unsupported(&info.name, "products of residues", reason));
        }
        if info.caps.warpgroup_matrix {
            match Self::load_hopper(device) {
                Err(error) => log::debug!("dense products by instructions of 8.0: {error}"),
                found => return found,
            }
        }
        Self::load_ampere(device)
    }

    /// Loads the kernels that all devices from compute capability 8.0 on run.
    pub(super) fn load_ampere(device: &Device) -> Result<Self> {
        Self::load(device, TENSOR, INT8_MMA_DEPTH, usize::MAX)
    }

    /// Loads the kernels that devices of compute capability 9.0 alone run.
    pub(super) fn load_hopper(device: &Device) -> Result<Self> {
        Self::load(device, HOPPER, INT8_WGMMA_DEPTH, device.info().compute_units.max(1) as usize)
    }

    /// Loads the module `name`, whose stages have `depth` k each, for launches of at most `groups` work-groups.
    fn load(device: &Device, name: &str, depth: usize, groups: usize) -> Result<Self> {
        let program = KernelModule::find(&INT8, name)?;
        program.preload(device, Int8Words::NAME)?;
        let local_bytes = (INT8_STAGES * (INT8_ROWS + INT8_COLUMNS) * depth) as u32;
        Ok(Self { program, local_bytes, groups })
    }

    /// Returns the number of work-items that compute `tiles` tiles.
    fn items(&self, tiles: u32) -> u64 {
        u64::from(tiles).min(self.groups as u64) * u64::from(INT8_GROUP)
    }

    /// Queues the product of the bytes `a` and `b` into `c`.
    pub(super) fn launch_words(
        &self,
        stream: &mut Stream,
        params: &Int8WordsParams,
        [a, b]: [&Buffer; 2],
        c: DeviceView<'_>,
    ) -> Result<()> {
        let words = Int8Words {
            params: Value(params),
            a: In::new(a),
            b: In::new(b),
            c: c.as_out(),
            c_view: Value(&c.gemm_view()),
            local: Local(self.local_bytes),
        };
        self.program.run(stream, self.items(params.tiles), words)
    }

    /// Queues the products of the residues `a` and `b` into `out`. `table` holds the constants of the moduli.
    pub(super) fn launch_residues(
        &self,
        stream: &mut Stream,
        params: &Int8ResiduesParams,
        table: &Buffer,
        [a, b, out]: [&Buffer; 3],
    ) -> Result<()> {
        let residues = Int8Residues {
            params: Value(params),
            table: In::new(table),
            a: In::new(a),
            b: In::new(b),
            out: Out::new(out),
            local: Local(self.local_bytes),
        };
        self.program.run(stream, self.items(params.tiles), residues)
    }
}
