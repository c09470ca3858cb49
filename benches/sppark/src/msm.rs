//! sppark's MSM with its best settings: one object between calls, and the window that was fastest here.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use group::Curve as _;
use proofwarp::curve::MsmCurve;

use crate::device::{Curve, Engine, Memory};
use bench_support::Failure;
use bench_support::inputs::{self, Scalars};
use bench_support::protocol::{Answer, HOST, RESIDENT, Request};

/// Widths of windows: 17 is what sppark takes for any number of points, 18 only for many.
const WINDOWS: std::ops::RangeInclusive<u32> = 10..=18;
const MANY: usize = 1 << 20;

/// Sums of at most so many points are compared with the CPU's before calls are timed.
const CHECKED: usize = 1 << 16;

/// Points or scalars, on the host and on the device.
struct Both<T> {
    host: T,
    device: Memory,
}

/// One curve's inputs and engines.
pub struct Msm<C> {
    curve: &'static Curve,
    bases: Vec<C>,
    points: Option<Both<Vec<u8>>>,
    /// The scalars asked for last.
    scalars: Option<((String, u32), Both<Scalars>)>,
    /// Window and engine for each place and size.
    engines: HashMap<(String, u32), (u32, Engine)>,
    checked: HashSet<(String, String, u32)>,
}

/// One call's inputs.
struct Inputs<'a> {
    points: &'a Both<Vec<u8>>,
    scalars: &'a Both<Scalars>,
    point_bytes: usize,
}

impl Inputs<'_> {
    /// One sum, as bytes of a Jacobian point.
    fn run(&self, engine: &Engine, place: &str) -> Result<Vec<u8>, Failure> {
        let count = self.scalars.host.len();
        let mut sum = vec![0; self.point_bytes / 2 * 3];
        match place {
            RESIDENT => engine.device(&mut sum, &self.points.device, &self.scalars.device, count)?,
            HOST => engine.host(&mut sum, &self.points.host[..count * self.point_bytes], &self.scalars.host)?,
            other => return Err(format!("expected {RESIDENT} or {HOST}, got {other}").into()),
        }
        Ok(sum)
    }
}

impl<C: MsmCurve> Msm<C>
where
    C::Curve: group::Curve<AffineRepr = C>,
{
    pub fn new(curve: &'static Curve) -> Self {
        let (engines, checked) = (HashMap::new(), HashSet::new());
        Self { curve, bases: Vec::new(), points: None, scalars: None, engines, checked }
    }

    /// Times what is asked for, after it has chosen a window and checked a result.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, Failure> {
        let (place, log_n) = (&request.place, request.log_n);
        self.need_points(1 << log_n)?;
        let key = (place.clone(), log_n);
        if !self.engines.contains_key(&key) {
            self.need_scalars(inputs::RANDOM, log_n)?;
            let engine = self.fastest(place)?;
            self.engines.insert(key.clone(), engine);
        }
        self.need_scalars(&request.distribution, log_n)?;
        let (window, engine) = self.engines.get(&key).ok_or("no engine")?;
        let inputs = self.inputs()?;
        let checked = (place.clone(), request.distribution.clone(), log_n);
        if 1 << log_n <= CHECKED && !self.checked.contains(&checked) {
            self.check(&inputs, &inputs.run(engine, place)?)?;
        }
        let answer = Answer::timed(request.iterations, || inputs.run(engine, place))?;
        let note = format!("windows of {window} bits");
        self.checked.insert(checked);
        Ok(Answer { note, ..answer })
    }

    fn inputs(&self) -> Result<Inputs<'_>, Failure> {
        let points = self.points.as_ref().ok_or("no points")?;
        let (_, scalars) = self.scalars.as_ref().ok_or("no scalars")?;
        Ok(Inputs { points, scalars, point_bytes: C::AFFINE_BYTES })
    }

    fn need_points(&mut self, count: usize) -> Result<(), Failure> {
        if self.bases.len() < count {
            self.points = None;
            self.bases = inputs::bases::<C>(count);
            let host = Cow::into_owned(C::to_device(&self.bases));
            self.points = Some(Both { device: Memory::upload(&host)?, host });
        }
        Ok(())
    }

    fn need_scalars(&mut self, distribution: &str, log_n: u32) -> Result<(), Failure> {
        let key = (distribution.to_owned(), log_n);
        if self.scalars.as_ref().is_none_or(|(there, _)| *there != key) {
            self.scalars = None;
            let host = inputs::scalars::<C>(distribution, 1 << log_n);
            self.scalars = Some((key, Both { device: Memory::upload(host.as_flattened())?, host }));
        }
        Ok(())
    }

    /// The engine of the window that takes the least time, of those that give the right sum.
    fn fastest(&self, place: &str) -> Result<(u32, Engine), Failure> {
        let inputs = self.inputs()?;
        let mut best: Result<(Duration, u32), Failure> = Err("no window".into());
        let few = inputs.scalars.host.len() < MANY;
        for window in WINDOWS.filter(|window| !few || *window < 18) {
            match self.time(&inputs, window, place) {
                Ok(time) if best.as_ref().is_ok_and(|(least, _)| *least <= time) => {}
                Ok(time) => best = Ok((time, window)),
                Err(error) => eprintln!("sppark: windows of {window} bits left out: {error}"),
            }
        }
        let (_, window) = best?;
        Ok((window, Engine::new(self.curve, window)?))
    }

    /// Time of some calls after one to warm up, whose sum is checked.
    fn time(&self, inputs: &Inputs<'_>, window: u32, place: &str) -> Result<Duration, Failure> {
        let engine = Engine::new(self.curve, window)?;
        self.check(inputs, &inputs.run(&engine, place)?)?;
        let iterations = if inputs.scalars.host.len() < MANY { 8 } else { 2 };
        Ok(Answer::timed(iterations, || inputs.run(&engine, place))?.time)
    }

    /// Compares a sum with the CPU's, up to sizes at which that takes little time.
    fn check(&self, inputs: &Inputs<'_>, sum: &[u8]) -> Result<(), Failure> {
        let scalars = &inputs.scalars.host;
        if scalars.len() > CHECKED {
            return Ok(());
        }
        let expected = C::msm_cpu(&self.bases[..scalars.len()], scalars).to_affine();
        let actual = C::from_device(sum).to_affine();
        match actual == expected {
            true => Ok(()),
            false => Err(format!("expected the sum {expected:?}, got {actual:?}").into()),
        }
    }
}
