//! Builds keys from columns, commitments and polynomials.

use std::panic::resume_unwind;

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::permutation;
use halo2_axiom::plonk::{Circuit, Error, ProvingKey, VerifyingKey};
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::poly::{Coeff, EvaluationDomain, LagrangeCoeff, Polynomial};
use proofwarp::blocking::join;
use proofwarp::plonk::{Basis, ColumnView, Engine};
use rayon::prelude::*;

use super::columns::{Columns, ConfiguredCircuit};
use super::permutation::PermutationCycles;
use super::steps::step;
use crate::caches;
use crate::error::{check_rows, to_halo2_error};
use crate::memory::drop_in_background;

type Values = Vec<Vec<Fr>>;
type Coefficients = Vec<Polynomial<Fr, Coeff>>;

/// Holds the results of verifying-key generation that the proving key needs too.
struct ProvingParts {
    engine: Engine<G1Affine>,
    fixed: Values,
    sigma: Values,
}

pub fn verifying<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    circuit: &C,
    compress: bool,
) -> Result<VerifyingKey<G1Affine>, Error> {
    let (key, ProvingParts { fixed, sigma, .. }) = with_rest(params, circuit, compress)?;
    drop_in_background((fixed, sigma));
    Ok(key)
}

pub fn proving<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    key: Option<VerifyingKey<G1Affine>>,
    circuit: &C,
    compress: bool,
) -> Result<ProvingKey<G1Affine>, Error> {
    let Some(key) = key else {
        let (key, rest) = with_rest(params, circuit, compress)?;
        let coefficients = coefficients(&rest.engine, "fixed polynomials", &rest.fixed)?;
        return finished(key, rest, coefficients);
    };
    check_rows((params.k(), params.get_g().len()), key.get_domain().k())?;
    let (engine, Columns { fixed, cycles, .. }) =
        synthesized(params, ConfiguredCircuit::new(circuit, params.k())?, compress)?;
    let of_fixed = || coefficients(&engine, "fixed polynomials", &fixed);
    let (sigma, coefficients) = join_on_thread(|| sigma(&cycles, &engine), of_fixed);
    drop_in_background(cycles);
    finished(key, ProvingParts { engine, fixed, sigma }, coefficients?)
}

fn with_rest<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    circuit: &C,
    compress: bool,
) -> Result<(VerifyingKey<G1Affine>, ProvingParts), Error> {
    check_rows((params.k(), params.get_g().len()), params.k())?;
    let start = ConfiguredCircuit::new(circuit, params.k())?;
    let (degree, k) = (start.degree(), params.k());
    let domain = || step("domain", 1 << k, || EvaluationDomain::new(degree, k));
    let (domain, synthesized) = join_on_thread(domain, || synthesized(params, start, compress));
    let (engine, Columns { system, fixed, cycles, selectors }) = synthesized?;
    let of_fixed = || commitments(&engine, "fixed commitments", &fixed);
    let (sigma, of_fixed) = join_on_thread(|| sigma(&cycles, &engine), of_fixed);
    drop_in_background(cycles);
    let of_sigma = commitments(&engine, "σ commitments", &sigma)?;
    let permutation = permutation::VerifyingKey::from_commitments(of_sigma);
    let key = VerifyingKey::from_parts(domain, of_fixed?, permutation, system, selectors, compress);
    Ok((key, ProvingParts { engine, fixed, sigma }))
}

/// Returns an engine over `params` and the columns of the synthesized circuit. The setup is uploaded during the
/// synthesis.
fn synthesized<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    start: ConfiguredCircuit<'_, C>,
    compress: bool,
) -> Result<(Engine<G1Affine>, Columns), Error> {
    let engine = || step("setup", 1 << params.k(), || caches::engine_for_keys(params));
    let (engine, columns) = join_on_thread(engine, || start.synthesize(compress));
    let columns = columns?;
    Ok((engine?, columns))
}

fn finished(
    key: VerifyingKey<G1Affine>,
    ProvingParts { engine, fixed, sigma }: ProvingParts,
    of_fixed: Coefficients,
) -> Result<ProvingKey<G1Affine>, Error> {
    let of_sigma = coefficients(&engine, "σ polynomials", &sigma)?;
    let rows = row_columns(1 << key.get_domain().k(), key.cs().blinding_factors());
    let [first, last, active] = three(coefficients(&engine, "row polynomials", &rows)?)?;
    let permutation = permutation::ProvingKey::from_parts(values(sigma), of_sigma);
    Ok(ProvingKey::from_parts(key, first, last, active, values(fixed), of_fixed, permutation))
}

/// Runs `elsewhere` on another thread and `here` on this one, which a circuit cannot leave. Returns both results.
fn join_on_thread<A: Send, B>(elsewhere: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    let (there, here) = join(elsewhere, here);
    (there.unwrap_or_else(|panic| resume_unwind(panic)), here)
}

fn sigma(cycles: &PermutationCycles, engine: &Engine<G1Affine>) -> Values {
    step("σ", cycles.cells(), || cycles.sigma(engine.omega()))
}

/// Returns three columns of zeros and ones: ones in row 0, in the row where grand products end, and in all usable rows.
fn row_columns(rows: usize, blinding: usize) -> [Vec<Fr>; 3] {
    let usable = rows - blinding - 1;
    let ones = |is_one: &(dyn Fn(usize) -> bool + Sync)| {
        (0..rows).into_par_iter().map(|row| Fr::from(u64::from(is_one(row)))).collect::<Vec<_>>()
    };
    [ones(&|row| row == 0), ones(&|row| row == usable), ones(&|row| row < usable)]
}

fn commitments(engine: &Engine<G1Affine>, name: &str, columns: &[Vec<Fr>]) -> Result<Vec<G1Affine>, Error> {
    step(name, elements(columns), || engine.commit(Basis::Lagrange, &views(columns)).map_err(to_halo2_error))
}

fn coefficients(engine: &Engine<G1Affine>, name: &str, columns: &[Vec<Fr>]) -> Result<Coefficients, Error> {
    let on_host = || engine.into_host(engine.interpolate(&views(columns))?);
    let coefficients = step(name, elements(columns), on_host).map_err(to_halo2_error)?;
    Ok(coefficients.into_iter().map(Polynomial::new).collect())
}

fn elements(columns: &[Vec<Fr>]) -> usize {
    columns.iter().map(Vec::len).sum()
}

fn views(columns: &[Vec<Fr>]) -> Vec<ColumnView<'_, Fr>> {
    columns.iter().map(|column| ColumnView::new(column)).collect()
}

fn values(columns: Vec<Vec<Fr>>) -> Vec<Polynomial<Fr, LagrangeCoeff>> {
    columns.into_iter().map(Polynomial::new).collect()
}

fn three(polynomials: Coefficients) -> Result<[Polynomial<Fr, Coeff>; 3], Error> {
    polynomials.try_into().map_err(|_| Error::BoundsFailure)
}
