//! A transcript that knows when challenges were asked for: a step of a proof ends where the next one's challenge is.

use std::io;
use std::time::Instant;

use halo2_axiom::halo2curves::CurveAffine;
use halo2_axiom::transcript::{EncodedChallenge, Transcript, TranscriptWrite};

/// A transcript, and when it gave challenges.
pub struct Marked<T> {
    pub inner: T,
    pub marks: Vec<Instant>,
}

impl<T> Marked<T> {
    pub fn new(inner: T) -> Self {
        Self { inner, marks: Vec::new() }
    }
}

impl<C: CurveAffine, E: EncodedChallenge<C>, T: Transcript<C, E>> Transcript<C, E> for Marked<T> {
    fn squeeze_challenge(&mut self) -> E {
        self.marks.push(Instant::now());
        self.inner.squeeze_challenge()
    }

    fn common_point(&mut self, point: C) -> io::Result<()> {
        self.inner.common_point(point)
    }

    fn common_scalar(&mut self, scalar: C::Scalar) -> io::Result<()> {
        self.inner.common_scalar(scalar)
    }
}

impl<C: CurveAffine, E: EncodedChallenge<C>, T: TranscriptWrite<C, E>> TranscriptWrite<C, E> for Marked<T> {
    fn write_point(&mut self, point: C) -> io::Result<()> {
        self.inner.write_point(point)
    }

    fn write_scalar(&mut self, scalar: C::Scalar) -> io::Result<()> {
        self.inner.write_scalar(scalar)
    }
}
