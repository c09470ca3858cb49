//! Makes a batch of proofs, and writes them to the caller's memory.

use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use proofwarp::groth16::Proof;

use crate::assignment::{Assignment, AssignmentSlices};
use crate::error::{Error, check_equal};
use crate::matrices::Matrices;
use crate::prover::{Inputs, ProvingDevice};
use crate::srs::SRS;
use crate::witness_values::WitnessValues;

/// Holds a proof in bellperson's memory layout.
#[repr(C)]
struct ProofInMemory {
    a: G1Affine,
    b: G2Affine,
    c: G1Affine,
}

/// Holds the proofs of a batch, in the order of its circuits.
#[derive(Debug)]
pub struct Proofs(Vec<Proof<Bls12>>);

impl Proofs {
    /// Checks that `places` has room for `count` proofs, before these are made.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: there are not as many places as proofs.
    /// - [`Error::Invalid`]: `PR` is no structure with the C layout of a proof's A, B and C.
    pub fn check_places<PR>(count: usize, places: &[PR]) -> Result<(), Error> {
        check_equal("number of proofs", count, places.len())?;
        check_proof_type::<PR>()
    }

    /// Writes each proof to its element of `places`.
    ///
    /// # Errors
    /// - [`Error::Invalid`]: [`Self::check_places`] fails.
    ///
    /// # Safety
    /// `PR` is a structure with the C layout of a proof's A, B and C.
    pub unsafe fn write_to<PR>(self, places: &mut [PR]) -> Result<(), Error> {
        Self::check_places(self.0.len(), places)?;
        for (place, Proof { a, b, c }) in places.iter_mut().zip(self.0) {
            // SAFETY: the place is valid for writes, of the right size and alignment, both checked before. The caller
            // promises that it has the layout of a proof.
            unsafe { std::ptr::from_mut(place).cast::<ProofInMemory>().write(ProofInMemory { a, b, c }) };
        }
        Ok(())
    }
}

/// Makes a proof for each of `provers`, the assignments of circuits of the parameters `srs`, on `device`. Proof i uses
/// element i of `r` and `s`.
///
/// # Errors
/// - [`Error::Invalid`]: lengths or types are wrong, or the assignments do not belong to the parameters.
/// - [`Error::Invalid`]: there are devices, but none of that number.
/// - [`Error::DoesNotVerify`]: a proof of a satisfied circuit does not verify, even if the CPU makes it.
/// - [`Error::Engine`]: a forced backend failed, or the CPU after a device.
///
/// # Safety
/// The pointers of `provers` lead to as many elements as the assignments say. No thread writes to these meanwhile.
pub unsafe fn prove<S>(
    device: ProvingDevice<'_>,
    provers: &[Assignment<S>],
    [r, s]: [&[S]; 2],
    srs: &SRS,
) -> Result<Proofs, Error> {
    let [r, s] = check_randomness(provers.len(), [r, s])?;
    if provers.is_empty() {
        return Ok(Proofs(Vec::new()));
    }
    let numbered = provers.iter().enumerate();
    let parts =
        numbered.map(|(number, prover)| AssignmentSlices::new(number, prover)).collect::<Result<Vec<_>, _>>()?;
    srs.prover()?.prove(device, &parts, r, s).map(Proofs)
}

/// Makes a proof for each of `witnesses`, of the circuit `matrices` of the parameters `srs`, on `device`. The matrices
/// give a, b and c. Proof i uses element i of `r` and `s`. `S` must be the scalars of BLS12-381.
///
/// # Errors
/// - [`Error::Invalid`]: lengths or types are wrong, or the circuit does not belong to the parameters.
/// - [`Error::Invalid`]: a witness does not satisfy the constraints.
/// - [`Error::Engine`]: the matrices lie in a file that has changed.
/// - Other errors are those of [`prove`].
pub fn prove_witnesses<S>(
    device: ProvingDevice<'_>,
    matrices: &Matrices,
    witnesses: &[&WitnessValues],
    [r, s]: [&[S]; 2],
    srs: &SRS,
) -> Result<Proofs, Error> {
    let [r, s] = check_randomness(witnesses.len(), [r, s])?;
    if witnesses.is_empty() {
        return Ok(Proofs(Vec::new()));
    }
    let witnesses: Vec<_> = witnesses.iter().map(|witness| witness.as_witness()).collect();
    let inputs = Inputs { circuit: matrices.circuit(), witnesses: &witnesses, r, s, allow_unsatisfied: false };
    srs.prover()?.prove_witnesses(device, inputs).map(Proofs)
}

/// Returns `r` and `s`, which must have `count` elements of the scalar type each.
fn check_randomness<S>(count: usize, [r, s]: [&[S]; 2]) -> Result<[&[Scalar]; 2], Error> {
    check_equal("number of r", count, r.len())?;
    check_equal("number of s", count, s.len())?;
    check_scalar_type::<S>()?;
    // SAFETY: S is the scalar type, or the type that the scalar type wraps transparently.
    Ok([r, s].map(|slice| unsafe { std::slice::from_raw_parts(slice.as_ptr().cast::<Scalar>(), slice.len()) }))
}

/// Returns the value of `result`.
///
/// # Panics
/// Panics with the error of `result`, which the log gets too: the stock interface can return no error.
pub fn panic_on_error<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| {
        log::error!("supraseal-c2: no proofs: {error}");
        panic!("supraseal-c2: no proofs: {error}");
    })
}

/// Checks that `S` is the scalar type. The stock crate's signature has no bounds on it, so a type of another field can be
/// recognised only by its name.
fn check_scalar_type<S>() -> Result<(), Error> {
    use std::any::type_name;
    let scalar = type_name::<S>();
    let known = [type_name::<Scalar>(), type_name::<blst::blst_fr>()].contains(&scalar);
    if !known || size_of::<S>() != size_of::<Scalar>() || align_of::<S>() != align_of::<Scalar>() {
        return Err(Error::invalid("type of scalars", type_name::<Scalar>(), scalar));
    }
    Ok(())
}

/// Checks that `PR` has the layout of a proof, as far as its size and alignment say so.
fn check_proof_type<PR>() -> Result<(), Error> {
    let fits = size_of::<PR>() == size_of::<ProofInMemory>() && align_of::<PR>() >= align_of::<ProofInMemory>();
    if !fits || std::mem::needs_drop::<PR>() {
        let expected = format!("a structure of {} bytes that owns no memory", size_of::<ProofInMemory>());
        let actual = format!("{} of {}", std::any::type_name::<PR>(), size_of::<PR>());
        return Err(Error::invalid("type of proofs", expected, actual));
    }
    Ok(())
}
