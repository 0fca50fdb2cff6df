//! Values that only the clauses of recovery take: counts within bounds, waits, and whether a person is asked.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::Spanned;
use toml::de::DeValue;

use super::duration::{DurationFault, parse_duration};
use super::fault::FaultKind;
use super::keys::{FromToml, VARIABLE};
use super::reader::Reader;

/// Most bytes of the sentence that a person is asked.
const LONGEST_QUESTION: usize = 500;

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole<const MIN: u32, const MAX: u32>(pub(super) u32);

impl<const MIN: u32, const MAX: u32> FromToml for Whole<MIN, MAX> {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let DeValue::Integer(integer) = value.get_ref() else {
            return reader.wrong_kind("a whole number", value);
        };
        match u32::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) if (MIN..=MAX).contains(&number) => Some(Self(number)),
            _ => reader.fault(
                value.span(),
                FaultKind::OutOfBounds {
                    least: MIN,
                    most: MAX,
                },
            ),
        }
    }
}

impl<const MIN: u32, const MAX: u32> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("whole_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A wait, as in `"500ms"`; `"0s"` is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pause(pub(super) Duration);

impl FromToml for Pause {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.string("a time such as \"500ms\"", value)?;
        match parse_duration(&text) {
            Ok(duration) => Some(Self(duration)),
            Err(DurationFault::Zero) => Some(Self(Duration::ZERO)),
            Err(fault) => reader.fault(value.span(), FaultKind::Duration(fault)),
        }
    }
}

impl JsonSchema for Pause {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "pause".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": format!("^[0-9]+(ms|s|m|h)$|{VARIABLE}"), "examples": ["500ms"] })
    }
}

/// Is a person asked first? `true`, `false`, or the sentence they are asked.
#[derive(Debug, Clone)]
pub(super) enum Consent {
    /// Nobody is asked.
    Never,
    /// A person is, in these words or in Candor's.
    Asked(Option<String>),
}

impl FromToml for Consent {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Boolean(true) => Some(Self::Asked(None)),
            DeValue::Boolean(false) => Some(Self::Never),
            DeValue::String(text) if text.trim().is_empty() || text.len() > LONGEST_QUESTION => reader.fault(
                value.span(),
                FaultKind::Question {
                    limit: LONGEST_QUESTION,
                },
            ),
            DeValue::String(text) => Some(Self::Asked(Some(text.to_string()))),
            _ => reader.wrong_kind("true, false or a sentence", value),
        }
    }
}

impl JsonSchema for Consent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "consent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "string", "minLength": 1, "maxLength": LONGEST_QUESTION }] })
    }
}
