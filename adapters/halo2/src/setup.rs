//! Bases of setups and columns of keys, kept between calls.

use std::io::{self, Write};
use std::sync::Arc;

use halo2_axiom::SerdeFormat;
use halo2_axiom::halo2curves::bn256::{Bn256, Fr, G1Affine, G2Affine};
use halo2_axiom::halo2curves::serde::SerdeObject;
use halo2_axiom::plonk::{Error, ProvingKey};
use halo2_axiom::poly::commitment::{Params, ParamsProver};
use halo2_axiom::poly::kzg::commitment::ParamsKZG;
use proofwarp::Accelerator;
use proofwarp::plonk::{Engine, KeyOnDevice, Srs};
use rayon::prelude::*;

use crate::arena::clear_arenas;
use crate::constraints;
use crate::error::outer;
use crate::kept::Kept;

/// Bytes of a point.
const POINT: usize = 64;

/// Setups that are kept: a proof, its aggregation and that one's have one each.
static SETUPS: Kept<Identity, Srs<G1Affine>> = Kept::new(4);
/// Keys that are kept: a large one takes gigabytes.
static KEYS: Kept<Fr, KeyOnDevice<Fr>> = Kept::new(2);

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

/// A key's columns on the engine's device, which are uploaded unless they are kept from an earlier call; `None` where
/// there is no device, or no room.
pub fn key(engine: &Engine<G1Affine>, pk: &ProvingKey<G1Affine>) -> Result<Option<Arc<KeyOnDevice<Fr>>>, Error> {
    // It is the hash of all that verifiers know of a key, commitments to its columns among it.
    let identity = pk.get_vk().transcript_repr();
    KEYS.find(identity, || engine.keep(&constraints::key(pk))).map_err(outer)
}

/// Lets go of all setups and keys that are kept, and of their memory once no proof uses them; and of host memory that is kept
/// for witnesses.
pub fn clear_setups() {
    clear_arenas();
    KEYS.clear();
    SETUPS.clear();
}

fn srs(accelerator: &Accelerator, params: &ParamsKZG<Bn256>) -> Result<Arc<Srs<G1Affine>>, Error> {
    let new = || Srs::new(accelerator, params.get_g().to_vec(), lagrange(params)?).map_err(outer);
    let srs = SETUPS.find(Identity::of(params), || new().map(Some))?;
    srs.ok_or(Error::Synthesis)
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
