//! Vectors in host memory on one device: two in flight, so that copies both ways and kernels overlap.

use std::sync::Arc;

use super::gpu::{Exchanged, Part, Store};
use super::passes::Layout;
use super::{Transform, streamed, vectors};
use crate::backend::{Abort, Buffer, Device, HostBuffer, Mark, Stream, Traffic, check_abort};
use crate::field::{NttField, as_bytes};
use crate::{Error, Result};

/// Bytes that are fetched between two marks: long against a mark, short against a whole vector.
const CHUNK_BYTES: usize = 4 << 20;
/// Vectors in flight.
const LANES: usize = 2;

/// Transforms on one device. What has arrived is exchanged with its vector while others are on their way.
pub(super) fn transform_on<'a, F: NttField>(
    device: &Arc<Device>,
    values: &'a mut [&mut [F]],
    transforms: &[Transform<F>],
    stop: Abort<'_>,
) -> Result<Part<'a, F>> {
    let mut lanes = Lanes::new(device, values.len().min(LANES), stop)?;
    for (slice, transform) in values.iter_mut().zip(transforms) {
        lanes.add(slice, transform)?;
    }
    lanes.finish_all()?;
    lanes.close();
    Ok(Part { exchanged: lanes.done, traffic: lanes.traffic })
}

/// A vector on its way. Fields are dropped in this order: the vector gets back what it was, then the memory goes.
struct Flight<'a, F: NttField> {
    vector: Exchanged<'a, F>,
    /// Set after each chunk but the last, with the chunk's end.
    marks: Vec<(Mark, usize)>,
    _buffer: Buffer,
}

struct Lane<'a, F: NttField> {
    // Before the stream, which waits for it when dropped.
    flight: Option<Flight<'a, F>>,
    stream: Stream,
}

struct Lanes<'a, 'b, F: NttField> {
    device: &'b Arc<Device>,
    stop: Abort<'b>,
    open: Vec<Lane<'a, F>>,
    next: usize,
    done: Vec<Exchanged<'a, F>>,
    traffic: Traffic,
}

impl<'a, 'b, F: NttField> Lanes<'a, 'b, F> {
    fn new(device: &'b Arc<Device>, count: usize, stop: Abort<'b>) -> Result<Self> {
        let mut new = Self { device, stop, open: Vec::new(), next: 0, done: Vec::new(), traffic: Traffic::default() };
        new.open(count)?;
        Ok(new)
    }

    fn open(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            self.open.push(Lane { flight: None, stream: self.device.stream()? });
        }
        Ok(())
    }

    /// Drops the streams, so that their pools are there for others.
    fn close(&mut self) {
        for lane in self.open.drain(..) {
            self.traffic = self.traffic + lane.stream.traffic();
        }
    }

    /// Sends a vector on its way. Where memory is short, others land first; one that does not fit alone is streamed.
    fn add(&mut self, slice: &'a mut [F], transform: &Transform<F>) -> Result<()> {
        let lane = self.next % self.open.len();
        self.next += 1;
        self.finish(lane)?;
        let launched = match launch(&mut self.open[lane].stream, slice, transform) {
            Err(Error::OutOfMemory { .. }) => {
                self.finish_all()?;
                self.close();
                self.open(1)?;
                self.next = 0;
                launch(&mut self.open[0].stream, slice, transform).map(|launched| (0, launched))
            }
            other => other.map(|launched| (lane, launched)),
        };
        match launched {
            Ok((lane, (result, marks, buffer))) => {
                let vector = Exchanged::new(slice, Store::Pinned(result));
                self.open[lane].flight = Some(Flight { vector, marks, _buffer: buffer });
                Ok(())
            }
            Err(Error::OutOfMemory { .. }) => self.stream_through(slice, transform),
            Err(error) => Err(error),
        }
    }

    fn stream_through(&mut self, slice: &'a mut [F], transform: &Transform<F>) -> Result<()> {
        self.close();
        let (result, traffic) = streamed::transform(self.device, slice, transform, self.stop)?;
        self.traffic = self.traffic + traffic;
        self.open(1)?;
        self.next = 0;
        let mut vector = Exchanged::new(slice, Store::Plain(result));
        vector.advance_to_the_end();
        self.done.push(vector);
        Ok(())
    }

    /// Waits for a lane's vector, chunk by chunk.
    fn finish(&mut self, lane: usize) -> Result<()> {
        check_abort(self.stop)?;
        let Lane { stream, flight } = &mut self.open[lane];
        let Some(mut flight) = flight.take() else { return Ok(()) };
        stream.wipe_staging();
        for (mark, end) in flight.marks.drain(..) {
            stream.wait_until(&mark, self.stop)?;
            flight.vector.advance(end);
        }
        stream.wait(self.stop)?;
        flight.vector.advance_to_the_end();
        self.done.push(flight.vector);
        Ok(())
    }

    fn finish_all(&mut self) -> Result<()> {
        (self.next..self.next + self.open.len()).try_for_each(|number| self.finish(number % self.open.len()))
    }
}

/// What is on its way: the memory of the result, marks as [`fetch`] sets them, and device memory.
type Launched = (HostBuffer, Vec<(Mark, usize)>, Buffer);

fn launch<F: NttField>(stream: &mut Stream, input: &[F], transform: &Transform<F>) -> Result<Launched> {
    let layout = Layout { vectors: 1, stride: input.len() as u64 };
    let bytes = size_of_val(input);
    let queue = vectors::Queue::new(stream, transform, layout, 0)?;
    let data = stream.allocate(bytes)?.secret();
    let other = queue.other(stream, &data)?;
    let result = stream.host_buffer(bytes)?;
    stream.upload(&data, as_bytes(input))?;
    stream.mark_start()?;
    queue.queue(stream, &data, other.as_ref())?;
    stream.mark_end()?;
    let marks = fetch(stream, &result, &data)?;
    Ok((result, marks, data))
}

/// Queues the copies of a result; the marks are after all chunks but the last.
fn fetch(stream: &mut Stream, to: &HostBuffer, from: &Buffer) -> Result<Vec<(Mark, usize)>> {
    let last = to.bytes().saturating_sub(1) / CHUNK_BYTES;
    let mut marks = Vec::with_capacity(last);
    for chunk in 0..last {
        let end = (chunk + 1) * CHUNK_BYTES;
        stream.fetch_range(to, from, chunk * CHUNK_BYTES..end)?;
        marks.push((stream.mark()?, end));
    }
    stream.fetch_range(to, from, last * CHUNK_BYTES..to.bytes())?;
    Ok(marks)
}
