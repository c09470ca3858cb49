//! icicle's NTT with its best options, natural order in and out.
//!
//! icicle's elements are not in Montgomery form. The transform is linear, so it takes elements in that form as they are,
//! and its results are in that form.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bench_support::Failure;
use bench_support::inputs;
use bench_support::protocol::{Answer, Request};
use proofwarp::field::{NttField, as_bytes, as_bytes_mut};

use crate::curve::{Algorithm, Domain, Transform};
use crate::device::{Memory, is_resident};
use crate::fastest::find_fastest;
use crate::ffi::Curve;

/// Configures a transform.
#[derive(Debug, Clone, Copy)]
struct NttOptions {
    algorithm: Algorithm,
    fast_twiddles: bool,
}

/// Lists the options that are tried. Radix 2 does not use fast twiddles.
const OPTIONS: [NttOptions; 3] = [
    NttOptions { algorithm: Algorithm::MixedRadix, fast_twiddles: true },
    NttOptions { algorithm: Algorithm::Radix2, fast_twiddles: true },
    NttOptions { algorithm: Algorithm::MixedRadix, fast_twiddles: false },
];

/// Counts the calls whose time decides between options.
const TRIALS: u64 = 8;

/// Holds what transforms of one field need.
pub struct Ntt<F> {
    curve: &'static Curve,
    domain: Domain,
    /// The elements asked for last.
    values: Vec<F>,
    /// The fastest options for each place and size.
    fastest: HashMap<(bool, u32), NttOptions>,
}

impl<F: NttField> Ntt<F> {
    pub fn new(curve: &'static Curve) -> Self {
        Self { curve, domain: Domain::new(curve), values: Vec::new(), fastest: HashMap::new() }
    }

    /// Times the calls that `request` asks for. Chooses options and checks a result first.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, Failure> {
        let (is_resident, log_n) = (is_resident(&request.place)?, request.log_n);
        if self.values.len() != 1 << log_n {
            self.values = inputs::coefficients(1 << log_n);
        }
        let options = match self.fastest.get(&(is_resident, log_n)) {
            Some(options) => *options,
            None => find_fastest(OPTIONS, |options| self.time(options, is_resident, log_n, TRIALS))?,
        };
        self.fastest.insert((is_resident, log_n), options);
        let time = self.time(options, is_resident, log_n, request.iterations)?;
        Ok(Answer { time, note: note(options) })
    }

    /// Returns the time of calls after one to warm up, whose result is checked.
    fn time(
        &mut self,
        options: NttOptions,
        is_resident: bool,
        log_n: u32,
        iterations: u64,
    ) -> Result<Duration, Failure> {
        self.domain.require(log_n, options.fast_twiddles)?;
        let transform = Transform::new(self.curve, log_n, options.algorithm)?;
        match is_resident {
            true => self.time_resident(&transform, iterations),
            false => self.time_on_host(&transform, iterations),
        }
    }

    /// Transforms from one buffer of the device to another, so that icicle need not reorder in place. The calls are
    /// enqueued one after the other, and waited for together.
    fn time_resident(&self, transform: &Transform, iterations: u64) -> Result<Duration, Failure> {
        let input = Memory::upload(as_bytes(&self.values))?;
        let output = Memory::allocate(size_of_val(&self.values[..]))?;
        let run = |count: u64| {
            let start = Instant::now();
            transform.run_on_device(&input, &output, count).map(|()| start.elapsed())
        };
        run(1)?;
        let mut transformed = self.values.clone();
        // SAFETY: transforms write reduced elements, in the form of those that they read.
        output.download(unsafe { as_bytes_mut(&mut transformed) })?;
        self.check(&transformed)?;
        run(iterations)
    }

    fn time_on_host(&self, transform: &Transform, iterations: u64) -> Result<Duration, Failure> {
        let mut values = self.values.clone();
        // SAFETY: transforms write reduced elements, in the form of those that they read.
        transform.run_on_host(unsafe { as_bytes_mut(&mut values) })?;
        self.check(&values)?;
        // SAFETY: as before.
        let run = || transform.run_on_host(unsafe { as_bytes_mut(&mut values) });
        Ok(Answer::timed(iterations, run)?.time)
    }

    /// Checks what holds for every root of unity: the value at its power 0 is the sum of the coefficients, and the sum
    /// of all n values is n times the first coefficient.
    fn check(&self, transformed: &[F]) -> Result<(), Failure> {
        let (sum, total): (F, F) = (self.values.iter().sum(), transformed.iter().sum());
        let is_right = transformed[0] == sum && total == self.values[0] * F::from(transformed.len() as u64);
        if is_right { Ok(()) } else { Err("wrong transform".into()) }
    }
}

fn note(NttOptions { algorithm, fast_twiddles }: NttOptions) -> String {
    match (algorithm, fast_twiddles) {
        (Algorithm::Radix2, _) => "radix 2".to_owned(),
        (Algorithm::MixedRadix, true) => "mixed radix, fast twiddles".to_owned(),
        (Algorithm::MixedRadix, false) => "mixed radix".to_owned(),
    }
}
