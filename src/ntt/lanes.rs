//! Transforms vectors in host memory on one device, in two lanes that take turns, so that copies in both directions and
//! kernels overlap.

use std::sync::Arc;

use super::outcome::{Overwritten, Part, Transformed};
use super::passes::Layout;
use super::queue::Queue;
use super::{Transform, streamed};
use crate::backend::{Abort, Buffer, Device, HostBuffer, Stream, Traffic, check_abort};
use crate::field::{NttField, as_bytes};
use crate::side_by_side::side_by_side;
use crate::{Error, Result};

/// Vectors in flight: one is uploaded while the other is downloaded.
const LANES: usize = 2;

/// Maximum size of a vector that is only written once all of its result has been fetched, if others are in flight
/// meanwhile.
const SMALL_BYTES: usize = 8 << 20;
/// Maximum size of such a vector if it is alone.
const SMALL_BYTES_ALONE: usize = 32 << 20;

/// Holds a vector and its transform.
type Job<'a, 'b, F> = (&'a mut [F], &'b Transform<F>);

/// Transforms vectors on one device. If memory is short, one vector waits for the others; one that does not fit alone
/// is streamed.
pub(super) fn transform_on<'a, F: NttField>(
    device: &Arc<Device>,
    values: &'a mut [&mut [F]],
    transforms: &[Transform<F>],
    stop: Abort<'_>,
) -> Result<Part<'a, F>> {
    let mut jobs: [Vec<Job<'a, '_, F>>; LANES] = Default::default();
    for (number, (slice, transform)) in values.iter_mut().zip(transforms).enumerate() {
        jobs[number % LANES].push((&mut **slice, transform));
    }
    let small = if transforms.len() == 1 { SMALL_BYTES_ALONE } else { SMALL_BYTES };
    let lanes = jobs.into_iter().filter(|jobs| !jobs.is_empty());
    let lanes = side_by_side("ntt", lanes, |jobs| Lane::new(device, small)?.run(jobs, stop));
    let mut whole = Part { done: Vec::new(), traffic: Traffic::default() };
    let mut left = Vec::new();
    for lane in lanes {
        let (part, no_room) = lane?;
        whole.add(part);
        left.extend(no_room);
    }
    for job in left {
        let (part, no_room) = Lane::new(device, small)?.run(vec![job], stop)?;
        whole.add(part);
        no_room.into_iter().try_for_each(|job| whole.stream_through(device, job, stop))?;
    }
    Ok(whole)
}

impl<'a, F: NttField> Part<'a, F> {
    fn add(&mut self, other: Self) {
        self.done.extend(other.done);
        self.traffic = self.traffic + other.traffic;
    }

    fn stream_through(&mut self, device: &Arc<Device>, job: Job<'a, '_, F>, stop: Abort<'_>) -> Result<()> {
        let (slice, transform) = job;
        let (result, traffic) = streamed::transform(device, slice, transform, stop)?;
        self.traffic = self.traffic + traffic;
        self.done.push(Transformed::Beside(slice, result));
        Ok(())
    }
}

/// Holds a lane's results, and the vectors that there was no memory for.
type Ran<'a, 'b, F> = (Part<'a, F>, Vec<Job<'a, 'b, F>>);

/// Uploads, transforms and downloads one vector at a time.
struct Lane {
    stream: Stream,
    /// Maximum bytes of a vector that is only written once all of its result has been fetched.
    small: usize,
}

/// Holds a vector's memory on the device, and memory of its size on the host.
struct Room {
    queue: Queue,
    data: Buffer,
    other: Option<Buffer>,
    host: HostBuffer,
}

impl Room {
    fn launch(&self, stream: &mut Stream) -> Result<()> {
        stream.mark_start()?;
        self.queue.queue(stream, &self.data, self.other.as_ref())?;
        stream.mark_end()
    }
}

impl Lane {
    fn new(device: &Arc<Device>, small: usize) -> Result<Self> {
        Ok(Self { stream: device.stream()?, small })
    }

    /// Transforms all vectors, and returns those that there was no memory for.
    fn run<'a, 'b, F: NttField>(mut self, jobs: Vec<Job<'a, 'b, F>>, stop: Abort<'_>) -> Result<Ran<'a, 'b, F>> {
        let (mut done, mut no_room) = (Vec::new(), Vec::new());
        for (slice, transform) in jobs {
            check_abort(stop)?;
            match self.room(slice, transform) {
                Ok(room) if size_of_val(slice) <= self.small => done.push(self.at_once(slice, room, stop)?),
                Ok(room) => done.push(self.by_parts(slice, room, stop)?),
                Err(Error::OutOfMemory { .. }) => no_room.push((slice, transform)),
                Err(error) => return Err(error),
            }
        }
        Ok((Part { done, traffic: self.stream.traffic() }, no_room))
    }

    fn room<F: NttField>(&mut self, slice: &[F], transform: &Transform<F>) -> Result<Room> {
        let stream = &mut self.stream;
        let layout = Layout { vectors: 1, stride: slice.len() as u64 };
        let bytes = size_of_val(slice);
        let queue = Queue::new(stream, transform, layout, 0)?;
        let data = stream.allocate(bytes)?.secret();
        let other = queue.other(stream, &data)?;
        Ok(Room { queue, data, other, host: stream.host_buffer(bytes)? })
    }

    /// Transforms a vector. The slice stays unchanged until its result is there, so no copy of it is needed.
    fn at_once<'a, F: NttField>(
        &mut self,
        slice: &'a mut [F],
        mut room: Room,
        stop: Abort<'_>,
    ) -> Result<Transformed<'a, F>> {
        let stream = &mut self.stream;
        stream.upload(&room.data, as_bytes(slice))?;
        room.launch(stream)?;
        stream.fetch(&mut room.host, &room.data)?;
        stream.wipe_staging();
        stream.wait(stop)?;
        Ok(Transformed::Fetched(slice, room.host))
    }

    /// Transforms a vector. The slice receives fetched parts while the rest is in flight.
    fn by_parts<'a, F: NttField>(
        &mut self,
        slice: &'a mut [F],
        mut room: Room,
        stop: Abort<'_>,
    ) -> Result<Transformed<'a, F>> {
        let stream = &mut self.stream;
        stream.upload_keeping(&room.data, &mut room.host, as_bytes(slice), stop)?;
        room.launch(stream)?;
        if stop.is_some() {
            stream.wait(stop)?;
        }
        let vector = Overwritten::fetch(stream, &room.data, (slice, room.host), stop)?;
        stream.wait(None)?;
        Ok(Transformed::InPlace(vector))
    }
}
