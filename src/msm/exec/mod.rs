//! Queues multiplications on devices, and finishes them on the host.

mod accumulate;
mod batches;
mod choose_sharding;
mod decision_cache;
mod device_batch;
mod digit_matrix;
mod gpu;
mod host_reduce;
mod kernel_queue;
mod msm_request;
mod pipeline;
mod plan_selection;

pub(super) use batches::batch_size;
pub(crate) use batches::resident_batch_bytes;
pub(super) use choose_sharding::{choose_mesh, choose_sharding};
pub(super) use decision_cache::PlanMemos;
pub(super) use gpu::{finish, msm, start};
pub(super) use host_reduce::single_sum;
pub(super) use msm_request::{DeviceBases, MsmRequest};
pub(super) use pipeline::Pipeline;
pub(super) use plan_selection::plan_for;
