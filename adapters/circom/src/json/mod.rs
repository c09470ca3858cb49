//! Reads and writes proofs, public signals and verification keys as snarkjs does.

pub(crate) mod number;
pub(crate) mod points;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::curves::curve_id::CurveId;
use crate::curves::scalars::{scalar_from_integer, scalar_to_integer};
use crate::error::{FileSection, Result};
use crate::groth16::{Groth16Engine, Proof, VerificationKey};
use crate::json::number::Number;
use crate::json::points::{G1Json, G2Json, read_g1, read_g2, write_g1, write_g2};

/// The text of a JSON file, and the file's name for errors.
#[derive(Debug, Clone, Copy)]
pub struct JsonText<'a> {
    /// The name.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
}

/// `proof.json`, with its fields in snarkjs's order.
#[derive(Serialize, Deserialize)]
struct ProofJson {
    pi_a: G1Json,
    pi_b: G2Json,
    pi_c: G1Json,
    protocol: String,
    /// rapidsnark leaves it out.
    curve: Option<String>,
}

/// `verification_key.json`, with its fields in snarkjs's order. The field `vk_alphabeta_12`, is left out: no verifier
/// needs it.
#[derive(Serialize, Deserialize)]
struct KeyJson {
    protocol: String,
    curve: String,
    #[serde(rename = "nPublic")]
    public_signals: u64,
    vk_alpha_1: G1Json,
    vk_beta_2: G2Json,
    vk_gamma_2: G2Json,
    vk_delta_2: G2Json,
    #[serde(rename = "IC")]
    ic: Vec<G1Json>,
}

/// The field that tells the curve of a proof or key.
#[derive(Deserialize)]
struct CurveJson {
    curve: Option<String>,
}

impl<'a> JsonText<'a> {
    /// Returns a file's field for errors.
    fn field(&self, field: &'a str) -> FileSection<'a> {
        FileSection { file: self.file, section: field }
    }

    fn parse<T: DeserializeOwned>(&self, expected: &str) -> Result<T> {
        serde_json::from_str(self.text).map_err(|error| self.field("JSON").malformed("text", expected, error))
    }

    fn expect_protocol(&self, protocol: &str) -> Result<()> {
        if protocol == "groth16" {
            return Ok(());
        }
        Err(self.field("protocol").unsupported("protocol", "groth16", protocol))
    }

    fn expect_curve<E: Groth16Engine>(&self, name: &str) -> Result<()> {
        let curve = self.curve(name)?;
        if curve == E::CURVE { Ok(()) } else { Err(self.field("curve").other_curve(E::CURVE, curve)) }
    }

    fn curve(&self, name: &str) -> Result<CurveId> {
        let unknown = || self.field("curve").unsupported("curve", "bn128 or bls12381", name);
        CurveId::from_json_name(name).ok_or_else(unknown)
    }
}

/// Returns the text of `value`, indented as by snarkjs.
fn to_text(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let result = value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter));
    // Structures of strings and integers always have a text, and memory takes it.
    debug_assert!(result.is_ok(), "{result:?}");
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the curve that a proof or verification key names, or `None` if it names none, as rapidsnark's proofs.
///
/// # Errors
/// - [`Error::Malformed`](crate::Error::Malformed): the text is no JSON object, or its curve is no string.
/// - [`Error::Unsupported`](crate::Error::Unsupported): the curve is neither BN254 nor BLS12-381.
pub fn curve_from_json(json: JsonText<'_>) -> Result<Option<CurveId>> {
    let name = json.parse::<CurveJson>("an object of snarkjs")?.curve;
    name.map(|name| json.curve(&name)).transpose()
}

impl<E: Groth16Engine> Proof<E> {
    /// Reads `proof.json`. Points are checked to be on the curve, not to be in the subgroup: [`verify`](crate::verify)
    /// checks that.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): the text is no JSON, or a field is missing or of another type.
    /// - [`Error::Malformed`](crate::Error::Malformed): a coordinate is at least q, or a point is not on the curve.
    /// - [`Error::Unsupported`](crate::Error::Unsupported): another protocol or an unknown curve.
    /// - [`Error::OtherCurve`](crate::Error::OtherCurve): the proof is of another curve than `E`.
    pub fn from_json(json: JsonText<'_>) -> Result<Self> {
        let proof: ProofJson = json.parse("a proof of snarkjs")?;
        json.expect_protocol(&proof.protocol)?;
        proof.curve.map_or(Ok(()), |curve| json.expect_curve::<E>(&curve))?;
        Ok(Self {
            a: read_g1(json.field("pi_a"), &proof.pi_a)?,
            b: read_g2(json.field("pi_b"), &proof.pi_b)?,
            c: read_g1(json.field("pi_c"), &proof.pi_c)?,
        })
    }

    /// Returns `proof.json`, byte for byte as snarkjs writes it.
    pub fn to_json(&self) -> String {
        to_text(&ProofJson {
            pi_a: write_g1(&self.a),
            pi_b: write_g2(&self.b),
            pi_c: write_g1(&self.c),
            protocol: "groth16".to_owned(),
            curve: Some(E::CURVE.json_name().to_owned()),
        })
    }
}

impl<E: Groth16Engine> VerificationKey<E> {
    /// Reads `verification_key.json`. Points are checked to be on the curve, not to be in the subgroup:
    /// [`verify`](crate::verify) checks that.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): the text is no JSON, or a field is missing or of another type.
    /// - [`Error::Malformed`](crate::Error::Malformed): IC has another length than nPublic + 1.
    /// - [`Error::Malformed`](crate::Error::Malformed): a coordinate is at least q, or a point is not on the curve.
    /// - [`Error::Unsupported`](crate::Error::Unsupported): another protocol or an unknown curve.
    /// - [`Error::OtherCurve`](crate::Error::OtherCurve): the key is of another curve than `E`.
    pub fn from_json(json: JsonText<'_>) -> Result<Self> {
        let key: KeyJson = json.parse("a Groth16 verification key of snarkjs")?;
        json.expect_protocol(&key.protocol)?;
        json.expect_curve::<E>(&key.curve)?;
        if key.public_signals.checked_add(1) != Some(key.ic.len() as u64) {
            let expected = format!("{} + 1 points, as nPublic says", key.public_signals);
            return Err(json.field("IC").malformed("length", expected, key.ic.len()));
        }
        let point = |(index, point): (usize, &G1Json)| read_g1(json.field(&format!("IC[{index}]")), point);
        Ok(Self {
            alpha1: read_g1(json.field("vk_alpha_1"), &key.vk_alpha_1)?,
            beta2: read_g2(json.field("vk_beta_2"), &key.vk_beta_2)?,
            gamma2: read_g2(json.field("vk_gamma_2"), &key.vk_gamma_2)?,
            delta2: read_g2(json.field("vk_delta_2"), &key.vk_delta_2)?,
            ic: key.ic.iter().enumerate().map(point).collect::<Result<_>>()?,
        })
    }

    /// Returns `verification_key.json` as snarkjs reads it: all that it writes but the pairing `vk_alphabeta_12`, which
    /// its verifier computes anew.
    pub fn to_json(&self) -> String {
        to_text(&KeyJson {
            protocol: "groth16".to_owned(),
            curve: E::CURVE.json_name().to_owned(),
            public_signals: self.ic.len().saturating_sub(1) as u64,
            vk_alpha_1: write_g1(&self.alpha1),
            vk_beta_2: write_g2(&self.beta2),
            vk_gamma_2: write_g2(&self.gamma2),
            vk_delta_2: write_g2(&self.delta2),
            ic: self.ic.iter().map(write_g1).collect(),
        })
    }
}

/// Reads `public.json`: the public signals, in the order of the witness.
///
/// # Errors
/// - [`Error::Malformed`](crate::Error::Malformed): the text is no JSON array of numbers, or a number is at least r.
pub fn public_from_json<E: Groth16Engine>(json: JsonText<'_>) -> Result<Vec<E::Fr>> {
    let numbers: Vec<Number> = json.parse("an array of public signals")?;
    let place = json.field("public signals");
    let too_large = |index| place.malformed(format!("signal {index}"), "less than r", "one that is not");
    let signals = numbers.iter().enumerate();
    signals.map(|(index, number)| scalar_from_integer(&number.0).ok_or_else(|| too_large(index))).collect()
}

/// Returns `public.json`, byte for byte as snarkjs writes it.
pub fn public_to_json<E: Groth16Engine>(signals: &[E::Fr]) -> String {
    to_text(&signals.iter().map(|signal| Number(scalar_to_integer(signal))).collect::<Vec<_>>())
}
