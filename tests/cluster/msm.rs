//! Multiplications.

use ff::PrimeField;
use group::{Curve, Group};
use proofwarp::cluster::{ClusterMsm, Partition};
use proofwarp::curve::MsmCurve;
use proofwarp::field::NttField;
use proofwarp::msm::{MsmOptions, Scalars, msm};

use crate::tools::{Checks, random, roots};

/// Multiples of the generator that look random.
pub fn bases<C: MsmCurve>(count: usize) -> Vec<C> {
    let mut point = C::Curve::generator();
    let mut next = || {
        point = point.double() + C::Curve::generator();
        point.to_affine()
    };
    let mut bases: Vec<C> = (0..count).map(|_| next()).collect();
    bases.iter_mut().skip(3).step_by(7).for_each(|base| *base = C::identity());
    bases
}

pub fn every_length<C: MsmCurve<Scalar: NttField>>(checks: &Checks, lengths: &[usize]) {
    let ranks = checks.cluster.size();
    for length in lengths.iter().copied() {
        let even = Partition::even(length, ranks);
        let last = Partition::weighted(
            length,
            &(0..ranks).map(|rank| f64::from(u8::from(rank + 1 == ranks))).collect::<Vec<_>>(),
        );
        for slices in [even, last.expect("a rank has speed")] {
            one_length::<C>(checks, length, Some(slices));
        }
        one_length::<C>(checks, length, None);
    }
}

fn one_length<C: MsmCurve<Scalar: NttField>>(checks: &Checks, length: usize, slices: Option<Partition>) {
    let (cluster, all) = (checks.cluster, bases::<C>(length));
    let load = |range: std::ops::Range<usize>| Ok(all[range].to_vec());
    let what = format!("{} of {length} in {slices:?}", C::NAME);
    let sum = match slices {
        Some(slices) => ClusterMsm::<C>::with_slices(cluster, slices, MsmOptions::default(), load),
        None => ClusterMsm::<C>::new(cluster, length, load),
    };
    let sum = sum.expect("bases");
    let vectors = [random::<C::Scalar>(1, length), random::<C::Scalar>(2, length)];
    let expected = vectors.each_ref().map(|scalars| msm(&checks.cpu, &all, scalars, None).expect("a sum").0);
    let own = sum.local_range();
    let part = |number: usize| &vectors[number][own.clone()];

    checks.equal(&what, &expected[0], &sum.run(part(0), None).expect("a sum").0);
    let batch = [Scalars::elements(part(0)), Scalars::elements(part(1))];
    checks.equal(format!("{what}, batch"), &expected.to_vec(), &sum.run_batch(&batch, None).expect("sums").0);
    for root in roots(cluster.size()) {
        let (on_root, _) = sum.run_to(root, part(1), None).expect("a sum");
        let expected_here = (cluster.rank() == root).then_some(expected[1]);
        checks.equal(format!("{what}, to {root}"), &expected_here, &on_root);
        let scalars = (cluster.rank() == root).then_some(Scalars::elements(&vectors[0]));
        checks.equal(
            format!("{what}, from {root}"),
            &expected[0],
            &sum.run_from(root, scalars, None).expect("a sum").0,
        );
    }
    let short: Vec<[u8; 32]> =
        (0..length).map(|i| C::Scalar::from(i as u64).to_repr().as_ref().try_into().expect("32")).collect();
    let expected = msm(&checks.cpu, &all, &short, None).expect("a sum").0;
    let scalars = (cluster.rank() == 0).then_some(Scalars::canonical(&short).with_bit_length(10));
    checks.equal(format!("{what}, short"), &expected, &sum.run_from(0, scalars, None).expect("a sum").0);
}

/// Slices by measured speeds are the same on all ranks, and sums right.
pub fn measured(checks: &Checks) {
    one_length::<blstrs::G1Affine>(checks, 1000, None);
}
