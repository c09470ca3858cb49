//! Opens a witness.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use proofwarp::rayon_waits::check_host_threads;
use proofwarp::secret_vec::SecretVec;
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::binary_files::fields::Fields;
use crate::binary_files::file_bytes::read_file;
use crate::binary_files::sections::{Format, Section, SectionTable};
use crate::curves::curve_id::{CurveId, is_below};
use crate::curves::scalars::scalar_from_bytes;
use crate::error::{Error, FileSection, Result};
use crate::groth16::Groth16Engine;
use crate::prover::secret_scalars::from_canonical;
use crate::zkey::header::ZkeyHeader;

const HEADER: u32 = 1;
const VALUES: u32 = 2;
const SECTIONS: [(u32, &str); 2] = [(HEADER, "section 1 (header)"), (VALUES, "section 2 (values)")];

/// Names the parts of a witness in errors: the sections of a file, or the values without a file.
#[derive(Debug, Clone, Copy)]
struct Names {
    header: &'static str,
    values: &'static str,
}

const FILE_NAMES: Names = Names { header: SECTIONS[0].1, values: SECTIONS[1].1 };
const VALUES_NAMES: Names = Names { header: "values", values: "values" };

/// Minimum values that a thread checks at a time: some tens of microseconds of work.
const MIN_VALUES: usize = 1 << 12;

static WTNS: Format = Format { magic: *b"wtns", version: 2, sections: &SECTIONS };

/// Holds the values of a circuit's signals: 1, then public ones, outputs before inputs, then private ones.
///
/// Values are secret. Their memory is cleared on drop; `Debug` and errors show none.
pub struct Witness {
    file: String,
    names: Names,
    curve: CurveId,
    count: u32,
    bytes: Zeroizing<Vec<u8>>,
    values: Range<usize>,
}

impl fmt::Debug for Witness {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Witness {{ file: {:?}, curve: {:?}, {} secret values }}", self.file, self.curve, self.count)
    }
}

impl Witness {
    /// Reads the file at `path`, and checks it.
    ///
    /// # Errors
    /// - [`Error::Read`]: `path` is no regular file, it cannot be read, or there is too little memory.
    /// - [`Self::from_bytes`] lists the errors of its contents.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let mut bytes = Zeroizing::new(Vec::new());
        read_file(path.as_ref(), &name, &mut bytes)?;
        Self::from_secret(name, bytes)
    }

    /// Checks the witness `bytes`, which errors name `file`, and clears them when it ends.
    ///
    /// # Errors
    /// - [`Error::Unsupported`]: another version, or a curve that is neither BN254 nor BLS12-381.
    /// - [`Error::Malformed`]: another magic.
    /// - [`Error::Malformed`]: a section is missing, repeated, ends beyond the file, or has another length than the
    ///   header implies.
    /// - [`Error::Malformed`]: the first value is not 1, or a value is at least r.
    pub fn from_bytes(file: impl Into<String>, bytes: Vec<u8>) -> Result<Self> {
        Self::from_secret(file.into(), Zeroizing::new(bytes))
    }

    fn from_secret(file: String, bytes: Zeroizing<Vec<u8>>) -> Result<Self> {
        let table = SectionTable::parse(&file, &WTNS, &bytes)?;
        let (curve, count) = read_header(&table.section(HEADER)?)?;
        let section = table.section(VALUES)?;
        section.expect_elements(u64::from(count), CurveId::SCALAR_BYTES)?;
        check_values(&section, curve)?;
        let values = section.range;
        Ok(Self { file, names: FILE_NAMES, curve, count, bytes, values })
    }

    /// Checks the witness `values` of `curve`, 32 little-endian bytes each. Errors name `file`. Clears `values` when
    /// the witness ends.
    ///
    /// # Errors
    /// - [`Error::Malformed`]: the length is no multiple of 32 bytes, or there are 2^32 values or more.
    /// - [`Error::Malformed`]: the first value is not 1, or a value is at least r.
    pub fn from_values(file: impl Into<String>, curve: CurveId, values: Vec<u8>) -> Result<Self> {
        let (file, bytes) = (file.into(), Zeroizing::new(values));
        let name = VALUES_NAMES.values;
        let (place, range) = (FileSection { file: &file, section: name }, 0..bytes.len());
        let too_long = |_| place.malformed("length", "less than 2^32 * 32 bytes", bytes.len());
        let count = u32::try_from(bytes.len() / CurveId::SCALAR_BYTES).map_err(too_long)?;
        let section = Section { place, name, bytes: &bytes, range: range.clone() };
        section.expect_elements(u64::from(count), CurveId::SCALAR_BYTES)?;
        check_values(&section, curve)?;
        Ok(Self { file, names: VALUES_NAMES, curve, count, bytes, values: range })
    }

    /// Returns the file's name, as errors have it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the curve whose scalar field has the values.
    pub fn curve(&self) -> CurveId {
        self.curve
    }

    /// Returns the number of values, at least 1.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Returns whether there are no values, which never happens.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns all values, each of 32 bytes: canonical, little-endian, below r.
    pub fn values(&self) -> &[[u8; CurveId::SCALAR_BYTES]] {
        self.bytes.get(self.values.clone()).unwrap_or_default().as_chunks().0
    }

    /// Checks that the witness is for keys with `header`.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`]: the key is of another curve.
    /// - [`Error::WitnessLength`]: the key has another number of signals.
    pub fn check_against(&self, header: &ZkeyHeader) -> Result<()> {
        if self.curve != header.curve {
            let place = FileSection { file: &self.file, section: self.names.header };
            return Err(place.other_curve(header.curve, self.curve));
        }
        if self.count != header.signals {
            let (file, section) = (self.file.clone(), self.names.header.into());
            return Err(Error::WitnessLength { file, section, expected: header.signals, actual: self.count });
        }
        Ok(())
    }

    /// Returns all values as scalars. All threads of rayon's pool take part.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`]: the witness is of another curve than `E`.
    pub(crate) fn to_scalars<E: Groth16Engine>(&self) -> Result<SecretVec<E::Fr>> {
        let place = FileSection { file: &self.file, section: self.names.values };
        if self.curve != E::CURVE {
            return Err(place.other_curve(E::CURVE, self.curve));
        }
        let scalars = from_canonical(self.values());
        scalars.ok_or_else(|| place.malformed("value", "less than r", "one that is not"))
    }

    /// Returns the first `count` public signals: the values behind the first one.
    ///
    /// # Errors
    /// - [`Error::OtherCurve`]: the witness is of another curve than `E`.
    /// - [`Error::Malformed`]: it has fewer values.
    pub fn public_signals<E: Groth16Engine>(&self, count: u32) -> Result<Vec<E::Fr>> {
        let place = FileSection { file: &self.file, section: self.names.values };
        if self.curve != E::CURVE {
            return Err(place.other_curve(E::CURVE, self.curve));
        }
        let values = self.values().get(1..).and_then(|values| values.get(..count as usize));
        let too_few = || place.malformed("length", format!("more than {count} values"), self.count);
        let signals = values.ok_or_else(too_few)?.iter().map(|value| scalar_from_bytes(value));
        signals.collect::<Option<_>>().ok_or_else(|| place.malformed("value", "less than r", "one that is not"))
    }
}

/// Returns curve and number of values.
fn read_header(section: &Section<'_>) -> Result<(CurveId, u32)> {
    let mut fields = Fields::new(section.place, section.bytes);
    let length = fields.u32("length of r")?;
    let curve = CurveId::from_scalar_prime(section.place, fields.bytes("r", u64::from(length))?)?;
    let count = fields.u32("nWitness")?;
    fields.end()?;
    Ok((curve, count))
}

/// Checks that values are below r, and that the first one is 1.
fn check_values(section: &Section<'_>, curve: CurveId) -> Result<()> {
    check_host_threads()?;
    let values = section.bytes.as_chunks::<{ CurveId::SCALAR_BYTES }>().0;
    let mut one = [0; CurveId::SCALAR_BYTES];
    one[0] = 1;
    if values.first() != Some(&one) {
        return Err(section.place.malformed("first value", "1", if values.is_empty() { "none" } else { "another" }));
    }
    let values = values.par_iter().with_min_len(MIN_VALUES);
    match values.position_first(|value| !is_below(value, curve.scalar_prime())) {
        Some(index) => Err(section.place.malformed(format!("value {index}"), "less than r", "one that is not")),
        None => Ok(()),
    }
}
