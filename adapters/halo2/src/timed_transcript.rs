//! Measures the steps of a proof through its transcript.

use std::io;
use std::time::{Duration, Instant};

use halo2_axiom::halo2curves::CurveAffine;
use halo2_axiom::transcript::{EncodedChallenge, Transcript, TranscriptWrite};

/// Maps each step to the index of the challenge before which it ends, or to `None` for the last step. The challenges
/// are θ (0), β (1), γ (2), y (3), x (4), and the first of the openings (5).
const STEPS: [(&str, Option<usize>); 6] = [
    ("witness", Some(0)),
    ("lookups", Some(1)),
    ("products", Some(3)),
    ("quotient", Some(4)),
    ("evaluations", Some(5)),
    ("openings", None),
];

/// A transcript that records when challenges are squeezed, to time the steps of a proof. A step ends when the first
/// challenge of the next step is squeezed. It works with any prover of halo2-axiom's protocol, for circuits with one
/// phase and no challenges of their own.
///
/// ```
/// use halo2_axiom::halo2curves::bn256::G1Affine;
/// use halo2_axiom::transcript::{Blake2bWrite, Challenge255, Transcript, TranscriptWriterBuffer};
/// use proofwarp_halo2::TimedTranscript;
///
/// let mut transcript = TimedTranscript::new(Blake2bWrite::<_, G1Affine, Challenge255<_>>::init(Vec::new()));
/// // A proof here; this is its θ.
/// transcript.squeeze_challenge();
/// let [(step, _), ..] = transcript.steps();
/// assert_eq!(step, "witness");
/// let proof = transcript.into_inner().finalize();
/// # assert!(proof.is_empty());
/// ```
#[derive(Debug)]
pub struct TimedTranscript<T> {
    inner: T,
    start: Instant,
    marks: Vec<Instant>,
}

impl<T> TimedTranscript<T> {
    /// Creates a transcript that wraps `inner`. The proof's first step starts now.
    pub fn new(inner: T) -> Self {
        Self { inner, start: Instant::now(), marks: Vec::new() }
    }

    /// Returns the names and times of the proof's steps in order. The last step ends at this call. The steps are
    /// witness (with its synthesis), lookups, products (with the random polynomial), quotient, evaluations and
    /// openings.
    pub fn steps(&self) -> [(&'static str, Duration); 6] {
        let (mut from, now) = (self.start, Instant::now());
        STEPS.map(|(name, mark)| {
            let to = mark.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(now);
            let time = to - from;
            from = to;
            (name, time)
        })
    }

    /// Returns the inner transcript.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<C: CurveAffine, E: EncodedChallenge<C>, T: Transcript<C, E>> Transcript<C, E> for TimedTranscript<T> {
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

impl<C: CurveAffine, E: EncodedChallenge<C>, T: TranscriptWrite<C, E>> TranscriptWrite<C, E> for TimedTranscript<T> {
    fn write_point(&mut self, point: C) -> io::Result<()> {
        self.inner.write_point(point)
    }

    fn write_scalar(&mut self, scalar: C::Scalar) -> io::Result<()> {
        self.inner.write_scalar(scalar)
    }
}
