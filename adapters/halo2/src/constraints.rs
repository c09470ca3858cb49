//! halo2-axiom's constraint systems as plain data.

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Any, Circuit as StockCircuit, Column, ConstraintSystem, Expression, Gate, ProvingKey};
use halo2_axiom::poly::{Coeff, LagrangeCoeff, Polynomial as Stock};
use proofwarp::expression::Expression as Plain;
use proofwarp::plonk::{Circuit, Key, Layout, Lookup, Name, Polynomial, View};

/// Runs a circuit's configuration.
pub fn configure<C: StockCircuit<Fr>>(circuit: &C) -> (ConstraintSystem<Fr>, C::Config) {
    let mut system = ConstraintSystem::default();
    let config = C::configure_with_params(&mut system, circuit.params());
    (system, config)
}

/// The constraint system of a key.
pub fn circuit(key: &ProvingKey<G1Affine>) -> Circuit<Fr> {
    let (system, domain) = (key.get_vk().cs(), key.get_vk().get_domain());
    // As the key's own domain has it: the system's own degree depends on the environment of today.
    let degree = domain.get_quotient_poly_degree() + 1;
    let permutation: Vec<_> = system.permutation().get_columns().iter().map(name).collect();
    let layout = Layout {
        fixed: system.num_fixed_columns(),
        permuted: permutation.len(),
        advice: system.num_advice_columns(),
        instances: system.num_instance_columns(),
        sets: permutation.len().div_ceil(degree.saturating_sub(2).max(1)),
        lookups: system.lookups().len(),
    };
    let all = |expressions: &[Expression<Fr>]| expressions.iter().map(|one| plain(&layout, one)).collect();
    let lookups = system.lookups().iter().map(|lookup| Lookup {
        name: lookup.name().to_owned(),
        inputs: all(lookup.input_expressions()),
        tables: all(lookup.table_expressions()),
    });
    Circuit {
        log_n: domain.k(),
        degree,
        blinding: system.blinding_factors(),
        layout,
        advice_phases: system.advice_column_phase(),
        challenge_phases: system.challenge_phase(),
        gates: system.gates().iter().flat_map(Gate::polynomials).map(|one| plain(&layout, one)).collect(),
        lookups: lookups.collect(),
        permutation,
        advice_queries: system.advice_queries().iter().map(|(column, at)| (column.index(), at.0)).collect(),
        fixed_queries: system.fixed_queries().iter().map(|(column, at)| (column.index(), at.0)).collect(),
    }
}

fn name(column: &Column<Any>) -> Name {
    match column.column_type() {
        Any::Advice(_) => Name::Advice(column.index()),
        Any::Fixed => Name::Fixed(column.index()),
        Any::Instance => Name::Instance(column.index()),
    }
}

fn plain(layout: &Layout, expression: &Expression<Fr>) -> Plain<Fr> {
    let column = |name: Name, rotation: halo2_axiom::poly::Rotation| Plain::column(layout.number(name), rotation.0);
    expression.evaluate(
        &Plain::Constant,
        // A key's system has fixed columns in place of selectors.
        &|_| Plain::Constant(Fr::ZERO),
        &|query| column(Name::Fixed(query.column_index()), query.rotation()),
        &|query| column(Name::Advice(query.column_index()), query.rotation()),
        &|query| column(Name::Instance(query.column_index()), query.rotation()),
        &|challenge| Plain::Challenge(challenge.index()),
        &|a| -a,
        &|a, b| a + b,
        &|a, b| a * b,
        &|a, factor| a * factor,
    )
}

/// A key's columns.
pub fn key(key: &ProvingKey<G1Affine>) -> Key<'_, Fr> {
    let permutation = key.permutation();
    Key {
        fixed: both(key.fixed_values(), key.fixed_polys()),
        sigma: both(permutation.permutations(), permutation.polys()),
        first: View::new(key.l0().values()),
        last: View::new(key.l_last().values()),
        active: View::new(key.l_active_row().values()),
    }
}

fn both<'a>(values: &'a [Stock<Fr, LagrangeCoeff>], polys: &'a [Stock<Fr, Coeff>]) -> Vec<Polynomial<'a, Fr>> {
    let pairs = values.iter().zip(polys);
    let both = |(values, polys): (&'a Stock<Fr, LagrangeCoeff>, &'a Stock<Fr, Coeff>)| Polynomial {
        values: View::new(values.values()),
        coefficients: View::new(polys.values()),
    };
    pairs.map(both).collect()
}
