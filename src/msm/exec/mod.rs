//! Queues multiplications on devices, and finishes them on the host.

mod batch_resident;
mod batch_streamed;
mod device_task;
mod gpu;
mod host_reduce;
mod kernels;
mod pipeline;
mod plan_cache;
mod plans;
mod sharding;
mod work;

pub(super) use batch_resident::batch_size;
pub(super) use gpu::{msm, split, start};
pub(super) use pipeline::Pipeline;
pub(super) use plan_cache::PlanMemos;
pub(super) use plans::plan_for;
pub(super) use sharding::{choose_mesh, choose_sharding as split_for};
pub(super) use work::{Bases, MsmInput};
