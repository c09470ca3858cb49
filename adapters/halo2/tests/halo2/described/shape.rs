//! What a circuit is to be like.

/// A product of inputs and fixed columns: indices of both, inputs first, with rotations from −2 to 2.
#[derive(Debug, Clone)]
pub struct Term {
    pub coefficient: u64,
    pub factors: Vec<(usize, i32)>,
}

/// selector·(Σ terms − output) = 0.
#[derive(Debug, Clone)]
pub struct Gate {
    pub terms: Vec<Term>,
}

/// Where a lookup's table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// In fixed columns, with duplicates and the default 0.
    Fixed,
    /// In columns of the witness: the inputs in another order.
    Shuffled,
}

#[derive(Debug, Clone)]
pub struct Lookup {
    pub columns: usize,
    pub table: TableKind,
    pub selected: bool,
    /// Of its inputs, where it is selected.
    pub rotation: i32,
}

/// A circuit of one region.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Free columns that gates compute with.
    pub inputs: usize,
    /// Fixed columns that gates compute with.
    pub fixed: usize,
    /// Each has an output column.
    pub gates: Vec<Gate>,
    pub lookups: Vec<Lookup>,
    /// Columns whose cells are copies of each other.
    pub copied: usize,
    /// Pairs of their cells (column, row) that are equal.
    pub copies: Vec<[(usize, usize); 2]>,
    /// Leaves out the column of a constant that a cell is a copy of, as halo2-base does where a circuit is only proved.
    pub no_constant: bool,
    /// Values of each instance column.
    pub instances: Vec<usize>,
    /// Phases after the first, up to two, each with a column that depends on challenges and on the one before.
    pub later_phases: usize,
    /// The circuit says where phases end.
    pub says_phases: bool,
    pub minimum_degree: Option<usize>,
}

impl Shape {
    /// Rows in which gates hold; inputs have two more on each side.
    pub const ACTIVE: usize = 8;
    /// The first of them.
    pub const FIRST: usize = 2;
    /// Rows of a fixed table, the last ones duplicates.
    pub const TABLE: usize = 10;

    /// A gate of a degree, its selector included: input 0 times itself, rotated, minus input 1.
    pub fn gate(degree: usize) -> Gate {
        let factors = [-1, 0, 1].into_iter().cycle().take(degree - 1).map(|rotation| (0, rotation)).collect();
        Gate { terms: vec![Term { coefficient: 3, factors }, Term { coefficient: 1, factors: vec![(1, 0)] }] }
    }

    /// Something of everything.
    pub fn base() -> Self {
        Self {
            inputs: 2,
            fixed: 1,
            gates: vec![Self::gate(3), Self::gate(4)],
            lookups: vec![
                Lookup { columns: 1, table: TableKind::Fixed, selected: false, rotation: 0 },
                Lookup { columns: 2, table: TableKind::Fixed, selected: true, rotation: 0 },
                Lookup { columns: 2, table: TableKind::Shuffled, selected: false, rotation: 0 },
            ],
            copied: 4,
            copies: vec![[(0, 0), (1, 1)], [(1, 1), (2, 5)], [(2, 5), (0, 0)], [(3, 2), (3, 7)], [(0, 4), (3, 2)]],
            instances: vec![2, 3],
            ..Self::default()
        }
    }
}
