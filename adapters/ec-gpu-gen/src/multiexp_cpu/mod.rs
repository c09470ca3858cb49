//! Computes multi-exponentiations on the CPU, Σ exponentᵢ · baseᵢ; a density says which exponents have a base.

mod buckets;
mod density;
mod source;

use std::io;
use std::sync::Arc;

use ff::{Field, PrimeField};
use group::Group;
use group::prime::PrimeCurveAffine;
use proofwarp::fork_check;
use proofwarp::rayon_waits::on_cpu_pool;
use rayon::prelude::*;

use crate::threadpool::{Waiter, Worker};
use crate::type_dispatch::{self, Msm, Repr};
use crate::{EcError, forced_backend};

use source::{IDENTITY, exhausted_source_error};

pub use density::{DensityTracker, FullDensity, QueryDensity};
pub use source::{Source, SourceBuilder};

/// Starts to compute Σ exponentᵢ · baseᵢ on `pool`, over the `exponents` that `density_map` marks. Each marked exponent
/// takes the next base of the source `bases`. Exponents are little-endian integers and need not be reduced modulo the
/// group order.
///
/// The call does not check that bases are points of the prime-order subgroup. Sums over other bases are meaningless.
/// `proofwarp::msm::Msm::checked` refuses such bases.
///
/// The result is an error if:
/// - there are fewer bases than marked exponents;
/// - a base with an exponent other than zero is the point at infinity;
/// - the density and the exponents differ in length;
/// - this thread's last kernel call failed on a backend that `PROOFWARP_BACKEND` forces;
/// - the process was forked ([`proofwarp::fork_check`]).
pub fn multiexp_cpu<Q, D, G, S>(
    pool: &Worker,
    bases: S,
    density_map: D,
    exponents: Arc<Vec<<G::Scalar as PrimeField>::Repr>>,
) -> Waiter<Result<<G as PrimeCurveAffine>::Curve, EcError>>
where
    for<'a> &'a Q: QueryDensity,
    D: Send + Sync + 'static + Clone + AsRef<Q>,
    G: PrimeCurveAffine,
    S: SourceBuilder<G>,
{
    if let Some(error) = forced_backend::last_failure().or_else(forced_backend::missing_kernels) {
        return Waiter::done(Err(error));
    }
    if let Err(forked) = fork_check::check() {
        return Waiter::done(Err(io::Error::other(forked).into()));
    }
    if exponents.is_empty() {
        return Waiter::done(Ok(G::Curve::identity()));
    }
    if density_map.as_ref().get_query_size().is_some_and(|size| size != exponents.len()) {
        return Waiter::done(Err(EcError::Simple("The density and the exponents differ in length.")));
    }
    match type_dispatch::find_msm::<G>() {
        Some(msm) => pool.compute(move || {
            let exponents = on_cpu_pool(|| density_map.as_ref().generate_exps::<G::Scalar>(exponents));
            let (bases, skip) = bases.get();
            let sum = on_cpu_pool(|| proofwarp_multiexp(msm, bases.get(skip..).unwrap_or_default(), &exponents));
            zeroize_exponents(exponents);
            sum
        }),
        None => pool.compute(move || on_cpu_pool(|| buckets::multiexp::<Q, D, G, S>(&bases, &density_map, &exponents))),
    }
}

/// Overwrites `exponents` with zeros if they have no other owner, such as a copy of the marked exponents.
fn zeroize_exponents<R: AsMut<[u8]>>(mut exponents: Arc<Vec<R>>) {
    if let Some(exponents) = Arc::get_mut(&mut exponents) {
        for exponent in exponents.iter_mut() {
            exponent.as_mut().fill(0);
        }
        // Keeps the compiler from dropping stores that no load follows.
        std::hint::black_box(&*exponents);
    }
}

/// Returns Σ exponentᵢ · baseᵢ, computed on the CPU by `msm`, proofwarp's function for the curve of `G`.
fn proofwarp_multiexp<G: PrimeCurveAffine>(
    msm: Msm<G>,
    bases: &[G],
    exponents: &[Repr<G>],
) -> Result<G::Curve, EcError> {
    let zero = G::Scalar::ZERO.to_repr();
    let identity =
        |(base, exponent): (&G, &Repr<G>)| bool::from(base.is_identity()) && exponent.as_ref() != zero.as_ref();
    if bases.par_iter().zip(exponents).any(identity) {
        return Err(IDENTITY);
    }
    let bases = bases.get(..exponents.len()).ok_or_else(exhausted_source_error)?;
    let sum = type_dispatch::cpu_accelerator().and_then(|cpu| msm(&cpu, bases, exponents, None));
    sum.map_err(|error| io::Error::other(error).into())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Appends its bytes to a list when it is dropped.
    struct DropRecorder<'a>(Vec<u8>, &'a Mutex<Vec<Vec<u8>>>);

    impl AsMut<[u8]> for DropRecorder<'_> {
        fn as_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    impl Drop for DropRecorder<'_> {
        fn drop(&mut self) {
            self.1.lock().expect("no panic").push(self.0.clone());
        }
    }

    #[test]
    fn exponents_are_cleared_by_their_last_owner() {
        let freed = Mutex::default();
        let exponents = Arc::new(vec![DropRecorder(vec![7; 2], &freed), DropRecorder(vec![9; 3], &freed)]);
        zeroize_exponents(exponents.clone());
        assert!(freed.lock().expect("no panic").is_empty() && exponents[1].0 == [9; 3], "another has them");
        zeroize_exponents(exponents);
        assert_eq!(*freed.lock().expect("no panic"), [vec![0; 2], vec![0; 3]]);
    }
}
