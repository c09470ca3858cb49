//! Names a circuit's columns, and numbers them for expressions.

/// Identifies a column of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColumnId {
    /// Fixed column of the key, the same in every proof, by its index among the fixed columns.
    Fixed(usize),
    /// σ of a permutation column, by that column's index in the permutation.
    Sigma(usize),
    /// Column that is 1 in row 0, 0 in other rows.
    First,
    /// Column that is 1 in the row after the last usable one, where grand products end, 0 in other rows.
    Last,
    /// Column that is 1 in usable rows, 0 in other rows.
    Active,
    /// Advice column, by its index among the advice columns.
    Advice(usize),
    /// Instance column, by its index among the instance columns.
    Instance(usize),
    /// Grand product of a permutation set, by the set's index.
    Set(usize),
    /// Grand product of a lookup, by the lookup's index.
    Lookup(usize),
    /// A lookup's permuted input A', with equal values next to each other.
    Input(usize),
    /// A lookup's permuted table S', in the order that A' needs.
    Table(usize),
}

/// Holds the number of columns of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnLayout {
    /// Fixed columns, selectors included.
    pub fixed: usize,
    /// Columns in the permutation argument.
    pub permuted: usize,
    /// Advice columns.
    pub advice: usize,
    /// Instance columns.
    pub instances: usize,
    /// Permutation sets: groups of permutation columns, each with one grand product.
    pub sets: usize,
    /// Lookups.
    pub lookups: usize,
}

impl ColumnLayout {
    /// Returns the number by which expressions refer to the column `name`, counted from 0.
    pub fn column_number(&self, name: ColumnId) -> usize {
        let own = self.shared_column_count();
        let sets = own + self.advice + self.instances;
        let lookups = sets + self.sets;
        match name {
            ColumnId::Fixed(i) => i,
            ColumnId::Sigma(i) => self.fixed + i,
            ColumnId::First => self.fixed + self.permuted,
            ColumnId::Last => self.fixed + self.permuted + 1,
            ColumnId::Active => self.fixed + self.permuted + 2,
            ColumnId::Advice(i) => own + i,
            ColumnId::Instance(i) => own + self.advice + i,
            ColumnId::Set(i) => sets + i,
            ColumnId::Lookup(i) => lookups + i,
            ColumnId::Input(i) => lookups + self.lookups + i,
            ColumnId::Table(i) => lookups + 2 * self.lookups + i,
        }
    }

    /// Returns the number of the key's columns, which all circuits of a proof share. They have the lowest column
    /// numbers.
    pub fn shared_column_count(&self) -> usize {
        self.fixed + self.permuted + 3
    }

    /// Returns the layout with each count limited to `most`.
    pub(super) fn clamp_counts(self, most: usize) -> Self {
        let Self { fixed, permuted, advice, instances, sets, lookups } = self;
        let [fixed, permuted, advice, instances, sets, lookups] =
            [fixed, permuted, advice, instances, sets, lookups].map(|count| count.min(most));
        Self { fixed, permuted, advice, instances, sets, lookups }
    }

    /// Returns the number of columns of one circuit, those of the key included, or `None` if it is not below 2^32.
    pub(super) fn checked_column_count(&self) -> Option<u32> {
        let Self { fixed, permuted, advice, instances, sets, lookups } = *self;
        let counts = [fixed, permuted, 3, advice, instances, sets, lookups, lookups, lookups];
        counts.into_iter().try_fold(0_u32, |sum, count| sum.checked_add(u32::try_from(count).ok()?))
    }

    /// Returns the number of columns of one circuit, those of the key included.
    pub fn column_count(&self) -> usize {
        self.column_number(ColumnId::Table(self.lookups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_gaps() {
        let layout = ColumnLayout { fixed: 2, permuted: 3, advice: 4, instances: 1, sets: 2, lookups: 2 };
        let few = |name: fn(usize) -> ColumnId, count: usize| (0..count).map(name).collect::<Vec<_>>();
        let names = [
            few(ColumnId::Fixed, 2),
            few(ColumnId::Sigma, 3),
            vec![ColumnId::First, ColumnId::Last, ColumnId::Active],
            few(ColumnId::Advice, 4),
            few(ColumnId::Instance, 1),
            few(ColumnId::Set, 2),
            few(ColumnId::Lookup, 2),
            few(ColumnId::Input, 2),
            few(ColumnId::Table, 2),
        ]
        .concat();
        let numbers: Vec<_> = names.iter().map(|name| layout.column_number(*name)).collect();
        assert_eq!(numbers, (0..layout.column_count()).collect::<Vec<_>>());
        assert_eq!(layout.column_number(ColumnId::Advice(0)), layout.shared_column_count());
    }
}
