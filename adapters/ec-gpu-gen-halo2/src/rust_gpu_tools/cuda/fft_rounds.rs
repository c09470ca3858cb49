//! Runs the rounds of a transform.
//!
//! Callers transform 2^k elements by rounds of some levels each, from one buffer to the other and back. Each round has
//! the maximum number of levels; the last has those that are left. Here the rounds before the last do nothing, and the
//! last does the whole transform. The elements are in the buffer that it reads after an even number of earlier rounds,
//! otherwise in the one that it writes.

use halo2curves::bn256::Fr;
use proofwarp::backend::Stream;
use proofwarp::ntt::{Transform, transform_many};
use proofwarp::rayon_waits::{on_cpu_pool, run_off_pool};
use proofwarp::{Accelerator, BackendKind, Error};

use super::arguments::{ArgumentRef, Kind};
use super::buffer::{Column, Memory, Storage, column, lock, put, vector};
use crate::rust_gpu_tools::error::GPUResult;
use crate::rust_gpu_tools::queue::Queue;

/// Holds the arguments of a round, which is some consecutive levels of a transform.
struct Round<'a> {
    from: &'a Memory,
    to: &'a Memory,
    /// ω to the powers 2^i.
    omegas: &'a Memory,
    log_n: u32,
    log_p: u32,
    degree: u32,
    max_degree: u32,
}

/// Runs the round that `arguments` describe, on the device of `queue`, or on the host if `queue` is `None`. The last
/// round computes the whole transform, and the others do nothing.
pub(super) fn run(queue: Option<&Queue>, arguments: &[ArgumentRef<'_>]) -> GPUResult<()> {
    let round = Round::new(arguments)?;
    if round.log_p + round.degree < round.log_n {
        return Ok(());
    }
    let data = if (round.log_p / round.max_degree).is_multiple_of(2) { round.from } else { round.to };
    match queue {
        Some(queue) => round.on_device(queue, data)?,
        None => round.on_host(data)?,
    }
    round.to.forget_first();
    Ok(())
}

fn invalid(what: &str, expected: impl ToString, actual: impl ToString) -> Error {
    Error::invalid("transform", what, expected, actual)
}

impl<'a> Round<'a> {
    fn new(arguments: &[ArgumentRef<'a>]) -> GPUResult<Self> {
        let kinds: Vec<_> = arguments.iter().map(|given| given.0).collect();
        let [
            Kind::Memory(from),
            Kind::Memory(to),
            Kind::Memory(_),
            Kind::Memory(omegas),
            Kind::Local,
            Kind::Number(n),
            Kind::Number(log_p),
            Kind::Number(degree),
            Kind::Number(max_degree),
        ] = kinds[..]
        else {
            return Err(invalid("arguments", "4 buffers, local memory and 4 numbers", format!("{arguments:?}")).into());
        };
        let n = u32::try_from(n).ok().filter(|n| n.is_power_of_two());
        let log_n = n.ok_or_else(|| invalid("length", "a power of two below 2^32", "another"))?.ilog2();
        let level = |number: i64| u32::try_from(number).unwrap_or(u32::MAX).min(u32::BITS);
        let round =
            Self { from, to, omegas, log_n, log_p: level(log_p), degree: level(degree), max_degree: level(max_degree) };
        round.check()?;
        Ok(round)
    }

    fn check(&self) -> GPUResult<()> {
        let Self { log_n, log_p, degree, max_degree, .. } = *self;
        let all = 1 <= degree && degree <= max_degree && log_p + degree <= log_n && log_p.is_multiple_of(max_degree);
        if !all {
            let actual = format!("{degree} of at most {max_degree}, after {log_p} of {log_n}");
            return Err(invalid("levels of a round", "some of those left, all before it full", actual).into());
        }
        if std::ptr::eq(self.from, self.to) {
            return Err(invalid("buffers of a round", "two", "one").into());
        }
        let n = 1usize << log_n;
        for buffer in [self.from, self.to] {
            if buffer.len() < n {
                return Err(invalid("elements of a buffer", format!("at least {n}"), buffer.len()).into());
            }
        }
        if self.omegas.len() == 0 {
            return Err(invalid("powers of the root", "at least 1", 0).into());
        }
        Ok(())
    }

    fn on_device(&self, queue: &Queue, data: &Memory) -> GPUResult<()> {
        let (data, to) = (vector(data)?, vector(self.to)?);
        let known = *lock(&self.omegas.first);
        let omega = match known {
            Some(omega) => omega,
            None => self.omega_of_device(queue)?,
        };
        let transform = Transform::new(self.log_n, omega);
        let bytes = size_of::<Fr>() << self.log_n;
        Ok(queue.with(|stream: &mut Stream| {
            // Check before anything is written: an invalid root leaves all unchanged.
            transform.check(1 << self.log_n)?;
            if !std::ptr::eq(data, to) {
                stream.copy((to.buffer(), 0), (data.buffer(), 0), bytes)?;
            }
            transform.enqueue(stream, to)
        })?)
    }

    /// Downloads the root of unity ω, the first of its powers on the device. It waits for the kernel that wrote these
    /// powers.
    fn omega_of_device(&self, queue: &Queue) -> GPUResult<Fr> {
        let powers = vector(self.omegas)?;
        let bytes = queue.copy(|stream| {
            let mut bytes = [0; size_of::<Fr>()];
            stream.download(&mut bytes, powers.buffer())?;
            Ok(bytes)
        })?;
        let mut omega = [Fr::zero()];
        // SAFETY: kernels leave reduced elements in Montgomery form.
        unsafe { proofwarp::field::as_bytes_mut(&mut omega) }.copy_from_slice(&bytes);
        Ok(omega[0])
    }

    fn on_host(&self, data: &Memory) -> GPUResult<()> {
        let omega = column(self.omegas)?[0];
        let mut values = Column(column(data)?[..1 << self.log_n].to_vec());
        let transform = Transform::new(self.log_n, omega);
        let host = Accelerator::with_backend(BackendKind::Cpu)?;
        run_off_pool(|| on_cpu_pool(|| transform_many(&host, &mut [&mut *values], &[transform], None)))?;
        if let Storage::Host(column) = &self.to.place {
            put(&mut lock(column), values);
        }
        Ok(())
    }
}
