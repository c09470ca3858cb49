//! A transcript that knows when challenges were asked for: a phase of a proof ends where the next one's challenge is.

use std::io;
use std::time::Instant;

use proofwarp_halo2::halo2_axiom::halo2curves::CurveAffine;
use proofwarp_halo2::halo2_axiom::transcript::{EncodedChallenge, Transcript, TranscriptWrite};

use crate::compare::results::Phase;

/// Phases by the challenge before which each ends: θ, β, y, x, the first of the openings', none. γ comes right after β.
const PHASES: [(&str, Option<usize>); 6] = [
    ("witness", Some(0)),
    ("lookups", Some(1)),
    ("products", Some(3)),
    ("quotient", Some(4)),
    ("evaluations", Some(5)),
    ("openings", None),
];

/// A transcript, and when it gave challenges.
pub struct Marked<T> {
    pub inner: T,
    start: Instant,
    marks: Vec<Instant>,
}

impl<T> Marked<T> {
    /// The proof starts now.
    pub fn new(inner: T) -> Self {
        Self { inner, start: Instant::now(), marks: Vec::new() }
    }

    /// Phases of the proof, which ends now.
    pub fn phases(&self) -> Vec<Phase> {
        let (mut from, end) = (self.start, Instant::now());
        let mut phase = |(name, mark): (&'static str, Option<usize>)| {
            let to = mark.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(end);
            let time = to - from;
            from = to;
            Phase::new(name, time)
        };
        PHASES.into_iter().map(&mut phase).collect()
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
