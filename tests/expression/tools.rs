//! Inputs, and what programs are compared with.

use proofwarp::Accelerator;
use proofwarp::expression::{Coset, Expression, Program, Query, Term};
use proofwarp::field::NttField;

use crate::common::{accelerators_and_cpu, rng};

pub fn column<F: NttField>(column: usize, rotation: i32) -> Expression<F> {
    Expression::column(column, rotation)
}

/// What expressions are evaluated on.
pub struct Inputs<F> {
    pub columns: Vec<Vec<F>>,
    pub challenges: Vec<F>,
    pub coset: Coset<F>,
}

impl<F: NttField> Inputs<F> {
    pub fn random(columns: usize, challenges: usize, log_n: u32, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut vector = |length| (0..length).map(|_| F::random(&mut rng)).collect::<Vec<F>>();
        let shift = vector(1)[0];
        let columns = (0..columns).map(|_| vector(1 << log_n)).collect();
        Self { columns, challenges: vector(challenges), coset: Coset { log_n, shift } }
    }

    pub fn rows(&self) -> usize {
        1 << self.coset.log_n
    }

    pub fn columns(&self) -> Vec<&[F]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }

    /// The definition.
    pub fn by_tree(&self, tree: &Expression<F>) -> Vec<F> {
        let omega = (self.coset.log_n..F::S).fold(F::ROOT_OF_UNITY, |root, _| root.square());
        let value = |row: usize| {
            let x = self.coset.shift * omega.pow_vartime([row as u64]);
            let at = |query: Query| {
                let [row, rows] = [row, self.rows()].map(|number| i64::try_from(number).expect("few rows"));
                self.columns[query.column][(row + i64::from(query.rotation)).rem_euclid(rows) as usize]
            };
            tree.evaluate(&at, &self.challenges, x)
        };
        (0..self.rows()).map(value).collect()
    }

    /// The definition of a sum of terms, added to what was there.
    pub fn sum_by_trees(&self, terms: &[Term<F>], before: &[F]) -> Vec<F> {
        let mut sum = before.to_vec();
        for term in terms {
            let factor = self.challenges[term.challenge];
            let values = self.by_tree(&term.expression);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
        }
        sum
    }

    pub fn run(&self, accelerator: &Accelerator, program: &Program<F>, before: &[Vec<F>]) -> Vec<Vec<F>> {
        let mut outputs = before.to_vec();
        let mut slices: Vec<&mut [F]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        let report = program.run(accelerator, &self.columns(), &self.challenges, self.coset, &mut slices, None);
        report.unwrap_or_else(|error| panic!("{error}\n{}", program.explain()));
        outputs
    }

    /// Outputs that nobody wrote yet.
    pub fn before(&self, count: usize) -> Vec<Vec<F>> {
        (0..count).map(|k| (0..self.rows()).map(|row| F::from((k + 7 * row) as u64)).collect()).collect()
    }

    /// Expressions on every backend, as vectors and as a sum, in groups of some sizes.
    pub fn agrees(&self, trees: &[Expression<F>]) {
        let expected: Vec<Vec<F>> = trees.iter().map(|tree| self.by_tree(tree)).collect();
        let challenge = |number: usize| number % self.challenges.len().max(1);
        let term =
            |(number, tree): (usize, &Expression<F>)| Term { challenge: challenge(number), expression: tree.clone() };
        let terms: Vec<Term<F>> =
            if self.challenges.is_empty() { Vec::new() } else { trees.iter().enumerate().map(term).collect() };
        let (before, sum_before) = (self.before(trees.len()), self.before(1));
        let expected_sum = [self.sum_by_trees(&terms, &sum_before[0])];
        for (columns_at_once, accelerator) in
            [0, 3].iter().flat_map(|most| accelerators_and_cpu().into_iter().map(move |a| (*most, a)))
        {
            let program = Program::lower_vectors(trees, columns_at_once);
            assert!(self.run(&accelerator, &program, &before) == expected, "{accelerator:?}\n{}", program.explain());
            let sum = Program::lower_sum(&terms, columns_at_once);
            assert!(self.run(&accelerator, &sum, &sum_before) == expected_sum, "{accelerator:?}\n{}", sum.explain());
        }
    }
}
