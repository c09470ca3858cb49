//! A circuit of any size: groups of three columns with a gate each, a lookup and copies.

use ff::Field;
use midnight_curves::Fq;
use midnight_proofs::circuit::{Layouter, Region, SimpleFloorPlanner, Value};
use midnight_proofs::plonk::{Advice, Circuit, Column, ConstraintSystem, Constraints, Error, Selector, TableColumn};
use midnight_proofs::poly::Rotation;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Number of groups of columns, 4. Each group has three advice columns and a gate.
const GROUPS: usize = 4;
/// Number of values in the lookup table, 16. They count up from 0.
const TABLE: u64 = 16;

/// A circuit in which a·b + a = c holds in each group of each row. The first group's a is in the table. The other
/// groups' a is a copy of it.
#[derive(Clone)]
pub struct Filled {
    rows: usize,
    seed: u64,
    has_witness: bool,
}

impl Filled {
    /// Creates a circuit of 2^`k` − 20 rows, which leaves rows for blinding. Its values are drawn from `seed`.
    pub fn new(k: u32, seed: u64) -> Self {
        Self { rows: (1 << k) - 20, seed, has_witness: true }
    }
}

/// Columns of the circuit.
#[derive(Clone)]
pub struct Config {
    on: Selector,
    groups: [[Column<Advice>; 3]; GROUPS],
    table: TableColumn,
}

impl Circuit<Fq> for Filled {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;

    fn without_witnesses(&self) -> Self {
        Self { has_witness: false, ..self.clone() }
    }

    fn configure(meta: &mut ConstraintSystem<Fq>) -> Config {
        let (on, table) = (meta.selector(), meta.lookup_table_column());
        let groups = std::array::from_fn(|_| std::array::from_fn(|_| meta.advice_column()));
        for [a, b, c] in groups {
            meta.enable_equality(a);
            meta.create_gate("product", |meta| {
                let [a, b, c] = [a, b, c].map(|column| meta.query_advice(column, Rotation::cur()));
                Constraints::with_selector(on, vec![a.clone() * b + a - c])
            });
        }
        meta.lookup("small", |meta| vec![(meta.query_advice(groups[0][0], Rotation::cur()), table)]);
        Config { on, groups, table }
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fq>) -> Result<(), Error> {
        layouter.assign_table(
            || "small",
            |mut table| {
                let mut cell = |i| table.assign_cell(|| "", config.table, i as usize, || Value::known(Fq::from(i)));
                (0..TABLE).try_for_each(&mut cell)
            },
        )?;
        layouter.assign_region(|| "rows", |mut region| self.fill(&config, &mut region))
    }
}

impl Filled {
    fn fill(&self, config: &Config, region: &mut Region<'_, Fq>) -> Result<(), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        for row in 0..self.rows {
            config.on.enable(region, row)?;
            let a = Fq::from(rng.next_u64() % TABLE);
            let mut first = None;
            for [left, right, result] in config.groups {
                let b = Fq::random(&mut rng);
                let cell = region.assign_advice(|| "a", left, row, || self.value(a))?.cell();
                region.assign_advice(|| "b", right, row, || self.value(b))?;
                region.assign_advice(|| "c", result, row, || self.value(a * b + a))?;
                match first {
                    None => first = Some(cell),
                    Some(first) => region.constrain_equal(first, cell)?,
                }
            }
        }
        Ok(())
    }

    fn value(&self, value: Fq) -> Value<Fq> {
        if self.has_witness { Value::known(value) } else { Value::unknown() }
    }
}
