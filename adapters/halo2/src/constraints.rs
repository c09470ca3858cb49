//! Converts halo2-axiom's constraint systems to plain data.

use ff::{Field, PrimeField};
use halo2_axiom::halo2curves::bn256::{Fr, G1Affine};
use halo2_axiom::plonk::{Any, Circuit as StockCircuit, Column, ConstraintSystem, Error, Expression, Gate, ProvingKey};
use halo2_axiom::poly::{Coeff, LagrangeCoeff, Polynomial as Stock};
use proofwarp::expression::Expression as Plain;
use proofwarp::plonk::steps::quotient_pieces::MAX_COSETS;
use proofwarp::plonk::{Circuit, ColumnId, ColumnLayout, ColumnView, DuplicateQueries, Key, Lookup, Polynomial};

/// Configures `circuit` in a new constraint system, and returns that system and the circuit's configuration.
pub(crate) fn configure<C: StockCircuit<Fr>>(circuit: &C) -> (ConstraintSystem<Fr>, C::Config) {
    let mut system = ConstraintSystem::default();
    let config = C::configure_with_params(&mut system, circuit.params());
    (system, config)
}

/// Checks that proofs with 2^`k` rows can have constraints of degree `degree`, and returns the degree.
///
/// # Errors
/// - `BoundsFailure`: the degree is below 3.
/// - `BoundsFailure`: the quotient has more pieces than [`MAX_COSETS`], or than there are roots of unity for.
pub(crate) fn check_degree(degree: usize, k: u32) -> Result<u32, Error> {
    let roots = 1_usize.checked_shl(Fr::S.saturating_sub(k)).unwrap_or(0);
    let most = MAX_COSETS.min(roots).saturating_add(1);
    if (3..=most).contains(&degree) && k <= Fr::S {
        return Ok(degree as u32);
    }
    log::error!("halo2: the circuit's degree is {degree}: expected 3 to {most} for k = {k}");
    Err(Error::BoundsFailure)
}

/// Logs a warning if `system` queries a column at two rotations that are equal modulo 2^`k` rows. No proof can have
/// such queries, but keys can be made.
pub(crate) fn warn_duplicate_queries(system: &ConstraintSystem<Fr>, k: u32) {
    let advice = system.advice_queries().iter().map(|(column, at)| (ColumnId::Advice(column.index()), at.0));
    let fixed = system.fixed_queries().iter().map(|(column, at)| (ColumnId::Fixed(column.index()), at.0));
    if let Some(same) = DuplicateQueries::find(advice.chain(fixed), 1 << k) {
        log::warn!("halo2: no proof can be made with this key: {}", describe_same_point(&same, k));
    }
}

/// Checks that `circuit` queries no column at two rotations that are equal modulo its number of rows.
///
/// # Errors
/// - `ConstraintSystemFailure`, as in halo2-axiom: a column is queried twice at one point. The log names it.
pub(crate) fn check_duplicate_queries(circuit: &Circuit<Fr>) -> Result<(), Error> {
    let Some(same) = circuit.find_duplicate_queries() else { return Ok(()) };
    log::error!("halo2: no proof can be made: {}", describe_same_point(&same, circuit.log_n));
    Err(Error::ConstraintSystemFailure)
}

fn describe_same_point(DuplicateQueries { column, rotations: [first, second] }: &DuplicateQueries, k: u32) -> String {
    format!("{column} is queried at rotations {first} and {second}, which are equal modulo 2^{k} rows")
}

/// Converts the constraint system of `key` to proofwarp's [`Circuit`].
pub(crate) fn convert_circuit(key: &ProvingKey<G1Affine>) -> Circuit<Fr> {
    let (system, domain) = (key.get_vk().cs(), key.get_vk().get_domain());
    // Taken from the key's own domain: the system's degree depends on the current environment.
    let degree = domain.get_quotient_poly_degree() + 1;
    let permutation: Vec<_> = system.permutation().get_columns().iter().map(to_column_id).collect();
    let layout = ColumnLayout {
        fixed: system.num_fixed_columns(),
        permuted: permutation.len(),
        advice: system.num_advice_columns(),
        instances: system.num_instance_columns(),
        sets: permutation.len().div_ceil(degree.saturating_sub(2).max(1)),
        lookups: system.lookups().len(),
    };
    let all = |expressions: &[Expression<Fr>]| expressions.iter().map(|one| convert_expression(&layout, one)).collect();
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
        gates: system.gates().iter().flat_map(Gate::polynomials).map(|one| convert_expression(&layout, one)).collect(),
        lookups: lookups.collect(),
        permutation,
        advice_queries: system.advice_queries().iter().map(|(column, at)| (column.index(), at.0)).collect(),
        fixed_queries: system.fixed_queries().iter().map(|(column, at)| (column.index(), at.0)).collect(),
    }
}

fn to_column_id(column: &Column<Any>) -> ColumnId {
    match column.column_type() {
        Any::Advice(_) => ColumnId::Advice(column.index()),
        Any::Fixed => ColumnId::Fixed(column.index()),
        Any::Instance => ColumnId::Instance(column.index()),
    }
}

fn convert_expression(layout: &ColumnLayout, expression: &Expression<Fr>) -> Plain<Fr> {
    let column =
        |name: ColumnId, rotation: halo2_axiom::poly::Rotation| Plain::column(layout.column_number(name), rotation.0);
    expression.evaluate(
        &Plain::Constant,
        // A key's system has fixed columns in place of selectors.
        &|_| Plain::Constant(Fr::ZERO),
        &|query| column(ColumnId::Fixed(query.column_index()), query.rotation()),
        &|query| column(ColumnId::Advice(query.column_index()), query.rotation()),
        &|query| column(ColumnId::Instance(query.column_index()), query.rotation()),
        &|challenge| Plain::Challenge(challenge.index()),
        &|a| -a,
        &|a, b| a + b,
        &|a, b| a * b,
        &|a, factor| a * factor,
    )
}

/// Returns views of the columns of `key`, which are in host memory.
pub(crate) fn key_column_views(key: &ProvingKey<G1Affine>) -> Key<'_, Fr> {
    let permutation = key.permutation();
    Key {
        fixed: values_and_coefficients(key.fixed_values(), key.fixed_polys()),
        sigma: values_and_coefficients(permutation.permutations(), permutation.polys()),
        first: ColumnView::new(key.l0().values()),
        last: ColumnView::new(key.l_last().values()),
        active: ColumnView::new(key.l_active_row().values()),
    }
}

fn values_and_coefficients<'a>(
    values: &'a [Stock<Fr, LagrangeCoeff>],
    polys: &'a [Stock<Fr, Coeff>],
) -> Vec<Polynomial<'a, Fr>> {
    let pairs = values.iter().zip(polys);
    let values_and_coefficients = |(values, polys): (&'a Stock<Fr, LagrangeCoeff>, &'a Stock<Fr, Coeff>)| Polynomial {
        values: ColumnView::new(values.values()),
        coefficients: ColumnView::new(polys.values()),
    };
    pairs.map(values_and_coefficients).collect()
}
