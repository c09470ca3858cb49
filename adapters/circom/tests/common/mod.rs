//! Writes small zkeys and witnesses, section by section, so that tests can break each.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod generator;
pub mod reference;

use std::io::{self, Write};

use ff::PrimeField;
use group::Curve;
use group::prime::PrimeCurveAffine;
use proofwarp_circom::{AffinePoint, CurveId, Groth16Engine};

pub const SIGNALS: u32 = 5;
pub const PUBLIC: u32 = 2;
pub const DOMAIN: u32 = 4;

/// A file of sections: magic, version, and each section's type and contents.
#[derive(Clone)]
pub struct Container {
    pub magic: [u8; 4],
    pub version: u32,
    pub sections: Vec<(u32, Vec<u8>)>,
}

impl Container {
    /// Returns the file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).expect("memory");
        bytes
    }

    /// Writes the file's bytes to `output`.
    pub fn write_to(&self, output: &mut impl Write) -> io::Result<()> {
        output.write_all(&self.magic)?;
        output.write_all(&self.version.to_le_bytes())?;
        output.write_all(&(self.sections.len() as u32).to_le_bytes())?;
        for (section_type, contents) in &self.sections {
            output.write_all(&section_type.to_le_bytes())?;
            output.write_all(&(contents.len() as u64).to_le_bytes())?;
            output.write_all(contents)?;
        }
        Ok(())
    }

    /// Returns the contents of the first section of a type.
    pub fn section(&mut self, section_type: u32) -> &mut Vec<u8> {
        let found = self.sections.iter_mut().find(|section| section.0 == section_type);
        &mut found.expect("a section").1
    }

    /// Returns the file's bytes after a change of a section.
    pub fn changed(&self, section_type: u32, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut changed = self.clone();
        change(changed.section(section_type));
        changed.to_bytes()
    }
}

/// Returns `count` multiples of the generator, from `first` times it on; the second one is infinity.
pub fn points<P: AffinePoint + PrimeCurveAffine>(first: u64, count: u32) -> Vec<P>
where
    P::Curve: Curve<AffineRepr = P>,
{
    let multiple = |index| if index == 1 { 0 } else { first + index };
    let scalars = (0..u64::from(count)).map(|index| P::Scalar::from(multiple(index)));
    scalars.map(|scalar| (P::generator() * scalar).to_affine()).collect()
}

fn encode<P: AffinePoint>(points: &[P]) -> Vec<u8> {
    points.iter().flat_map(AffinePoint::to_montgomery).collect()
}

fn prime(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

/// Returns a zkey with points that are multiples of the generators. It proves nothing, but keeps to the format.
pub fn zkey<E: Groth16Engine>() -> Container {
    let g1 = |first, count| encode(&points::<E::G1Affine>(first, count));
    let g2 = |first, count| encode(&points::<E::G2Affine>(first, count));
    let mut header = [prime(E::CURVE.base_prime()), prime(E::CURVE.scalar_prime())].concat();
    header.extend([SIGNALS, PUBLIC, DOMAIN].iter().flat_map(|size| size.to_le_bytes()));
    for point in [g1(2, 1), g1(3, 1), g2(3, 1), g2(4, 1), g1(5, 1), g2(5, 1)] {
        header.extend(point);
    }
    let sections = vec![
        (1, 1_u32.to_le_bytes().to_vec()),
        (2, header),
        (4, coefficients::<E::Fr>()),
        (3, g1(10, PUBLIC + 1)),
        (9, g1(20, DOMAIN)),
        (5, g1(30, SIGNALS)),
        (6, g1(40, SIGNALS)),
        (7, g2(50, SIGNALS)),
        (8, g1(60, SIGNALS - PUBLIC - 1)),
        (10, vec![1, 2, 3]),
    ];
    Container { magic: *b"zkey", version: 1, sections }
}

/// Returns three entries: A[0][1] = 7, B[0][4] = 8, A[3][0] = 9.
fn coefficients<F: PrimeField>() -> Vec<u8> {
    let mut bytes = 3_u32.to_le_bytes().to_vec();
    for (matrix, constraint, signal, value) in [(0, 0, 1, 7), (1, 0, 4, 8), (0, 3, 0, 9)] {
        bytes.extend([matrix, constraint, signal].iter().flat_map(|field: &u32| field.to_le_bytes()));
        bytes.extend(F::from(value).to_repr().as_ref());
    }
    bytes
}

/// Returns a witness with the values 1, 2, …, `count`.
pub fn witness(curve: CurveId, count: u32) -> Container {
    let mut header = prime(curve.scalar_prime());
    header.extend(count.to_le_bytes());
    let values = (1..=count).flat_map(|value| {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&value.to_le_bytes());
        bytes
    });
    Container { magic: *b"wtns", version: 2, sections: vec![(2, values.collect()), (1, header)] }
}
