//! Plans a multi-scalar multiplication: windows, chunks, bands, pieces and memory, and how devices share it. It
//! computes sizes only and uses no device. Callers pass in the device's properties that a plan depends on, such as its
//! compute units and its free memory.

mod batching;
mod chunk_lengths;
mod cost_constants;
mod cost_model;
mod device_windows;
mod matrix_and_buffer_sizes;
mod mesh;
mod msm_plan;
mod plan_input;
mod search;
mod sharding;
mod window_bands_and_rounds;
mod windows_and_segments;

#[cfg(test)]
pub(super) mod tests;

pub(crate) use batching::IN_FLIGHT;
pub(crate) use batching::balanced_len;
pub(super) use batching::{MAX_BATCH, best_batch_size, max_in_flight};
pub(super) use matrix_and_buffer_sizes::{MatrixSizes, WindowRange};
pub(super) use mesh::{DeviceMesh, WindowAssignment};
pub(super) use msm_plan::MsmPlan;
pub(super) use plan_input::PlanInput;
pub(super) use sharding::{Sharding, argmin_cost, divisors};
