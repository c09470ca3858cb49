//! What is printed for people has no secret in it.

use std::fmt::Debug;

use bellperson::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar;
use ff::Field;
use proofwarp::column_ops::Argument;
use proofwarp::groth16::{AuxValues, PackedScalars, Witness};
use proofwarp::matrix::Csr;
use proofwarp::matrix::dense::DenseMatrix;
use proofwarp::matrix::dynamic::{Action, Change, DynamicCsr, Policy};
use proofwarp::msm::Scalars;
use proofwarp::sumcheck::Columns;
use proofwarp::{Accelerator, BackendKind};
use proofwarp_bellperson::Evaluations;
use proofwarp_bellperson::recorder::{ConstraintCount, SynthesisRecorder, Values};

/// A product of secrets.
struct Product([Scalar; 2]);

impl Circuit<Scalar> for Product {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let [a, b] = self.0;
        let variable = |cs: &mut CS, value| cs.alloc(|| "secret", || Ok(value));
        let [x, y, product] = [variable(cs, a)?, variable(cs, b)?, variable(cs, a * b)?];
        cs.alloc_input(|| "input", || Ok(a))?;
        let terms = |variable| move |sum: LinearCombination<Scalar>| sum + variable;
        cs.enforce(|| "product", terms(x), terms(y), terms(product));
        Ok(())
    }
}

/// As numbers are printed in some ways: the digits of an element, its bytes in decimal and in hexadecimal.
fn digits(secret: Scalar) -> Vec<String> {
    let element = format!("{secret:?}");
    let hexadecimal: String = element.chars().filter(char::is_ascii_hexdigit).collect();
    let middle = |text: &str| text[text.len() / 3..][..12].to_owned();
    let mut digits = vec![middle(&hexadecimal)];
    let limbs = proofwarp::field::as_bytes(std::slice::from_ref(&secret)).to_vec();
    for bytes in [limbs, secret.to_bytes_le().to_vec(), secret.to_bytes_be().to_vec()] {
        digits.push(middle(&format!("{bytes:?}")));
        digits.push(middle(&format!("{bytes:x?}")));
    }
    digits
}

fn says_nothing(what: &str, printed: &dyn Debug, secrets: &[Scalar]) {
    for text in [format!("{printed:?}"), format!("{printed:#?}").replace([' ', '\n'], ""), format!("{printed:x?}")] {
        for digits in secrets.iter().flat_map(|secret| digits(*secret)) {
            assert!(!text.contains(&digits) && !text.contains(&digits.replace(' ', "")), "{what}: {text}");
        }
    }
}

#[test]
fn types_that_hold_secrets() {
    let mut rng = crate::common::rng(9);
    let [a, b] = [(); 2].map(|()| Scalar::random(&mut rng));
    let secrets = [a, b, a * b];
    let says_nothing = |what, printed: &dyn Debug| says_nothing(what, printed, &secrets);
    says_nothing("Witness", &Witness { inputs: &secrets, aux: (&secrets).into(), evaluations: Some([&secrets; 3]) });
    says_nothing("AuxValues", &AuxValues::from(&secrets));
    says_nothing("PackedScalars", &secrets.into_iter().collect::<PackedScalars<_>>());
    let assignment = || SynthesisRecorder::<_, ConstraintCount>::from_circuit(Product([a, b])).expect("a circuit");
    says_nothing("Capture", &assignment());
    says_nothing("Values", &Values { inputs: &secrets, aux: &assignment().aux });
    let evaluated = SynthesisRecorder::<_, Evaluations<Scalar>>::from_circuit(Product([a, b])).expect("a circuit");
    assert!(evaluated.record.vectors[0].contains(&a));
    says_nothing("Evaluated", &evaluated);
    says_nothing("Evaluations", &evaluated.record);
    says_nothing("Scalars", &Scalars::elements(&secrets));
    says_nothing("Argument", &Argument::Column(&secrets[..]));
    says_nothing("Action", &[Action::Set(a), Action::Add(b)]);
    let tower = [proofwarp::field::tower::Tower(0x0123_4567_89ab_cdef); 2];
    let text = format!("{:x?}", Columns::host(&[&tower]));
    assert!(!text.contains("123456789ab"), "{text}");
    let host = Accelerator::with_backend(BackendKind::Cpu).expect("the CPU");
    says_nothing("Dense", &DenseMatrix::upload_vector(&host, &secrets).expect("a vector"));
    let matrix = Csr::from_rows(2, [vec![(0, Scalar::ONE)]]).expect("a matrix");
    let matrix = DynamicCsr::new(&host, matrix, Policy::default()).expect("a matrix");
    matrix.update(&[Change { row: 0, column: 1, action: Action::Set(a) }]).expect("a change");
    says_nothing("DynamicCsr", &matrix);
}

/// It would be seen.
#[test]
#[should_panic(expected = "an element")]
fn what_is_printed_is_seen() {
    says_nothing(
        "an element",
        &[Scalar::from(7).invert().expect("not zero")],
        &[Scalar::from(7).invert().expect("it")],
    );
}

#[test]
#[should_panic(expected = "bytes")]
fn bytes_are_seen() {
    let secret = Scalar::from(7).invert().expect("not zero");
    says_nothing("bytes", &proofwarp::field::as_bytes(&[secret]), &[secret]);
}
