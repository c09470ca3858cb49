//! Groth16: empty circuits and queries, infinity among the bases, assignments that satisfy nothing, lengths that differ.

use std::sync::Arc;

use ff::Field;
use group::prime::PrimeCurveAffine;
use group::{Curve, Group};
use proofwarp::field::NttField;
use proofwarp::groth16::{Circuit, Engine, Parameters, Proof, ProvingKeyOnDevice, Witness, prove};
use proofwarp::matrix::Csr;
use proofwarp::{Accelerator, Result};
use rand_chacha::ChaCha8Rng;

use super::common::rng;
use super::one_answer;

/// What a key and witnesses are made of.
#[derive(Debug, Clone, Copy)]
struct Shape {
    constraints: usize,
    inputs: usize,
    aux: usize,
    /// Whether B has any coefficients.
    has_b: bool,
    /// Every so many bases are infinity; 0: none is.
    infinity: usize,
}

/// Numbers of bases: h, l, a, b in G1, b in G2.
type Lengths = [usize; 5];

impl Shape {
    fn variables(&self) -> usize {
        self.inputs + self.aux
    }

    fn matrices<F: NttField>(&self) -> [Arc<Csr<F>>; 3] {
        let shape = *self;
        let row = move |matrix: usize, row: usize| {
            let empty = shape.variables() == 0 || (matrix == 1 && !shape.has_b);
            let entry = (!empty).then(|| ((row + matrix) % shape.variables(), F::from(row as u64 + 2)));
            entry.into_iter().chain((!empty && row.is_multiple_of(2)).then_some((0, -F::ONE)))
        };
        [0, 1, 2].map(|matrix| {
            let rows = (0..shape.constraints).map(|number| row(matrix, number));
            Arc::new(Csr::from_rows(shape.variables(), rows).expect("columns are in range"))
        })
    }

    fn circuit<F: NttField>(&self) -> Circuit<F> {
        Circuit::from_matrices(self.inputs, self.matrices()).expect("matrices of one shape")
    }

    fn lengths<F: NttField>(&self) -> Lengths {
        let [a, b_inputs, b_aux] = self.circuit::<F>().query_lengths();
        let b = b_inputs + b_aux;
        [self.constraints.next_power_of_two() - 1, self.aux, a, b, b]
    }

    fn parameters<E: Engine>(&self, [h, l, a, b_g1, b_g2]: Lengths) -> Parameters<E> {
        let mut rng = rng(7);
        let mut g1 = |count| points::<E::G1Affine>(count, self.infinity, &mut rng);
        let [h, l, a, b_g1, alone] = [h, l, a, b_g1, 10].map(&mut g1);
        let mut g2 = |count| points::<E::G2Affine>(count, self.infinity, &mut rng);
        let [b_g2, alone_g2] = [b_g2, 10].map(&mut g2);
        Parameters {
            alpha_g1: alone[7],
            beta_g1: alone[8],
            beta_g2: alone_g2[7],
            delta_g1: alone[5],
            delta_g2: alone_g2[5],
            h: h.into(),
            l: l.into(),
            a: a.into(),
            b_g1: b_g1.into(),
            b_g2: b_g2.into(),
        }
    }
}

fn points<C: PrimeCurveAffine<Curve: Curve<AffineRepr = C>>>(
    count: usize,
    infinity: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<C> {
    let random = C::Curve::generator() * C::Scalar::random(rng);
    let all = std::iter::successors(Some(random), |point| Some(*point + C::generator())).enumerate();
    let all = all.map(|(i, point)| if infinity != 0 && i % infinity == 0 { C::identity() } else { point.to_affine() });
    all.take(count).collect()
}

/// Proofs of three witnesses, two of them the same but for what evaluates them.
fn proofs<E: Engine>(accelerator: &Accelerator, shape: Shape, lengths: Lengths) -> Result<Vec<Proof<E>>> {
    let key = ProvingKeyOnDevice::<E>::new(accelerator, shape.parameters(lengths))?;
    let circuit = shape.circuit::<E::Fr>();
    let mut rng = rng(8);
    let mut random = |count: usize| -> Vec<E::Fr> { (0..count).map(|_| E::Fr::random(&mut rng)).collect() };
    let (values, zeros) = (random(shape.variables()), vec![E::Fr::ZERO; shape.variables()]);
    let evaluations: Vec<Vec<E::Fr>> =
        shape.matrices::<E::Fr>().iter().map(|matrix| evaluated(matrix, &values)).collect();
    let [a, b, c] = [0, 1, 2].map(|number| evaluations[number].as_slice());
    let whole = Witness { inputs: &values[..shape.inputs], aux: (&values[shape.inputs..]).into(), evaluations: None };
    let witnesses = [
        whole,
        Witness { evaluations: Some([a, b, c]), ..whole },
        Witness { inputs: &zeros[..shape.inputs], aux: (&zeros[shape.inputs..]).into(), evaluations: None },
    ];
    let (r, s) = (vec![E::Fr::from(5), E::Fr::from(5), E::Fr::ZERO], vec![E::Fr::from(6), E::Fr::from(6), E::Fr::ZERO]);
    let (proofs, _) = prove(&key, &circuit, &witnesses, &r, &s, None)?;
    let (none, _) = prove(&key, &circuit, &[], &[], &[], None)?;
    assert!(none.is_empty() && proofs[0] == proofs[1]);
    Ok(proofs)
}

fn evaluated<F: NttField>(matrix: &Csr<F>, values: &[F]) -> Vec<F> {
    (0..matrix.rows()).map(|row| matrix.row(row).map(|(column, value)| values[column] * value).sum()).collect()
}

fn check<E: Engine>() {
    let any = Shape { constraints: 5, inputs: 2, aux: 4, has_b: true, infinity: 0 };
    let shapes = [
        any,
        Shape { infinity: 2, ..any },
        Shape { infinity: 3, has_b: false, ..any },
        Shape { constraints: 0, ..any },
        Shape { constraints: 1, ..any },
        Shape { constraints: 2, aux: 0, ..any },
        Shape { constraints: 4, inputs: 0, ..any },
        Shape { constraints: 0, inputs: 0, aux: 0, ..any },
        Shape { constraints: 3, inputs: 1, aux: 0, has_b: false, infinity: 0 },
        Shape { constraints: 8, inputs: 1, aux: 1, ..any },
    ];
    for shape in shapes {
        let lengths = shape.lengths::<E::Fr>();
        let answer = one_answer(&format!("{shape:?}"), |accelerator| proofs::<E>(accelerator, shape, lengths));
        assert!(answer.is_ok(), "{shape:?}: {answer:?}");
    }
    // A base too many, or one too few, in each query.
    let lengths = any.lengths::<E::Fr>();
    for (query, change) in (0..5).flat_map(|query| [(query, 1), (query, -1)]) {
        let mut lengths = lengths;
        lengths[query] = lengths[query].wrapping_add_signed(change);
        let what = format!("{lengths:?} bases");
        let error = one_answer(&what, |accelerator| proofs::<E>(accelerator, any, lengths)).expect_err(&what);
        assert!(error.starts_with("groth16"), "{error}");
    }
}

#[test]
fn bls12_381() {
    check::<blstrs::Bls12>();
}

#[test]
fn bn254() {
    check::<halo2curves::bn256::Bn256>();
}

/// Witnesses and randomness that do not fit the circuit.
#[test]
fn witnesses_that_do_not_fit() {
    type E = halo2curves::bn256::Bn256;
    type Fr = <E as pairing::Engine>::Fr;
    let shape = Shape { constraints: 5, inputs: 2, aux: 4, has_b: true, infinity: 0 };
    let values = [Fr::ONE; 9];
    let of = |inputs: usize, aux: usize, evaluations: Option<usize>| Witness {
        inputs: &values[..inputs],
        aux: (&values[..aux]).into(),
        evaluations: evaluations.map(|count| [&values[..5], &values[..count], &values[..5]]),
    };
    for (witness, r, s) in [
        (of(1, 4, None), 1, 1),
        (of(3, 4, None), 1, 1),
        (of(2, 3, None), 1, 1),
        (of(2, 5, Some(5)), 1, 1),
        (of(2, 4, Some(4)), 1, 1),
        (of(2, 4, Some(6)), 1, 1),
        (of(2, 4, None), 0, 1),
        (of(2, 4, None), 1, 2),
    ] {
        let what = format!("{witness:?}, {r} of r, {s} of s");
        let error = one_answer(&what, |accelerator| {
            let key = ProvingKeyOnDevice::<E>::new(accelerator, shape.parameters(shape.lengths::<Fr>()))?;
            prove(&key, &shape.circuit(), &[witness], &values[..r], &values[..s], None).map(|(proofs, _)| proofs)
        });
        assert!(error.expect_err(&what).starts_with("groth16: "));
    }
}

/// A key that nobody vouches for: the first point outside its subgroup is named, by its query.
#[test]
fn keys_with_points_outside_the_subgroup() {
    type E = blstrs::Bls12;
    let shape = Shape { constraints: 5, inputs: 2, aux: 4, has_b: true, infinity: 3 };
    let good = || shape.parameters::<E>(shape.lengths::<blstrs::Scalar>());
    // Of order three.
    let outside = blstrs::G1Affine::from_raw_unchecked(blstrs::Fp::ZERO, blstrs::Fp::from(2), false);
    let with = |change: &dyn Fn(&mut Parameters<E>)| {
        let mut parameters = good();
        change(&mut parameters);
        one_answer("a key", |accelerator| ProvingKeyOnDevice::new_checked(accelerator, parameters.clone()).map(drop))
    };
    assert_eq!(with(&|_| ()), Ok(()));
    let expected =
        |what: &str| Err(format!("msm: {what}: expected a point of the prime-order subgroup, got one outside it"));
    assert_eq!(with(&|key| key.beta_g1 = outside), expected("base 1 of α, β and δ in G1"));
    let h = good().h.on_host().expect("in memory").to_vec();
    let changed: Vec<_> = h[..6].iter().copied().chain([outside]).collect();
    assert_eq!(with(&|key| key.h = changed.clone().into()), expected("base 6 of h"));
}
