//! Builds a circuit's columns, and its constraint system without selectors.

use halo2_axiom::halo2curves::bn256::Fr;
use halo2_axiom::plonk::{Circuit, ConstraintSystem, Error, FloorPlanner};
use rayon::prelude::*;

use super::assembly::Assembly;
use super::permutation::PermutationCycles;
use super::steps::record_keygen_step;
use crate::constraints::{check_degree, configure, warn_duplicate_queries};

/// Holds a circuit that has been configured but not synthesized.
pub(super) struct ConfiguredCircuit<'c, C: Circuit<Fr>> {
    circuit: &'c C,
    system: ConstraintSystem<Fr>,
    config: C::Config,
    k: u32,
    degree: u32,
}

/// Holds a circuit's constraint system and columns, from which the verifying and the proving key are made.
pub(super) struct Columns {
    /// The constraint system, in which selectors are fixed columns.
    pub system: ConstraintSystem<Fr>,
    pub fixed: Vec<Vec<Fr>>,
    pub cycles: PermutationCycles,
    /// The original selectors, which keys need, if they were combined; otherwise empty.
    pub selectors: Vec<Vec<bool>>,
}

impl<'c, C: Circuit<Fr>> ConfiguredCircuit<'c, C> {
    /// Configures `circuit` for 2^`k` rows.
    ///
    /// # Errors
    /// - [`Error::NotEnoughRowsAvailable`]: the circuit needs more rows.
    /// - [`Error::BoundsFailure`]: no proof can have the circuit's degree.
    pub(super) fn new(circuit: &'c C, k: u32) -> Result<Self, Error> {
        let (system, config) = configure(circuit);
        let degree = check_degree(system.degree(), k)?;
        if 1 << k < system.minimum_rows() {
            return Err(Error::NotEnoughRowsAvailable { current_k: k });
        }
        warn_duplicate_queries(&system, k);
        Ok(Self { circuit, system, config, k, degree })
    }

    /// Returns the maximum degree of the circuit's constraints.
    pub(super) fn degree(&self) -> u32 {
        self.degree
    }

    /// Runs the circuit's synthesis and returns its columns. If `compress` is true, selectors are combined into fewer
    /// fixed columns.
    ///
    /// # Errors
    /// - The circuit's errors.
    /// - [`Error::NotEnoughRowsAvailable`]: the synthesis takes more rows than there are.
    /// - [`Error::BoundsFailure`]: the permutation has more cells than can be numbered.
    /// - [`Error::BoundsFailure`]: the circuit assigns a fixed column or a selector that does not exist.
    /// - [`Error::ColumnNotInPermutation`]: the circuit copies a cell of a column that is not in the permutation.
    /// - [`Error::Synthesis`]: the circuit fills a column with an unknown value.
    pub(super) fn synthesize(self, compress: bool) -> Result<Columns, Error> {
        let Self { circuit, system, config, k, .. } = self;
        let mut assembly = record_keygen_step("memory", 1 << k, || Assembly::new(&system, k))?;
        let constants = system.constants().clone();
        let result = record_keygen_step("synthesis", 1 << k, || {
            C::FloorPlanner::synthesize(&mut assembly, circuit, config, constants)
        });
        assembly.first_error_or_result(result)?;
        Ok(record_keygen_step("fixed columns", 1 << k, || Columns::from_assembly(system, assembly, compress)))
    }
}

impl Columns {
    fn from_assembly(system: ConstraintSystem<Fr>, assembly: Assembly, compress: bool) -> Self {
        let Assembly { fixed, mut selectors, cycles, .. } = assembly;
        let mut fixed = fixed.into_values();
        let (system, more) = match compress {
            true => system.compress_selectors(selectors.clone()),
            false => convert_selectors_directly(system, std::mem::take(&mut selectors)),
        };
        fixed.extend(more);
        Self { system, fixed, cycles, selectors }
    }
}

/// Converts every selector to a fixed column of its own. Returns the new constraint system and these columns.
fn convert_selectors_directly(
    system: ConstraintSystem<Fr>,
    selectors: Vec<Vec<bool>>,
) -> (ConstraintSystem<Fr>, Vec<Vec<Fr>>) {
    // The system does not depend on the rows, so it gets none: halo2-axiom would convert them on one core.
    let (system, _) = system.directly_convert_selectors_to_fixed(vec![Vec::new(); selectors.len()]);
    let column = |rows: Vec<bool>| rows.into_par_iter().map(|on| Fr::from(u64::from(on))).collect::<Vec<_>>();
    (system, selectors.into_iter().map(column).collect())
}
