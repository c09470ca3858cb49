//! Evaluates all polynomials at x, and lists which of them are opened at which points.

use std::collections::{HashMap, HashSet};

use ff::Field;
use rayon::prelude::*;

use super::circuit::{Circuit, ProofCurve, iterate_powers};
use super::column_places_and_checks::{DeviceColumn, check_length};
use super::columns_layout_and_key::{Column, ColumnId, ColumnView};
use super::engine::Engine;
use super::engine::memory::group_by_cost;
use super::engine::transfer::{count_uploads, ensure_on_device, to_step_column};
use super::proof_state::ProofState;
use super::quotient::QuotientStage;
use super::step_launches::{LaunchBatch, allocate_columns, launch_groups, split_into_launches, upload_params};
use crate::backend::Stream;
use crate::field::{DeviceVector, NttField};
use crate::kernel_arguments::{In, Out, Value};
use crate::kernels::plonk::{EVALUATE_TILE, EvaluateSums, EvaluateTiles, POINT_POWERS};
use crate::{Error, Result};

const STEP: &str = "evaluate";
/// Number of coefficients that one CPU task handles, 4096.
const TASK: usize = 1 << 12;

/// Holds a proof after the challenge x. Its polynomials remain to be opened.
#[derive(Debug)]
pub struct OpeningStage<'a, C: ProofCurve> {
    pub(super) state: ProofState<'a, C>,
    /// Σ x^(n·i)·pieceᵢ, which has the quotient's value at x.
    quotient: Column<C::Scalar>,
    random: Column<C::Scalar>,
    x: C::Scalar,
    /// Queries in the order in which they are opened.
    pub(super) queries: Vec<OpeningQuery>,
}

impl<'a, C: ProofCurve> QuotientStage<'a, C> {
    /// Evaluates the proof's polynomials at the points `x`·ω^i of their queries. Returns the next stage, and the values
    /// in transcript order.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub fn evaluate_polynomials(self, x: C::Scalar) -> Result<(OpeningStage<'a, C>, Vec<C::Scalar>)> {
        let quotient = self.combine_pieces(x)?;
        let Self { state, random, .. } = self;
        let queries = ProofQueries::new(state.context.circuit, state.columns.len());
        let (evaluated, opened) = (queries.transcript_queries(), queries.opening_queries());
        let stage = OpeningStage { state, quotient, random, x, queries: opened };
        let mut seen = HashSet::new();
        let different = evaluated.iter().chain(&stage.queries).copied().filter(|query| seen.insert(*query));
        let different: Vec<_> = different.collect();
        let values = stage.evaluate(&different)?;
        let values: HashMap<_, _> = different.into_iter().zip(values).collect();
        let written = evaluated.iter().map(|query| values[query]).collect();
        Ok((stage, written))
    }

    /// Returns the coefficients of Σ `x`^(n·i)·pieceᵢ.
    fn combine_pieces(&self, x: C::Scalar) -> Result<Column<C::Scalar>> {
        let context = self.state.context;
        let step = x.pow_vartime([context.circuit.rows() as u64]);
        let powers = iterate_powers(step);
        context.engine.linear_combination(&self.pieces.iter().map(Column::view).zip(powers).collect::<Vec<_>>())
    }
}

impl<C: ProofCurve> OpeningStage<'_, C> {
    /// Returns the coefficients of `polynomial`.
    pub(super) fn polynomial_view(&self, polynomial: PolynomialId) -> ColumnView<'_, C::Scalar> {
        match polynomial {
            PolynomialId::Quotient => self.quotient.view(),
            PolynomialId::Random => self.random.view(),
            PolynomialId::Column(circuit, name) => self.state.coefficients(circuit, name),
        }
    }

    /// Returns the point x·ω^`rotation`.
    pub(super) fn evaluation_point(&self, rotation: usize) -> C::Scalar {
        self.x * self.state.context.engine.omega().pow_vartime([rotation as u64])
    }

    /// Returns the values of the polynomials of `queries` at their points, in the order of `queries`.
    ///
    /// # Errors
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    fn evaluate(&self, queries: &[OpeningQuery]) -> Result<Vec<C::Scalar>> {
        let mut rotations: Vec<_> = queries.iter().map(|query| query.rotation).collect();
        rotations.sort_unstable();
        rotations.dedup();
        let points: Vec<_> = rotations.iter().map(|rotation| self.evaluation_point(*rotation)).collect();
        let number = |query: &OpeningQuery| rotations.partition_point(|rotation| *rotation < query.rotation);
        let queries = queries.iter().map(|query| (self.polynomial_view(query.polynomial), number(query)));
        self.state.context.engine.evaluate(&queries.collect::<Vec<_>>(), &points)
    }
}

/// Identifies a polynomial of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PolynomialId {
    /// Column of the circuit with the given index. Columns of the key have index 0.
    Column(usize, ColumnId),
    /// The quotient's pieces, combined at the point of evaluation.
    Quotient,
    /// The random polynomial.
    Random,
}

/// Asks for a polynomial's value at x·ω^rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OpeningQuery {
    pub polynomial: PolynomialId,
    /// Rotation modulo n, 0 to n − 1, so that equal points have equal numbers.
    pub rotation: usize,
}

/// Lists the opened columns of a lookup, each as a constructor of its id and a rotation.
type LookupOpenings = [(fn(usize) -> ColumnId, i32); 5];

/// Lists the queries of a proof of `count` circuits that are all `circuit`.
struct ProofQueries<'a, F> {
    circuit: &'a Circuit<F>,
    count: usize,
}

impl<'a, F> ProofQueries<'a, F> {
    fn new(circuit: &'a Circuit<F>, count: usize) -> Self {
        Self { circuit, count }
    }

    fn rotated_query(&self, polynomial: PolynomialId, rotation: i32) -> OpeningQuery {
        // The number of rows is a power of two.
        let rows = self.circuit.rows();
        OpeningQuery { polynomial, rotation: 0_usize.wrapping_add_signed(rotation as isize) & (rows - 1) }
    }

    /// Returns the queries whose values are written to the transcript, in transcript order.
    fn transcript_queries(&self) -> Vec<OpeningQuery> {
        let mut all: Vec<_> = (0..self.count).flat_map(|circuit| self.advice_queries(circuit)).collect();
        all.extend(self.fixed_queries());
        all.push(self.rotated_query(PolynomialId::Random, 0));
        all.extend(self.sigma_queries());
        all.extend((0..self.count).flat_map(|circuit| self.set_transcript_queries(circuit)));
        all.extend((0..self.count).flat_map(|circuit| {
            self.lookup_queries(
                circuit,
                [
                    (ColumnId::Lookup, 0),
                    (ColumnId::Lookup, 1),
                    (ColumnId::Input, 0),
                    (ColumnId::Input, -1),
                    (ColumnId::Table, 0),
                ],
            )
        }));
        all
    }

    /// Returns the queries that are opened, in the order in which the opening scheme takes them.
    fn opening_queries(&self) -> Vec<OpeningQuery> {
        let of_circuit = |circuit: usize| {
            let mut all = self.advice_queries(circuit);
            all.extend(self.set_opening_queries(circuit));
            let kinds: LookupOpenings = [
                (ColumnId::Lookup, 0),
                (ColumnId::Input, 0),
                (ColumnId::Table, 0),
                (ColumnId::Input, -1),
                (ColumnId::Lookup, 1),
            ];
            all.extend(self.lookup_queries(circuit, kinds));
            all
        };
        let mut all: Vec<_> = (0..self.count).flat_map(of_circuit).collect();
        all.extend(self.fixed_queries());
        all.extend(self.sigma_queries());
        all.extend([PolynomialId::Quotient, PolynomialId::Random].map(|polynomial| self.rotated_query(polynomial, 0)));
        all
    }

    fn advice_queries(&self, circuit: usize) -> Vec<OpeningQuery> {
        let query = |(column, rotation): &(usize, i32)| {
            self.rotated_query(PolynomialId::Column(circuit, ColumnId::Advice(*column)), *rotation)
        };
        self.circuit.advice_queries.iter().map(query).collect()
    }

    fn fixed_queries(&self) -> Vec<OpeningQuery> {
        let query = |(column, rotation): &(usize, i32)| {
            self.rotated_query(PolynomialId::Column(0, ColumnId::Fixed(*column)), *rotation)
        };
        self.circuit.fixed_queries.iter().map(query).collect()
    }

    fn sigma_queries(&self) -> impl Iterator<Item = OpeningQuery> {
        (0..self.circuit.layout.permuted)
            .map(|number| self.rotated_query(PolynomialId::Column(0, ColumnId::Sigma(number)), 0))
    }

    fn set_query(&self, circuit: usize, number: usize, rotation: i32) -> OpeningQuery {
        self.rotated_query(PolynomialId::Column(circuit, ColumnId::Set(number)), rotation)
    }

    /// Returns the queries of the grand product of each permutation set, set by set: at x and ωx, then at the row where
    /// products end. The last set lacks the latter.
    fn set_transcript_queries(&self, circuit: usize) -> Vec<OpeningQuery> {
        let sets = self.circuit.layout.sets;
        let of_set = |set: usize| {
            let end = (set + 1 < sets).then(|| self.set_query(circuit, set, self.circuit.rotation_to_last()));
            [self.set_query(circuit, set, 0), self.set_query(circuit, set, 1)].into_iter().chain(end)
        };
        (0..sets).flat_map(of_set).collect()
    }

    /// Returns the queries of the grand products of all permutation sets at x and ωx. Those at the row where products
    /// end follow, for all sets but the last, in reverse order.
    fn set_opening_queries(&self, circuit: usize) -> Vec<OpeningQuery> {
        let sets = self.circuit.layout.sets;
        let here = (0..sets).flat_map(|set| [0, 1].map(|rotation| self.set_query(circuit, set, rotation)));
        let end =
            (0..sets.saturating_sub(1)).rev().map(|set| self.set_query(circuit, set, self.circuit.rotation_to_last()));
        here.chain(end).collect()
    }

    fn lookup_queries(&self, circuit: usize, kinds: LookupOpenings) -> Vec<OpeningQuery> {
        let of_lookup = |number: usize| {
            kinds.map(|(name, rotation)| self.rotated_query(PolynomialId::Column(circuit, name(number)), rotation))
        };
        (0..self.circuit.layout.lookups).flat_map(of_lookup).collect()
    }
}

impl<C: ProofCurve> Engine<C> {
    /// Returns the value of each query's polynomial at its point, in the order of `queries`. A query is a polynomial's
    /// coefficients and an index into `points`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: a column does not have n elements.
    /// - [`Error::Invalid`]: a point's number is not below the number of points.
    /// - [`Error::Aborted`]: the engine's hook aborted.
    /// - A forced backend failed: its error.
    pub(super) fn evaluate(
        &self,
        queries: &[(ColumnView<'_, C::Scalar>, usize)],
        points: &[C::Scalar],
    ) -> Result<Vec<C::Scalar>> {
        let groups = group_by_cost(queries.iter().map(|(view, _)| count_uploads(view)), self.plan.max_columns);
        let values = groups.into_iter().map(|group| self.evaluate_group(&queries[group], points));
        Ok(values.collect::<Result<Vec<_>>>()?.concat())
    }

    fn evaluate_group(
        &self,
        queries: &[(ColumnView<'_, C::Scalar>, usize)],
        points: &[C::Scalar],
    ) -> Result<Vec<C::Scalar>> {
        let (views, numbers): (Vec<_>, Vec<usize>) = queries.iter().copied().unzip();
        self.run_step(
            "evaluate",
            views.len(),
            |stream| {
                let residents = ensure_on_device(stream, self.n(), &views)?;
                let query = |(polynomial, point): (_, &usize)| EvaluationQuery {
                    polynomial: to_step_column(polynomial),
                    point: *point,
                };
                let queries: Vec<_> = residents.iter().zip(&numbers).map(query).collect();
                let mut values = vec![ff::Field::ZERO; queries.len()];
                enqueue(stream, self.n(), &queries, points)?.download(stream, &mut values)?;
                Ok(values)
            },
            |_| {
                let columns = self.fetch_all_to_host(&views)?;
                let query = |(polynomial, point): (_, &usize)| EvaluationQuery { polynomial, point: *point };
                let queries = columns.iter().map(|column| &**column).zip(&numbers).map(query);
                on_cpu(&queries.collect::<Vec<_>>(), points)
            },
        )
    }
}

/// Asks for a polynomial's value at a point. `C` is [`DeviceColumn`] on a device, a slice on the host.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationQuery<C> {
    /// Coefficients of the polynomial, lowest first.
    pub polynomial: C,
    /// Index of the point in the list of points.
    pub point: usize,
}

fn check_points<C>(queries: &[EvaluationQuery<C>], points: usize) -> Result<()> {
    match queries.iter().find(|query| query.point >= points) {
        None => Ok(()),
        Some(query) => Err(Error::invalid(STEP, "number of the point", format!("below {points}"), query.point)),
    }
}

/// Returns the powers that the kernels take for `point`: [`POINT_POWERS`] powers of `point`, then as many of
/// `point`^[`EVALUATE_TILE`]. Powers start with exponent 0. The latter is the factor from one tile of coefficients to the
/// next.
fn kernel_point_powers<F: NttField>(point: F) -> Vec<F> {
    let of =
        |base: F| std::iter::successors(Some(F::ONE), move |power| Some(*power * base)).take(POINT_POWERS as usize);
    of(point).chain(of(point.pow_vartime([u64::from(EVALUATE_TILE)]))).collect()
}

/// Queues the evaluation of each query's polynomial, of `n` coefficients, at its point among `points`. The result has
/// one value for each query, in the order of `queries`.
///
/// Each coefficient of a query takes one multiplication, and reads 32 bytes. Some 7 % more multiplications are added.
///
/// # Errors
/// - [`Error::Invalid`]: `n` is 0, or above 2^30.
/// - [`Error::Invalid`]: a query's point does not exist.
/// - [`Error::Invalid`]: a polynomial exceeds its vector, or is on another device.
/// - [`Error::OutOfMemory`]: the device has too little memory.
/// - [`Error::Device`]: the driver failed.
pub fn enqueue<F: NttField>(
    stream: &mut Stream,
    n: usize,
    queries: &[EvaluationQuery<DeviceColumn<'_, F>>],
    points: &[F],
) -> Result<DeviceVector<F>> {
    let length = check_length(STEP, n)?;
    check_points(queries, points.len())?;
    queries.iter().try_for_each(|query| query.polynomial.check(stream, STEP, n))?;
    let tables: Vec<F> = points.iter().flat_map(|point| kernel_point_powers(*point)).collect();
    let columns: Vec<_> = queries.iter().map(|query| query.polynomial).collect();
    let values = allocate_columns(stream, queries.len(), 1)?;
    let partials = DeviceVector::scratch(stream, queries.len() * length.div_ceil(EVALUATE_TILE) as usize)?;
    for part in split_into_launches(&columns, 1, queries.iter().map(|_| 1)) {
        let words = part.encode_param_words(0, |number| queries[number].point as u64 * 2 * u64::from(POINT_POWERS));
        launch_batch(stream, length, &part, (&tables, &words), (&partials, &values))?;
    }
    Ok(values)
}

fn launch_batch<F: NttField>(
    stream: &mut Stream,
    n: u32,
    part: &LaunchBatch<'_, F>,
    (tables, words): (&[F], &[u64]),
    (partials, values): (&DeviceVector<F>, &DeviceVector<F>),
) -> Result<()> {
    let tiles = n.div_ceil(EVALUATE_TILE);
    let (buffer, words_at) = upload_params(stream, tables, words)?;
    let (shape, params, partials) = (part.tile_launch(n, tiles, words_at), In::<F>::new(&buffer), partials.buffer());
    let (launch, sums) = (Value(&shape), Out::new(partials));
    let [bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7] = part.bank_args(&buffer);
    let evaluate =
        EvaluateTiles { launch, params, partials: sums, bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7 };
    launch_groups::<F, _>(stream, part.output_count() * u64::from(tiles), evaluate)?;
    let (partials, values) = (In::new(partials), Out::new(values.buffer()));
    launch_groups::<F, _>(stream, part.output_count(), EvaluateSums { tiles, params, words_at, partials, values })
}

/// Returns the value of each query's polynomial at its point among `points`, computed on the host. Polynomials may be
/// of any lengths.
///
/// # Errors
/// - [`Error::Invalid`]: a query's point does not exist.
pub fn on_cpu<F: NttField>(queries: &[EvaluationQuery<&[F]>], points: &[F]) -> Result<Vec<F>> {
    check_points(queries, points.len())?;
    Ok(queries.iter().map(|query| evaluate_polynomial(query.polynomial, points[query.point])).collect())
}

fn evaluate_polynomial<F: NttField>(polynomial: &[F], point: F) -> F {
    let horner = |part: &[F]| part.iter().rfold(F::ZERO, |sum, coefficient| sum * point + coefficient);
    let parts = polynomial.par_chunks(TASK).map(horner).collect::<Vec<_>>();
    let step = point.pow_vartime([TASK as u64]);
    parts.into_iter().rfold(F::ZERO, |sum, part| sum * step + part)
}
