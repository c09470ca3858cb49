//! Opens polynomials by two schemes.
//!
//! GWC: Gabizon, Williamson and Ciobotaru ("PLONK", 2019, section 3). It has a quotient for each point.
//!
//! SHPLONK: Boneh, Drake, Fisch and Gabizon ("Efficient polynomial commitment schemes for multiple points and
//! polynomials", 2020, section 4). It has two curve points for all openings together.

use ff::Field;
use rayon::prelude::*;

use super::circuit::{ProofCurve, iterate_powers};
use super::column_places_and_checks::{StridedColumns, check_disjoint, check_length};
use super::columns_layout_and_key::{Column, ColumnView};
use super::engine::transfer::enqueue_copies;
use super::engine::{Basis, Engine, exactly_one};
use super::evaluations::{OpeningStage, PolynomialId};
use super::step_launches::{launch_groups, upload_params};
use crate::backend::{Buffer, Stream};
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out};
use crate::kernels::plonk::{DIVIDE_CHAIN, DIVIDE_GROUP, DIVIDE_LOG, DIVIDE_TILE, Divide, DivideCarries, DivideTiles};
use crate::secret_vec::SecretVec;
use crate::{Error, Result};

const STEP: &str = "divide";

impl<C: ProofCurve> OpeningStage<'_, C> {
    /// Opens the polynomials by the GWC scheme. For each point, it sums the polynomials that are opened there, weighed
    /// by powers of `v`, and divides the sum by X − point. Returns commitments to the quotients, in the order of the
    /// points' first queries.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn gwc(self, v: C::Scalar) -> Result<Vec<C>> {
        let rotations = unique(self.queries.iter().map(|query| query.rotation));
        let quotients = rotations.into_iter().map(|rotation| self.quotient_at(rotation, v));
        let quotients = quotients.collect::<Result<Vec<_>>>()?;
        let views: Vec<_> = quotients.iter().map(Column::view).collect();
        self.state.context.commit(Basis::Monomial, &views)
    }

    fn quotient_at(&self, rotation: usize, v: C::Scalar) -> Result<Column<C::Scalar>> {
        let engine = self.state.context.engine;
        let queries = self.queries.iter().filter(|query| query.rotation == rotation);
        let views = queries.map(|query| self.polynomial_view(query.polynomial));
        // The division drops the remainder, which is the value.
        let sum = engine.linear_combination(&views.zip(iterate_powers(v)).collect::<Vec<_>>())?;
        engine.divide(sum.view(), vec![self.evaluation_point(rotation)])
    }
}

/// Holds a SHPLONK opening after the first of its two commitments.
#[derive(Debug)]
pub struct Shplonk<'a, C: ProofCurve> {
    opening: OpeningStage<'a, C>,
    /// Distinct rotations at which polynomials are opened. A rotation is an exponent of ω, reduced modulo n.
    rotations: Vec<usize>,
    /// Sets of points, given as ascending rotations. Each has the sum of the polynomials that are opened there, weighed
    /// by powers of y.
    sets: Vec<(Vec<usize>, Column<C::Scalar>)>,
    /// Σ v^s·(f_s − r_s)/Z_s, where Z_s is 0 at the points of set s and r_s has the values of f_s there.
    quotient: Column<C::Scalar>,
    v: C::Scalar,
}

impl<'a, C: ProofCurve> OpeningStage<'a, C> {
    /// Starts to open the polynomials by the SHPLONK scheme. Polynomials that are opened at the same points form a set.
    /// Powers of `y` weigh the polynomials of a set, and powers of `v` weigh the sets. Returns the next stage, and the
    /// commitment to the sum of all sets' quotients by their points.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn shplonk(self, y: C::Scalar, v: C::Scalar) -> Result<(Shplonk<'a, C>, C)> {
        let queries: Vec<_> = self.queries.iter().map(|query| (query.polynomial, query.rotation)).collect();
        let rotations = unique(queries.iter().map(|(_, rotation)| *rotation));
        let engine = self.state.context.engine;
        let sum = |(points, members): (Vec<usize>, Vec<PolynomialId>)| {
            let views = members.iter().map(|member| self.polynomial_view(*member));
            Ok((points, engine.linear_combination(&views.zip(iterate_powers(y)).collect::<Vec<_>>())?))
        };
        let sets: Vec<_> = group_by_points(&queries).into_iter().map(sum).collect::<Result<_>>()?;
        // Each set is divided by all of its points at once, so that a division drops its own r_s only.
        let quotients = sets.iter().map(|(points, sum)| {
            engine.divide(sum.view(), points.iter().map(|rotation| self.evaluation_point(*rotation)).collect())
        });
        let quotients = quotients.collect::<Result<Vec<_>>>()?;
        let terms: Vec<_> = quotients.iter().map(Column::view).zip(iterate_powers(v)).collect();
        let quotient = engine.linear_combination(&terms)?;
        let point = exactly_one(engine.commit(Basis::Monomial, &[quotient.view()])?)?;
        Ok((Shplonk { opening: self, rotations, sets, quotient, v }, point))
    }
}

impl<C: ProofCurve> Shplonk<'_, C> {
    /// Finishes the opening: returns the commitment to the polynomial that proves the quotient's value at the challenge
    /// `u`.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn finish(self, u: C::Scalar) -> Result<C> {
        let engine = self.opening.state.context.engine;
        let others = |points: &[usize]| self.evaluate_vanishing(u, |rotation| !points.contains(rotation));
        let mut factors: Vec<_> = self.sets.iter().map(|(points, _)| others(points)).collect();
        // All factors are divided by the first set's, which is not 0, since u is random.
        let scale = factors.first().and_then(|factor| factor.invert().into()).unwrap_or(C::Scalar::ZERO);
        factors.iter_mut().zip(iterate_powers(self.v)).for_each(|(factor, power)| *factor *= power * scale);
        let mut terms: Vec<(ColumnView<'_, C::Scalar>, C::Scalar)> =
            self.sets.iter().map(|(_, sum)| sum.view()).zip(factors).collect();
        terms.push((self.quotient.view(), -self.evaluate_vanishing(u, |_| true) * scale));
        // The constants r_s(u) are left out: they would change the remainder alone.
        let witness = engine.divide(engine.linear_combination(&terms)?.view(), vec![u])?;
        exactly_one(engine.commit(Basis::Monomial, &[witness.view()])?)
    }

    /// Returns ∏(`u` − point) over the points whose rotations satisfy `is_one`, 1 if there are none.
    fn evaluate_vanishing(&self, u: C::Scalar, is_one: impl Fn(&usize) -> bool) -> C::Scalar {
        let rotations = self.rotations.iter().filter(|rotation| is_one(rotation));
        rotations.fold(C::Scalar::ONE, |product, rotation| product * (u - self.opening.evaluation_point(*rotation)))
    }
}

/// Groups polynomials that are opened at the same points. A query is a polynomial and a rotation. Returns each group's
/// rotations, in ascending order, and its polynomials, in the order of their first query.
fn group_by_points(queries: &[(PolynomialId, usize)]) -> Vec<(Vec<usize>, Vec<PolynomialId>)> {
    let mut sets: Vec<(Vec<usize>, Vec<PolynomialId>)> = Vec::new();
    for polynomial in unique(queries.iter().map(|(polynomial, _)| *polynomial)) {
        let its = queries.iter().filter(|(other, _)| *other == polynomial);
        let mut points = unique(its.map(|(_, rotation)| *rotation));
        points.sort_unstable();
        match sets.iter_mut().find(|(others, _)| *others == points) {
            Some((_, members)) => members.push(polynomial),
            None => sets.push((points, vec![polynomial])),
        }
    }
    sets
}

/// Returns the different items of `all`, in the order of their first occurrence.
fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for one in all {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}

impl<C: ProofCurve> Engine<C> {
    /// Divides the polynomial with the coefficients `column` by ∏(X − root) over `roots`, and drops the remainder. The
    /// result has n coefficients too, of which the highest are 0.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a device works, and the column does not have n elements.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    fn divide(&self, column: ColumnView<'_, C::Scalar>, roots: Vec<C::Scalar>) -> Result<Column<C::Scalar>> {
        let roots = [roots];
        let done = self.run_step(
            "divide",
            1,
            |stream| {
                let mut vector = enqueue_copies(stream, self.n(), &[column])?;
                enqueue(stream, self.n(), &mut vector, StridedColumns::packed(self.n(), 1), &roots)?;
                Ok(Column::split_vector(vector, self.n()))
            },
            |_| {
                let mut column: SecretVec<_> = self.fetch_to_host(column)?.into_owned();
                on_cpu(&mut [&mut column], &roots)?;
                Ok(vec![Column::new(std::mem::take(&mut column.0))])
            },
        )?;
        exactly_one(done)
    }
}

/// Returns `base` and its repeated squares, [`DIVIDE_LOG`] elements in all: one for each bit of a work-item's index in
/// its group.
fn repeated_squares<F: NttField>(base: F) -> impl Iterator<Item = F> {
    std::iter::successors(Some(base), |power| Some(power.square())).take(DIVIDE_LOG as usize)
}

/// Returns the powers of `root` that the kernels take as parameters. `share` is the number of tiles for each work-item
/// of the kernel `plonk_divide_carries`.
fn kernel_root_powers<F: NttField>(root: F, share: u32) -> impl Iterator<Item = F> {
    let step = root.pow_vartime([u64::from(DIVIDE_TILE)]);
    let tile = std::iter::once(step).chain(repeated_squares(step.pow_vartime([u64::from(share)])));
    std::iter::once(root).chain(repeated_squares(root.pow_vartime([u64::from(DIVIDE_CHAIN)]))).chain(tile)
}

/// Queues the division of each polynomial at `place`, of `n` coefficients, by ∏ (X − z) over its list of `roots`, in
/// place. Remainders are dropped. The quotient has `n` coefficients too, of which the highest are 0.
///
/// Each coefficient takes some five multiplications and 96 bytes of memory traffic per root. Three launches divide by
/// the first roots of all polynomials, three by the second ones, and so on.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: polynomials overlap, exceed the vector, or are on another device.
/// - [`Error::Invalid`]: there are not as many lists of roots as polynomials.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
///
/// After [`Error::Invalid`] and [`Error::OutOfMemory`] coefficients
/// are as they were. After another error they are undefined.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    polynomials: &mut DeviceVector<F>,
    place: StridedColumns,
    roots: &[Vec<F>],
) -> Result<()> {
    let length = check_length(STEP, n)?;
    polynomials.wait_before_write(stream)?;
    check_disjoint(STEP, polynomials.len(), place, n)?;
    Error::check_eq(STEP, "lists of roots", place.count, roots.len())?;
    let tiles = length.div_ceil(DIVIDE_TILE);
    let most = roots.iter().map(Vec::len).max().unwrap_or(0);
    let rounds =
        (0..most).map(|round| DivisionRound::new(stream, (place, roots), round, tiles)).collect::<Result<Vec<_>>>()?;
    // All memory is allocated before a coefficient changes; the first round needs most.
    let count = rounds.first().map_or(0, |round| round.polynomials);
    let carries = DeviceVector::scratch(stream, count as usize * tiles as usize)?;
    rounds.iter().try_for_each(|round| round.launch(stream, (length, tiles), polynomials, &carries))
}

/// Describes one round of divisions: each polynomial that has a root left is divided by its next one.
struct DivisionRound {
    polynomials: u64,
    share: u32,
    params: Buffer,
    words_at: u32,
}

impl DivisionRound {
    fn new<F: NttField>(
        stream: &mut Stream,
        (place, roots): (StridedColumns, &[Vec<F>]),
        round: usize,
        tiles: u32,
    ) -> Result<Self> {
        let of_round = |(k, roots): (usize, &Vec<F>)| Some((place.start(k) as u64, *roots.get(round)?));
        let (starts, roots): (Vec<u64>, Vec<F>) = roots.iter().enumerate().filter_map(of_round).unzip();
        let share = tiles.div_ceil(DIVIDE_GROUP);
        let elements: Vec<F> = roots.iter().flat_map(|root| kernel_root_powers(*root, share)).collect();
        let (params, words_at) = upload_params(stream, &elements, &starts)?;
        Ok(Self { polynomials: starts.len() as u64, share, params, words_at })
    }

    fn launch<F: NttField>(
        &self,
        stream: &mut Stream,
        (n, tiles): (u32, u32),
        polynomials: &DeviceVector<F>,
        carries: &DeviceVector<F>,
    ) -> Result<()> {
        let &Self { polynomials: count, share, ref params, words_at } = self;
        let (params, groups) = (In::<F>::new(params), count * u64::from(tiles));
        let (data, carries) = (polynomials.buffer(), carries.buffer());
        let sums = DivideTiles { n, tiles, params, words_at, data: In::new(data), carries: Out::new(carries) };
        launch_groups::<F, _>(stream, groups, sums)?;
        let behind = DivideCarries { tiles, share, params, carries: Out::new(carries) };
        launch_groups::<F, _>(stream, count, behind)?;
        let divide = Divide { n, tiles, params, words_at, data: Out::new(data), carries: In::new(carries) };
        launch_groups::<F, _>(stream, groups, divide)
    }
}

/// Divides each of `polynomials`, which may be of any lengths, by ∏ (X − z) over its list of `roots`, in place.
/// Remainders are dropped. A quotient has as many coefficients as its polynomial, of which the highest are 0.
///
/// # Errors
/// - [`Error::Invalid`]: there are not as many lists of roots as polynomials.
pub fn on_cpu<F: NttField>(polynomials: &mut [&mut [F]], roots: &[Vec<F>]) -> Result<()> {
    Error::check_eq(STEP, "lists of roots", polynomials.len(), roots.len())?;
    let divide_by = |polynomial: &mut [F], root: F| {
        polynomial.iter_mut().rev().fold(F::ZERO, |carry, coefficient| {
            let next = *coefficient + carry * root;
            *coefficient = carry;
            next
        });
    };
    polynomials.par_iter_mut().zip(roots).for_each(|(polynomial, roots)| {
        for root in roots {
            divide_by(polynomial, *root);
        }
    });
    Ok(())
}
