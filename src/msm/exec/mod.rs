//! Queues multiplications on devices, and finishes them on the host.

mod accumulate;
mod batches;
mod choose_sharding;
mod decision_cache;
mod device_task;
mod digit_matrix;
mod gpu;
mod host_reduce;
mod kernel_queue;
mod msm_input;
mod pipeline;
mod plan_selection;

pub(super) use batches::batch_size;
pub(super) use choose_sharding::{choose_mesh, choose_sharding as split_for};
pub(super) use decision_cache::PlanMemos;
pub(super) use gpu::{choose_vector_sharding, msm, start_on_device};
pub(super) use msm_input::{DeviceBases, MsmInput};
pub(super) use pipeline::Pipeline;
pub(super) use plan_selection::plan_for;
