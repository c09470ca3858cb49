//! Configures circuits, as the stock crate's keygen does.

use halo2_axiom::arithmetic::CurveAffine;
use halo2_axiom::plonk::{Circuit, ConstraintSystem};

/// Returns the constraint system of a circuit, and its configuration. With the feature `circuit-params` the circuit is
/// configured with `params`.
pub fn create_constraint_system<C: CurveAffine, ConcreteCircuit: Circuit<C::Scalar>>(
    #[cfg(feature = "circuit-params")] params: ConcreteCircuit::Params,
) -> (ConstraintSystem<C::Scalar>, ConcreteCircuit::Config) {
    let mut system = ConstraintSystem::default();
    #[cfg(feature = "circuit-params")]
    let config = ConcreteCircuit::configure_with_params(&mut system, params);
    #[cfg(not(feature = "circuit-params"))]
    let config = ConcreteCircuit::configure(&mut system);
    (system, config)
}
