//! A transcript that knows how long the steps of a proof took.

use std::io;
use std::time::{Duration, Instant};

use halo2_axiom::halo2curves::CurveAffine;
use halo2_axiom::transcript::{EncodedChallenge, Transcript, TranscriptWrite};

/// Steps by the challenge before which each ends: θ, β, y, x, the first of the openings', none. γ comes right after β.
const STEPS: [(&str, Option<usize>); 6] = [
    ("witness", Some(0)),
    ("lookups", Some(1)),
    ("products", Some(3)),
    ("quotient", Some(4)),
    ("evaluations", Some(5)),
    ("openings", None),
];

/// A transcript that notes when it is asked for challenges: a step of a proof ends where the next one's is. Any prover of
/// halo2-axiom's protocol writes to it, whose circuit has one phase and no challenges of its own.
///
/// ```
/// use halo2_axiom::halo2curves::bn256::G1Affine;
/// use halo2_axiom::transcript::{Blake2bWrite, Challenge255, Transcript, TranscriptWriterBuffer};
/// use proofwarp_halo2::Marked;
///
/// let mut transcript = Marked::new(Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new()));
/// // A proof here; this is its θ.
/// transcript.squeeze_challenge();
/// let [(step, _), ..] = transcript.steps();
/// assert_eq!(step, "witness");
/// let proof = transcript.into_inner().finalize();
/// # assert!(proof.is_empty());
/// ```
#[derive(Debug)]
pub struct Marked<T> {
    inner: T,
    start: Instant,
    marks: Vec<Instant>,
}

impl<T> Marked<T> {
    /// The proof starts now.
    pub fn new(inner: T) -> Self {
        Self { inner, start: Instant::now(), marks: Vec::new() }
    }

    /// Names and times of the proof's steps, the last of which ends now: witness with its synthesis, lookups, products with the
    /// random polynomial, quotient, evaluations, openings.
    pub fn steps(&self) -> [(&'static str, Duration); 6] {
        let (mut from, now) = (self.start, Instant::now());
        STEPS.map(|(name, mark)| {
            let to = mark.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(now);
            let time = to - from;
            from = to;
            (name, time)
        })
    }

    /// The transcript itself.
    pub fn into_inner(self) -> T {
        self.inner
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
