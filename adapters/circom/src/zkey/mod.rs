//! Opens a proving key.

pub(crate) mod coefficients;
pub(crate) mod header;
pub(crate) mod identity;
pub(crate) mod outline;
pub(crate) mod points;

use std::ops::Range;
use std::path::Path;

use proofwarp::rayon_waits::check_host_threads;

use crate::binary_files::file_bytes::{FileBytes, read_file};
use crate::binary_files::sections::SectionTable;
use crate::curves::affine_point::PointGroup;
use crate::error::{FileSection, Result};
use crate::zkey::coefficients::Coefficients;
use crate::zkey::header::{
    A, B1, B2, C, COEFFICIENTS, H, HEADER_NAME, HeaderPoints, IC, ZKEY, ZkeyHeader, check_protocol, read_header,
};
use crate::zkey::identity::ZkeyIdentity;
use crate::zkey::points::RawPoints;

/// A Groth16 proving key of circom, with all of its lengths, indices and coordinates checked.
///
/// The section of the ceremony's contributions is not read. Points of sections are known to have coordinates below q;
/// [`Self::check_points`] or a conversion checks that they are on the curve. No check looks at subgroups: a key has to
/// be trusted, as its proofs are worth nothing otherwise.
#[derive(Debug)]
pub struct Zkey {
    file: String,
    bytes: FileBytes,
    header: ZkeyHeader,
    points: HeaderPoints,
    sections: Ranges,
}

/// A section's name and its position in the file.
type NamedRange = (&'static str, Range<usize>);

#[derive(Debug)]
struct Ranges {
    ic: NamedRange,
    coefficients: NamedRange,
    a: NamedRange,
    b1: NamedRange,
    b2: NamedRange,
    c: NamedRange,
    h: NamedRange,
}

impl Zkey {
    /// Reads the file at `path` into memory, and checks it.
    ///
    /// # Errors
    /// - [`Error::Read`](crate::Error::Read): `path` is no regular file, it cannot be read, or there is too little memory.
    /// - [`Self::from_bytes`] lists the errors of its contents.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let mut bytes = Vec::new();
        read_file(path.as_ref(), &name, &mut bytes)?;
        Self::from_bytes(name, bytes)
    }

    /// Maps the file at `path`, and checks it.
    ///
    /// # Safety
    /// No process may write to the file or shorten it while the result is in use. Access to a removed page ends the
    /// process by `SIGBUS`. [`Self::check_unchanged`] tells of a change between two uses.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub unsafe fn open_mapped(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        // SAFETY: the caller promises that nothing writes to the file or shortens it.
        let bytes = unsafe { FileBytes::map(path.as_ref(), &name)? };
        let zkey = Self::from_bytes(name, bytes)?;
        zkey.check_unchanged()?;
        Ok(zkey)
    }

    /// Checks the zkey `bytes`, which errors name `file`. All threads of rayon's pool take part.
    ///
    /// # Errors
    /// - [`Error::Unsupported`](crate::Error::Unsupported): another version, protocol or curve.
    /// - [`Error::Malformed`](crate::Error::Malformed): another magic.
    /// - [`Error::Malformed`](crate::Error::Malformed): a section is missing, repeated, ends beyond the file, or has
    ///   another length than the header implies.
    /// - [`Error::Malformed`](crate::Error::Malformed): the domain is no power of two, or too large for the field.
    /// - [`Error::Malformed`](crate::Error::Malformed): an index of a coefficient is out of its range, or a value is at
    ///   least r.
    /// - [`Error::Malformed`](crate::Error::Malformed): a coordinate is at least q, or a point of the header is not on
    ///   the curve.
    pub fn from_bytes(file: impl Into<String>, bytes: impl Into<FileBytes>) -> Result<Self> {
        check_host_threads()?;
        let file = file.into();
        let bytes = bytes.into();
        let table = SectionTable::parse(&file, &ZKEY, bytes.as_slice())?;
        check_protocol(&table)?;
        let (header, points) = read_header(&table)?;
        let sections = check_sections(&table, &header)?;
        Ok(Self { file, bytes, header, points, sections })
    }

    /// Returns the identity of the zkey, or `None` if a mapped file has changed.
    pub fn identity(&self) -> Option<ZkeyIdentity> {
        ZkeyIdentity::from_bytes(self.bytes.as_slice())
    }

    /// Returns the file's name, as errors have it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns curve and sizes.
    pub fn header(&self) -> &ZkeyHeader {
        &self.header
    }

    /// Compares a mapped file's length and time of change with those when it was opened. A key in memory cannot change.
    ///
    /// # Errors
    /// - [`Error::Changed`](crate::Error::Changed): they differ.
    /// - [`Error::Read`](crate::Error::Read): the system does not tell them.
    pub fn check_unchanged(&self) -> Result<()> {
        self.bytes.check_unchanged(&self.file)
    }

    /// Checks that all points are on the curve. All threads of rayon's pool take part.
    ///
    /// # Errors
    /// - [`Error::Malformed`](crate::Error::Malformed): one is not; the error names its section and index.
    pub fn check_points(&self) -> Result<()> {
        check_host_threads()?;
        let sections = [self.ic(), self.a(), self.b1(), self.b2(), self.c(), self.h()];
        sections.iter().try_for_each(RawPoints::check_on_curve)
    }

    /// Returns both matrices' entries.
    pub fn coefficients(&self) -> Coefficients<'_> {
        Coefficients::from_checked(self.slice(&self.sections.coefficients.1))
    }

    /// Returns IC: a point for the signal 1 and for each public signal.
    pub fn ic(&self) -> RawPoints<'_> {
        self.section_points(&self.sections.ic, PointGroup::G1)
    }

    /// Returns A: a point of G1 for each signal. Many are infinity.
    pub fn a(&self) -> RawPoints<'_> {
        self.section_points(&self.sections.a, PointGroup::G1)
    }

    /// Returns B₁: a point of G1 for each signal. Many are infinity.
    pub fn b1(&self) -> RawPoints<'_> {
        self.section_points(&self.sections.b1, PointGroup::G1)
    }

    /// Returns B₂: a point of G2 for each signal. Many are infinity.
    pub fn b2(&self) -> RawPoints<'_> {
        self.section_points(&self.sections.b2, PointGroup::G2)
    }

    /// Returns C: a point of G1 for each private signal.
    pub fn c(&self) -> RawPoints<'_> {
        self.section_points(&self.sections.c, PointGroup::G1)
    }

    /// Returns H: a point of G1 for each element of the domain, for the quotient's values on the odd coset.
    pub fn h(&self) -> RawPoints<'_> {
        self.section_points(&self.sections.h, PointGroup::G1)
    }

    /// Returns α₁, one point of G1.
    pub fn alpha1(&self) -> RawPoints<'_> {
        self.header_point(&self.points.alpha1, PointGroup::G1)
    }

    /// Returns β₁, one point of G1.
    pub fn beta1(&self) -> RawPoints<'_> {
        self.header_point(&self.points.beta1, PointGroup::G1)
    }

    /// Returns β₂, one point of G2.
    pub fn beta2(&self) -> RawPoints<'_> {
        self.header_point(&self.points.beta2, PointGroup::G2)
    }

    /// Returns γ₂, one point of G2.
    pub fn gamma2(&self) -> RawPoints<'_> {
        self.header_point(&self.points.gamma2, PointGroup::G2)
    }

    /// Returns δ₁, one point of G1.
    pub fn delta1(&self) -> RawPoints<'_> {
        self.header_point(&self.points.delta1, PointGroup::G1)
    }

    /// Returns δ₂, one point of G2.
    pub fn delta2(&self) -> RawPoints<'_> {
        self.header_point(&self.points.delta2, PointGroup::G2)
    }

    fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.as_slice().get(range.clone()).unwrap_or_default()
    }

    fn section_points<'a>(&'a self, section: &'a NamedRange, group: PointGroup) -> RawPoints<'a> {
        let place = FileSection { file: &self.file, section: section.0 };
        RawPoints::new(place, self.header.curve, group, self.slice(&section.1))
    }

    fn header_point<'a>(&'a self, bytes: &'a [u8], group: PointGroup) -> RawPoints<'a> {
        let place = FileSection { file: &self.file, section: HEADER_NAME };
        RawPoints::new(place, self.header.curve, group, bytes)
    }
}

/// Checks lengths and contents of all sections that hold points or coefficients.
fn check_sections(table: &SectionTable<'_>, header: &ZkeyHeader) -> Result<Ranges> {
    use PointGroup::{G1, G2};
    let signals = u64::from(header.signals);
    let ic = points_section(table, header, (IC, G1), u64::from(header.public_signals) + 1)?;
    let a = points_section(table, header, (A, G1), signals)?;
    let b1 = points_section(table, header, (B1, G1), signals)?;
    let b2 = points_section(table, header, (B2, G2), signals)?;
    let c = points_section(table, header, (C, G1), u64::from(header.private_signals()))?;
    let h = points_section(table, header, (H, G1), u64::from(header.domain_size))?;
    let section = table.section(COEFFICIENTS)?;
    Coefficients::new(&section)?.check(&section, header)?;
    Ok(Ranges { ic, coefficients: (section.name, section.range), a, b1, b2, c, h })
}

fn points_section(
    table: &SectionTable<'_>,
    header: &ZkeyHeader,
    (section_type, group): (u32, PointGroup),
    count: u64,
) -> Result<NamedRange> {
    let section = table.section(section_type)?;
    section.expect_elements(count, group.point_bytes(header.curve))?;
    RawPoints::new(section.place, header.curve, group, section.bytes).check_coordinates()?;
    Ok((section.name, section.range))
}
