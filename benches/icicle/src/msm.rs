//! icicle's MSM with its best options: points in icicle's own form, and the window and chunks that were fastest here.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::time::Duration;

use bench_support::Failure;
use bench_support::inputs::{self, Scalars};
use bench_support::protocol::{Answer, Request};
use ff::PrimeField;
use group::Curve as _;
use proofwarp::curve::MsmCurve;

use crate::curve::{MsmOptions, Multiplication};
use crate::device::{Input, Memory, is_resident};
use crate::fastest::find_fastest;
use crate::ffi::Curve;

/// Bounds the windows that are tried. icicle itself takes log₂ n − 4 bits, and no more than 20.
const MIN_WINDOW: u32 = 2;
const MAX_WINDOW: u32 = 20;

/// Lists the numbers of chunks that are tried for inputs on the host. With 0, icicle chooses, and takes 4.
const CHUNKS: [u32; 5] = [0, 1, 2, 8, 16];

/// Bounds the points from which on few calls decide between options.
const MANY: usize = 1 << 20;

/// Holds points or scalars, on the host and on the device.
struct Both<T> {
    host: T,
    device: Memory,
}

/// Holds one vector of scalars, and the sum that is expected of it.
struct Summands {
    scalars: Both<Scalars>,
    /// An affine point, in Montgomery form.
    expected: Vec<u8>,
}

/// Holds one curve's inputs and multiplications.
pub struct Msm<C> {
    curve: &'static Curve,
    affine: PhantomData<C>,
    points: Option<Both<Vec<u8>>>,
    /// The scalars asked for last.
    summands: Option<((String, u32), Summands)>,
    /// The fastest multiplication for each place and size.
    fastest: HashMap<(String, u32), Multiplication>,
    checked: HashSet<(String, String, u32)>,
}

/// Holds one call's inputs.
struct Inputs<'a> {
    curve: &'static Curve,
    points: &'a Both<Vec<u8>>,
    summands: &'a Summands,
}

impl Inputs<'_> {
    fn count(&self) -> usize {
        self.summands.scalars.host.len()
    }

    /// Returns one sum, as bytes of a projective point.
    fn run(&self, multiplication: &Multiplication, is_resident: bool) -> Result<Vec<u8>, Failure> {
        let (scalars, points) = match is_resident {
            true => (Input::Device(&self.summands.scalars.device), Input::Device(&self.points.device)),
            false => (Input::Host(self.summands.scalars.host.as_flattened()), Input::Host(&self.points.host)),
        };
        multiplication.run(scalars, points, self.count())
    }

    /// Compares a sum with the expected one.
    fn check(&self, sum: Vec<u8>) -> Result<(), Failure> {
        let is_right = self.curve.affine_montgomery(sum)? == self.summands.expected;
        if is_right { Ok(()) } else { Err("wrong sum".into()) }
    }

    /// Returns the time of some calls after one to warm up, whose sum is checked.
    fn time(&self, multiplication: &Multiplication, is_resident: bool) -> Result<Duration, Failure> {
        self.check(self.run(multiplication, is_resident)?)?;
        let iterations = if self.count() < MANY { 8 } else { 2 };
        Ok(Answer::timed(iterations, || self.run(multiplication, is_resident))?.time)
    }
}

impl<C: MsmCurve> Msm<C>
where
    C::Curve: group::Curve<AffineRepr = C>,
{
    pub fn new(curve: &'static Curve) -> Self {
        let (fastest, checked) = (HashMap::new(), HashSet::new());
        Self { curve, affine: PhantomData, points: None, summands: None, fastest, checked }
    }

    /// Times the calls that `request` asks for. Chooses options and checks a result first.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, Failure> {
        let (place, log_n) = (&request.place, request.log_n);
        let is_resident = is_resident(place)?;
        self.require_points(1 << log_n)?;
        let key = (place.clone(), log_n);
        if !self.fastest.contains_key(&key) {
            self.require_scalars(inputs::RANDOM, log_n)?;
            let fastest = self.choose(is_resident, log_n)?;
            self.fastest.insert(key.clone(), fastest);
        }
        self.require_scalars(&request.distribution, log_n)?;
        let multiplication = self.fastest.get(&key).ok_or("no options were fastest")?;
        let inputs = self.inputs()?;
        let checked = (place.clone(), request.distribution.clone(), log_n);
        if !self.checked.contains(&checked) {
            inputs.check(inputs.run(multiplication, is_resident)?)?;
        }
        let answer = Answer::timed(request.iterations, || inputs.run(multiplication, is_resident))?;
        let note = note(multiplication.options(), is_resident);
        self.checked.insert(checked);
        Ok(Answer { note, ..answer })
    }

    fn inputs(&self) -> Result<Inputs<'_>, Failure> {
        let points = self.points.as_ref().ok_or("no points")?;
        let (_, summands) = self.summands.as_ref().ok_or("no scalars")?;
        Ok(Inputs { curve: self.curve, points, summands })
    }

    /// Makes points, and converts them to icicle's own form.
    fn require_points(&mut self, count: usize) -> Result<(), Failure> {
        if self.points.as_ref().is_none_or(|points| points.host.len() < count * C::AFFINE_BYTES) {
            self.points = None;
            let mut host = Cow::into_owned(C::to_device(&inputs::bases::<C>(count)));
            let device = self.curve.upload_points(&host)?;
            device.download(&mut host)?;
            self.points = Some(Both { host, device });
        }
        Ok(())
    }

    fn require_scalars(&mut self, distribution: &str, log_n: u32) -> Result<(), Failure> {
        let key = (distribution.to_owned(), log_n);
        if self.summands.as_ref().is_none_or(|(there, _)| *there != key) {
            self.summands = None;
            let host = inputs::scalars::<C>(distribution, 1 << log_n);
            let expected = expected_sum::<C>(&host)?;
            let scalars = Both { device: Memory::upload(host.as_flattened())?, host };
            self.summands = Some((key, Summands { scalars, expected }));
        }
        Ok(())
    }

    /// Returns the fastest multiplication of those that give the right sum.
    fn choose(&self, is_resident: bool, log_n: u32) -> Result<Multiplication, Failure> {
        let inputs = self.inputs()?;
        let time = |options| inputs.time(&self.prepare(options)?, is_resident);
        let mut options = find_fastest(windows(log_n).map(|window| MsmOptions { window, chunks: 0 }), time)?;
        if !is_resident {
            options = find_fastest(CHUNKS.map(|chunks| MsmOptions { chunks, ..options }), time)?;
        }
        self.prepare(options)
    }

    fn prepare(&self, options: MsmOptions) -> Result<Multiplication, Failure> {
        Multiplication::new(self.curve, options)
    }
}

/// Returns the windows to try for 2^`log_n` points: some bits around those that icicle takes.
fn windows(log_n: u32) -> RangeInclusive<u32> {
    let bound = |bits: u32| bits.clamp(MIN_WINDOW, MAX_WINDOW);
    bound(log_n.saturating_sub(7))..=bound(log_n.saturating_sub(1))
}

fn note(MsmOptions { window, chunks }: MsmOptions, is_resident: bool) -> String {
    match (is_resident, chunks) {
        (true, _) => format!("windows of {window} bits"),
        (false, 0) => format!("windows of {window} bits, icicle's own chunks"),
        (false, chunks) => format!("windows of {window} bits, chunks: {chunks}"),
    }
}

/// Computes the sum from the discrete logarithms of the bases.
fn expected_sum<C: MsmCurve>(scalars: &Scalars) -> Result<Vec<u8>, Failure>
where
    C::Curve: group::Curve<AffineRepr = C>,
{
    let product = |(i, bytes): (usize, &[u8; 32])| {
        let mut repr = <C::Scalar as PrimeField>::Repr::default();
        repr.as_mut().copy_from_slice(bytes);
        Option::from(C::Scalar::from_repr(repr)).map(|scalar: C::Scalar| scalar * inputs::logarithm::<C::Scalar>(i))
    };
    let products = scalars.iter().enumerate().map(product);
    let sum = products.sum::<Option<C::Scalar>>().ok_or("a scalar is not reduced")?;
    let point = (C::generator() * sum).to_affine();
    Ok(Cow::into_owned(C::to_device(&[point])))
}
