//! Defines the circuit that is proved: chains whose ends are public, with a lookup in each row.

use proofwarp_halo2::halo2_axiom::circuit::{Cell, Layouter, Region, SimpleFloorPlanner, Value};
use proofwarp_halo2::halo2_axiom::halo2curves::bn256::Fr;
use proofwarp_halo2::halo2_axiom::plonk::{Advice, Circuit, Column, ConstraintSystem, Error, Fixed, Instance};
use proofwarp_halo2::halo2_axiom::poly::Rotation;

/// Number of chains, which do not depend on each other.
const CHAINS: usize = 4;
/// Exclusive bound of the values that rows add, 16. The lookup table holds 0 to 15.
pub const TABLE: u64 = 16;
/// Number of rows that have no gate, 10: the blinded rows, and some to spare.
const SPARE: usize = 10;

/// A circuit that computes x ← x² + y from row to row in several chains, where y is in a lookup table.
#[derive(Debug, Clone, Copy)]
pub struct Chains {
    /// Number of rows with a gate.
    rows: usize,
    start: u64,
}

/// Holds the columns x and y of each chain, and those of the gate's selector, the lookup table and the public values.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    chains: [(Column<Advice>, Column<Advice>); CHAINS],
    on: Column<Fixed>,
    table: Column<Fixed>,
    ends: Column<Instance>,
}

impl Chains {
    /// Creates a circuit with 2^`log` rows. The chain with index i starts with the value `start` + i.
    pub fn new(log: u32, start: u64) -> Self {
        Self { rows: (1 << log) - SPARE, start }
    }

    /// Returns the start of the chain with index `number`, and the values that its rows add, in order.
    fn chain(&self, number: usize) -> (Fr, impl Iterator<Item = Fr>) {
        let step = self.start + number as u64;
        (Fr::from(step), (0..self.rows as u64).map(move |row| Fr::from((row * step + row) % TABLE)))
    }

    /// Returns the public values, which are the last values of the chains.
    pub fn ends(&self) -> Vec<Fr> {
        let end = |number| {
            let (start, added) = self.chain(number);
            added.fold(start, |x, y| x.square() + y)
        };
        (0..CHAINS).map(end).collect()
    }

    fn assign(&self, region: &mut Region<'_, Fr>, config: &Config) -> Vec<Cell> {
        for row in 0..self.rows {
            region.assign_fixed(config.on, row, Fr::one());
        }
        for value in 0..TABLE {
            region.assign_fixed(config.table, value as usize, Fr::from(value));
        }
        config.chains.iter().enumerate().map(|(number, columns)| self.assign_chain(region, number, *columns)).collect()
    }

    /// Assigns the cells of the chain with index `number`, and returns its last cell.
    fn assign_chain(
        &self,
        region: &mut Region<'_, Fr>,
        number: usize,
        (x, y): (Column<Advice>, Column<Advice>),
    ) -> Cell {
        let (mut value, added) = self.chain(number);
        for (row, added) in added.enumerate() {
            region.assign_advice(x, row, Value::known(value));
            region.assign_advice(y, row, Value::known(added));
            value = value.square() + added;
        }
        region.assign_advice(x, self.rows, Value::known(value)).cell()
    }
}

impl Circuit<Fr> for Chains {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;
    type Params = ();

    /// Returns the circuit with its witness, because keys ignore witness values.
    fn without_witnesses(&self) -> Self {
        *self
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Config {
        let (on, table, ends) = (meta.fixed_column(), meta.fixed_column(), meta.instance_column());
        meta.enable_equality(ends);
        let chains = [(); CHAINS].map(|()| (meta.advice_column(), meta.advice_column()));
        for (x, y) in chains {
            meta.enable_equality(x);
            meta.create_gate("x² + y", |meta| {
                let [now, next] = [0, 1].map(|rotation| meta.query_advice(x, Rotation(rotation)));
                let (y, on) = (meta.query_advice(y, Rotation::cur()), meta.query_fixed(on, Rotation::cur()));
                vec![on * (now.square() + y - next)]
            });
            meta.lookup_any("y is of the table", |meta| {
                vec![(meta.query_advice(y, Rotation::cur()), meta.query_fixed(table, Rotation::cur()))]
            });
        }
        Config { chains, on, table, ends }
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        let rows = |mut region: Region<'_, Fr>| Ok(self.assign(&mut region, &config));
        let last = layouter.assign_region(|| "chains", rows)?;
        for (row, cell) in last.into_iter().enumerate() {
            layouter.constrain_instance(cell, config.ends, row);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proofwarp_halo2::halo2_axiom::dev::MockProver;

    use super::*;

    #[test]
    fn the_witness_holds_and_another_end_does_not() {
        let circuit = Chains::new(6, 3);
        let run = |ends: Vec<Fr>| MockProver::run(6, &circuit, vec![ends]).expect("a run").verify();
        assert_eq!(run(circuit.ends()), Ok(()));
        let mut other = circuit.ends();
        other[1] += Fr::one();
        assert!(run(other).is_err());
    }
}
