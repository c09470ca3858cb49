//! Times the terms of a quotient on columns that are on the device. The circuit has degree 5, 12 advice, 14 fixed and
//! 13 permutation columns, and 3 lookups, as in halo2.

use std::sync::Arc;

use proofwarp::Accelerator;
use proofwarp::backend::{Device, Stream};
use proofwarp::expression::{Coset, DeviceColumn, Expression, Program, Query, Term};
use proofwarp::field::{DeviceVector, NttField, as_bytes};
use rayon::prelude::*;

use super::Options;
use crate::timing::median;
use crate::{Failure, inputs};

/// Columns of each kind, in the order of their numbers.
const ADVICE: usize = 12;
const FIXED: usize = 14;
const SIGMA: usize = 13;
const SETS: usize = 5;
const LOOKUPS: usize = 3;
/// Columns that a permutation's product covers, for degree 5.
const OF_SET: usize = 3;
/// The last rows, which are random.
const BLINDING: i32 = 5;
/// Columns that a group may read; 0 is all of them.
const AT_ONCE: [usize; 2] = [0, 29];
const BETA: usize = 0;
const GAMMA: usize = 1;
/// Index at which the powers of y begin.
const POWERS: usize = 2;

struct Columns;

impl Columns {
    const FIXED: usize = ADVICE;
    const SIGMA: usize = Self::FIXED + FIXED;
    const PRODUCTS: usize = Self::SIGMA + SIGMA;
    /// Begins A', S' and the product of each lookup.
    const LOOKUPS: usize = Self::PRODUCTS + SETS;
    const L0: usize = Self::LOOKUPS + 3 * LOOKUPS;
    const LAST: usize = Self::L0 + 1;
    const ACTIVE: usize = Self::L0 + 2;
    const COUNT: usize = Self::L0 + 3;
}

fn column<F: NttField>(number: usize, rotation: i32) -> Expression<F> {
    Expression::column(number, rotation)
}

fn one<F: NttField>() -> Expression<F> {
    Expression::Constant(F::ONE)
}

/// Six gates of degree 3 and four of degree 5, a fixed column each.
fn gates<F: NttField>(terms: &mut Vec<Expression<F>>) {
    let advice = |number: usize, rotation| column::<F>(number % ADVICE, rotation);
    for gate in 0..6 {
        let product = advice(gate, 0) * advice(gate + 1, 0) + advice(gate + 2, 1) - advice(gate + 3, 0);
        terms.push(column::<F>(Columns::FIXED + gate, 0) * product);
    }
    for gate in 0..4 {
        let square = advice(gate, 0) * advice(gate, 0);
        let fourth = square.clone() * square - advice(gate + 4, 1) * column(Columns::FIXED + 10 + gate, 0);
        terms.push(column::<F>(Columns::FIXED + 6 + gate, 0) * fourth);
    }
}

fn permutation<F: NttField>(terms: &mut Vec<Expression<F>>) {
    let z = |set: usize, rotation| column::<F>(Columns::PRODUCTS + set, rotation);
    let [l0, last, active] = [Columns::L0, Columns::LAST, Columns::ACTIVE].map(|number| column::<F>(number, 0));
    terms.push(l0.clone() * (one() - z(0, 0)));
    terms.push(last * (z(SETS - 1, 0) * z(SETS - 1, 0) - z(SETS - 1, 0)));
    terms.extend((1..SETS).map(|set| l0.clone() * (z(set, 0) - z(set - 1, -(BLINDING + 1)))));
    let value = |number: usize| column::<F>(number, 0) + Expression::Challenge(GAMMA);
    let beta = || Expression::Challenge(BETA);
    for set in 0..SETS {
        let numbers = OF_SET * set..SIGMA.min(OF_SET * (set + 1));
        let left = numbers
            .clone()
            .fold(z(set, 1), |left, number| left * (value(number) + beta() * column(Columns::SIGMA + number, 0)));
        let right = numbers.fold(z(set, 0), |right, number| {
            let delta = F::DELTA.pow_vartime([number as u64]);
            right * (value(number) + beta() * Expression::X * delta)
        });
        terms.push(active.clone() * (left - right));
    }
}

fn lookup<F: NttField>(terms: &mut Vec<Expression<F>>, number: usize) {
    let [a, s, z] = [0, 1, 2].map(|part| Columns::LOOKUPS + 3 * number + part);
    let [l0, last, active] = [Columns::L0, Columns::LAST, Columns::ACTIVE].map(|number| column::<F>(number, 0));
    let plus = |column: Expression<F>, challenge| column + Expression::Challenge(challenge);
    let permuted = plus(column(a, 0), BETA) * plus(column(s, 0), GAMMA);
    let plain = plus(column(number, 0), BETA) * plus(column(Columns::FIXED + number, 0), GAMMA);
    let difference = column::<F>(a, 0) - column(s, 0);
    terms.push(l0.clone() * (one() - column(z, 0)));
    terms.push(last * (column::<F>(z, 0) * column(z, 0) - column(z, 0)));
    terms.push(active.clone() * (column::<F>(z, 1) * permuted - column::<F>(z, 0) * plain));
    terms.push(l0 * difference.clone());
    terms.push(active * difference * (column::<F>(a, 0) - column(a, -1)));
}

fn terms<F: NttField>() -> Vec<Term<F>> {
    let mut expressions = Vec::new();
    gates(&mut expressions);
    permutation(&mut expressions);
    (0..LOOKUPS).for_each(|number| lookup(&mut expressions, number));
    let numbered = expressions.into_iter().zip(POWERS..);
    numbered.map(|(expression, challenge)| Term { challenge, expression }).collect()
}

/// A row for each bound on the columns of a group.
pub fn rows<F: NttField>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure> {
    let Some(device) = accelerator.devices().first() else { return Ok(()) };
    if !options.rows.wants(&format!("expression {}", F::NAME)) {
        return Ok(());
    }
    let timed = Timed::<F>::new(device, log_n)?;
    for at_once in AT_ONCE {
        let program = Program::lower_sum(&timed.terms, at_once);
        if options.explain {
            say!("{}", program.explain());
        }
        timed.row(options, &program, at_once)?;
    }
    Ok(())
}

/// Holds the terms, and the columns that they are evaluated on.
struct Timed<F> {
    device: Arc<Device>,
    terms: Vec<Term<F>>,
    challenges: Vec<F>,
    coset: Coset<F>,
    values: Vec<F>,
    arena: DeviceVector<F>,
}

impl<F: NttField> Timed<F> {
    /// All columns in one vector, each the same values turned by its number.
    fn new(device: &Arc<Device>, log_n: u32) -> Result<Self, Failure> {
        let terms = terms::<F>();
        let rows = 1usize << log_n;
        let values = inputs::coefficients::<F>(rows);
        let challenges = inputs::coefficients::<F>(POWERS + terms.len());
        let mut stream = device.stream()?;
        let arena = DeviceVector::allocate(&mut stream, Columns::COUNT * rows)?;
        for number in 0..Columns::COUNT {
            let (tail, head) = as_bytes(&values).split_at(number % rows * size_of::<F>());
            let start = number * size_of_val(values.as_slice());
            stream.upload_at(arena.buffer(), start, head)?;
            stream.upload_at(arena.buffer(), start + head.len(), tail)?;
        }
        stream.synchronize(None)?;
        let coset = Coset { log_n, shift: F::MULTIPLICATIVE_GENERATOR };
        Ok(Self { device: device.clone(), terms, challenges, coset, values, arena })
    }

    fn rows(&self) -> usize {
        self.values.len()
    }

    fn row(&self, options: &Options, program: &Program<F>, at_once: usize) -> Result<(), Failure> {
        let mut stream = self.device.stream()?;
        let sum = DeviceVector::allocate(&mut stream, self.rows())?;
        let mut times = Vec::new();
        for _ in 0..=options.rows.repeat.max(1) {
            stream.zero(sum.buffer())?;
            times.push(self.evaluate(&mut stream, program, &sum)?);
        }
        if options.check {
            self.check(&mut stream, &sum)?;
        }
        // The first was to warm up.
        times.remove(0);
        let (seconds, products) = (median(times), program.explain().total().products);
        let groups = program.groups().len();
        let what = format!("expression {}, {products} products a row, {groups} groups of {at_once}", F::NAME);
        let rate = products as f64 * self.rows() as f64 / seconds / 1e9;
        say!("{what:64} {:>2} {:12.4} ms {rate:8.2} G products/s", self.coset.log_n, seconds * 1e3);
        Ok(())
    }

    fn evaluate(&self, stream: &mut Stream, program: &Program<F>, sum: &DeviceVector<F>) -> Result<f64, Failure> {
        let place = |number| DeviceColumn { vector: &self.arena, first: number * self.rows() };
        let columns: Vec<_> = (0..Columns::COUNT).map(place).collect();
        let before = stream.stats().kernels.as_secs_f64();
        stream.begin_timing()?;
        let output = DeviceColumn { vector: sum, first: 0 };
        program.enqueue(stream, &columns, &self.challenges, self.coset, &[output])?;
        stream.end_timing()?;
        stream.synchronize(None)?;
        Ok(stream.stats().kernels.as_secs_f64() - before)
    }

    /// Checks some of the rows by the trees.
    fn check(&self, stream: &mut Stream, sum: &DeviceVector<F>) -> Result<(), Failure> {
        let rows = self.rows();
        let mut found = vec![F::ZERO; rows];
        sum.download(stream, &mut found)?;
        let omega = (self.coset.log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
        let right = |row: usize| {
            let x = self.coset.shift * omega.pow_vartime([row as u64]);
            let at = |query: Query| {
                let back = query.rotation.min(0).unsigned_abs() as usize % rows;
                let near = row + rows - back + query.rotation.max(0) as usize;
                self.values[(near + query.column) % rows]
            };
            let value =
                |term: &Term<F>| self.challenges[term.challenge] * term.expression.evaluate(&at, &self.challenges, x);
            self.terms.iter().map(value).sum::<F>() == found[row]
        };
        let step = rows.div_ceil(1 << 12);
        match (0..rows).into_par_iter().step_by(step).all(right) {
            true => Ok(()),
            false => Err("a wrong sum of terms".into()),
        }
    }
}
