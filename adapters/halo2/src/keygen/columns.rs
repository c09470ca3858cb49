//! A circuit's columns, and its constraint system without selectors.

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Circuit, ConstraintSystem, Error, FloorPlanner};
use rayon::prelude::*;

use super::assembly::Assembly;
use super::cycles::Cycles;
use super::steps::step;
use crate::constraints::{check_degree, configure, warn_of_same_point};

/// A circuit that has been configured, before its synthesis.
pub struct Start<'c, C: Circuit<Fr>> {
    circuit: &'c C,
    system: ConstraintSystem<Fr>,
    config: C::Config,
    k: u32,
    degree: u32,
}

/// What both keys are made of.
pub struct Columns {
    /// Selectors are fixed columns in it.
    pub system: ConstraintSystem<Fr>,
    pub fixed: Vec<Vec<Fr>>,
    pub cycles: Cycles,
    /// As they were, where they have been combined; keys need them then.
    pub selectors: Vec<Vec<bool>>,
}

impl<'c, C: Circuit<Fr>> Start<'c, C> {
    /// Configures a circuit.
    ///
    /// # Errors
    /// There are fewer rows than it needs, or its degree is higher than proofs can have.
    pub fn of(circuit: &'c C, k: u32) -> Result<Self, Error> {
        let (system, config) = configure(circuit);
        let degree = check_degree(system.degree(), k)?;
        if 1 << k < system.minimum_rows() {
            return Err(Error::NotEnoughRowsAvailable { current_k: k });
        }
        warn_of_same_point(&system, k);
        Ok(Self { circuit, system, config, k, degree })
    }

    /// The greatest degree of a constraint.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// Synthesizes the circuit.
    ///
    /// # Errors
    /// The circuit's, or there are fewer rows than its synthesis takes.
    pub fn synthesize(self, compress: bool) -> Result<Columns, Error> {
        let Self { circuit, system, config, k, .. } = self;
        let mut assembly = step("memory", 1 << k, || Assembly::new(&system, k))?;
        let constants = system.constants().clone();
        let result =
            step("synthesis", 1 << k, || C::FloorPlanner::synthesize(&mut assembly, circuit, config, constants));
        assembly.checked(result)?;
        Ok(step("fixed columns", 1 << k, || Columns::of(system, assembly, compress)))
    }
}

impl Columns {
    fn of(system: ConstraintSystem<Fr>, assembly: Assembly, compress: bool) -> Self {
        let Assembly { fixed, mut selectors, cycles, .. } = assembly;
        let mut fixed = fixed.into_values();
        let (system, more) = match compress {
            true => system.compress_selectors(selectors.clone()),
            false => directly(system, std::mem::take(&mut selectors)),
        };
        fixed.extend(more);
        Self { system, fixed, cycles, selectors }
    }
}

/// Every selector as a column.
fn directly(system: ConstraintSystem<Fr>, selectors: Vec<Vec<bool>>) -> (ConstraintSystem<Fr>, Vec<Vec<Fr>>) {
    // Rows make no difference to the system; halo2-axiom would make columns of them on one core.
    let (system, _) = system.directly_convert_selectors_to_fixed(vec![Vec::new(); selectors.len()]);
    let column = |rows: Vec<bool>| rows.into_par_iter().map(|on| Fr::from(u64::from(on))).collect::<Vec<_>>();
    (system, selectors.into_iter().map(column).collect())
}
