//! Sumcheck, of one claim and of several.

use proofwarp::Accelerator;
use proofwarp::field::DeviceVector;
use proofwarp::field::ghash::Ghash;
use proofwarp::field::plonky3::{BabyBear4, Goldilocks2};
use proofwarp::field::tower::Tower;
use proofwarp::sumcheck::{
    BoundTranscript, Claim, ClaimBatch, Columns, HashTranscript, KernelPath, ProductTerm, SumcheckField,
    SumcheckOptions, prove_with, verify,
};

use crate::common::rng;
use crate::hook::Questions;
use crate::subject::{Refusal, Subject};

/// All rounds on the device.
const ON_DEVICE: SumcheckOptions = SumcheckOptions { path: None, tail: Some(0), rounds_a_pass: None };

fn transcript() -> HashTranscript {
    HashTranscript::new(b"faults")
}

/// As if a commitment to the columns were these bytes: what is proved here is who computes right.
///
/// # Errors
/// None: there are some bytes.
fn bound<F: SumcheckField>(transcript: &mut HashTranscript) -> Result<BoundTranscript<'_, F, HashTranscript>, Refusal> {
    Ok(BoundTranscript::bind_commitment(transcript, b"columns")?)
}

/// Where columns lie.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lying {
    Host,
    Kept,
    Consumed,
}

/// A claim with its columns, none of whose elements is zero.
struct Case<F> {
    name: &'static str,
    claim: Claim<F>,
    columns: Vec<Vec<F>>,
    lying: Lying,
    options: SumcheckOptions,
}

impl<F: SumcheckField> Case<F> {
    /// On random columns, with the sum that they have.
    fn new(name: &'static str, claim: Claim<F>, lying: Lying, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut element = || std::iter::repeat_with(|| F::random(&mut rng)).find(|element| *element != F::ZERO);
        let rows = 1 << claim.variables();
        let columns: Vec<Vec<F>> =
            (0..claim.column_count()).map(|_| (0..rows).filter_map(|_| element()).collect()).collect();
        let sum = sum(&claim, &columns);
        Self { name, claim: claim.with_sum(sum), columns, lying, options: ON_DEVICE }
    }

    fn slices(&self) -> Vec<&[F]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }

    /// Whether the finals are the columns' values at a point.
    fn opens(&self, point: &[F], finals: &[F]) -> bool {
        self.columns.iter().map(|column| value_at(column, point)).eq(finals.iter().copied())
    }

    fn upload(&self, accelerator: &Accelerator) -> Result<DeviceVector<F>, Refusal> {
        let mut stream = accelerator.devices()[0].stream()?;
        let vector = DeviceVector::upload(&mut stream, &self.columns.concat())?;
        stream.synchronize(None)?;
        Ok(vector)
    }
}

/// The sum that a claim's columns have.
fn sum<F: SumcheckField>(claim: &Claim<F>, columns: &[Vec<F>]) -> F {
    let mut weights = vec![F::ONE];
    for w in claim.eq().unwrap_or_default() {
        weights = weights.iter().flat_map(|weight| [*weight * (F::ONE - w), *weight * w]).collect();
    }
    weights.resize(1 << claim.variables(), F::ONE);
    let row = |row: usize| columns.iter().map(|column| column[row]).collect::<Vec<F>>();
    let term = |term: &ProductTerm<F>, row: &[F]| {
        term.coefficient * term.columns.iter().map(|column| row[*column]).product::<F>()
    };
    let value = |row: &[F]| claim.terms().iter().map(|one| term(one, row)).sum::<F>();
    weights.iter().enumerate().map(|(number, weight)| *weight * value(&row(number))).sum()
}

/// A column's value at a point, whose first coordinate is that of the upper half.
fn value_at<F: SumcheckField>(column: &[F], point: &[F]) -> F {
    let mut column = column.to_vec();
    for r in point {
        let (low, high) = column.split_at(column.len() / 2);
        column = low.iter().zip(high).map(|(low, high)| *low * (F::ONE - r) + *high * r).collect();
    }
    column.iter().sum()
}

impl<F: SumcheckField> Subject for Case<F> {
    fn name(&self) -> String {
        format!("sumcheck {} {:?}", self.name, self.lying).to_lowercase()
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn uploads(&self) -> bool {
        self.lying != Lying::Host
    }

    fn prove(&self, accelerator: &Accelerator, questions: &Questions) -> Result<bool, Refusal> {
        let vector = if self.lying == Lying::Host { None } else { Some(self.upload(accelerator)?) };
        let columns = match (&vector, self.lying) {
            (Some(vector), Lying::Kept) => Columns::device(vector),
            (None, _) => Columns::host(&self.slices()),
            (Some(_), _) => Columns::device_owned(self.upload(accelerator)?),
        };
        let ask = || questions.ask();
        let (proof, _) =
            prove_with(accelerator, &self.claim, columns, bound(&mut transcript())?, &self.options, Some(&ask))?;
        let verified = verify(&self.claim, &proof, bound(&mut transcript())?);
        Ok(verified.is_ok_and(|(point, finals)| self.opens(&point, &finals)))
    }
}

/// Claims of several lengths.
struct Cases<F>(Vec<Case<F>>);

impl<F: SumcheckField> Subject for Cases<F> {
    fn name(&self) -> String {
        "sumcheck batch".to_owned()
    }

    fn is_checked(&self) -> bool {
        true
    }

    fn prove(&self, accelerator: &Accelerator, questions: &Questions) -> Result<bool, Refusal> {
        let batch = ClaimBatch::new(self.0.iter().map(|case| case.claim.clone()).collect());
        let columns = self.0.iter().map(|case| Columns::host(&case.slices())).collect();
        let ask = || questions.ask();
        let proof = batch.prove(accelerator, columns, bound(&mut transcript())?, Some(&ask))?;
        let Ok((point, finals)) = batch.verify(&proof, bound(&mut transcript())?) else { return Ok(false) };
        let own = |case: &Case<F>| point[point.len() - case.claim.variables() as usize..].to_vec();
        Ok(self.0.iter().zip(&finals).all(|(case, finals)| case.opens(&own(case), finals)))
    }
}

/// Two terms that share a column.
fn terms<F: SumcheckField>(variables: u32) -> Claim<F> {
    let term = |coefficient: u64, columns: &[usize]| ProductTerm {
        coefficient: F::from_number(coefficient),
        columns: columns.to_vec(),
    };
    Claim::sum_of_products(variables, vec![term(5, &[0, 1]), term(3, &[1, 2, 2])])
}

fn with_eq<F: SumcheckField>(claim: Claim<F>) -> Claim<F> {
    let mut rng = rng(9);
    let point = (0..claim.variables()).map(|_| F::random(&mut rng)).collect();
    claim.with_eq(point)
}

fn cubic<F: SumcheckField>(variables: u32) -> Claim<F> {
    Claim::product(variables, &[0, 1, 2])
}

/// All that this group proves.
pub fn subjects() -> Vec<Box<dyn Subject>> {
    let bitsliced = SumcheckOptions { path: Some(KernelPath::Bitsliced), tail: Some(10), rounds_a_pass: None };
    let pairs = SumcheckOptions { rounds_a_pass: Some(2), ..ON_DEVICE };
    let batch = |variables, seed| Case::<blstrs::Scalar>::new("", terms(variables), Lying::Host, seed);
    vec![
        Box::new(Case::<Ghash>::new("ghash", cubic(7), Lying::Host, 1)),
        Box::new(Case {
            options: pairs,
            ..Case::<Ghash>::new("ghash by pairs", Claim::product(6, &[0, 1]), Lying::Host, 2)
        }),
        Box::new(Case::<Ghash>::new("ghash", with_eq(Claim::product(6, &[0, 1])), Lying::Kept, 3)),
        Box::new(Case::<Tower>::new("tower", cubic(6), Lying::Consumed, 4)),
        Box::new(Case {
            options: bitsliced,
            ..Case::<Tower>::new("tower bitsliced", Claim::product(12, &[0, 1]), Lying::Host, 5)
        }),
        Box::new(Case::<blstrs::Scalar>::new("bls12-381", with_eq(terms(6)), Lying::Host, 6)),
        Box::new(Case::<halo2curves::bn256::Fr>::new("bn254", cubic(6), Lying::Kept, 7)),
        Box::new(Case::<Goldilocks2>::new("goldilocks", terms(6), Lying::Host, 8)),
        Box::new(Case::<BabyBear4>::new("babybear", cubic(6), Lying::Consumed, 9)),
        Box::new(Cases(vec![batch(6, 10), batch(3, 11), batch(6, 12)])),
    ]
}
