//! Reads the sections of a zkey that say what the others hold.

use crate::binary_files::fields::Fields;
use crate::binary_files::sections::{Format, Section, SectionTable};
use crate::curves::affine_point::PointGroup;
use crate::curves::curve_id::CurveId;
use crate::error::{FileSection, Result};
use crate::zkey::points::RawPoints;

pub(crate) const PROTOCOL: u32 = 1;
pub(crate) const HEADER: u32 = 2;
pub(crate) const IC: u32 = 3;
pub(crate) const COEFFICIENTS: u32 = 4;
pub(crate) const A: u32 = 5;
pub(crate) const B1: u32 = 6;
pub(crate) const B2: u32 = 7;
pub(crate) const C: u32 = 8;
pub(crate) const H: u32 = 9;

const SECTIONS: [(u32, &str); 9] = [
    (PROTOCOL, "section 1 (protocol)"),
    (HEADER, "section 2 (header)"),
    (IC, "section 3 (IC)"),
    (COEFFICIENTS, "section 4 (coefficients)"),
    (A, "section 5 (A)"),
    (B1, "section 6 (B1)"),
    (B2, "section 7 (B2)"),
    (C, "section 8 (C)"),
    (H, "section 9 (H)"),
];

pub(crate) static ZKEY: Format = Format { magic: *b"zkey", version: 1, sections: &SECTIONS };

/// Name of the header's section, for the points in it.
pub(crate) const HEADER_NAME: &str = SECTIONS[1].1;

/// Sizes of a Groth16 proving key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZkeyHeader {
    /// The curve.
    pub curve: CurveId,
    /// Number of signals, which is the number of values of a witness: 1, then public ones, then private ones.
    pub signals: u32,
    /// Number of public signals, without the first one, which is always 1.
    pub public_signals: u32,
    /// Order of the evaluation domain, a power of two. It exceeds each coefficient's constraint.
    pub domain_size: u32,
}

impl ZkeyHeader {
    /// Returns the number of private signals.
    pub fn private_signals(&self) -> u32 {
        self.signals.saturating_sub(self.public_signals).saturating_sub(1)
    }
}

/// The points of a zkey's header, encoded as [`RawPoints`] are.
#[derive(Debug)]
pub(crate) struct HeaderPoints {
    pub alpha1: Vec<u8>,
    pub beta1: Vec<u8>,
    pub beta2: Vec<u8>,
    pub gamma2: Vec<u8>,
    pub delta1: Vec<u8>,
    pub delta2: Vec<u8>,
}

/// Checks that the protocol is Groth16.
///
/// # Errors
/// - [`Error::Unsupported`](crate::Error::Unsupported): it is another protocol, such as PLONK.
/// - [`Error::Malformed`](crate::Error::Malformed): the section is missing, repeated or of another length.
pub(crate) fn check_protocol(table: &SectionTable<'_>) -> Result<()> {
    let section = table.section(PROTOCOL)?;
    let mut fields = Fields::new(section.place, section.bytes);
    let protocol = fields.u32("protocol")?;
    fields.end()?;
    let name = match protocol {
        1 => return Ok(()),
        2 => "PLONK (2)".to_owned(),
        10 => "FFLONK (10)".to_owned(),
        other => format!("{other}"),
    };
    Err(section.place.unsupported("protocol", "Groth16 (1)", name))
}

/// Reads the header: primes, sizes, and points, which are checked to be on the curve.
///
/// # Errors
/// - [`Error::Unsupported`](crate::Error::Unsupported): the curve is neither BN254 nor BLS12-381.
/// - [`Error::Malformed`](crate::Error::Malformed): the section is missing, repeated or of another length.
/// - [`Error::Malformed`](crate::Error::Malformed): sizes contradict each other.
/// - [`Error::Malformed`](crate::Error::Malformed): the domain is no power of two, or too large for the field.
/// - [`Error::Malformed`](crate::Error::Malformed): a point is not on the curve.
pub(crate) fn read_header(table: &SectionTable<'_>) -> Result<(ZkeyHeader, HeaderPoints)> {
    let section = table.section(HEADER)?;
    let mut fields = Fields::new(section.place, section.bytes);
    let curve = read_curve(section.place, &mut fields)?;
    let header = read_sizes(section.place, &mut fields, curve)?;
    let mut point = |name, group| read_point(&section, &mut fields, curve, name, group);
    let points = HeaderPoints {
        alpha1: point("alpha1", PointGroup::G1)?,
        beta1: point("beta1", PointGroup::G1)?,
        beta2: point("beta2", PointGroup::G2)?,
        gamma2: point("gamma2", PointGroup::G2)?,
        delta1: point("delta1", PointGroup::G1)?,
        delta2: point("delta2", PointGroup::G2)?,
    };
    fields.end()?;
    Ok((header, points))
}

fn read_curve(place: FileSection<'_>, fields: &mut Fields<'_>) -> Result<CurveId> {
    let length = fields.u32("length of q")?;
    let curve = CurveId::from_base_prime(place, fields.bytes("q", u64::from(length))?)?;
    let length = fields.u32("length of r")?;
    curve.expect_scalar_prime(place, fields.bytes("r", u64::from(length))?)?;
    Ok(curve)
}

fn read_sizes(place: FileSection<'_>, fields: &mut Fields<'_>, curve: CurveId) -> Result<ZkeyHeader> {
    let signals = fields.u32("nVars")?;
    let public_signals = fields.u32("nPublic")?;
    let domain_size = fields.u32("domainSize")?;
    if public_signals >= signals {
        return Err(place.malformed("nPublic", format!("less than the {signals} of nVars"), public_signals));
    }
    if !domain_size.is_power_of_two() || domain_size.ilog2() > curve.two_adicity() {
        let expected = format!("a power of two, at most 2^{}", curve.two_adicity());
        return Err(place.malformed("domainSize", expected, domain_size));
    }
    Ok(ZkeyHeader { curve, signals, public_signals, domain_size })
}

fn read_point(
    section: &Section<'_>,
    fields: &mut Fields<'_>,
    curve: CurveId,
    name: &str,
    group: PointGroup,
) -> Result<Vec<u8>> {
    let bytes = fields.bytes(name, group.point_bytes(curve) as u64)?;
    let name = format!("{} {name}", section.place.section);
    let place = FileSection { file: section.place.file, section: &name };
    RawPoints::new(place, curve, group, bytes).check_on_curve()?;
    Ok(bytes.to_vec())
}
