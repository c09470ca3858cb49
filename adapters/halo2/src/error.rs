//! Errors in halo2-axiom's terms.

use std::io;

use halo2_axiom::plonk::Error;

/// An error of proofwarp's, in the one variant that has room for it; its source is the error itself.
pub fn outer(error: proofwarp::Error) -> Error {
    Error::Transcript(io::Error::other(error))
}

/// That an SRS has as many rows as a key.
///
/// # Errors
/// It has fewer, or more.
pub fn check_rows(setup: u32, key: u32) -> Result<(), Error> {
    if setup == key {
        return Ok(());
    }
    log::error!("the key is for k = {key}, the setup for k = {setup}");
    Err(if setup < key { Error::NotEnoughRowsAvailable { current_k: setup } } else { Error::BoundsFailure })
}
