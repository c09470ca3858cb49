//! Errors in halo2-axiom's terms.

use std::io;

use halo2_axiom::plonk::Error;

/// An error of proofwarp's, in the one variant that has room for it; its source is the error itself.
pub fn outer(error: proofwarp::Error) -> Error {
    Error::Transcript(io::Error::other(error))
}

/// That an SRS has as many rows as a key, and as many bases.
///
/// # Errors
/// It has fewer, or more.
pub fn check_rows((setup, bases): (u32, usize), key: u32) -> Result<(), Error> {
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
