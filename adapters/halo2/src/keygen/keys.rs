//! Builds keys from columns, commitments and polynomials.

use std::panic::resume_unwind;

use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine};
use halo2_axiom::plonk::permutation;
use halo2_axiom::plonk::{Circuit, Error, ProvingKey, VerifyingKey};
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use halo2_axiom::poly::{Coeff, EvaluationDomain, LagrangeCoeff, Polynomial};
use proofwarp::plonk::{Basis, ColumnView, Engine};
use proofwarp::rayon_waits::join;
use rayon::prelude::*;

use super::columns::{Columns, ConfiguredCircuit};
use super::permutation::PermutationCycles;
use super::steps::record_keygen_step;
use crate::caches;
use crate::error::{check_setup_size, to_halo2_error};
use crate::memory::drop_in_background;

type Values = Vec<Vec<Fr>>;
type Coefficients = Vec<Polynomial<Fr, Coeff>>;

/// Holds the results of verifying-key generation that the proving key needs too.
struct ProvingParts {
    engine: Engine<G1Affine>,
    fixed: Values,
    sigma: Values,
}

pub(super) fn generate_verifying_key<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    circuit: &C,
    compress: bool,
) -> Result<VerifyingKey<G1Affine>, Error> {
    let (key, ProvingParts { fixed, sigma, .. }) = generate_with_parts(params, circuit, compress)?;
    drop_in_background((fixed, sigma));
    Ok(key)
}

pub(super) fn generate_proving_key<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    key: Option<VerifyingKey<G1Affine>>,
    circuit: &C,
    compress: bool,
) -> Result<ProvingKey<G1Affine>, Error> {
    let Some(key) = key else {
        let (key, rest) = generate_with_parts(params, circuit, compress)?;
        let coefficients = interpolate_columns(&rest.engine, "fixed polynomials", &rest.fixed)?;
        return assemble_proving_key(key, rest, coefficients);
    };
    check_setup_size((params.k(), params.get_g().len()), key.get_domain().k())?;
    let (engine, Columns { fixed, cycles, .. }) =
        synthesize_during_upload(params, ConfiguredCircuit::new(circuit, params.k())?, compress)?;
    let of_fixed = || interpolate_columns(&engine, "fixed polynomials", &fixed);
    let (sigma, coefficients) = join_on_thread(|| sigma(&cycles, &engine), of_fixed);
    drop_in_background(cycles);
    assemble_proving_key(key, ProvingParts { engine, fixed, sigma }, coefficients?)
}

fn generate_with_parts<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    circuit: &C,
    compress: bool,
) -> Result<(VerifyingKey<G1Affine>, ProvingParts), Error> {
    check_setup_size((params.k(), params.get_g().len()), params.k())?;
    let start = ConfiguredCircuit::new(circuit, params.k())?;
    let (degree, k) = (start.degree(), params.k());
    let domain = || record_keygen_step("domain", 1 << k, || EvaluationDomain::new(degree, k));
    let (domain, synthesized) = join_on_thread(domain, || synthesize_during_upload(params, start, compress));
    let (engine, Columns { system, fixed, cycles, selectors }) = synthesized?;
    let of_fixed = || commit_columns(&engine, "fixed commitments", &fixed);
    let (sigma, of_fixed) = join_on_thread(|| sigma(&cycles, &engine), of_fixed);
    drop_in_background(cycles);
    let of_sigma = commit_columns(&engine, "σ commitments", &sigma)?;
    let permutation = permutation::VerifyingKey::from_commitments(of_sigma);
    let key = VerifyingKey::from_parts(domain, of_fixed?, permutation, system, selectors, compress);
    Ok((key, ProvingParts { engine, fixed, sigma }))
}

/// Returns an engine over `params` and the columns of the synthesized circuit. The setup is uploaded during the
/// synthesis.
fn synthesize_during_upload<C: Circuit<Fr>>(
    params: &ParamsKZG<Bn256>,
    start: ConfiguredCircuit<'_, C>,
    compress: bool,
) -> Result<(Engine<G1Affine>, Columns), Error> {
    let engine = || record_keygen_step("setup", 1 << params.k(), || caches::create_keygen_engine(params));
    let (engine, columns) = join_on_thread(engine, || start.synthesize(compress));
    let columns = columns?;
    Ok((engine?, columns))
}

fn assemble_proving_key(
    key: VerifyingKey<G1Affine>,
    ProvingParts { engine, fixed, sigma }: ProvingParts,
    of_fixed: Coefficients,
) -> Result<ProvingKey<G1Affine>, Error> {
    let of_sigma = interpolate_columns(&engine, "σ polynomials", &sigma)?;
    let rows = row_columns(1 << key.get_domain().k(), key.cs().blinding_factors());
    let [first, last, active] = to_three_polynomials(interpolate_columns(&engine, "row polynomials", &rows)?)?;
    let permutation = permutation::ProvingKey::from_parts(to_lagrange_polynomials(sigma), of_sigma);
    Ok(ProvingKey::from_parts(key, first, last, active, to_lagrange_polynomials(fixed), of_fixed, permutation))
}

/// Runs `elsewhere` on another thread and `here` on this one, which a circuit cannot leave. Returns both results.
fn join_on_thread<A: Send, B>(elsewhere: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    let (there, here) = join(elsewhere, here);
    (there.unwrap_or_else(|panic| resume_unwind(panic)), here)
}

fn sigma(cycles: &PermutationCycles, engine: &Engine<G1Affine>) -> Values {
    record_keygen_step("σ", cycles.cell_count(), || cycles.sigma(engine.omega()))
}

/// Returns three columns of zeros and ones: ones in row 0, in the row where grand products end, and in all usable rows.
fn row_columns(rows: usize, blinding: usize) -> [Vec<Fr>; 3] {
    let usable = rows - blinding - 1;
    let ones = |is_one: &(dyn Fn(usize) -> bool + Sync)| {
        (0..rows).into_par_iter().map(|row| Fr::from(u64::from(is_one(row)))).collect::<Vec<_>>()
    };
    [ones(&|row| row == 0), ones(&|row| row == usable), ones(&|row| row < usable)]
}

fn commit_columns(engine: &Engine<G1Affine>, name: &str, columns: &[Vec<Fr>]) -> Result<Vec<G1Affine>, Error> {
    record_keygen_step(name, element_count(columns), || {
        engine.commit(Basis::Lagrange, &views(columns)).map_err(to_halo2_error)
    })
}

fn interpolate_columns(engine: &Engine<G1Affine>, name: &str, columns: &[Vec<Fr>]) -> Result<Coefficients, Error> {
    let on_host = || engine.move_to_host(engine.interpolate(&views(columns))?);
    let coefficients = record_keygen_step(name, element_count(columns), on_host).map_err(to_halo2_error)?;
    Ok(coefficients.into_iter().map(Polynomial::new).collect())
}

fn element_count(columns: &[Vec<Fr>]) -> usize {
    columns.iter().map(Vec::len).sum()
}

fn views(columns: &[Vec<Fr>]) -> Vec<ColumnView<'_, Fr>> {
    columns.iter().map(|column| ColumnView::new(column)).collect()
}

fn to_lagrange_polynomials(columns: Vec<Vec<Fr>>) -> Vec<Polynomial<Fr, LagrangeCoeff>> {
    columns.into_iter().map(Polynomial::new).collect()
}

fn to_three_polynomials(polynomials: Coefficients) -> Result<[Polynomial<Fr, Coeff>; 3], Error> {
    polynomials.try_into().map_err(|_| Error::BoundsFailure)
}
