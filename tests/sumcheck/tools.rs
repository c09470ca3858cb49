//! Claims, and what proofs are compared with.

use proofwarp::Accelerator;
use proofwarp::field::{DeviceVector, Element, HostVector};
use proofwarp::sumcheck::{
    BoundTranscript, Checkpoint, Claim, Columns, HashTranscript, ProductTerm, Proof, SumcheckField, SumcheckOptions,
    Transcript, prove_with, verify,
};

use crate::common::rng;

pub fn transcript() -> HashTranscript {
    HashTranscript::new(b"tests")
}

/// For tests of what does not depend on who chose the columns.
pub fn unbound<F: SumcheckField, T: Transcript<F>>(transcript: &mut T) -> BoundTranscript<'_, F, T> {
    BoundTranscript::insecure_without_commitment(transcript)
}

/// A claim with its columns.
#[derive(Debug, Clone)]
pub struct Case<F> {
    pub claim: Claim<F>,
    pub columns: Vec<Vec<F>>,
}

/// Where columns lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lying {
    Host,
    Kept,
    Consumed,
}

pub const EVERYWHERE: [Lying; 3] = [Lying::Host, Lying::Kept, Lying::Consumed];

impl<F: SumcheckField> Case<F> {
    /// The claim with the sum that its columns have.
    pub fn new(claim: Claim<F>, columns: Vec<Vec<F>>) -> Self {
        let sum = Naive::new(&claim, &columns).total();
        Self { claim: claim.with_columns(columns.len()).with_sum(sum), columns }
    }

    /// On random columns, some elements of which are 0 and 1.
    pub fn random(claim: Claim<F>, columns: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        let element = |row: usize| match row % 11 {
            3 => F::ZERO,
            7 => F::ONE,
            _ => F::random(&mut rng),
        };
        let rows = 0..columns << claim.variables();
        let all: Vec<F> = rows.map(element).collect();
        let columns = all.chunks(1 << claim.variables()).map(<[F]>::to_vec).collect();
        Self::new(claim, columns)
    }

    /// On a product of so many columns.
    pub fn product(variables: u32, degree: usize, seed: u64) -> Self {
        Self::random(Claim::product(variables, &(0..degree).collect::<Vec<_>>()), degree, seed)
    }

    /// On terms of several degrees that share columns, one of which occurs twice and one in no term.
    pub fn terms(variables: u32, degree: usize, seed: u64) -> Self {
        let term = |coefficient: u64, columns: &[usize]| ProductTerm {
            coefficient: F::from_number(coefficient) * F::from_number(seed + 2),
            columns: columns.to_vec(),
        };
        let highest: Vec<usize> = (0..degree).map(|factor| factor % 3).collect();
        let terms = vec![term(5, &highest), term(3, &[4]), term(1, &highest[..degree.div_ceil(2)])];
        Self::random(Claim::sum_of_products(variables, terms), 6, seed)
    }

    /// With a factor eq of a random point.
    pub fn with_eq(self, seed: u64) -> Self {
        let mut rng = rng(seed);
        let point = (0..self.claim.variables()).map(|_| F::random(&mut rng)).collect();
        Self::new(self.claim.with_eq(point), self.columns)
    }

    /// Whether the columns are one product's.
    pub fn is_product(&self) -> bool {
        let [term] = self.claim.terms() else { return false };
        self.claim.eq().is_none() && term.columns.len() == self.columns.len()
    }

    pub fn slices(&self) -> Vec<&[F]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }

    /// The columns one after the other on the accelerator's device.
    pub fn upload(&self, accelerator: &Accelerator) -> DeviceVector<F> {
        let mut stream = accelerator.devices()[0].stream().expect("stream");
        let vector = DeviceVector::upload(&mut stream, &self.columns.concat()).expect("memory");
        stream.synchronize(None).expect("upload");
        vector
    }

    pub fn prove(&self, accelerator: &Accelerator, lying: Lying, options: &SumcheckOptions) -> Proof<F> {
        let mut transcript = transcript();
        let vector = (lying != Lying::Host).then(|| self.upload(accelerator));
        let columns = match (&vector, lying) {
            (Some(vector), Lying::Kept) => Columns::device(vector),
            (Some(_), _) => Columns::device_owned(self.upload(accelerator)),
            (None, _) => Columns::host(&self.slices()),
        };
        let proved = prove_with(accelerator, &self.claim, columns, unbound(&mut transcript), options, None);
        let (proof, report) = proved.unwrap_or_else(|error| panic!("{error}: {:?}", self.claim));
        assert!(report.fallbacks.is_empty(), "{report}");
        if let Some(vector) = vector.filter(|_| lying == Lying::Kept) {
            let mut after = vec![F::ZERO; vector.len()];
            let mut stream = accelerator.devices()[0].stream().expect("stream");
            vector.download(&mut stream, &mut after).expect("download");
            assert!(after == self.columns.concat(), "kept columns were changed");
        }
        proof
    }

    /// That a proof has the messages of the definition, and the finals.
    pub fn check(&self, proof: &Proof<F>) {
        let (point, finals) = verify(&self.claim, proof, unbound(&mut transcript())).expect("a valid proof");
        let mut naive = Naive::new(&self.claim, &self.columns);
        let mut claimed = self.claim.claimed();
        for (message, challenge) in proof.messages.iter().zip(&point) {
            let values = message.values(claimed);
            assert_eq!(values.len(), self.claim.round_degree() + 1);
            for (number, value) in values.iter().enumerate() {
                assert_eq!(naive.value_at(F::from_number(number as u64)), *value, "{:?}", self.claim);
            }
            claimed = message.next_claim(claimed, *challenge);
            naive.bind(*challenge);
        }
        assert_eq!(naive.columns.concat(), finals);
    }
}

/// A column in page-locked memory of the accelerator's device.
pub fn page_locked<E: Element>(accelerator: &Accelerator, column: &[E]) -> HostVector<E> {
    let stream = accelerator.devices()[0].stream().expect("stream");
    let mut vector = HostVector::new(&stream, column.len()).expect("memory");
    vector.copy_from_slice(column);
    vector
}

/// Columns with some variables bound, and eq as a column of its own.
struct Naive<F> {
    terms: Vec<ProductTerm<F>>,
    columns: Vec<Vec<F>>,
    eq: Vec<F>,
}

impl<F: SumcheckField> Naive<F> {
    fn new(claim: &Claim<F>, columns: &[Vec<F>]) -> Self {
        let mut eq = vec![F::ONE];
        for w in claim.eq().unwrap_or_default() {
            eq = eq.iter().flat_map(|weight| [*weight * (F::ONE - w), *weight * w]).collect();
        }
        eq.resize(1 << claim.variables(), F::ONE);
        Self { terms: claim.terms().to_vec(), columns: columns.to_vec(), eq }
    }

    fn total(&self) -> F {
        (0..self.eq.len()).map(|row| self.eq[row] * self.term_sum(|column| self.columns[column][row])).sum()
    }

    fn term_sum(&self, value: impl Fn(usize) -> F) -> F {
        let product = |term: &ProductTerm<F>| term.columns.iter().map(|column| value(*column)).product::<F>();
        self.terms.iter().map(|term| term.coefficient * product(term)).sum()
    }

    /// The sum with the first variable at a value.
    fn value_at(&self, x: F) -> F {
        let half = self.eq.len() / 2;
        let at = |column: &[F], row: usize| column[row] * (F::ONE - x) + column[row + half] * x;
        (0..half).map(|row| at(&self.eq, row) * self.term_sum(|column| at(&self.columns[column], row))).sum()
    }

    fn bind(&mut self, r: F) {
        for column in self.columns.iter_mut().chain([&mut self.eq]) {
            let (low, high) = column.split_at(column.len() / 2);
            *column = low.iter().zip(high).map(|(low, high)| *low * (F::ONE - r) + *high * r).collect();
        }
    }
}

/// A transcript that keeps what it took in and gave.
#[derive(Debug, Clone)]
pub struct Recorder<F> {
    inner: HashTranscript,
    pub observed: Vec<(String, Vec<F>)>,
    pub challenges: Vec<F>,
    /// Whether it can go back.
    pub goes_back: bool,
}

impl<F> Recorder<F> {
    pub fn new(protocol: &[u8], goes_back: bool) -> Self {
        Self { inner: HashTranscript::new(protocol), observed: Vec::new(), challenges: Vec::new(), goes_back }
    }
}

impl<F: SumcheckField> Transcript<F> for Recorder<F> {
    fn observe(&mut self, label: &str, elements: &[F]) {
        self.inner.observe(label, elements);
        self.observed.push((label.to_owned(), elements.to_vec()));
    }

    fn challenge(&mut self, label: &str) -> F {
        self.challenges.push(self.inner.challenge(label));
        self.challenges[self.challenges.len() - 1]
    }

    fn checkpoint(&self) -> Option<Checkpoint<Self>> {
        let saved = self.clone();
        self.goes_back.then(|| -> Checkpoint<Self> { Box::new(move |transcript| *transcript = saved) })
    }
}
