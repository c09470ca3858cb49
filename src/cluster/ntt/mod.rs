//! Transforms vectors that are in slices.
//!
//! A vector of N = P·Q is a matrix over the ranks. Index i = i₁·Q + i₂ of the input belongs to column i₂, index j = j₁
//! + P·j₂ of the output to row j₁. Each rank
//!
//! - transforms its columns, and multiplies them by the twiddles ω^(i₂·j₁)
//! - sends every other rank the part of each column that belongs to that rank's rows
//! - transforms its rows
//!
//! So coefficients are distributed by their index modulo Q, and values by their index modulo P ([`CyclicLayout`]). An
//! inverse transform goes the same way back. No messages are needed except those between the dimensions. Cosets are
//! shifts within the two dimensions: (g·ω^j)^i is g^(Q·i₁) in a column, and g^i₂ in a row.
//!
//! Columns are worked on in blocks. While one block is transformed, the one before is sent.

mod layout;
mod local;
mod rounds;

use std::time::Instant;

use layout::ClusterNttPlan;
pub use layout::CyclicLayout;
use local::LocalPass;
use rounds::{BufferCache, Rounds};

use super::cluster_handle::Cluster;
use crate::backend::{Abort, DeviceInfo, StreamStats};
use crate::field::NttField;
use crate::ntt::{Direction, NttDomain, NttOptions};
use crate::report::OpScope;
use crate::secret_vec::SecretVec;
use crate::{Error, Report, Result};

const ERROR_CONTEXT: &str = "cluster ntt";
/// Default maximum bytes of a block of columns, 32 MiB. Such a block makes several messages of megabytes each.
const BLOCK_BYTES: usize = 32 << 20;
/// Maximum log n, 32: exponents of twiddles have 32 bits.
const MAX_LOG_N: u32 = 32;

/// Configures a [`ClusterNtt`]. All ranks must give the same options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClusterNttOptions<F> {
    /// The coset's generator; with `None`, the field's multiplicative generator.
    pub coset: Option<F>,
    /// Maximum bytes of a block of columns; a block has at least one column.
    pub block_bytes: usize,
}

impl<F> Default for ClusterNttOptions<F> {
    fn default() -> Self {
        Self { coset: None, block_bytes: BLOCK_BYTES }
    }
}

/// Holds a subgroup of order `2^log_n` and a coset of it, for transforms of vectors that are distributed over the
/// ranks. It is [`NttDomain`] for a cluster.
///
/// ```no_run
/// use proofwarp::cluster::{Cluster, ClusterNtt, mpi};
/// use proofwarp::ntt::Direction;
///
/// let universe = mpi::initialize().ok_or("MPI runs already")?;
/// let cluster = Cluster::new(&universe.world())?;
/// let ntt = ClusterNtt::<blstrs::Scalar>::new(&cluster, 20)?;
/// let of = |index: usize| blstrs::Scalar::from(index as u64);
/// let mut slice: Vec<_> = (0..ntt.coefficients().length(cluster.rank()))
///     .map(|position| of(ntt.coefficients().index(cluster.rank(), position)))
///     .collect();
/// ntt.run(Direction::Forward, &mut slice, None)?; // now the rank's values
/// ntt.run(Direction::Inverse, &mut slice, None)?;
/// assert!(slice.first().is_none_or(|first| *first == of(ntt.coefficients().index(cluster.rank(), 0))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ClusterNtt<'c, F: NttField> {
    cluster: &'c Cluster,
    whole: NttDomain<F>,
    plan: ClusterNttPlan,
    block_bytes: usize,
    spare: BufferCache<F>,
}

impl<'c, F: NttField> ClusterNtt<'c, F> {
    /// Creates the subgroup of order `2^log_n`, with the field's multiplicative generator for the coset. Called by all
    /// ranks.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: `log_n` is above the field's two-adicity or 32, or differs between ranks.
    /// - [`Error::Invalid`]: there is only one rank, whose `log_n` is above either.
    pub fn new(cluster: &'c Cluster, log_n: u32) -> Result<Self> {
        Self::with_options(cluster, log_n, ClusterNttOptions::default())
    }

    /// Creates a domain like [`Self::new`], with `options`. Called by all ranks.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: options differ between ranks, or the coset's generator is zero.
    /// - [`Error::Invalid`]: there is only one rank, whose coset's generator is zero.
    /// - The errors of [`Self::new`].
    pub fn with_options(cluster: &'c Cluster, log_n: u32, options: ClusterNttOptions<F>) -> Result<Self> {
        let domain_options = NttOptions { coset: options.coset, ..NttOptions::default() };
        let domain = NttDomain::with_options(cluster.accelerator(), log_n, domain_options);
        let domain = domain.and_then(|domain| match log_n {
            0..=MAX_LOG_N => Ok(domain),
            _ => Err(Error::invalid(ERROR_CONTEXT, "log_n", format!("at most {MAX_LOG_N}"), log_n)),
        });
        let whole = cluster.all_or_error(domain)?;
        cluster.check_replicated("size and options of the transform", format!("{log_n} {options:?}").as_bytes())?;
        let plan = ClusterNttPlan::new(log_n, cluster.size());
        Ok(Self { cluster, whole, plan, block_bytes: options.block_bytes, spare: BufferCache::new() })
    }

    /// Returns the layout of coefficients, which states the coefficients that each rank has.
    pub fn coefficients(&self) -> &CyclicLayout {
        &self.plan.coefficients
    }

    /// Returns the layout of values, which states the values that each rank has.
    pub fn values(&self) -> &CyclicLayout {
        &self.plan.values
    }

    /// Returns the domain as one process would use it: its roots of unity, coset and order.
    pub fn domain(&self) -> &NttDomain<F> {
        &self.whole
    }

    /// Transforms a vector that is distributed over the ranks: forward from coefficients to values, inverse from values
    /// to coefficients. This rank's `slice` is replaced by its slice of the result, whose length may differ. Each rank
    /// computes O(N·log N / ranks) multiplications and sends N/ranks elements. Called by all ranks.
    ///
    /// Only the first two devices of a rank are used: start one rank per device to use more. The memory of one slice is
    /// cleared and kept for the next call.
    ///
    /// # Errors
    /// - [`Error::Rank`] on all ranks: a rank has a slice of another length.
    /// - [`Error::Rank`] on all ranks: a rank aborted or failed.
    /// - [`Error::Aborted`]: this rank's own hook aborted.
    /// - The errors of [`NttDomain::run`]: there is only one rank.
    ///
    /// After an error, slices are unchanged.
    pub fn run(&self, direction: Direction, slice: &mut Vec<F>, abort: Abort<'_>) -> Result<Report> {
        if self.cluster.size() == 1 {
            return self.cluster.time_compute(|| self.whole.run(direction, &mut [slice], abort));
        }
        let start = Instant::now();
        let (from, _) = self.input_output_layouts(direction);
        let (expected, actual) = (from.length(self.cluster.rank()), slice.len());
        let fits = if expected == actual {
            Ok(())
        } else {
            Err(Error::invalid(ERROR_CONTEXT, "length of the slice", expected, actual))
        };
        self.cluster.all_or_error(fits)?;
        let (result, traffic, fallbacks) = self.transform(direction, slice, abort)?;
        // The old slice may be as secret as the new one.
        self.spare.keep_only(SecretVec(std::mem::replace(slice, result)));
        Ok(self.report(start, traffic, fallbacks))
    }

    fn transform(
        &self,
        direction: Direction,
        slice: &[F],
        abort: Abort<'_>,
    ) -> Result<(Vec<F>, StreamStats, Vec<String>)> {
        let [columns, rows] = self.cluster.all_or_error(self.column_row_passes(direction))?;
        let (from, to) = self.input_output_layouts(direction);
        let rounds = Rounds::new(self.cluster, (from, to), columns, (self.block_bytes, &self.spare));
        let mut result = rounds.run(slice, abort)?;
        let mut done = self
            .cluster
            .all_or_error(self.cluster.time_compute(|| rounds.transform_rows(&rows, &mut result, abort)))?;
        done.extend(rounds.into_stats());
        let traffic = done.iter().fold(StreamStats::default(), |sum, done| sum + done.traffic);
        let mut fallbacks: Vec<String> = done.into_iter().filter_map(|done| done.fallback).collect();
        fallbacks.dedup();
        Ok((std::mem::take(&mut result.0), traffic, fallbacks))
    }

    /// Returns the layouts of the input and of the output of a transform in `direction`.
    fn input_output_layouts(&self, direction: Direction) -> (&CyclicLayout, &CyclicLayout) {
        let ClusterNttPlan { coefficients, values } = &self.plan;
        match direction {
            Direction::Forward | Direction::CosetForward => (coefficients, values),
            Direction::Inverse | Direction::CosetInverse => (values, coefficients),
        }
    }

    /// Returns the transforms that this rank runs on columns, then on rows, for `direction`.
    fn column_row_passes(&self, direction: Direction) -> Result<[LocalPass<F>; 2]> {
        let (from, to) = self.input_output_layouts(direction);
        let g = self.whole.coset();
        let power = |count: usize| g.pow_vartime([count as u64]);
        // A column takes the first part of the shift, a row the rest.
        let cosets = match direction {
            Direction::CosetInverse => [g, power(to.class_count())],
            _ => [power(from.class_count()), g],
        };
        let omega = self.whole.transform(direction).omega;
        let local = |log_n: u32, coset: F, between: Option<(F, u32)>| {
            let options = NttOptions { coset: Some(coset), ..NttOptions::default() };
            let domain = NttDomain::with_options(self.cluster.accelerator(), log_n, options)?;
            Ok(LocalPass { domain, direction, between })
        };
        let columns = local(from.class_length_log(), cosets[0], Some((omega, self.whole.log_n())))?;
        Ok([columns, local(to.class_length_log(), cosets[1], None)?])
    }

    fn report(&self, start: Instant, traffic: StreamStats, fallbacks: Vec<String>) -> Report {
        let call = OpScope { operation: format!("cluster ntt {}", F::NAME), elements: 1 << self.whole.log_n() };
        let device = self.cluster.accelerator().devices().first().filter(|_| fallbacks.is_empty());
        let (backend, name) = DeviceInfo::backend_and_name(device.map(|device| device.info()));
        call.report_success(backend, name, start, traffic, fallbacks)
    }
}
