//! Single JSON values, compared exactly: `1` is `1.0`, and integers of any length keep every digit.

use std::fmt;

use serde_json::{Number, Value};

/// A string, number, boolean or null. Objects and arrays are no scalars.
#[derive(Debug, Clone)]
pub enum Scalar {
    /// JSON `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number with the digits it was written with.
    Number(Number),
    /// A string, compared character by character, case and all.
    Text(String),
}

impl Scalar {
    /// The scalar in `value`, if it is one.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Null),
            Value::Bool(boolean) => Some(Self::Boolean(*boolean)),
            Value::Number(number) => Some(Self::Number(number.clone())),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The value as a person would quote it: strings without quotes, the rest as JSON.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// JSON text: strings in quotes.
impl fmt::Display for Scalar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Boolean(boolean) => write!(out, "{boolean}"),
            Self::Number(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "{}", Value::String(text.clone())),
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Boolean(left), Self::Boolean(right)) => left == right,
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::Number(left), Self::Number(right)) => same_number(left, right),
            _ => false,
        }
    }
}

impl Eq for Scalar {}

fn same_number(left: &Number, right: &Number) -> bool {
    let (left, right) = (left.to_string(), right.to_string());
    left == right || matches!((Decimal::read(&left), Decimal::read(&right)), (Some(l), Some(r)) if l == r)
}

/// A decimal number in the one form that equal numbers share: no zeros at either end of its digits.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    /// Power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number; `None` where its exponent is beyond counting.
    fn read(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0').trim_end_matches('0');
        if digits.is_empty() {
            return Some(Self {
                negative: false,
                digits: String::new(),
                exponent: 0,
            });
        }
        let cut = all.len() - all.trim_end_matches('0').len();
        let exponent = exponent
            .parse::<i64>()
            .ok()?
            .checked_sub(i64::try_from(fraction.len()).ok()?)?
            .checked_add(i64::try_from(cut).ok()?)?;
        Some(Self {
            negative,
            digits: digits.to_owned(),
            exponent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(json: &str) -> Scalar {
        Scalar::of(&serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        let pairs = [
            ("1", "1.0"),
            ("10", "1e1"),
            ("0", "-0.0"),
            ("0", "0e400"),
            ("1200", "1.2E+3"),
            ("0.05", "5e-2"),
            ("7205759403792793601", "7205759403792793601.000"),
            (
                "123456789012345678901234567890",
                "12345678901234567890123456789e1",
            ),
            ("1e400", "10e399"),
        ];
        for (left, right) in pairs {
            assert_eq!(scalar(left), scalar(right), "{left} {right}");
        }
    }

    #[test]
    fn near_misses_are_not_equal() {
        let pairs = [
            ("7205759403792793601", "7205759403792793600"),
            ("1", "\"1\""),
            ("1", "true"),
            ("0", "false"),
            ("0", "null"),
            ("\"a\"", "\"A\""),
            ("\"a\"", "\"a \""),
            ("1", "-1"),
            ("1", "10"),
            ("0.1", "0.10000000000000001"),
            ("1e99999999999999999999", "1e99999999999999999998"),
        ];
        for (left, right) in pairs {
            assert_ne!(scalar(left), scalar(right), "{left} {right}");
        }
    }

    #[test]
    fn a_number_too_large_to_count_equals_itself() {
        assert_eq!(scalar("1e99999999999999999999"), scalar("1e99999999999999999999"));
    }

    #[test]
    fn containers_are_no_scalars() {
        assert!(Scalar::of(&serde_json::json!([])).is_none());
        assert!(Scalar::of(&serde_json::json!({})).is_none());
    }
}
