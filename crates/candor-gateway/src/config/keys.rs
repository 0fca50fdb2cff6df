//! The kinds of values that keys hold, each with how it is read and what the JSON Schema says of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use candor_core::contract::mapping::pointer::Pointer;
use candor_core::contract::mapping::scalar::Scalar;
use candor_core::contract::rules::Zone;
use candor_core::contract::terms::Refusal;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Number;
use toml::Spanned;
use toml::de::DeValue;

use super::duration::parse_duration;
use super::fault::FaultKind;
use super::reader::Reader;
use super::words::{OneOf, Word};

/// Most bytes of a server's own code.
const LONGEST_CODE: usize = 80;

/// A string with a variable in it can be anything once it is expanded.
pub(super) const VARIABLE: &str = r"\$\{[^}]+\}";

/// Something that can be read from a TOML value. Faults go to the reader; `None` means that there was one.
pub(super) trait FromToml: Sized {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self>;
}

/// A value and where it and its key are.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) value: T,
    /// Bytes of the value.
    pub(super) span: Range<usize>,
    /// Bytes of its key; of the value itself where it is an item of a list.
    pub(super) key: Range<usize>,
}

impl FromToml for bool {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::Boolean(boolean) => Some(*boolean),
            _ => reader.wrong_kind("true or false", value),
        }
    }
}

impl FromToml for String {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        reader.string("a string", value)
    }
}

/// A string taken as it is written: no variable is put in. Expressions are code, and the messages about them quote
/// them; what the environment holds must be neither.
#[derive(Debug, Clone)]
pub(super) struct Verbatim(pub(super) String);

impl FromToml for Verbatim {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match value.get_ref() {
            DeValue::String(text) => Some(Self(text.to_string())),
            _ => reader.wrong_kind("a string", value),
        }
    }
}

impl JsonSchema for Verbatim {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "verbatim".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl<T: Word> FromToml for OneOf<T> {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.string("a string", value)?;
        if let Some((_, found)) = T::LIST.iter().find(|(word, _)| *word == text) {
            return Some(Self(*found));
        }
        reader.fault(
            value.span(),
            FaultKind::UnknownWord {
                nearest: nearest(&text, T::WORDS),
                known: T::WORDS,
            },
        )
    }
}

/// A deadline, as in `"30s"`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(pub(super) Duration);

impl FromToml for Deadline {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.string("a time such as \"30s\"", value)?;
        match parse_duration(&text) {
            Ok(duration) => Some(Self(duration)),
            Err(fault) => reader.fault(value.span(), FaultKind::Duration(fault)),
        }
    }
}

impl JsonSchema for Deadline {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "deadline".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": format!("^[0-9]+(ms|s|m|h)$|{VARIABLE}"), "examples": ["30s"] })
    }
}

/// A JSON Pointer.
#[derive(Debug, Clone)]
pub(super) struct Path(pub(super) Pointer);

impl FromToml for Path {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.string("a JSON Pointer such as \"/status\"", value)?;
        match text.parse() {
            Ok(pointer) => Some(Self(pointer)),
            Err(fault) => reader.fault(value.span(), FaultKind::Pointer(fault)),
        }
    }
}

impl JsonSchema for Path {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "pointer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": format!("^(/([^~]|~[01])*)?$|{VARIABLE}"), "examples": ["/status"] })
    }
}

/// A value that is there, whether it can be read or not: what depends on its absence is not said of a bad one.
#[derive(Debug, Clone)]
pub(super) struct Tried<T>(pub(super) Option<T>);

impl<T: FromToml> FromToml for Tried<T> {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self(T::read(value, reader)))
    }
}

impl<T: JsonSchema> JsonSchema for Tried<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The name of a time zone.
#[derive(Debug, Clone)]
pub(super) struct ZoneName(pub(super) Zone);

impl FromToml for ZoneName {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.string("a time zone such as \"Europe/Zurich\"", value)?;
        match Zone::named(&text) {
            Some(zone) => Some(Self(zone)),
            None => reader.fault(value.span(), FaultKind::TimeZone),
        }
    }
}

impl JsonSchema for ZoneName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "time_zone".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["Europe/Zurich", "UTC"] })
    }
}

/// A value that an outcome lists: a string as it is written, a number or a boolean. TOML has no null.
#[derive(Debug, Clone)]
pub(super) struct Listed(pub(super) Scalar);

impl FromToml for Listed {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        const EXPECTED: &str = "a string, a number or a boolean";
        let number = match value.get_ref() {
            DeValue::String(text) => return Some(Self(Scalar::Text(text.to_string()))),
            DeValue::Boolean(boolean) => return Some(Self(Scalar::Boolean(*boolean))),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(Number::from),
            DeValue::Float(float) => float.as_str().parse().ok().and_then(Number::from_f64),
            _ => return reader.wrong_kind(EXPECTED, value),
        };
        match number {
            Some(number) => Some(Self(Scalar::Number(number))),
            None => reader.fault(value.span(), FaultKind::NotANumber),
        }
    }
}

impl JsonSchema for Listed {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}

/// The code of a refusal.
#[derive(Debug, Clone)]
pub(super) struct Code(pub(super) Refusal);

impl FromToml for Code {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let integer = match value.get_ref() {
            DeValue::Integer(integer) => integer,
            DeValue::String(text) if is_own_code(text) => {
                return Some(Self(Refusal::Code(text.to_string())));
            }
            DeValue::String(_) => {
                return reader.fault(value.span(), FaultKind::OwnCode { limit: LONGEST_CODE });
            }
            _ => return reader.wrong_kind("a whole number such as -32602, or a code as a string", value),
        };
        match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(code @ i64::MIN..=-1) => Some(Self(Refusal::JsonRpc(code))),
            // The range is within u16; the fallback can't be reached.
            Ok(status @ 400..=499) => Some(Self(Refusal::Http(u16::try_from(status).unwrap_or(400)))),
            _ => reader.fault(value.span(), FaultKind::Refusal),
        }
    }
}

/// A server's own code. What looks like a JSON-RPC code or an HTTP status is one, and has its own spelling.
fn is_own_code(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= LONGEST_CODE
        && !text
            .parse()
            .is_ok_and(|code: i64| matches!(code, i64::MIN..=-1 | 400..=499))
}

impl JsonSchema for Code {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "refusal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "maximum": -1 }, { "type": "integer", "minimum": 400, "maximum": 499 }, { "type": "string", "minLength": 1, "maxLength": LONGEST_CODE }] })
    }
}

/// A list. What can be read of it is kept beside the faults, so that later ones are found too.
impl<T: FromToml> FromToml for Vec<Placed<T>> {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let DeValue::Array(items) = value.get_ref() else {
            return reader.wrong_kind("a list", value);
        };
        Some(
            items
                .iter()
                .filter_map(|item| reader.placed(item.span(), item))
                .collect(),
        )
    }
}

/// Tables under names that the operator chooses.
impl<T: FromToml> FromToml for BTreeMap<String, Placed<T>> {
    fn read(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let DeValue::Table(members) = value.get_ref() else {
            return reader.wrong_kind("a table", value);
        };
        let members = members.iter();
        Some(
            members
                .filter_map(|(key, item)| Some((key.get_ref().to_string(), reader.placed(key.span(), item)?)))
                .collect(),
        )
    }
}

/// Positions are no part of the file's shape.
impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// What a value is, in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// The known word that `word` is most probably meant to be: one that it begins, or one that is few letters away.
pub(super) fn nearest(word: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let word = word.to_lowercase().replace('-', "_");
    let begun = known
        .iter()
        .find(|candidate| candidate.starts_with(&format!("{word}_")));
    let scored = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, candidate), *candidate));
    let close = scored.filter(|(distance, candidate)| distance * 5 <= candidate.len().max(5) * 2);
    begun.copied().or_else(|| {
        close
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate)
    })
}
