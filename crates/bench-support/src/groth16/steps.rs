//! The steps of a proof on the resident pipeline, each alone on the first device. In a proof they overlap, and take less
//! together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use blstrs::{Bls12, Scalar};
use ff::Field;
use proofwarp::backend::{Device, Stream, StreamStats};
use proofwarp::curve::MsmCurve;
use proofwarp::field::{DeviceVector, as_bytes};
use proofwarp::groth16::{Circuit, Parameters, ProvingKeyOnDevice};
use proofwarp::matrix::{Csr, CsrOnDevice, DeviceVectors, SparseOptions};
use proofwarp::msm::{self, BasePoints, DeviceScalars, Msm, ScalarForm};
use proofwarp::ntt::{Direction, NttDomain};
use proofwarp::{Accelerator, Error, Result};

use super::outcome::Phase;
use super::task::ms;

/// Timed runs of a step, after one to warm up.
const RUNS: usize = 5;

/// Times every step for an assignment, inputs first; each time is a median.
///
/// # Errors
/// There is no device, or those of the engine.
pub fn measure(
    key: &ProvingKeyOnDevice<Bls12>,
    circuit: &Circuit<Scalar>,
    assignment: &[Scalar],
) -> Result<Vec<Phase>> {
    let Some(device) = key.accelerator().devices().first() else {
        return Err(Error::invalid("--steps", "devices", "one", "none"));
    };
    let alone = key.accelerator().with_devices(vec![device.clone()]);
    let mut bench = Bench { stream: device.stream()?, device: device.clone(), steps: Vec::new() };
    let h = bench.quotient(&alone, circuit, assignment)?;
    bench.sums(&alone, key.parameters(), circuit, assignment, &h)?;
    Ok(bench.steps)
}

struct Bench {
    stream: Stream,
    device: Arc<Device>,
    steps: Vec<Phase>,
}

impl Bench {
    /// The witness's upload, the products with the matrices, and the transforms; gives a vector as full as h.
    fn quotient(
        &mut self,
        alone: &Accelerator,
        circuit: &Circuit<Scalar>,
        assignment: &[Scalar],
    ) -> Result<DeviceVector<Scalar>> {
        let x = DeviceVector::upload(&mut self.stream, assignment)?;
        self.queued("witness upload", assignment.len(), |stream| stream.upload(x.buffer(), as_bytes(assignment)))?;
        let log_n = circuit.constraint_count().next_power_of_two().ilog2();
        let mut vectors = [self.zeros(1 << log_n)?, self.zeros(1 << log_n)?, self.zeros(1 << log_n)?];
        let matrices = circuit.matrices();
        if !matrices.is_empty() {
            let on_device = |csr: &Arc<Csr<Scalar>>| CsrOnDevice::new(&self.device, csr, SparseOptions::default());
            let matrices = matrices.iter().map(on_device).collect::<Result<Vec<_>>>()?;
            let least: u64 = matrices.iter().map(|matrix| matrix.explain().least_bytes).sum();
            let name = format!("R1CS products, at least {:.1} MB", least as f64 / 1e6);
            self.queued(&name, 3 * circuit.constraint_count(), |stream| {
                stream.begin_timing()?;
                let mut pairs = matrices.iter().zip(&vectors);
                pairs.try_for_each(|(matrix, y)| matrix.enqueue(stream, one(&x), one(y), 1))?;
                stream.end_timing()
            })?;
        }
        let domain = NttDomain::<Scalar>::new(alone, log_n)?;
        self.queued("6 transforms", 6 << log_n, |stream| {
            stream.begin_timing()?;
            vectors.iter_mut().try_for_each(|vector| domain.enqueue(Direction::Inverse, stream, vector))?;
            let [a, b, _] = &mut vectors;
            [&mut *a, b].into_iter().try_for_each(|vector| domain.enqueue(Direction::CosetForward, stream, vector))?;
            domain.enqueue(Direction::CosetInverse, stream, a)?;
            stream.end_timing()
        })?;
        let [a, ..] = vectors;
        Ok(a)
    }

    /// The multiplications.
    fn sums(
        &mut self,
        alone: &Accelerator,
        key: &Parameters<Bls12>,
        circuit: &Circuit<Scalar>,
        assignment: &[Scalar],
        h: &DeviceVector<Scalar>,
    ) -> Result<()> {
        let upload =
            |scalars: &[Scalar]| DeviceScalars::upload(alone, as_bytes(scalars).as_chunks().0, ScalarForm::Montgomery);
        let h = DeviceScalars::from_buffer(&self.device, h.buffer().clone(), key.h.len(), ScalarForm::Montgomery)?;
        self.sum("MSM H (G1)", alone, &key.h, &h)?;
        self.sum("MSM L (G1)", alone, &key.l, &upload(&assignment[circuit.input_count()..])?)?;
        let [a, b, ..] = circuit.matrices() else {
            return Err(Error::invalid("steps", "matrices", "some", "none"));
        };
        let a = upload(&chosen(a, assignment, circuit.input_count()))?;
        self.sum("MSM A (G1)", alone, &key.a, &a)?;
        let b = upload(&chosen(b, assignment, 0))?;
        self.sum("MSM B (G1)", alone, &key.b_g1, &b)?;
        self.sum("MSM B (G2)", alone, &key.b_g2, &b)
    }

    fn sum<C: MsmCurve>(
        &mut self,
        name: &str,
        alone: &Accelerator,
        bases: &BasePoints<C>,
        scalars: &DeviceScalars,
    ) -> Result<()> {
        let msm = Msm::shared(alone, bases.clone(), msm::MsmOptions::default())?;
        self.timed(name, bases.len(), |_| Ok(msm.run(scalars, None)?.1.traffic))
    }

    /// Times what a function queues, until it is done.
    fn queued(&mut self, name: &str, elements: usize, mut queue: impl FnMut(&mut Stream) -> Result<()>) -> Result<()> {
        self.timed(name, elements, |stream| {
            let before = stream.stats();
            queue(stream)?;
            stream.synchronize(None)?;
            let after = stream.stats();
            let upload = after.upload.saturating_sub(before.upload);
            Ok(StreamStats { upload, kernels: after.kernels.saturating_sub(before.kernels), ..after })
        })
    }

    fn timed(
        &mut self,
        name: &str,
        elements: usize,
        mut run: impl FnMut(&mut Stream) -> Result<StreamStats>,
    ) -> Result<()> {
        run(&mut self.stream)?;
        let mut times: Vec<(Duration, StreamStats)> = Vec::new();
        for _ in 0..RUNS {
            let start = Instant::now();
            let traffic = run(&mut self.stream)?;
            times.push((start.elapsed(), traffic));
        }
        times.sort_by_key(|(time, _)| *time);
        let (time, traffic) = &times[RUNS / 2];
        let info = self.device.info();
        self.steps.push(Phase {
            name: name.to_owned(),
            operations: 1,
            elements,
            backends: vec![format!("{} ({})", info.backend, info.name)],
            ms: ms(*time),
            upload_ms: ms(traffic.upload),
            kernels_ms: ms(traffic.kernels),
            ..Phase::default()
        });
        Ok(())
    }

    fn zeros(&mut self, len: usize) -> Result<DeviceVector<Scalar>> {
        DeviceVector::allocate(&mut self.stream, len)
    }
}

fn one(vector: &DeviceVector<Scalar>) -> DeviceVectors<'_> {
    DeviceVectors::one(vector.buffer())
}

/// Values of the first variables, and of those that occur in a matrix.
fn chosen(matrix: &Csr<Scalar>, assignment: &[Scalar], first: usize) -> Vec<Scalar> {
    let mut occurs = vec![false; matrix.columns()];
    occurs[..first].fill(true);
    for (column, coefficient) in matrix.column_indices().iter().zip(matrix.coefficient_indices()) {
        occurs[*column as usize] |= !matrix.dictionary()[*coefficient as usize].is_zero_vartime();
    }
    assignment.iter().zip(occurs).filter(|(_, occurs)| *occurs).map(|(value, _)| *value).collect()
}
