//! The circuit that is proved: gates of degree 3 and 5, lookups and copies in all rows.

use std::sync::Arc;

use halo2_axiom::circuit::{Cell, Layouter, Region, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Advice, Circuit, Column, ConstraintSystem, Error, Expression, Fixed};
use halo2_axiom::poly::Rotation;

use super::shape::Shape;
use super::witness::{CONSTANTS, Tables, operands, source};

/// A circuit with its witness.
#[derive(Debug, Clone)]
pub struct Filled {
    shape: Shape,
    tables: Arc<Tables>,
}

/// Columns of the circuit.
#[derive(Debug, Clone)]
pub struct Config {
    advice: Vec<Column<Advice>>,
    /// Turn gates on.
    gates: Vec<Column<Fixed>>,
    table: Column<Fixed>,
    constants: Column<Fixed>,
    coefficients: Vec<Column<Fixed>>,
}

impl Filled {
    /// Creates the circuit of `shape` with a witness in all usable rows.
    pub fn new(shape: Shape) -> Self {
        let mut system = ConstraintSystem::default();
        Config::new(&mut system, &shape);
        let usable = (1 << shape.k) - system.blinding_factors() - 1;
        Self { shape, tables: Arc::new(Tables::new(&shape, usable)) }
    }
}

impl Config {
    fn new(meta: &mut ConstraintSystem<Fr>, shape: &Shape) -> Self {
        let advice: Vec<_> = (0..shape.advice).map(|_| meta.advice_column()).collect();
        let gates: Vec<_> = (0..shape.gates()).map(|_| meta.fixed_column()).collect();
        let (table, constants) = (meta.fixed_column(), meta.fixed_column());
        let coefficients = (0..shape.coefficients()).map(|_| meta.fixed_column()).collect();
        let config = Self { advice, gates, table, constants, coefficients };
        config.advice.iter().for_each(|column| meta.enable_equality(*column));
        meta.enable_equality(constants);
        (0..shape.gates()).for_each(|gate| config.gate(meta, shape, gate));
        (0..shape.lookups).for_each(|number| config.lookup(meta, number));
        config
    }

    fn gate(&self, meta: &mut ConstraintSystem<Fr>, shape: &Shape, gate: usize) {
        meta.create_gate("gate", |meta| {
            let mut advice = |column: usize, rotation| meta.query_advice(self.advice[column], rotation);
            let [x, y, z] = operands(shape, gate);
            let (x, y) = (advice(x, Rotation::cur()), advice(y, Rotation::cur()));
            let (z, output) = (advice(z, Rotation::next()), advice(shape.lookups + gate, Rotation::cur()));
            let mut fixed = |column| meta.query_fixed(column, Rotation::cur());
            let (on, c) = (fixed(self.gates[gate]), fixed(self.coefficients[gate % self.coefficients.len()]));
            let product: Expression<Fr> = if Shape::is_high(gate) { x.square() * y.square() } else { x * y };
            vec![on * (product + c * z - output)]
        });
    }

    fn lookup(&self, meta: &mut ConstraintSystem<Fr>, number: usize) {
        meta.lookup_any("a value of the table", |meta| {
            let input = meta.query_advice(self.advice[number], Rotation::cur());
            vec![(input, meta.query_fixed(self.table, Rotation::cur()))]
        });
    }

    fn assign(&self, region: &mut Region<'_, Fr>, shape: &Shape, tables: &Tables) {
        let first = assign(region, self.advice[0], &tables.advice[0]);
        for (number, column) in self.advice.iter().enumerate().skip(1) {
            let cells = assign(region, *column, &tables.advice[number]);
            if number < shape.lookups {
                let sources = (0..first.len()).map(|row| first[source(shape, first.len(), number, row)]);
                cells.iter().zip(sources).for_each(|(cell, source)| region.constrain_equal(*cell, source));
            }
        }
        self.assign_fixed(region, shape, tables, &first);
    }

    fn assign_fixed(&self, region: &mut Region<'_, Fr>, shape: &Shape, tables: &Tables, first: &[Cell]) {
        let rows = first.len();
        for (column, values) in self.coefficients.iter().zip(&tables.coefficients) {
            fill(region, *column, values.iter().copied());
        }
        // The last row's gates would reach into rows that are random.
        self.gates.iter().for_each(|column| fill(region, *column, (1..rows).map(|_| Fr::one())));
        fill(region, self.table, (0..shape.table()).map(|value| Fr::from(value as u64)));
        for (row, cell) in first.iter().enumerate() {
            let constant = region.assign_fixed(self.constants, row, Fr::from(row as u64));
            if row < CONSTANTS {
                region.constrain_equal(constant, *cell);
            }
        }
    }
}

fn fill(region: &mut Region<'_, Fr>, column: Column<Fixed>, values: impl Iterator<Item = Fr>) {
    for (row, value) in values.enumerate() {
        region.assign_fixed(column, row, value);
    }
}

fn assign(region: &mut Region<'_, Fr>, column: Column<Advice>, values: &[Fr]) -> Vec<Cell> {
    let rows = values.iter().enumerate();
    rows.map(|(row, value)| region.assign_advice(column, row, Value::known(*value)).cell()).collect()
}

impl Circuit<Fr> for Filled {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;
    type Params = Shape;

    /// Keys take no notice of values of the witness.
    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn params(&self) -> Shape {
        self.shape
    }

    fn configure_with_params(meta: &mut ConstraintSystem<Fr>, shape: Shape) -> Config {
        Config::new(meta, &shape)
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Config {
        Config::new(meta, &Shape::default())
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        let rows = |mut region: Region<'_, Fr>| {
            config.assign(&mut region, &self.shape, &self.tables);
            Ok(())
        };
        layouter.assign_region(|| "all rows", rows)
    }
}

#[cfg(test)]
mod tests {
    use halo2_axiom::dev::MockProver;
    use halo2_axiom::plonk::Gate;

    use super::*;

    #[test]
    fn has_the_columns_that_it_is_to_have() {
        for (shape, expected) in [(Shape::measured(10), [12, 14, 3, 13]), (Shape::wide(10), [48, 50, 8, 49])] {
            let mut system = ConstraintSystem::default();
            Config::new(&mut system, &shape);
            let columns = system.permutation().get_columns().len();
            let actual = [system.num_advice_columns(), system.num_fixed_columns(), system.lookups().len(), columns];
            assert_eq!((actual, system.degree()), (expected, 5));
            let polynomials = system.gates().iter().flat_map(Gate::polynomials);
            let mut degrees: Vec<_> = polynomials.map(Expression::degree).collect();
            degrees.sort_unstable();
            degrees.dedup();
            assert_eq!(degrees, [3, 5]);
        }
    }

    #[test]
    fn witnesses_hold_and_others_do_not() {
        for shape in [Shape::measured(10), Shape::wide(10)] {
            let mut circuit = Filled::new(shape);
            let run = |circuit: &Filled| MockProver::run(10, circuit, Vec::new()).expect("a run").verify();
            assert_eq!(run(&circuit), Ok(()));
            let tables = Arc::get_mut(&mut circuit.tables).expect("one owner");
            tables.advice[7][100] += Fr::one();
            assert!(run(&circuit).is_err());
        }
    }
}
