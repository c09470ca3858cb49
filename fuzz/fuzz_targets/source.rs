//! Sources of parameters that give vectors of any lengths, from any place on: an error, or a key.
#![no_main]

use std::sync::{Arc, LazyLock};

use arbitrary::Arbitrary;
use bellperson::SynthesisError;
use bellperson::groth16::{ParameterSource, Parameters, VerifyingKey};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use libfuzzer_sys::fuzz_target;
use proofwarp::groth16::{Circuit, Densities};
use proofwarp_bellperson::parameters;
use proofwarp_fuzz::FILE;

static PARAMETERS: LazyLock<Parameters<Bls12>> =
    LazyLock::new(|| Parameters::read(&FILE[..], true).expect("the file's parameters"));

/// A vector and where its first point is.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Part {
    length: u8,
    first: usize,
}

/// Parts of each query, those of inputs and those of auxiliary variables.
#[derive(Debug, Arbitrary)]
struct Source {
    h: Part,
    l: Part,
    a: [Part; 2],
    b_g1: [Part; 2],
    b_g2: [Part; 2],
    /// Both parts are of one vector.
    joined: bool,
    fails: bool,
}

fn part<C: Copy>(points: &[C], Part { length, first }: Part) -> (Arc<Vec<C>>, usize) {
    (Arc::new(points.iter().copied().cycle().take(length.into()).collect()), first)
}

impl Source {
    fn both<C: Copy>(&self, points: &[C], [inputs, aux]: [Part; 2]) -> Both<C> {
        let one = part(points, inputs);
        let other = if self.joined { (one.0.clone(), aux.first) } else { part(points, aux) };
        if self.fails { Err(SynthesisError::MalformedSrs) } else { Ok((one, other)) }
    }
}

type Builder<C> = (Arc<Vec<C>>, usize);
type Both<C> = Result<(Builder<C>, Builder<C>), SynthesisError>;

impl ParameterSource<Bls12> for Source {
    type G1Builder = Builder<G1Affine>;
    type G2Builder = Builder<G2Affine>;

    fn get_vk(&self, _: usize) -> Result<&VerifyingKey<Bls12>, SynthesisError> {
        Ok(&PARAMETERS.vk)
    }

    fn get_h(&self, _: usize) -> Result<Self::G1Builder, SynthesisError> {
        Ok(part(&PARAMETERS.h, self.h))
    }

    fn get_l(&self, _: usize) -> Result<Self::G1Builder, SynthesisError> {
        Ok(part(&PARAMETERS.l, self.l))
    }

    fn get_a(&self, _: usize, _: usize) -> Both<G1Affine> {
        self.both(&PARAMETERS.a, self.a)
    }

    fn get_b_g1(&self, _: usize, _: usize) -> Both<G1Affine> {
        self.both(&PARAMETERS.b_g1, self.b_g1)
    }

    fn get_b_g2(&self, _: usize, _: usize) -> Both<G2Affine> {
        self.both(&PARAMETERS.b_g2, self.b_g2)
    }
}

fuzz_target!(|input: (Source, u16, Vec<[bool; 2]>, Vec<bool>)| {
    let (source, constraints, aux, b_inputs) = input;
    let (a_aux, b_aux): (Vec<_>, Vec<_>) = aux.into_iter().map(|[a, b]| (a, b)).unzip();
    let densities = Densities { a_aux: &a_aux, b_inputs: &b_inputs, b_aux: &b_aux };
    let Ok(circuit) = Circuit::<Scalar>::new(constraints.into(), densities) else { return };
    let Ok(key) = parameters(&source, &circuit) else { return };
    let [a, b_inputs, b_aux] = circuit.query_lengths();
    let lengths = [key.a.len(), key.b_g1.len(), key.b_g2.len(), key.l.len()];
    assert_eq!(lengths, [a, b_inputs + b_aux, b_inputs + b_aux, circuit.aux_count()]);
});
