//! The circuit of a description.

use std::collections::HashMap;

use ff::Field;
use halo2_axiom::circuit::{AssignedCell, Cell, Layouter, Region, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{
    Advice, Challenge, Circuit, Column, ConstraintSystem, Error, Expression, FirstPhase, Fixed, Instance, SecondPhase,
    Selector, ThirdPhase, VirtualCells,
};
use halo2_axiom::poly::Rotation;
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use super::shape::{Gate, Lookup, Shape, TableKind};

/// A circuit with a witness that satisfies it, or breaks it where asked to.
#[derive(Debug, Clone, Default)]
pub struct Described {
    pub shape: Shape,
    /// Of the witness; fixed columns are the same for all seeds.
    pub seed: u64,
    /// Breaks the first gate in its last row.
    pub bad_gate: bool,
    /// Puts a value into the first lookup's row 4 that is not in its table.
    pub bad_lookup: bool,
    /// Assigns the first input in all rows up to this one.
    pub hidden_rows: Option<usize>,
}

#[derive(Debug, Clone)]
pub struct Config {
    inputs: Vec<Column<Advice>>,
    fixed: Vec<Column<Fixed>>,
    gates: Vec<(Selector, Column<Advice>)>,
    lookups: Vec<LookupColumns>,
    copied: Vec<Column<Advice>>,
    constant: Option<Column<Fixed>>,
    instances: Vec<(Column<Instance>, Column<Advice>)>,
    later: Vec<Later>,
}

/// Of a later phase.
#[derive(Debug, Clone)]
struct Later {
    selector: Selector,
    column: Column<Advice>,
    /// Known when the phase before is over.
    challenge: Challenge,
}

#[derive(Debug, Clone)]
struct LookupColumns {
    selector: Selector,
    inputs: Vec<Column<Advice>>,
    fixed: Vec<Column<Fixed>>,
    shuffled: Vec<Column<Advice>>,
}

impl Described {
    pub fn new(shape: &Shape, seed: u64) -> Self {
        Self { shape: shape.clone(), seed, ..Self::default() }
    }

    /// Values of an instance column.
    pub fn instance(&self, column: usize) -> Vec<Fr> {
        (0..self.shape.instances[column] as u64)
            .map(|row| Fr::from(self.seed * 100 + column as u64 * 10 + row))
            .collect()
    }
}

impl Circuit<Fr> for Described {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;
    type Params = Shape;

    fn params(&self) -> Shape {
        self.shape.clone()
    }

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Config {
        Self::configure_with_params(meta, Shape::default())
    }

    fn configure_with_params(meta: &mut ConstraintSystem<Fr>, shape: Shape) -> Config {
        let inputs: Vec<_> = (0..shape.inputs).map(|_| meta.advice_column()).collect();
        let fixed: Vec<_> = (0..shape.fixed).map(|_| meta.fixed_column()).collect();
        let gates = shape.gates.iter().map(|gate| configure_gate(meta, gate, &inputs, &fixed)).collect();
        let lookups = shape.lookups.iter().map(|lookup| configure_lookup(meta, lookup)).collect();
        let copied: Vec<_> = (0..shape.copied).map(|_| meta.advice_column()).collect();
        for column in &copied {
            meta.enable_equality(*column);
        }
        let constant = (!shape.no_constant).then(|| meta.fixed_column());
        if let Some(constant) = constant.filter(|_| !copied.is_empty()) {
            meta.enable_equality(constant);
        }
        let instances = shape.instances.iter().map(|_| (meta.instance_column(), meta.advice_column())).collect();
        for (instance, copy) in &instances as &Vec<(Column<Instance>, Column<Advice>)> {
            meta.enable_equality(*instance);
            meta.enable_equality(*copy);
        }
        let mut later = Vec::new();
        (0..shape.later_phases).for_each(|_| later.push(configure_later(meta, &inputs, &later)));
        if let Some(degree) = shape.minimum_degree {
            meta.set_minimum_degree(degree);
        }
        Config { inputs, fixed, gates, lookups, copied, constant, instances, later }
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        let mut public = Vec::new();
        layouter.assign_region(
            || "all",
            |mut region| {
                public = self.assign(&config, &mut region)?;
                Ok(())
            },
        )?;
        for (column, row, cell) in public {
            layouter.constrain_instance(cell, config.instances[column].0, row);
        }
        Ok(())
    }
}

fn configure_gate(
    meta: &mut ConstraintSystem<Fr>,
    gate: &Gate,
    inputs: &[Column<Advice>],
    fixed: &[Column<Fixed>],
) -> (Selector, Column<Advice>) {
    let (selector, output) = (meta.selector(), meta.advice_column());
    meta.create_gate("gate", |meta| {
        let query = |meta: &mut VirtualCells<'_, Fr>, (column, rotation): (usize, i32)| match inputs.get(column) {
            Some(input) => meta.query_advice(*input, Rotation(rotation)),
            None => meta.query_fixed(fixed[column - inputs.len()], Rotation(rotation)),
        };
        let mut sum = -meta.query_advice(output, Rotation::cur());
        for term in &gate.terms {
            let one = Expression::Constant(Fr::ONE);
            let product = term.factors.iter().fold(one, |product, factor| product * query(meta, *factor));
            sum = sum + product * Fr::from(term.coefficient);
        }
        vec![meta.query_selector(selector) * sum]
    });
    (selector, output)
}

fn configure_lookup(meta: &mut ConstraintSystem<Fr>, lookup: &Lookup) -> LookupColumns {
    let selector = meta.complex_selector();
    let inputs: Vec<_> = (0..lookup.columns).map(|_| meta.advice_column()).collect();
    let (mut fixed, mut shuffled) = (Vec::new(), Vec::new());
    match lookup.table {
        TableKind::Fixed => fixed.extend((0..lookup.columns).map(|_| meta.fixed_column())),
        TableKind::Shuffled => shuffled.extend((0..lookup.columns).map(|_| meta.advice_column())),
    }
    meta.lookup_any("values of the table", |meta| {
        let selected = meta.query_selector(selector);
        let input = |meta: &mut VirtualCells<'_, Fr>, column| match lookup.selected {
            true => selected.clone() * meta.query_advice(column, Rotation(lookup.rotation)),
            false => meta.query_advice(column, Rotation::cur()),
        };
        let pair = |i: usize| {
            let table = match lookup.table {
                TableKind::Fixed => meta.query_fixed(fixed[i], Rotation::cur()),
                TableKind::Shuffled => meta.query_advice(shuffled[i], Rotation::cur()),
            };
            (input(meta, inputs[i]), table)
        };
        (0..lookup.columns).map(pair).collect()
    });
    LookupColumns { selector, inputs, fixed, shuffled }
}

/// selector·(before·challenge + first challenge − column) = 0; before the first such column is the first input.
fn configure_later(meta: &mut ConstraintSystem<Fr>, inputs: &[Column<Advice>], earlier: &[Later]) -> Later {
    let selector = meta.selector();
    let (column, challenge) = match earlier.len() {
        0 => (meta.advice_column_in(SecondPhase), meta.challenge_usable_after(FirstPhase)),
        _ => (meta.advice_column_in(ThirdPhase), meta.challenge_usable_after(SecondPhase)),
    };
    let before = earlier.last().map_or(inputs[0], |later| later.column);
    let first = earlier.first().map_or(challenge, |later| later.challenge);
    meta.create_gate("later phase", |meta| {
        let [before, value] = [before, column].map(|column| meta.query_advice(column, Rotation::cur()));
        let [challenge, first] = [challenge, first].map(|challenge| meta.query_challenge(challenge));
        vec![meta.query_selector(selector) * (before * challenge + first - value)]
    });
    Later { selector, column, challenge }
}

type Public = Vec<(usize, usize, Cell)>;

impl Described {
    fn assign(&self, config: &Config, region: &mut Region<'_, Fr>) -> Result<Public, Error> {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        let table = Self::assign_free(config, region, &mut rng);
        for (number, (gate, (selector, output))) in self.shape.gates.iter().zip(&config.gates).enumerate() {
            for row in active() {
                selector.enable(region, row)?;
                let bad = self.bad_gate && number == 0 && row + 1 == active().end;
                let value = value_of(gate, &table, row) + Fr::from(u64::from(bad));
                region.assign_advice(*output, row, Value::known(value));
            }
        }
        for (number, (lookup, columns)) in self.shape.lookups.iter().zip(&config.lookups).enumerate() {
            self.assign_lookup((number, lookup), columns, region, &mut rng)?;
        }
        self.assign_copies(config, region, &mut rng);
        for row in active().end + Shape::FIRST..self.hidden_rows.unwrap_or(0) {
            region.assign_advice(config.inputs[0], row, Value::known(Fr::ONE));
        }
        let public = self.assign_public(config, region);
        self.assign_later(config, region, &table)?;
        Ok(public)
    }

    /// Inputs, then fixed columns, by row.
    fn assign_free(config: &Config, region: &mut Region<'_, Fr>, rng: &mut ChaCha20Rng) -> Vec<Vec<Fr>> {
        let rows = active().end + Shape::FIRST;
        let mut table = Vec::new();
        for column in &config.inputs {
            let values: Vec<_> = (0..rows).map(|_| Fr::random(&mut *rng)).collect();
            for (row, value) in values.iter().enumerate() {
                region.assign_advice(*column, row, Value::known(*value));
            }
            table.push(values);
        }
        for (number, column) in config.fixed.iter().enumerate() {
            let values: Vec<_> = (0..rows).map(|row| Fr::from((number * 31 + row * row) as u64)).collect();
            for (row, value) in values.iter().enumerate() {
                region.assign_fixed(*column, row, *value);
            }
            table.push(values);
        }
        table
    }

    fn assign_lookup(
        &self,
        (number, lookup): (usize, &Lookup),
        columns: &LookupColumns,
        region: &mut Region<'_, Fr>,
        rng: &mut ChaCha20Rng,
    ) -> Result<(), Error> {
        // Tuples (t, t², …); entries repeat.
        let entry = |t: u64, i: usize| Fr::from(t + 1).pow_vartime([i as u64 + 1]);
        for (i, column) in columns.fixed.iter().enumerate() {
            (0..Shape::TABLE).for_each(|row| {
                region.assign_fixed(*column, row, entry(row as u64 % 6, i));
            });
        }
        for row in active() {
            columns.selector.enable(region, row)?;
            let t = u64::from(rng.next_u32() % 6);
            let mirrored = active().start + active().end - 1 - row;
            for (i, column) in columns.inputs.iter().enumerate() {
                let bad = self.bad_lookup && number == 0 && row == 4;
                let value = if bad { Fr::from(1_000_000) } else { entry(t, i) };
                region.assign_advice(*column, row, Value::known(value));
                if lookup.table == TableKind::Shuffled {
                    region.assign_advice(columns.shuffled[i], mirrored, Value::known(entry(t, i)));
                }
            }
        }
        Ok(())
    }

    /// Cells of a class of equal ones have one value; cell (0, 0) is the constant.
    fn assign_copies(&self, config: &Config, region: &mut Region<'_, Fr>, rng: &mut ChaCha20Rng) {
        let rows = active().end;
        let mut class: HashMap<(usize, usize), usize> =
            (0..config.copied.len() * rows).map(|cell| ((cell / rows, cell % rows), cell)).collect();
        for [left, right] in &self.shape.copies {
            let (from, to) = (class[left], class[right]);
            class.values_mut().filter(|one| **one == from).for_each(|one| *one = to);
        }
        let Some(constant) = class.get(&(0, 0)).copied() else { return };
        let values: Vec<_> = (0..config.copied.len() * rows).map(|_| Fr::random(&mut *rng)).collect();
        let value = |class: usize| if class == constant { Fr::from(5) } else { values[class] };
        let mut cells = HashMap::new();
        for (column, row) in (0..config.copied.len()).flat_map(|column| (0..rows).map(move |row| (column, row))) {
            let assigned: AssignedCell<_, Fr> =
                region.assign_advice(config.copied[column], row, Value::known(value(class[&(column, row)])));
            cells.insert((column, row), assigned.cell());
        }
        if let Some(constant) = config.constant {
            let fixed = region.assign_fixed(constant, 3, Fr::from(5));
            region.constrain_equal(fixed, cells[&(0, 0)]);
        }
        self.shape.copies.iter().for_each(|[left, right]| region.constrain_equal(cells[left], cells[right]));
    }

    fn assign_public(&self, config: &Config, region: &mut Region<'_, Fr>) -> Public {
        let mut public = Vec::new();
        for (number, (_, copy)) in config.instances.iter().enumerate() {
            for (row, value) in self.instance(number).into_iter().enumerate() {
                let cell = region.assign_advice(*copy, row + 1, Value::known(value)).cell();
                public.push((number, row, cell));
            }
        }
        public
    }

    fn assign_later(&self, config: &Config, region: &mut Region<'_, Fr>, table: &[Vec<Fr>]) -> Result<(), Error> {
        let mut values: Vec<Value<Fr>> =
            active().filter_map(|row| table.first().map(|x| Value::known(x[row]))).collect();
        let mut first = None;
        for Later { selector, column, challenge } in &config.later {
            if self.shape.says_phases {
                region.next_phase();
            }
            let challenge = region.get_challenge(*challenge);
            let first = *first.get_or_insert(challenge);
            values = values.into_iter().map(|before| before * challenge + first).collect();
            for (row, value) in active().zip(&values) {
                selector.enable(region, row)?;
                region.assign_advice(*column, row, *value);
            }
        }
        Ok(())
    }
}

fn active() -> std::ops::Range<usize> {
    Shape::FIRST..Shape::FIRST + Shape::ACTIVE
}

fn value_of(gate: &Gate, table: &[Vec<Fr>], row: usize) -> Fr {
    let factor = |(column, rotation): &(usize, i32)| table[*column][row.wrapping_add_signed(*rotation as isize)];
    gate.terms.iter().map(|term| term.factors.iter().map(factor).product::<Fr>() * Fr::from(term.coefficient)).sum()
}
