//! Values of a circuit's cells.

use std::collections::HashMap;

use ff::Field;
use halo2_axiom::circuit::Value;
use halo2_axiom::halo2curves::bn256::Fr;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use super::plan::{Factor, Gate, Kind, Lookup, Plan};

/// Which constraint a witness breaks, if the circuit has such a one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    Nothing,
    Gate,
    Lookup,
    Copy,
}

/// Values of everything that does not depend on challenges.
#[derive(Debug, Clone)]
pub struct Values {
    rows: usize,
    pub usable: usize,
    cells: HashMap<(Kind, usize), Fr>,
    /// Entries of each lookup's table, and in which entry each row looks.
    tables: Vec<(Vec<Vec<Fr>>, Vec<usize>)>,
    pub broken: Break,
}

fn random(rng: &mut ChaCha20Rng) -> Fr {
    // Small ones too, which repeat.
    if rng.next_u32().is_multiple_of(2) { Fr::random(rng) } else { Fr::from(u64::from(rng.next_u32() % 3)) }
}

impl Values {
    /// Those of one witness of a plan; fixed columns and tables are the same for all.
    pub fn new(plan: &Plan, usable: usize, witness: u64, broken: Break) -> Self {
        let mut shared = ChaCha20Rng::seed_from_u64(plan.seed ^ 0x5eed);
        let mut own = ChaCha20Rng::seed_from_u64(witness ^ (plan.seed << 8));
        let mut cells = HashMap::new();
        for column in plan.columns() {
            for row in 0..rows_of(plan, column, usable) {
                let rng = if matches!(column, Kind::Fixed(_)) { &mut shared } else { &mut own };
                cells.insert((column, row), random(rng));
            }
        }
        let tables = plan.lookups.iter().map(|lookup| table(lookup, usable, (&mut shared, &mut own))).collect();
        let mut values = Self { rows: 1 << plan.k, usable, cells, tables, broken };
        values.make_equal(plan);
        values
    }

    /// Pairs of cells that are copies.
    pub fn copies(plan: &Plan, usable: usize) -> Vec<[(Kind, usize); 2]> {
        let place = |(column, row): (Kind, usize)| {
            let rows = rows_of(plan, column, usable);
            (rows > 0).then(|| (column, row % rows))
        };
        let pairs = plan.copies.iter().filter_map(|[left, right]| Some([place(*left)?, place(*right)?]));
        let public = |column: Kind| matches!(column, Kind::Instance(_));
        pairs.filter(|[left, right]| left != right && !(public(left.0) && public(right.0))).collect()
    }

    /// Gives all cells of a class one value: that of a fixed one, if there is one.
    fn make_equal(&mut self, plan: &Plan) {
        let copies = Self::copies(plan, self.usable);
        // As many rounds as a chain can be long: each takes the smaller cell's value, fixed ones first.
        let rank = |cell: &(Kind, usize)| (!matches!(cell.0, Kind::Fixed(_)), *cell);
        let mut names: HashMap<_, _> = self.cells.keys().map(|cell| (*cell, *cell)).collect();
        for _ in 0..copies.len() {
            for [left, right] in &copies {
                let [one, other] = [names[left], names[right]];
                let name = if rank(&one) < rank(&other) { one } else { other };
                names.extend([(*left, name), (*right, name)]);
            }
        }
        let old = self.cells.clone();
        self.cells.iter_mut().for_each(|(cell, value)| *value = old[&names[cell]]);
        let free = copies.iter().flatten().find(|cell| matches!(cell.0, Kind::Free(_)));
        if let Some(cell) = free.filter(|_| self.broken == Break::Copy) {
            *self.cells.entry(*cell).or_default() += Fr::ONE;
        }
    }

    /// Whether the witness breaks a constraint.
    pub fn is_broken(&self, plan: &Plan) -> bool {
        match self.broken {
            Break::Nothing => false,
            Break::Gate => plan.gates.first().is_some_and(|gate| !self.active(gate).is_empty()),
            Break::Lookup => plan.lookups.first().is_some_and(|lookup| !self.looked_up(lookup).is_empty()),
            Break::Copy => Self::copies(plan, self.usable).iter().flatten().any(|cell| matches!(cell.0, Kind::Free(_))),
        }
    }

    pub fn cell(&self, column: Kind, row: usize) -> Fr {
        self.cells.get(&(column, row)).copied().unwrap_or(Fr::ZERO)
    }

    /// The row that a rotation reads.
    pub fn turned(&self, row: usize, rotation: i32) -> usize {
        // A power of two.
        row.wrapping_add_signed(rotation as isize) & (self.rows - 1)
    }

    /// Rows in which a gate holds: it reads none that hides its column.
    pub fn active(&self, gate: &Gate) -> Vec<usize> {
        let queries = gate.terms.iter().flat_map(|term| &term.factors).filter_map(|factor| match factor {
            // Instances have zeros in the rows that hide other columns.
            Factor::Query(Kind::Instance(_), _) | Factor::Challenge(_) => None,
            Factor::Query(_, rotation) => Some(*rotation),
        });
        let rotations: Vec<_> = queries.chain([gate.rotation]).collect();
        let reads = |row: usize| rotations.iter().all(|rotation| self.turned(row, *rotation) < self.usable);
        (0..self.usable).filter(|row| reads(*row)).collect()
    }

    /// What a gate's output is for a row.
    pub fn output(&self, gate: &Gate, row: usize, challenges: &[Value<Fr>]) -> Value<Fr> {
        let factor = |factor: &Factor| match factor {
            Factor::Query(column, rotation) => Value::known(self.cell(*column, self.turned(row, *rotation))),
            Factor::Challenge(number) => challenges[*number],
        };
        let terms = gate.terms.iter().map(|term| {
            let one = Value::known(Fr::from(term.coefficient));
            term.factors.iter().fold(one, |product, next| product * factor(next))
        });
        terms.fold(Value::known(Fr::ZERO), |sum, term| sum + term)
    }

    /// Rows in which a lookup's selector is on.
    pub fn looked_up(&self, lookup: &Lookup) -> Vec<usize> {
        (0..self.usable).filter(|row| self.turned(*row, lookup.rotation) < self.usable).collect()
    }

    /// A lookup's table, column by column.
    pub fn entry(&self, number: usize, column: usize, row: usize) -> Fr {
        self.tables[number].0.get(row).map_or(Fr::ZERO, |entry| entry[column])
    }

    /// What a lookup's input column has in a row.
    pub fn input(&self, number: usize, lookup: &Lookup, column: usize, row: usize) -> Fr {
        let broken = self.broken == Break::Lookup && number == 0;
        let first = self.looked_up(lookup).first().map(|row| self.turned(*row, lookup.rotation));
        let other = if broken && first == Some(row) { Fr::from(u64::MAX) } else { Fr::ZERO };
        self.entry(number, column, self.tables[number].1[row]) + other
    }
}

/// Rows of a column that have values.
pub fn rows_of(plan: &Plan, column: Kind, usable: usize) -> usize {
    match column {
        Kind::Instance(number) => plan.instances[number].min(usable),
        Kind::Free(_) | Kind::Fixed(_) => usable,
    }
}

/// Entries, the first of which are zeros, and which one each row looks up.
fn table(
    lookup: &Lookup,
    usable: usize,
    (shared, own): (&mut ChaCha20Rng, &mut ChaCha20Rng),
) -> (Vec<Vec<Fr>>, Vec<usize>) {
    let count = 1 + shared.next_u32() as usize % usable.max(1);
    let mut entries = vec![vec![Fr::ZERO; lookup.width]];
    entries.extend((1..count.min(usable)).map(|_| (0..lookup.width).map(|_| random(shared)).collect()));
    let rows = (0..usable).map(|_| own.next_u32() as usize % entries.len());
    let rows = rows.collect();
    (entries, rows)
}
