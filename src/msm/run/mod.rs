//! Queues multiplications on devices, and finishes them on the host.

mod combine;
mod enqueue;
mod gpu;
mod job;
mod joined;
mod kept;
mod pipeline;
mod plans;
mod spread;
mod together;
mod work;

pub(super) use gpu::{msm, split, start};
pub(super) use joined::most;
pub(super) use kept::Choices;
pub(super) use pipeline::Pipeline;
pub(super) use plans::plan_for;
pub(super) use spread::{grid, split as split_for};
pub(super) use work::{Bases, Work};
