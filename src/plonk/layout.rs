//! Names a circuit's columns, and numbers them for expressions.

/// Identifies a column of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// Fixed column of the key, the same in every proof.
    Fixed(usize),
    /// σ of a permutation column, by that column's index in the permutation.
    Sigma(usize),
    /// 1 in row 0, 0 in other rows.
    First,
    /// 1 in the row after the last usable one, where products end, 0 in other rows.
    Last,
    /// 1 in usable rows, 0 in other rows.
    Active,
    /// Advice column.
    Advice(usize),
    /// Instance column.
    Instance(usize),
    /// Grand product of a permutation set.
    Set(usize),
    /// Grand product of a lookup.
    Lookup(usize),
    /// A lookup's permuted input A', with equal values next to each other.
    Input(usize),
    /// A lookup's permuted table S', in the order that A' needs.
    Table(usize),
}

/// Counts the columns of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Fixed columns, selectors included.
    pub fixed: usize,
    /// Permutation columns.
    pub permuted: usize,
    /// Advice columns.
    pub advice: usize,
    /// Instance columns.
    pub instances: usize,
    /// Permutation sets, each with one grand product.
    pub sets: usize,
    /// Lookups.
    pub lookups: usize,
}

impl Layout {
    /// Returns the number by which expressions name the column `name`.
    pub fn number(&self, name: Name) -> usize {
        let own = self.shared();
        let sets = own + self.advice + self.instances;
        let lookups = sets + self.sets;
        match name {
            Name::Fixed(i) => i,
            Name::Sigma(i) => self.fixed + i,
            Name::First => self.fixed + self.permuted,
            Name::Last => self.fixed + self.permuted + 1,
            Name::Active => self.fixed + self.permuted + 2,
            Name::Advice(i) => own + i,
            Name::Instance(i) => own + self.advice + i,
            Name::Set(i) => sets + i,
            Name::Lookup(i) => lookups + i,
            Name::Input(i) => lookups + self.lookups + i,
            Name::Table(i) => lookups + 2 * self.lookups + i,
        }
    }

    /// Returns the number of columns that the circuits of a proof share: those of the key. They have the lowest
    /// numbers.
    pub fn shared(&self) -> usize {
        self.fixed + self.permuted + 3
    }

    /// Returns the layout with each count limited to `most`.
    pub(super) fn at_most(self, most: usize) -> Self {
        let Self { fixed, permuted, advice, instances, sets, lookups } = self;
        let [fixed, permuted, advice, instances, sets, lookups] =
            [fixed, permuted, advice, instances, sets, lookups].map(|count| count.min(most));
        Self { fixed, permuted, advice, instances, sets, lookups }
    }

    /// Returns the number of columns of one circuit, or `None` if it is not below 2^32.
    pub(super) fn checked_columns(&self) -> Option<u32> {
        let Self { fixed, permuted, advice, instances, sets, lookups } = *self;
        let counts = [fixed, permuted, 3, advice, instances, sets, lookups, lookups, lookups];
        counts.into_iter().try_fold(0_u32, |sum, count| sum.checked_add(u32::try_from(count).ok()?))
    }

    /// Returns the number of columns of one circuit.
    pub fn columns(&self) -> usize {
        self.number(Name::Table(self.lookups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_gaps() {
        let layout = Layout { fixed: 2, permuted: 3, advice: 4, instances: 1, sets: 2, lookups: 2 };
        let few = |name: fn(usize) -> Name, count: usize| (0..count).map(name).collect::<Vec<_>>();
        let names = [
            few(Name::Fixed, 2),
            few(Name::Sigma, 3),
            vec![Name::First, Name::Last, Name::Active],
            few(Name::Advice, 4),
            few(Name::Instance, 1),
            few(Name::Set, 2),
            few(Name::Lookup, 2),
            few(Name::Input, 2),
            few(Name::Table, 2),
        ]
        .concat();
        let numbers: Vec<_> = names.iter().map(|name| layout.number(*name)).collect();
        assert_eq!(numbers, (0..layout.columns()).collect::<Vec<_>>());
        assert_eq!(layout.number(Name::Advice(0)), layout.shared());
    }
}
