//! A plan as a circuit of halo2-axiom's.

use std::collections::HashMap;

use halo2_axiom::circuit::{Cell, Layouter, Region, SimpleFloorPlanner, Value};
use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{
    Advice, Challenge, Circuit, Column, ConstraintSystem, Error, Expression, FirstPhase, Fixed, Instance, SecondPhase,
    Selector, ThirdPhase, VirtualCells,
};
use halo2_axiom::poly::Rotation;

use super::plan::{Factor, Gate, Kind, Lookup, Plan};
use super::values::{Break, Values, rows_of};

/// A circuit of a plan with a witness; without values it has no rows to use.
#[derive(Debug, Clone)]
pub struct Generated {
    plan: Plan,
    values: Option<Values>,
}

#[derive(Debug, Clone)]
pub struct Config {
    free: Vec<Column<Advice>>,
    fixed: Vec<Column<Fixed>>,
    instances: Vec<Column<Instance>>,
    challenges: Vec<Challenge>,
    gates: Vec<(Selector, Column<Advice>)>,
    lookups: Vec<LookupColumns>,
}

#[derive(Debug, Clone)]
struct LookupColumns {
    selector: Selector,
    inputs: Vec<Column<Advice>>,
    fixed: Vec<Column<Fixed>>,
    shuffled: Vec<Column<Advice>>,
}

impl Generated {
    /// A circuit with one of its witnesses.
    pub fn new(plan: &Plan, witness: u64, broken: Break) -> Self {
        let mut system = ConstraintSystem::default();
        Self::configure_with_params(&mut system, plan.clone());
        let usable = (1_usize << plan.k).checked_sub(system.blinding_factors() + 1);
        let values = usable.map(|usable| Values::new(plan, usable, witness, broken));
        Self { plan: plan.clone(), values }
    }

    /// Whether the witness breaks a constraint.
    pub fn is_broken(&self) -> bool {
        self.values.as_ref().is_some_and(|values| values.is_broken(&self.plan))
    }

    /// Values of the instance columns.
    pub fn instances(&self) -> Vec<Vec<Fr>> {
        let Some(values) = &self.values else { return vec![Vec::new(); self.plan.instances.len()] };
        let rows = |column| rows_of(&self.plan, column, values.usable);
        let column = |column| (0..rows(column)).map(|row| values.cell(column, row)).collect();
        (0..self.plan.instances.len()).map(Kind::Instance).map(column).collect()
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self::new(0, super::Bounds { log_rows: (4, 4), degree: 3, lookups: 0, circuits: 1, phases: 1 })
    }
}

fn advice(meta: &mut ConstraintSystem<Fr>, phase: u8) -> Column<Advice> {
    match phase {
        0 => meta.advice_column_in(FirstPhase),
        1 => meta.advice_column_in(SecondPhase),
        _ => meta.advice_column_in(ThirdPhase),
    }
}

impl Circuit<Fr> for Generated {
    type Config = Config;
    type FloorPlanner = SimpleFloorPlanner;
    type Params = Plan;

    fn params(&self) -> Plan {
        self.plan.clone()
    }

    fn without_witnesses(&self) -> Self {
        self.clone()
    }

    fn configure(meta: &mut ConstraintSystem<Fr>) -> Config {
        Self::configure_with_params(meta, Plan::default())
    }

    fn configure_with_params(meta: &mut ConstraintSystem<Fr>, plan: Plan) -> Config {
        let free: Vec<_> = plan.free.iter().map(|phase| advice(meta, *phase)).collect();
        let fixed: Vec<_> = (0..plan.fixed).map(|_| meta.fixed_column()).collect();
        let instances: Vec<_> = plan.instances.iter().map(|_| meta.instance_column()).collect();
        let challenges = plan.challenges.iter().map(|phase| match phase {
            0 => meta.challenge_usable_after(FirstPhase),
            _ => meta.challenge_usable_after(SecondPhase),
        });
        let challenges: Vec<_> = challenges.collect();
        let mut config = Config { free, fixed, instances, challenges, gates: Vec::new(), lookups: Vec::new() };
        for gate in &plan.gates {
            let columns = (meta.selector(), advice(meta, plan.phase_of(gate)));
            config.gate(meta, gate, columns);
            config.gates.push(columns);
        }
        config.lookups = plan.lookups.iter().map(|lookup| configure_lookup(meta, lookup)).collect();
        for column in &plan.equal {
            match column {
                Kind::Free(number) => meta.enable_equality(config.free[*number]),
                Kind::Fixed(number) => meta.enable_equality(config.fixed[*number]),
                Kind::Instance(number) => meta.enable_equality(config.instances[*number]),
            }
        }
        if plan.degree() > 5 {
            meta.set_minimum_degree(plan.degree());
        }
        config
    }

    fn synthesize(&self, config: Config, mut layouter: impl Layouter<Fr>) -> Result<(), Error> {
        let Some(values) = &self.values else { return Ok(()) };
        let mut cells = HashMap::new();
        layouter.assign_region(
            || "all",
            |mut region| {
                self.assign_shared(values, &config, &mut region, &mut cells)?;
                (0..self.plan.phases()).try_for_each(|phase| {
                    if phase > 0 && self.plan.says_phases {
                        region.next_phase();
                    }
                    self.assign_phase(phase, values, &config, &mut region, &mut cells)
                })
            },
        )?;
        let mut join = Vec::new();
        for [left, right] in Values::copies(&self.plan, values.usable) {
            match (left, right) {
                ((Kind::Instance(column), row), other) | (other, (Kind::Instance(column), row)) => {
                    layouter.constrain_instance(cells[&other], config.instances[column], row);
                }
                _ => join.push((cells[&left], cells[&right])),
            }
        }
        layouter.assign_region(
            || "copies",
            |mut region| {
                for (left, right) in &join {
                    region.constrain_equal(*left, *right);
                }
                Ok(())
            },
        )
    }
}

impl Config {
    fn query(&self, meta: &mut VirtualCells<'_, Fr>, column: Kind, rotation: i32) -> Expression<Fr> {
        match column {
            Kind::Free(number) => meta.query_advice(self.free[number], Rotation(rotation)),
            Kind::Fixed(number) => meta.query_fixed(self.fixed[number], Rotation(rotation)),
            Kind::Instance(number) => meta.query_instance(self.instances[number], Rotation(rotation)),
        }
    }

    fn gate(&self, meta: &mut ConstraintSystem<Fr>, gate: &Gate, (selector, output): (Selector, Column<Advice>)) {
        meta.create_gate("gate", |meta| {
            let mut sum = -meta.query_advice(output, Rotation(gate.rotation));
            for term in &gate.terms {
                let mut product = Expression::Constant(Fr::from(term.coefficient));
                for factor in &term.factors {
                    product = product
                        * match factor {
                            Factor::Query(column, rotation) => self.query(meta, *column, *rotation),
                            Factor::Challenge(number) => meta.query_challenge(self.challenges[*number]),
                        };
                }
                sum = sum + product;
            }
            vec![meta.query_selector(selector) * sum]
        });
    }
}

fn configure_lookup(meta: &mut ConstraintSystem<Fr>, lookup: &Lookup) -> LookupColumns {
    let selector = meta.complex_selector();
    let inputs: Vec<_> = (0..lookup.width).map(|_| meta.advice_column()).collect();
    let tables = 0..lookup.width;
    let (mut fixed, mut shuffled) = (Vec::new(), Vec::new());
    match lookup.in_witness {
        true => shuffled.extend(tables.map(|_| meta.advice_column())),
        false => fixed.extend(tables.map(|_| meta.fixed_column())),
    }
    meta.lookup_any("a table", |meta| {
        let selected = meta.query_selector(selector);
        let pair = |i: usize| {
            let table = match lookup.in_witness {
                true => meta.query_advice(shuffled[i], Rotation::cur()),
                false => meta.query_fixed(fixed[i], Rotation::cur()),
            };
            let input = meta.query_advice(inputs[i], Rotation(lookup.rotation));
            (if lookup.selected { selected.clone() * input } else { input }, table)
        };
        (0..lookup.width).map(pair).collect()
    });
    LookupColumns { selector, inputs, fixed, shuffled }
}

type Cells = HashMap<(Kind, usize), Cell>;

impl Generated {
    /// Fixed columns, and lookups, which are of the first phase.
    fn assign_shared(
        &self,
        values: &Values,
        config: &Config,
        region: &mut Region<'_, Fr>,
        cells: &mut Cells,
    ) -> Result<(), Error> {
        for (number, column) in config.fixed.iter().enumerate() {
            for row in 0..values.usable {
                let kind = Kind::Fixed(number);
                cells.insert((kind, row), region.assign_fixed(*column, row, values.cell(kind, row)));
            }
        }
        for (number, (lookup, columns)) in self.plan.lookups.iter().zip(&config.lookups).enumerate() {
            for row in values.looked_up(lookup) {
                columns.selector.enable(region, row)?;
            }
            for (i, row) in (0..lookup.width).flat_map(|i| (0..values.usable).map(move |row| (i, row))) {
                let entry = values.entry(number, i, row);
                columns.fixed.get(i).map(|column| region.assign_fixed(*column, row, entry));
                columns.shuffled.get(i).map(|column| region.assign_advice(*column, row, Value::known(entry)));
                let input = values.input(number, lookup, i, row);
                region.assign_advice(columns.inputs[i], row, Value::known(input));
            }
        }
        Ok(())
    }

    /// Free columns and outputs of a phase.
    fn assign_phase(
        &self,
        phase: u8,
        values: &Values,
        config: &Config,
        region: &mut Region<'_, Fr>,
        cells: &mut Cells,
    ) -> Result<(), Error> {
        for (number, column) in config.free.iter().enumerate().filter(|(number, _)| self.plan.free[*number] == phase) {
            for row in 0..values.usable {
                let kind = Kind::Free(number);
                let cell = region.assign_advice(*column, row, Value::known(values.cell(kind, row))).cell();
                cells.insert((kind, row), cell);
            }
        }
        let challenges: Vec<_> = config.challenges.iter().map(|challenge| region.get_challenge(*challenge)).collect();
        for (number, (gate, (selector, column))) in self.plan.gates.iter().zip(&config.gates).enumerate() {
            let active = values.active(gate);
            for row in active.iter().copied().filter(|_| self.plan.phase_of(gate) == phase) {
                selector.enable(region, row)?;
                let bad = values.broken == Break::Gate && number == 0 && Some(&row) == active.last();
                let output = values.output(gate, row, &challenges).map(|value| value + Fr::from(u64::from(bad)));
                region.assign_advice(*column, values.turned(row, gate.rotation), output);
            }
        }
        Ok(())
    }
}
