//! Plans a multi-scalar multiplication: windows, chunks, bands, pieces and memory, and how devices share it. It
//! computes sizes only and uses no device. Callers pass in the device's properties that a plan depends on, such as its
//! compute units and its free memory.

mod bands;
mod chunks;
mod costs;
mod cut;
mod grid;
mod groups;
mod joins;
mod layout;
mod model;
mod problem;
mod search;
mod segments;
mod split;
#[cfg(test)]
pub(super) mod tests;
mod windows;

pub(super) use cut::{Band, Cut};
pub(super) use grid::{Grid, Windows};
pub(crate) use joins::even;
pub(super) use joins::{IN_FLIGHT, MOST_JOINED, best_joined, in_flight};
pub(super) use layout::Plan;
pub(super) use problem::{Need, Problem};
pub(super) use split::{Split, cheapest, divisors};
