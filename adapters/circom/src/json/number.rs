//! Reads and writes integers as snarkjs does.

use std::fmt;

use num_bigint::BigUint;
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum digits of a number: more than q of BLS12-381 has, and few enough to convert at once.
const MAX_DIGITS: usize = 160;

/// An integer, written as a string of decimal digits. A string of `0x` and hexadecimal digits, or a JSON number below
/// 2^64, is read too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number(pub BigUint);

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a string of at most {MAX_DIGITS} decimal digits")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number(number.into()))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
        parse(text).map(Number).ok_or_else(|| {
            // A text that is far too long is not repeated.
            let unexpected =
                if text.len() <= MAX_DIGITS { Unexpected::Str(text) } else { Unexpected::Other("a longer one") };
            E::invalid_value(unexpected, &self)
        })
    }
}

fn parse(text: &str) -> Option<BigUint> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let is_number = (1..=MAX_DIGITS).contains(&digits.len()) && digits.chars().all(|digit| digit.is_digit(radix));
    if is_number { BigUint::parse_bytes(digits.as_bytes(), radix) } else { None }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits() {
        let read =
            |text: &str| serde_json::from_str::<Number>(text).map(|number| number.0).map_err(|error| error.to_string());
        for (text, expected) in [("\"12\"", 12_u8), ("12", 12), ("\"0x1f\"", 31), ("\"0\"", 0), ("\"007\"", 7)] {
            assert_eq!(read(text), Ok(expected.into()), "{text}");
        }
        let long = format!("\"{}\"", "1".repeat(MAX_DIGITS + 1));
        for text in ["\"\"", "\"-1\"", "-1", "1.5", "\"1_0\"", "\"+1\"", "\"0x\"", "\" 1\"", "null", "[]", &long] {
            let error = read(text).expect_err(text);
            assert!(error.contains("decimal digits"), "{text}: {error}");
        }
        assert_eq!(serde_json::to_string(&Number(258_u32.into())).expect("a string"), "\"258\"");
    }
}
