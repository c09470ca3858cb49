//! Memory of rounds on a device beside the columns: for what passes find, for the last rows, and for what terms are.
#![deny(clippy::arithmetic_side_effects)]

use super::field::WorkField;
use super::gpu_columns::elements;
use super::message::Point;
use super::pairs;
use super::plan::{GROUP, Plan};
use super::shape::Shape;
use super::sizes::{bytes, product};
use crate::Result;
use crate::backend::{Abort, Arg, Buffer, HostBuffer, Stream};
use crate::field::{DeviceVector, Element, SecretVec, as_bytes};
use crate::program::{Program, mem};

/// `POINT_INFINITY` of the kernels.
const INFINITY: u32 = u32::MAX;
/// Bytes from a pass's number to its values: these are aligned.
const VALUES_AT: usize = 64;

/// Memory for the values of a round's polynomial.
pub(super) struct Sums {
    partials: Buffer,
    /// For the values, where kernels cannot write to the host's memory.
    totals: Option<Buffer>,
    /// Where they can, the number of the pass whose values these are, which begin behind [`VALUES_AT`] bytes; else values alone.
    fetched: HostBuffer,
    /// How many groups of a pass have ended.
    ended: Buffer,
    /// Passes so far.
    passes: u32,
}

/// Memory for the columns' last rows, side by side: the host's, and the device's unless a kernel writes to that.
pub(super) struct LastRows<W: Element> {
    pub host: HostBuffer,
    pub packed: Option<DeviceVector<W>>,
}

/// What terms and weights are on the device.
pub(super) struct Tables {
    pub words: Buffer,
    pub coefficients: Buffer,
    pub weights: Buffer,
}

impl Sums {
    pub fn new<W: WorkField>(stream: &mut Stream, shape: &Shape<W>, plan: &Plan) -> Result<Self> {
        // A pass for one round has fewer sums than one for two.
        let (groups, points) = match plan.pairs {
            true => (plan.pair_groups, pairs::values(shape.degree)),
            false => (plan.groups, shape.points.len()),
        };
        let values = bytes::<W>(points)?;
        let partials = stream.scratch(product(groups as usize, values)?)?;
        let mut fetched = stream.host_buffer(VALUES_AT.saturating_add(values))?;
        fetched.contents()[..VALUES_AT].fill(0);
        let totals = match fetched.on_device(0) {
            Some(_) => None,
            None => Some(stream.scratch(fetched.bytes())?),
        };
        let ended = stream.scratch(size_of::<u32>())?;
        stream.zero(&ended)?;
        Ok(Self { partials, totals, fetched, ended, passes: 0 })
    }

    /// The arguments by which the next pass says what it found.
    pub fn next_pass(&mut self) -> [Arg; 5] {
        self.passes = self.passes.wrapping_add(1);
        // A kernel that cannot reach the host's memory leaves partial sums, and looks at neither.
        let there = |at| self.fetched.on_device(at).unwrap_or_else(|| mem(&self.partials));
        [mem(&self.partials), Arg::U32(self.passes), there(VALUES_AT), mem(&self.ended), there(0)]
    }

    /// Waits for all kernels so far by a word of the last one, where they can reach the host: it is there earlier than the
    /// driver's own.
    pub fn wait_for_kernels(&mut self, stream: &mut Stream, program: Program, abort: Abort<'_>) -> Result<()> {
        let Some(told) = self.fetched.on_device(0) else { return stream.wait(abort) };
        self.passes = self.passes.wrapping_add(1);
        // SAFETY: the arguments are those of the kernel, and there is room for the word.
        unsafe { program.launch(stream, "sumcheck_tell", 1, 1, &[Arg::U32(self.passes), told])? };
        stream.wait_for_word(&self.fetched, self.passes, abort)
    }

    /// The values of a pass of a field's program, of so many groups and points, once they are there.
    pub fn values<E: Element>(
        &mut self,
        stream: &mut Stream,
        program: Program,
        (groups, points): (u32, usize),
        abort: Abort<'_>,
    ) -> Result<Vec<E>> {
        let Some(totals) = &self.totals else {
            stream.wait_for_word(&self.fetched, self.passes, abort)?;
            return Ok(elements(&self.fetched, VALUES_AT, points));
        };
        let args = [Arg::U32(groups), Arg::U32(points as u32), mem(&self.partials), mem(totals)];
        // SAFETY: the arguments are those of the kernel, and the pass before it wrote so many partial sums.
        unsafe { program.launch(stream, "sumcheck_totals", GROUP.into(), GROUP, &args)? };
        stream.fetch(&mut self.fetched, totals)?;
        stream.wait(abort)?;
        Ok(elements(&self.fetched, 0, points))
    }
}

impl<W: Element> LastRows<W> {
    /// For so many elements, which a fold writes to the host's memory, if there is one and it can.
    pub fn new(stream: &Stream, elements: usize, is_folded: bool) -> Result<Self> {
        let host = stream.host_buffer(bytes::<W>(elements)?)?;
        let packed = match host.on_device(0) {
            Some(_) if is_folded => None,
            _ => Some(DeviceVector::unwritten(stream, elements)?),
        };
        Ok(Self { host, packed })
    }

    /// A column of so many rows, once they are there.
    pub fn column(&self, number: usize, rows: usize) -> SecretVec<W> {
        SecretVec(elements(&self.host, number.saturating_mul(rows).saturating_mul(size_of::<W>()), rows))
    }
}

impl Tables {
    pub fn new<W: WorkField>(stream: &mut Stream, shape: &Shape<W>) -> Result<Self> {
        let coefficients: Vec<W> = shape.terms.iter().map(|term| term.coefficient).collect();
        let weights = shape.weights.as_ref().map_or_else(Vec::new, super::eq::Weights::table);
        let words: Vec<u8> = words(shape).into_iter().flat_map(u32::to_le_bytes).collect();
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

/// Numbers of points, then of each term: how many factors, and their columns.
fn words<W>(shape: &Shape<W>) -> Vec<u32> {
    let number = |point: &Point| if let Point::At(number) = point { *number } else { INFINITY };
    let mut words: Vec<u32> = shape.points.iter().map(number).collect();
    for term in &shape.terms {
        words.push(term.columns.len() as u32);
        words.extend(term.columns.iter().map(|column| *column as u32));
    }
    words
}
