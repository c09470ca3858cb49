//! A circuit's columns in values, and its constraint system without selectors.

use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Circuit, ConstraintSystem, Error, FloorPlanner};
use halo2_axiom::poly::EvaluationDomain;
use proofwarp::plonk::{Basis, Engine, View};

use super::assembly::Assembly;
use crate::constraints::configure;
use crate::error::outer;

/// What both keys are made of.
pub struct Columns {
    pub domain: EvaluationDomain<Fr>,
    /// Selectors are fixed columns in it.
    pub system: ConstraintSystem<Fr>,
    pub fixed: Vec<Vec<Fr>>,
    pub sigma: Vec<Vec<Fr>>,
    /// As they were, where they have been combined; keys need them then.
    pub selectors: Vec<Vec<bool>>,
}

impl Columns {
    /// Configures and synthesizes a circuit.
    ///
    /// # Errors
    /// The circuit's, or there are fewer rows than it needs.
    pub fn of<C: Circuit<Fr>>(circuit: &C, k: u32, compress: bool) -> Result<Self, Error> {
        let (system, config) = configure(circuit);
        // Before the domain, which takes long.
        let mut assembly = Assembly::new(&system, k)?;
        let domain = EvaluationDomain::new(system.degree() as u32, k);
        let result = C::FloorPlanner::synthesize(&mut assembly, circuit, config, system.constants().clone());
        assembly.checked(result)?;
        let mut fixed = assembly.fixed.values();
        let sigma = assembly.cycles.sigma(domain.get_omega());
        let mut selectors = assembly.selectors;
        let (system, more) = match compress {
            true => system.compress_selectors(selectors.clone()),
            false => system.directly_convert_selectors_to_fixed(std::mem::take(&mut selectors)),
        };
        fixed.extend(more);
        Ok(Self { domain, system, fixed, sigma, selectors })
    }
}

/// Commitments to columns of values.
///
/// # Errors
/// A forced backend failed.
pub fn commitments(engine: &Engine<G1Affine>, columns: &[Vec<Fr>]) -> Result<Vec<G1Affine>, Error> {
    engine.commit(Basis::Lagrange, &views(columns)).map_err(outer)
}

pub fn views(columns: &[Vec<Fr>]) -> Vec<View<'_, Fr>> {
    columns.iter().map(|column| View::new(column)).collect()
}
