//! Number-theoretic transforms over the fields of [`crate::field`].

mod cpu;
mod domain;
mod elements;
mod extended;
mod gpu;
mod lanes;
mod limbs;
mod many;
mod outcome;
mod passes;
mod peer_passes;
mod peers;
mod pinned;
mod plan;
mod queue;
mod streamed;
mod tables;
mod transform;
mod vectors;

pub use domain::{Direction, NttDomain, Options};
pub use extended::ExtendedDomain;
pub use many::transform_many;
pub use passes::Layout;
pub use peers::PeerVector;
pub(crate) use tables::Powers;
pub use transform::{Order, TableSize, Transform};
