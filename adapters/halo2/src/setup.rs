//! Bases of setups, kept between calls.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::{Bn256, G1Affine, G2Affine};
use halo2_axiom::halo2curves::serde::SerdeObject;
use halo2_axiom::plonk::Error;
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use proofwarp::plonk::{Engine, Srs};
use rayon::prelude::*;

use crate::error::outer;

/// Setups that are kept: a proof, its aggregation and that one's have one each.
const KEPT: usize = 4;
/// Bytes of a point.
const POINT: usize = 64;

static SETUPS: Mutex<Vec<(Identity, Arc<Srs<G1Affine>>)>> = Mutex::new(Vec::new());

/// What tells setups from each other: the secret's power in G2 and the size settle all points.
#[derive(PartialEq)]
struct Identity {
    k: u32,
    secret: G2Affine,
    ends: Option<(G1Affine, G1Affine)>,
}

impl Identity {
    fn of(params: &ParamsKZG<Bn256>) -> Self {
        let bases = params.get_g();
        Self { k: params.k(), secret: params.s_g2(), ends: bases.get(1).copied().zip(bases.last().copied()) }
    }
}

/// An engine over a setup's bases, which are uploaded unless they are kept from an earlier call.
pub fn engine(params: &ParamsKZG<Bn256>) -> Result<Engine<G1Affine>, Error> {
    let accelerator = Accelerator::global().map_err(outer)?;
    Engine::new(accelerator, params.k(), srs(accelerator, params)?).map_err(outer)
}

/// Lets go of all setups that are kept, and of their memory once no proof uses them.
pub fn clear_setups() {
    let gone = std::mem::take(&mut *SETUPS.lock().unwrap_or_else(PoisonError::into_inner));
    drop(gone);
}

fn srs(accelerator: &Accelerator, params: &ParamsKZG<Bn256>) -> Result<Arc<Srs<G1Affine>>, Error> {
    let identity = Identity::of(params);
    if let Some(srs) = find(&identity) {
        return Ok(srs);
    }
    // Not under the lock: it may take seconds. Two threads may both do it; one is kept.
    let bases = params.get_g().to_vec();
    let srs = Arc::new(Srs::new(accelerator, bases, lagrange(params)?).map_err(outer)?);
    keep(identity, srs.clone());
    Ok(srs)
}

/// A setup that is kept, which is then the most recently used.
fn find(identity: &Identity) -> Option<Arc<Srs<G1Affine>>> {
    let mut setups = SETUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let at = setups.iter().position(|(kept, _)| kept == identity)?;
    let entry = setups.remove(at);
    let srs = entry.1.clone();
    setups.push(entry);
    Some(srs)
}

fn keep(identity: Identity, srs: Arc<Srs<G1Affine>>) {
    let mut setups = SETUPS.lock().unwrap_or_else(PoisonError::into_inner);
    setups.retain(|(kept, _)| *kept != identity);
    setups.push((identity, srs));
    let gone = setups.len().saturating_sub(KEPT);
    let gone: Vec<_> = setups.drain(..gone).collect();
    drop(setups);
    drop(gone);
}

/// The Lagrange bases, which the setup shows in its file's bytes alone: a number of 4 bytes, n bases, n Lagrange bases.
fn lagrange(params: &ParamsKZG<Bn256>) -> Result<Vec<G1Affine>, Error> {
    let length = params.get_g().len() * POINT;
    let mut part = Part { skip: 4 + length, bytes: Vec::with_capacity(length) };
    params.write_custom(&mut part, SerdeFormat::RawBytesUnchecked)?;
    if part.bytes.len() != length {
        return Err(io::Error::other("a setup that writes fewer bytes than its points have").into());
    }
    Ok(part.bytes.par_chunks_exact(POINT).map(G1Affine::from_raw_bytes_unchecked).collect())
}

/// Keeps a part of what is written, as long as there is room.
struct Part {
    skip: usize,
    bytes: Vec<u8>,
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        let kept = (bytes.len() - skipped).min(self.bytes.capacity() - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[skipped..skipped + kept]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
