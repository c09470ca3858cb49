//! Keys, put together.

use ff::Field;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::permutation;
use halo2_axiom::plonk::{Circuit, Error, ProvingKey, VerifyingKey};
use halo2_axiom::poly::commitment::Params;
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::poly::{Coeff, LagrangeCoeff, Polynomial};
use proofwarp::plonk::{Engine, View};

use super::columns::{Columns, commitments, views};
use crate::error::{check_rows, outer};
use crate::setup::engine_for_keys;

pub fn verifying<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    circuit: &C,
    compress: bool,
) -> Result<VerifyingKey<G1Affine>, Error> {
    let columns = Columns::of(circuit, params.k(), compress)?;
    let engine = engine_for_keys(params)?;
    let (columns, _, key) = with_key(columns, &engine, compress)?;
    drop(columns);
    Ok(key)
}

pub fn proving<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    key: Option<VerifyingKey<G1Affine>>,
    circuit: &C,
    compress: bool,
) -> Result<ProvingKey<G1Affine>, Error> {
    if let Some(key) = &key {
        check_rows(params.k(), key.get_domain().k())?;
    }
    let columns = Columns::of(circuit, params.k(), compress)?;
    let engine = engine_for_keys(params)?;
    let (fixed, sigma, key) = match key {
        Some(key) => (columns.fixed, columns.sigma, key),
        None => with_key(columns, &engine, compress)?,
    };
    let [first, last, active] = row_columns(1 << params.k(), key.cs().blinding_factors());
    let (fixed_polys, sigma_polys) = (coefficients(&engine, &fixed)?, coefficients(&engine, &sigma)?);
    let [first, last, active] = three(coefficients(&engine, &[first, last, active])?)?;
    let permutation = permutation::ProvingKey::from_parts(values(sigma), sigma_polys);
    Ok(ProvingKey::from_parts(key, first, last, active, values(fixed), fixed_polys, permutation))
}

type Values = Vec<Vec<Fr>>;

/// Fixed columns and σ, and the key of their commitments.
fn with_key(
    columns: Columns,
    engine: &Engine<G1Affine>,
    compress: bool,
) -> Result<(Values, Values, VerifyingKey<G1Affine>), Error> {
    let Columns { domain, system, fixed, sigma, selectors } = columns;
    let permutation = permutation::VerifyingKey::from_commitments(commitments(engine, &sigma)?);
    let commitments = commitments(engine, &fixed)?;
    let key = VerifyingKey::from_parts(domain, commitments, permutation, system, selectors, compress);
    Ok((fixed, sigma, key))
}

/// Columns that are 1 in row 0, where products end, and in usable rows.
fn row_columns(rows: usize, blinding: usize) -> [Vec<Fr>; 3] {
    let usable = rows - blinding - 1;
    let ones = |is_one: &dyn Fn(usize) -> bool| {
        (0..rows).map(|row| if is_one(row) { Fr::ONE } else { Fr::ZERO }).collect::<Vec<_>>()
    };
    [ones(&|row| row == 0), ones(&|row| row == usable), ones(&|row| row < usable)]
}

fn coefficients(engine: &Engine<G1Affine>, columns: &[Vec<Fr>]) -> Result<Vec<Polynomial<Fr, Coeff>>, Error> {
    let columns: Vec<View<'_, Fr>> = views(columns);
    let polynomials = engine.interpolate(&columns).map_err(outer)?;
    let on_host = |column| engine.into_host(column).map(Polynomial::new).map_err(outer);
    polynomials.into_iter().map(on_host).collect()
}

fn values(columns: Vec<Vec<Fr>>) -> Vec<Polynomial<Fr, LagrangeCoeff>> {
    columns.into_iter().map(Polynomial::new).collect()
}

fn three(polynomials: Vec<Polynomial<Fr, Coeff>>) -> Result<[Polynomial<Fr, Coeff>; 3], Error> {
    polynomials.try_into().map_err(|_| Error::BoundsFailure)
}
