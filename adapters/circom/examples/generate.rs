//! Writes the zkey and the witness of a synthetic circuit, whose setup has a trapdoor that is known.
//!
//! usage: generate bn254|bls12-381 CONSTRAINTS FOLDER      (makes circuit.zkey and witness.wtns)

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use common::{Container, generator};
use proofwarp_circom::{CurveId, Groth16Engine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [curve, constraints, folder] = arguments.as_slice() else {
        return Err("usage: generate bn254|bls12-381 CONSTRAINTS FOLDER".into());
    };
    let constraints: usize = constraints.parse()?;
    if constraints < 2 {
        return Err(format!("constraints: expected 2 or more, got {constraints}").into());
    }
    match CurveId::from_json_name(curve) {
        Some(CurveId::Bn254) => generate::<halo2curves::bn256::Bn256>(constraints, Path::new(folder))?,
        Some(CurveId::Bls12_381) => generate::<blstrs::Bls12>(constraints, Path::new(folder))?,
        None => return Err(format!("curve: expected bn254 or bls12-381, got {curve}").into()),
    }
    Ok(())
}

fn generate<E: Groth16Engine>(constraints: usize, folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    write(&folder.join("witness.wtns"), &generator::witness::<E>(constraints, E::Fr::from(3)))?;
    write(&folder.join("circuit.zkey"), &generator::zkey::<E>(constraints))
}

fn write(path: &Path, contents: &Container) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    contents.write_to(&mut file)?;
    file.flush()
}
