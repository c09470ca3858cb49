//! Allocates the memory of rounds on a device other than columns: for results of passes, the last rows, and the terms.
#![deny(clippy::arithmetic_side_effects)]

use super::column_transfers::read_elements;
use crate::Result;
use crate::backend::{Buffer, PinnedBuffer, Stream};
use crate::exec::ExecCtx;
use crate::field::{DeviceVector, Element, as_bytes};
use crate::kernel_arguments::{In, Out};
use crate::kernels::sumcheck::{POINT_INFINITY, SUMCHECK_GROUP, Signal, Totals};
use crate::module_launcher::KernelModule;
use crate::secret_vec::SecretVec;
use crate::sumcheck::claim::RoundShape;
use crate::sumcheck::field::ComputeField;
use crate::sumcheck::rounds::{Point, SumcheckPlan, bytes, product, two_rounds};

/// Offset in bytes of a pass's values from the pass's number, 64, so that the values are aligned.
const VALUES_AT: usize = 64;

/// Holds the memory by which the values of a round's polynomial reach the host.
pub(crate) struct RoundValueBuffers {
    partials: Buffer,
    /// Memory for the values if kernels cannot write to host memory.
    totals: Option<Buffer>,
    /// If kernels can write to host memory: the number of the pass, then its values from byte [`VALUES_AT`] on. Else
    /// only values.
    fetched: PinnedBuffer,
    /// Number of work-groups of a pass that have ended, on the device.
    ended: Buffer,
    /// Number of passes so far.
    passes: u32,
}

/// Holds the arguments by which a pass gets its number, and the memory for its results: elements of `E`.
pub(super) struct PassResults<'a, E> {
    pub pass: u32,
    pub partials: Out<'a, E>,
    pub totals: Out<'a, E>,
    pub ended: Out<'a, u32>,
    pub told: Out<'a, u32>,
}

/// Holds memory for the columns' last rows, one column after the other. `host` is pinned host memory. `packed` is
/// device memory, or `None` if a kernel writes to `host`.
pub(crate) struct LastRows<W: Element> {
    pub host: PinnedBuffer,
    pub packed: Option<DeviceVector<W>>,
}

/// Holds a claim's points, terms, coefficients and tables of eq in device memory.
pub(crate) struct TermTables {
    pub words: Buffer,
    pub coefficients: Buffer,
    pub weights: Buffer,
}

impl RoundValueBuffers {
    pub(super) fn new<W: ComputeField>(
        stream: &mut Stream,
        shape: &RoundShape<W>,
        plan: &SumcheckPlan,
    ) -> Result<Self> {
        // A pass for one round has fewer sums than one for two.
        let (groups, points) = match plan.pairs {
            true => (plan.pair_groups, two_rounds::pair_value_count(shape.degree)),
            false => (plan.groups, shape.points.len()),
        };
        let values = bytes::<W>(points)?;
        let partials = stream.scratch(product(groups as usize, values)?)?;
        let mut fetched = stream.allocate_pinned(VALUES_AT.saturating_add(values))?;
        fetched.as_mut_slice()[..VALUES_AT].fill(0);
        let totals = match fetched.kernel_handle(0) {
            Some(_) => None,
            None => Some(stream.scratch(fetched.bytes())?),
        };
        let ended = stream.scratch(size_of::<u32>())?;
        stream.zero(&ended)?;
        Ok(Self { partials, totals, fetched, ended, passes: 0 })
    }

    /// Counts the next pass, and returns the arguments that say where it writes its results.
    pub(super) fn begin_pass<E: Element>(&mut self) -> PassResults<'_, E> {
        self.passes = self.passes.wrapping_add(1);
        // Kernels that cannot write to host memory leave partial sums, and ignore both addresses.
        let there = |at| self.fetched.kernel_handle(at).unwrap_or_else(|| self.partials.handle());
        PassResults {
            pass: self.passes,
            partials: Out::new(&self.partials),
            totals: Out::from_handle(there(VALUES_AT)),
            ended: Out::new(&self.ended),
            told: Out::from_handle(there(0)),
        }
    }

    /// Waits for all kernels queued so far. If kernels can write to host memory, an additional kernel writes a word
    /// there. The host sees this word earlier than the driver's own signal.
    pub(super) fn wait_for_kernels(
        &mut self,
        stream: &mut Stream,
        program: KernelModule,
        ctx: ExecCtx<'_>,
    ) -> Result<()> {
        let Some(told) = self.fetched.kernel_handle(0) else { return ctx.synchronize(stream) };
        self.passes = self.passes.wrapping_add(1);
        program.run(stream, 1, Signal { pass: self.passes, told: Out::from_handle(told) })?;
        stream.wait_for_signal(&self.fetched, self.passes, ctx.abort())
    }

    /// Waits for the last pass, and returns its values at `points` points. The pass ran `groups` work-groups of a
    /// kernel of `program`.
    pub(super) fn fetch_values<E: Element>(
        &mut self,
        stream: &mut Stream,
        program: KernelModule,
        (groups, points): (u32, usize),
        ctx: ExecCtx<'_>,
    ) -> Result<Vec<E>> {
        let Some(totals) = &self.totals else {
            stream.wait_for_signal(&self.fetched, self.passes, ctx.abort())?;
            return Ok(read_elements(&self.fetched, VALUES_AT, points));
        };
        let (partials, to) = (In::<E>::new(&self.partials), Out::new(totals));
        program.run(stream, SUMCHECK_GROUP.into(), Totals { groups, points: points as u32, partials, totals: to })?;
        stream.copy_to_pinned(&mut self.fetched, totals)?;
        ctx.synchronize(stream)?;
        Ok(read_elements(&self.fetched, 0, points))
    }
}

impl<W: Element> LastRows<W> {
    /// Allocates memory for `elements` elements. It leaves out device memory if `is_folded` is true and kernels can
    /// write to host memory: the last fold then writes there.
    pub(super) fn new(stream: &Stream, elements: usize, is_folded: bool) -> Result<Self> {
        let host = stream.allocate_pinned(bytes::<W>(elements)?)?;
        let packed = match host.kernel_handle(0) {
            Some(_) if is_folded => None,
            _ => Some(DeviceVector::allocate_uninit(stream, elements)?),
        };
        Ok(Self { host, packed })
    }

    /// Returns the last `rows` rows of column `number` from host memory. The commands that write them must have ended.
    pub(super) fn column(&self, number: usize, rows: usize) -> SecretVec<W> {
        SecretVec(read_elements(&self.host, number.saturating_mul(rows).saturating_mul(size_of::<W>()), rows))
    }
}

impl TermTables {
    pub(super) fn new<W: ComputeField>(stream: &mut Stream, shape: &RoundShape<W>) -> Result<Self> {
        let coefficients: Vec<W> = shape.terms.iter().map(|term| term.coefficient).collect();
        let weights = shape.weights.as_ref().map_or_else(Vec::new, crate::sumcheck::rounds::EqTables::concat_tables);
        let words: Vec<u8> = encode_terms(shape).into_iter().flat_map(u32::to_le_bytes).collect();
        let mut table = |bytes: &[u8]| {
            let buffer = stream.allocate(bytes.len())?;
            stream.upload(&buffer, bytes).map(|()| buffer)
        };
        Ok(Self {
            words: table(&words)?,
            coefficients: table(as_bytes(&coefficients))?,
            weights: table(as_bytes(&weights))?,
        })
    }
}

/// Encodes the points and the terms for kernels. The number of each point comes first, then for each term the number of
/// its factors and their column numbers.
fn encode_terms<W>(shape: &RoundShape<W>) -> Vec<u32> {
    let number = |point: &Point| if let Point::At(number) = point { *number } else { POINT_INFINITY };
    let mut words: Vec<u32> = shape.points.iter().map(number).collect();
    for term in &shape.terms {
        words.push(term.columns.len() as u32);
        words.extend(term.columns.iter().map(|column| *column as u32));
    }
    words
}
