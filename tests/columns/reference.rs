//! The operations written out, row after row.

use ff::{Field, PrimeField};
use halo2curves::bn256::Fr;
use proofwarp::column_ops::Operation;

use crate::tools::Given;

/// A call on columns as they were before it.
pub struct Reference<'a> {
    pub columns: &'a [Vec<Fr>],
    pub given: &'a [Given],
    pub rows: usize,
}

impl Reference<'_> {
    fn number(&self, place: usize) -> i64 {
        let Given::Number(number) = self.given[place] else { panic!("argument {place} is a column") };
        number
    }

    fn column(&self, place: usize) -> usize {
        let Given::Column(number) = self.given[place] else { panic!("argument {place} is a number") };
        number
    }

    /// An element of the column that an argument is.
    fn at(&self, place: usize, row: usize) -> Fr {
        self.columns[self.column(place)][row]
    }

    /// One so many rows further on, as another argument says.
    fn turned(&self, place: usize, rotation: usize, row: usize) -> Fr {
        let there = (row as i64 + self.number(rotation)).rem_euclid(self.rows as i64);
        self.at(place, there as usize)
    }

    /// All columns, with the one of an argument written row by row.
    fn with(&self, place: usize, row: impl Fn(usize) -> Fr) -> Vec<Vec<Fr>> {
        let mut all = self.columns.to_vec();
        (0..self.rows).for_each(|i| all[self.column(place)][i] = row(i));
        all
    }

    /// All columns after the operation.
    pub fn after(&self, operation: Operation) -> Vec<Vec<Fr>> {
        let [a, b] =
            [|s: &Self, rotation, i| s.turned(1, rotation, i), |s: &Self, rotation, i| s.turned(2, rotation, i)];
        match operation {
            Operation::Constant => self.with(0, |_| self.at(1, 0)),
            Operation::Extend => self.with(1, |i| if (i as i64) < self.number(2) { self.at(0, i) } else { Fr::ZERO }),
            Operation::Periodic => self.with(0, |i| {
                let place = i % self.number(2) as usize;
                self.at(0, i) * if place == 0 { Fr::ONE } else { self.at(1, place - 1) }
            }),
            Operation::Sum => self.with(0, |i| a(self, 3, i) + b(self, 4, i)),
            Operation::Product => self.with(0, |i| a(self, 3, i) * b(self, 4, i)),
            Operation::SumConstant => self.with(0, |i| a(self, 2, i) + self.at(3, 0)),
            Operation::ProductConstant => self.with(0, |i| a(self, 2, i) * self.at(3, 0)),
            Operation::Shift => self.with(0, |i| a(self, 2, i) + self.at(4, 0)),
            Operation::Scale => self.with(0, |i| a(self, 2, i) * self.at(4, 0)),
            Operation::ScaleAdd => self.with(0, |i| a(self, 3, i) * self.at(6, 0) + b(self, 4, i)),
            Operation::ShiftMul => self.with(0, |i| (a(self, 3, i) + self.at(6, 0)) * b(self, 4, i)),
            Operation::Rotate => self.with(0, |i| a(self, 2, i)),
            _ => self.after_terms(operation),
        }
    }

    /// The same of those that add terms to a quotient.
    fn after_terms(&self, operation: Operation) -> Vec<Vec<Fr>> {
        match operation {
            Operation::PermutationEnds => self.with(0, |i| {
                let (h, y, first, last) = (self.at(0, i), self.at(6, 0), self.at(1, i), self.at(2, i));
                (h * y + (Fr::ONE - first) * self.at(3, i)) * y + (last * last - last) * self.at(4, i)
            }),
            Operation::Link => {
                self.with(0, |i| self.at(0, i) * self.at(4, 0) + (self.at(1, i) - self.turned(2, 5, i)) * self.at(3, i))
            }
            Operation::PermutationSides => {
                self.with(0, |i| self.at(0, i) * self.at(4, 0) + (self.at(1, i) - self.at(2, i)) * self.at(3, i))
            }
            Operation::Logup => self.with(0, |i| self.logup(i)),
            Operation::LogupMore => self.with(0, |i| {
                let term = (self.turned(3, 6, i) - self.at(3, i)) * self.at(1, i) - self.at(2, i);
                self.at(0, i) * self.at(5, 0) + term * self.at(4, i)
            }),
            Operation::Shuffle => self.with(0, |i| {
                let (y, z) = (self.at(7, 0), self.at(3, i));
                let h = (self.at(0, i) * y + (Fr::ONE - z) * self.at(4, i)) * y + (z * z - z) * self.at(5, i);
                h * y + (self.at(2, i) * self.turned(3, 8, i) - self.at(1, i) * z) * self.at(6, i)
            }),
            _ => self.after_all(operation),
        }
    }

    fn logup(&self, i: usize) -> Fr {
        let [h, table, product, sum, m, z, last] = [0, 1, 2, 3, 4, 5, 6].map(|place| self.at(place, i));
        let y = self.at(10, 0);
        let step = (self.turned(5, 11, i) - z) * table + m;
        let h = (h * y + z * self.at(7, i)) * y + last * self.at(8, i);
        h * y + (step * product - table * sum) * self.at(9, i)
    }

    /// The same of those that write several columns, or not row by row.
    fn after_all(&self, operation: Operation) -> Vec<Vec<Fr>> {
        let radix = Fr::from(2).pow([256]);
        match operation {
            Operation::PermutationFactors => {
                let challenge = |number| self.at(5, number);
                let mut all = self.columns.to_vec();
                #[expect(clippy::needless_range_loop, reason = "a row of several columns")]
                for i in 0..self.rows {
                    let (value, place) = (self.at(2, i), self.at(4, i));
                    all[self.column(0)][i] *= challenge(1) * self.at(3, i) + challenge(2) + value;
                    all[self.column(1)][i] *= place + challenge(2) + value;
                    all[self.column(4)][i] *= challenge(3);
                }
                all
            }
            Operation::LookupSlots => self.lookup_slots(),
            Operation::ToMontgomery => self.with(0, |i| self.at(0, i) * radix),
            Operation::FromMontgomery => self.with(0, |i| self.at(0, i) * radix.invert().expect("not zero")),
            other => panic!("{other:?} is tested by its composition"),
        }
    }

    fn lookup_slots(&self) -> Vec<Vec<Fr>> {
        let (beta, gamma) = (self.at(4, 0), self.at(4, 1));
        let product = |place, i| (self.at(place, i) + beta) * (self.at(place + 1, i) + gamma);
        let mut all = self.columns.to_vec();
        let slot = self.number(6) as usize;
        #[expect(clippy::needless_range_loop, reason = "a row of several columns")]
        for i in 0..self.rows {
            let first = i / slot * slot;
            let rows = first..self.rows.min(first + slot);
            let others = rows.clone().filter(|row| *row != i).map(|row| product(0, row)).product::<Fr>();
            all[self.column(0)][i] = product(2, i) * others;
            all[self.column(1)][i] = if i == first { rows.map(|row| product(0, row)).product() } else { product(0, i) };
        }
        all
    }
}

/// What an element's memory is as a number: an element in canonical form.
pub fn number(element: &Fr) -> Vec<u8> {
    (*element * Fr::from(2).pow([256])).to_repr().as_ref().iter().rev().copied().collect()
}
