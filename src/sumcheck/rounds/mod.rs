//! Computes the rounds of a sumcheck on the host's cores, and plans rounds for hosts and devices.

mod checked_multiplication;
mod cpu;
mod eq;
mod plan;
mod round_poly;
pub(super) mod two_rounds;

pub(super) use checked_multiplication::{bytes, product};
pub(super) use cpu::{BaseRows, HostColumns};
pub(super) use eq::EqTables;
pub use plan::{ColumnOwnership, HOST_TAIL_LOG, KernelPath, SumcheckExplanation, SumcheckOptions};
pub(super) use plan::{SumcheckPlan, bitsliced_tail_log, check_options, is_binary};
pub use round_poly::RoundPolynomial;
pub(super) use round_poly::{Interpolation, Point, points};
pub(super) use two_rounds::TwoRoundState;
