//! Represents expressions as trees: plain data, made by the owner of the constraints.

use std::mem;
use std::ops::{Add, Mul, Neg, Sub};

use ff::Field;

/// Refers to a column's value in a row at a given distance from the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Query {
    /// Index of the column among the columns that the caller passes to evaluation.
    pub column: usize,
    /// Distance in rows, negative for earlier rows: row i reads row (i + rotation) mod n.
    pub rotation: i32,
}

impl Query {
    /// Returns the index of the row that row `row` reads, (row + rotation) mod `rows`. `rows` is at least 1.
    pub(super) fn rotated_row(self, row: usize, rows: usize) -> usize {
        let turn = self.rotation.unsigned_abs() as usize % rows;
        let forward = if self.rotation < 0 { rows - turn } else { turn };
        (row + forward) % rows
    }
}

/// Represents a polynomial in columns, challenges and X.
///
/// Trees may be deep. Evaluation, lowering and drop use a stack on the heap. Clone, comparison and debug output recurse
/// on the thread's stack.
///
/// ```
/// use ff::Field;
/// use halo2curves::bn256::Fr;
/// use proofwarp::expression::Expression;
///
/// // a·b − a(ωX)
/// let [a, b, next] = [(0, 0), (1, 0), (0, 1)].map(|(column, rotation)| Expression::<Fr>::column(column, rotation));
/// let gate = a * b - next;
/// assert_eq!(gate.degree(), 2);
/// let columns = [[2, 6], [3, 5]];
/// let row_0 = gate.evaluate(&|query| Fr::from(columns[query.column][query.rotation as usize]), &[], Fr::ONE);
/// assert_eq!(row_0, Fr::ZERO);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression<F> {
    /// An element that is known when the expression is made.
    Constant(F),
    /// The challenge of this index, an element that is only known at evaluation.
    Challenge(usize),
    /// The point of the row: shift·ω^i in row i.
    X,
    /// A column's value in the row to which the query refers.
    Column(Query),
    /// −a.
    Negated(Box<Expression<F>>),
    /// a + b.
    Sum(Box<Expression<F>>, Box<Expression<F>>),
    /// a·b.
    Product(Box<Expression<F>>, Box<Expression<F>>),
    /// a times an element that is known when the expression is made.
    Scaled(Box<Expression<F>>, F),
}

/// Represents a summand: an expression times a challenge, such as a power of y.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<F> {
    /// Index of the challenge among the challenges that the caller passes to evaluation.
    pub challenge: usize,
    /// Expression that is multiplied by the challenge.
    pub expression: Expression<F>,
}

/// Represents an expression's outermost operation, with values of type `T` in place of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpressionNode<F, T> {
    Constant(F),
    Challenge(usize),
    X,
    Column(Query),
    Negated(T),
    Sum(T, T),
    Product(T, T),
    Scaled(T, F),
}

impl<F: Field> Expression<F> {
    /// Returns the expression for the value of column number `column`, `rotation` rows after the current one.
    pub fn column(column: usize, rotation: i32) -> Self {
        Self::Column(Query { column, rotation })
    }

    /// Returns an upper bound of the degree. Columns and X have degree 1, constants and challenges 0. The degree may be
    /// lower, since terms may cancel.
    pub fn degree(&self) -> usize {
        self.fold(|part| match part {
            ExpressionNode::Constant(_) | ExpressionNode::Challenge(_) => 0,
            ExpressionNode::X | ExpressionNode::Column(_) => 1,
            ExpressionNode::Negated(a) | ExpressionNode::Scaled(a, _) => a,
            ExpressionNode::Sum(a, b) => a.max(b),
            ExpressionNode::Product(a, b) => a + b,
        })
    }

    /// Returns the indices of the columns that the expression reads, each once, in ascending order.
    pub fn columns(&self) -> Vec<usize> {
        let column = |part: &Self| match part {
            Self::Column(query) => Some(query.column),
            _ => None,
        };
        let mut columns: Vec<_> = self.post_order_iter().filter_map(column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Returns the expression's value in one row. `column` returns the value of a query there, and `x` is the row's
    /// point. All other implementations are tested against this one.
    ///
    /// # Panics
    /// Panics if a challenge's number is not below `challenges.len()`, or `column` panics.
    pub fn evaluate(&self, column: &impl Fn(Query) -> F, challenges: &[F], x: F) -> F {
        self.fold(|part: ExpressionNode<F, F>| match part {
            ExpressionNode::Constant(value) => value,
            ExpressionNode::Challenge(number) => challenges[number],
            ExpressionNode::X => x,
            ExpressionNode::Column(query) => column(query),
            ExpressionNode::Negated(a) => -a,
            ExpressionNode::Sum(a, b) => a + b,
            ExpressionNode::Product(a, b) => a * b,
            ExpressionNode::Scaled(a, factor) => a * factor,
        })
    }

    /// Returns the result of `up` for the whole tree. `up` gets an operation and the results for its operands. The
    /// left operand is computed first.
    pub(super) fn fold<T: Copy>(&self, mut up: impl FnMut(ExpressionNode<F, T>) -> T) -> T {
        let mut results = Vec::new();
        for expression in self.post_order_iter() {
            let first = results.len() - expression.parts().count();
            let part = expression.node_with_operands(&results[first..]);
            results.truncate(first);
            results.push(up(part));
        }
        results[0]
    }

    /// Returns all subexpressions in post-order: operands before their operation, left before right.
    fn post_order_iter(&self) -> impl Iterator<Item = &Self> {
        let (mut outside_in, mut ahead) = (Vec::new(), vec![self]);
        while let Some(expression) = ahead.pop() {
            outside_in.push(expression);
            ahead.extend(expression.parts());
        }
        outside_in.into_iter().rev()
    }

    fn parts(&self) -> impl Iterator<Item = &Self> {
        let parts: [Option<&Self>; 2] = match self {
            Self::Constant(_) | Self::Challenge(_) | Self::X | Self::Column(_) => [None, None],
            Self::Negated(a) | Self::Scaled(a, _) => [Some(a), None],
            Self::Sum(a, b) | Self::Product(a, b) => [Some(a), Some(b)],
        };
        parts.into_iter().flatten()
    }

    /// Returns the outermost operation, with `results` in place of its operands, left before right.
    fn node_with_operands<T: Copy>(&self, results: &[T]) -> ExpressionNode<F, T> {
        match self {
            Self::Constant(value) => ExpressionNode::Constant(*value),
            Self::Challenge(number) => ExpressionNode::Challenge(*number),
            Self::X => ExpressionNode::X,
            Self::Column(query) => ExpressionNode::Column(*query),
            Self::Negated(_) => ExpressionNode::Negated(results[0]),
            Self::Sum(..) => ExpressionNode::Sum(results[0], results[1]),
            Self::Product(..) => ExpressionNode::Product(results[0], results[1]),
            Self::Scaled(_, factor) => ExpressionNode::Scaled(results[0], *factor),
        }
    }
}

impl<F> Expression<F> {
    /// Moves the operands of the outermost operation to the end of `list`, and puts X in their place.
    fn take_parts(&mut self, list: &mut Vec<Self>) {
        let mut take = |part: &mut Box<Self>| list.push(mem::replace(&mut **part, Self::X));
        match self {
            Self::Constant(_) | Self::Challenge(_) | Self::X | Self::Column(_) => {}
            Self::Negated(a) | Self::Scaled(a, _) => take(a),
            Self::Sum(a, b) | Self::Product(a, b) => {
                take(a);
                take(b);
            }
        }
    }
}

impl<F> Drop for Expression<F> {
    /// Drops subexpressions one by one, since nested boxes would recurse on the thread's stack.
    fn drop(&mut self) {
        let mut list = Vec::new();
        self.take_parts(&mut list);
        while let Some(mut part) = list.pop() {
            part.take_parts(&mut list);
        }
    }
}

impl<F> Add for Expression<F> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::Sum(Box::new(self), Box::new(other))
    }
}

impl<F> Sub for Expression<F> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<F> Mul for Expression<F> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::Product(Box::new(self), Box::new(other))
    }
}

impl<F: Field> Mul<F> for Expression<F> {
    type Output = Self;

    fn mul(self, factor: F) -> Self {
        Self::Scaled(Box::new(self), factor)
    }
}

impl<F> Neg for Expression<F> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::Negated(Box::new(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halo2curves::bn256::Fr;

    fn column(column: usize) -> Expression<Fr> {
        Expression::column(column, 0)
    }

    #[test]
    fn every_operation() {
        let (three, beta) = (Expression::Constant(Fr::from(3)), Expression::Challenge(1));
        let tree = (column(0) * column(1) - three) * Fr::from(2) + -(beta * Expression::X);
        let value = tree.evaluate(&|query| Fr::from(5 + query.column as u64), &[Fr::ZERO, Fr::from(7)], Fr::from(4));
        assert_eq!(value, Fr::from((5 * 6 - 3) * 2) - Fr::from(7 * 4));
        assert_eq!(tree.degree(), 2);
        assert_eq!(tree.columns(), [0, 1]);
        // Parts are evaluated left before right.
        let difference = column(3) - column(2);
        assert_eq!(difference.evaluate(&|query| Fr::from(query.column as u64), &[], Fr::ONE), Fr::ONE);
    }

    #[test]
    fn deep_trees() {
        let levels = 300_000;
        let deep = (0..levels).fold(column(0), |tree, _| -(tree + Expression::Constant(Fr::ONE)));
        assert_eq!(deep.degree(), 1);
        assert_eq!(deep.evaluate(&|_| Fr::ZERO, &[], Fr::ONE), Fr::ZERO);
        drop(deep);
        let powers = (0..levels).fold(column(0), |tree, _| column(0) * tree);
        assert_eq!(powers.degree(), levels + 1);
    }
}
