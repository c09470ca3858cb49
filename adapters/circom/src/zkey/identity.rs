//! Identifies a zkey without a read of all its bytes.

/// Bytes that precede the first section: magic, version, number of sections.
const FILE_HEADER: usize = 12;

/// Bytes that precede a section's contents: its type and length.
const SECTION_HEADER: usize = 12;

/// Sections whose contents are compared: protocol, header, IC, contributions.
const COMPARED: [u32; 4] = [1, 2, 3, 10];

/// Identifies a zkey by its length, the lengths of all sections, and the contents of some.
///
/// Zkeys of equal identity have the same verification key, so a proof by the key of one is verified by that of the
/// other. The contributions include snarkjs's hash of the circuit's points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZkeyIdentity {
    bytes: usize,
    /// The headers of the file and of all sections, and the contents of those that are compared.
    outline: Vec<u8>,
}

impl ZkeyIdentity {
    /// Returns the identity of the zkey `bytes`, or `None` if a section ends beyond it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (header, mut rest) = bytes.split_at_checked(FILE_HEADER)?;
        let mut outline = header.to_vec();
        for _ in 0..u32::from_le_bytes(*header.last_chunk()?) {
            let (compared, tail) = split_section(rest)?;
            outline.extend_from_slice(compared);
            rest = tail;
        }
        Some(Self { bytes: bytes.len(), outline })
    }
}

/// Returns the bytes of the first section of `bytes` that are compared, and those after the section.
fn split_section(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (header, contents) = bytes.split_at_checked(SECTION_HEADER)?;
    let section_type = u32::from_le_bytes(*header.first_chunk()?);
    let length = usize::try_from(u64::from_le_bytes(*header.last_chunk()?)).ok()?;
    let tail = contents.get(length..)?;
    let section = if COMPARED.contains(&section_type) { &bytes[..SECTION_HEADER + length] } else { header };
    Some((section, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file of the sections 1, 5 and 10, whose contents are 4 times a byte.
    fn file(contents: [u8; 3]) -> Vec<u8> {
        let mut bytes = [*b"zkey", 1_u32.to_le_bytes(), 3_u32.to_le_bytes()].concat();
        for (section, byte) in [1_u32, 5, 10].iter().zip(contents) {
            bytes.extend(section.to_le_bytes());
            bytes.extend(4_u64.to_le_bytes());
            bytes.extend([byte; 4]);
        }
        bytes
    }

    #[test]
    fn zkeys_with_other_verification_keys_or_lengths_differ() {
        let identity = |contents| ZkeyIdentity::from_bytes(&file(contents)).expect("whole sections");
        assert_eq!(identity([1, 5, 10]), identity([1, 6, 10]));
        assert_ne!(identity([1, 5, 10]), identity([2, 5, 10]));
        assert_ne!(identity([1, 5, 10]), identity([1, 5, 11]));
        let longer = [file([1, 5, 10]), vec![0]].concat();
        assert_ne!(Some(identity([1, 5, 10])), ZkeyIdentity::from_bytes(&longer));
    }

    #[test]
    fn cut_zkeys_have_no_identity() {
        let bytes = file([1, 5, 10]);
        assert!((0..bytes.len()).all(|length| ZkeyIdentity::from_bytes(&bytes[..length]).is_none()));
    }
}
