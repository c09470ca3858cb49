//! `proofwarp bench msm`: times multi-scalar multiplications, by plan and by the distribution of scalars.

mod options;

use blstrs::{G1Affine, G2Affine};
use ff::Field;
use group::{Curve, Group};
use halo2curves::bn256;
use proofwarp::curve::MsmCurve;
use proofwarp::msm::{self, Msm, MsmOptions};
use proofwarp::{Accelerator, Report};
use rayon::prelude::*;

use crate::{Failure, inputs, rows};

pub use options::Options;

/// Runs the program, and prints its rows.
///
/// # Errors
/// Returns an error if an option is without effect, or if a sum fails or is wrong.
pub fn run(options: &Options) -> Result<(), Failure> {
    options.check()?;
    let accelerator = options.rows.accelerator()?;
    options.check_devices(accelerator.devices().len())?;
    rows::print_header();
    for &log_n in options.rows.sizes() {
        msms::<G1Affine>(&accelerator, options, log_n)?;
        msms::<G2Affine>(&accelerator, options, log_n)?;
        msms::<bn256::G1Affine>(&accelerator, options, log_n)?;
        msms::<bn256::G2Affine>(&accelerator, options, log_n)?;
    }
    Ok(())
}

fn msms<C: MsmCurve>(accelerator: &Accelerator, options: &Options, log_n: u32) -> Result<(), Failure>
where
    C::Curve: Curve<AffineRepr = C>,
{
    if !options.rows.wants(&format!("msm {}", C::NAME)) {
        return Ok(());
    }
    let bases = inputs::bases::<C>(1 << log_n);
    let distributions = inputs::DISTRIBUTIONS.into_iter().filter(|name| name.contains(&options.scalars));
    let inputs: Vec<_> = distributions.map(|name| (name, inputs::scalars::<C>(name, 1 << log_n))).collect();
    for (plan_name, plan) in options.plans() {
        let wants_resident = options.from.is_empty() || !"host".contains(&options.from);
        let resident = wants_resident.then(|| Msm::with_options(accelerator, &bases, plan)).transpose()?;
        if let (true, Some(resident)) = (options.explain, &resident) {
            say!("{}", resident.explain(None)?);
        }
        for (name, scalars) in &inputs {
            let what = format!("{name}{plan_name}");
            msm_rows(accelerator, options, log_n, (&what, plan), (&bases, resident.as_ref(), scalars))?;
        }
    }
    Ok(())
}

/// Σ scalarᵢ · logarithmᵢ times the generator.
fn expected_sum<C: MsmCurve>(scalars: &inputs::Scalars) -> C::Curve {
    let product = |(i, scalar): (usize, &[u8; 32])| {
        let words = scalar.as_chunks::<8>().0.iter().rev().map(|word| C::Scalar::from(u64::from_le_bytes(*word)));
        let shift = C::Scalar::from(1 << 32).square();
        words.fold(C::Scalar::ZERO, |sum, word| sum * shift + word) * inputs::logarithm::<C::Scalar>(i)
    };
    C::Curve::generator() * scalars.par_iter().enumerate().map(product).sum::<C::Scalar>()
}

/// One distribution and plan, from every place that was asked for.
fn msm_rows<C: MsmCurve>(
    accelerator: &Accelerator,
    options: &Options,
    log_n: u32,
    (what, plan): (&str, MsmOptions),
    (bases, resident, scalars): (&[C], Option<&Msm<'_, C>>, &inputs::Scalars),
) -> Result<(), Failure> {
    let expected = options.check.then(|| expected_sum::<C>(scalars));
    let checked = |(sum, report): (C::Curve, Report)| match expected {
        Some(expected) if sum != expected => Err(format!("a wrong sum: {report}")),
        _ => Ok(report),
    };
    let named = |report: Report, from| Report { operation: format!("{} {what}, {from}", report.operation), ..report };
    if options.wants("host") {
        let plan = MsmOptions { precompute: 0, ..plan };
        let run = || msm::msm_with_options(accelerator, bases, scalars, plan, None);
        options.rows.row(log_n, || Ok(named(checked(run()?)?, "host")))?;
    }
    let Some(resident) = resident else { return Ok(()) };
    let batch = |scalars: msm::Scalars<'_>, name| {
        let vectors = vec![scalars; options.batch as usize];
        let run = || {
            let mut report = resident.run_batch(&vectors, None)?.1;
            report.total /= options.batch;
            report.traffic.kernels /= options.batch;
            Ok(named(report, name))
        };
        if options.batch > 1 { options.rows.row(log_n, run) } else { Ok(()) }
    };
    if options.wants("bases") {
        options.rows.row(log_n, || Ok(named(checked(resident.run(scalars, None)?)?, "bases")))?;
        batch(scalars.into(), "batch, bases")?;
    }
    if options.wants("resident") && !accelerator.devices().is_empty() {
        let scalars = resident.upload_scalars(scalars, msm::ScalarForm::Canonical)?;
        options.rows.row(log_n, || Ok(named(checked(resident.run(&scalars, None)?)?, "resident")))?;
        batch((&scalars).into(), "batch")?;
    }
    Ok(())
}
