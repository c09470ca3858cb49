//! Expresses errors in halo2-axiom's terms.

use std::io;

use halo2_axiom::plonk::Error;

/// Wraps `error` in `Error::Transcript`, the only variant that can hold it. The source of the result is `error` itself.
pub(crate) fn to_halo2_error(error: proofwarp::Error) -> Error {
    Error::Transcript(io::Error::other(error))
}

/// Checks that a setup (SRS) for k = `setup` has 2^`setup` bases, where `bases` is their number. Checks also that the k
/// of a key, `key`, equals `setup`.
///
/// # Errors
/// - `NotEnoughRowsAvailable`: the SRS has fewer rows than the key.
/// - `BoundsFailure`: the SRS has more rows than the key.
/// - `BoundsFailure`: the number of bases is not 2^`setup`.
pub(crate) fn check_setup_size((setup, bases): (u32, usize), key: u32) -> Result<(), Error> {
    if 1_usize.checked_shl(setup) != Some(bases) {
        log::error!("the setup is for k = {setup}, but has {bases} bases");
        return Err(Error::BoundsFailure);
    }
    if setup == key {
        return Ok(());
    }
    log::error!("the key is for k = {key}, the setup for k = {setup}");
    Err(if setup < key { Error::NotEnoughRowsAvailable { current_k: setup } } else { Error::BoundsFailure })
}
