//! JSON into the expression language and back into words.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value as CelValue;
use cel::objects::{Key, Map};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::date::DatePattern;

/// How large `arguments` are: their JSON text in bytes, roughly, and how many values they hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Bytes of JSON text, give or take spaces and escapes.
    pub(super) bytes: usize,
    /// Values of any kind, the containers included.
    pub(super) values: usize,
}

impl Size {
    /// Measures `value`, and stops soon after `limit` bytes.
    pub(super) fn of(value: &Value, limit: usize) -> Self {
        let mut size = Self::default();
        size.add(value, limit);
        size
    }

    fn add(&mut self, value: &Value, limit: usize) {
        if self.bytes > limit {
            return;
        }
        self.values += 1;
        self.bytes += 1;
        match value {
            Value::Null | Value::Bool(_) => self.bytes += 4,
            Value::Number(number) => self.bytes += number.as_str().len(),
            Value::String(text) => self.bytes += text.len() + 2,
            Value::Array(items) => items.iter().for_each(|item| self.add(item, limit)),
            Value::Object(members) => {
                for (name, member) in members {
                    self.bytes += name.len() + 3;
                    self.add(member, limit);
                }
            }
        }
    }
}

/// JSON as the expression language has it. Integers within 64 bits with sign are `int`, other numbers `double`:
/// unsigned ones would not even multiply with a literal.
pub(super) fn from_json(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(boolean) => CelValue::Bool(*boolean),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => CelValue::Int(integer),
            None => CelValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(from_json).collect())),
        Value::Object(members) => {
            let map: HashMap<Key, CelValue> = members
                .iter()
                .map(|(name, member)| (Key::String(Arc::new(name.clone())), from_json(member)))
                .collect();
            CelValue::Map(Map { map: Arc::new(map) })
        }
    }
}

/// JSON out of the expression language: times as RFC 3339, a number that JSON has no form for as null. `None` for what is
/// no JSON at all.
pub(super) fn to_json(value: &CelValue) -> Option<Value> {
    Some(match value {
        CelValue::Null => Value::Null,
        CelValue::Bool(boolean) => Value::Bool(*boolean),
        CelValue::Int(number) => Value::from(*number),
        CelValue::UInt(number) => Value::from(*number),
        CelValue::Float(number) => Value::from(*number),
        CelValue::String(text) => Value::String(text.to_string()),
        CelValue::Timestamp(_) => Value::String(to_time(value)?.to_string()),
        CelValue::List(items) => Value::Array(items.iter().map(to_json).collect::<Option<_>>()?),
        CelValue::Map(map) => {
            let mut members = serde_json::Map::new();
            // The evaluator's maps have no order; a sorted one is the same each time.
            let mut names: Vec<(&Key, &CelValue)> = map.map.iter().collect();
            names.sort_by_key(|(key, _)| key.to_string());
            for (key, member) in names {
                let Key::String(name) = key else { return None };
                members.insert(name.to_string(), to_json(member)?);
            }
            Value::Object(members)
        }
        _ => return None,
    })
}

/// A point in time as the expression language has it; `None` outside the years 1 to 9999.
pub(super) fn from_time(time: Timestamp) -> Option<CelValue> {
    // Its type belongs to another date library, which this crate need not name: both read and write RFC 3339.
    Some(CelValue::Timestamp(time.to_string().parse().ok()?))
}

/// The point in time that `value` is, if it is one.
pub(super) fn to_time(value: &CelValue) -> Option<Timestamp> {
    match value {
        CelValue::Timestamp(time) => time.to_rfc3339().parse().ok(),
        _ => None,
    }
}

/// What a message shows for `value`; a container is named, not written out.
pub(super) fn to_words(value: &CelValue, zone: &TimeZone) -> String {
    match value {
        CelValue::Null => "null".to_owned(),
        CelValue::Bool(boolean) => boolean.to_string(),
        CelValue::Int(number) => number.to_string(),
        CelValue::UInt(number) => number.to_string(),
        CelValue::Float(number) => number.to_string(),
        CelValue::String(text) => text.to_string(),
        CelValue::Timestamp(_) => match (to_time(value), DatePattern::parse("yyyy-mm-dd HH:MM")) {
            (Some(time), Ok(pattern)) => pattern.write(time, zone),
            _ => "a time".to_owned(),
        },
        other => kind(other).to_owned(),
    }
}

/// The kind of `value`, with its article.
pub(super) fn kind(value: &CelValue) -> &'static str {
    match value {
        CelValue::Null => "null",
        CelValue::Bool(_) => "a boolean",
        CelValue::Int(_) | CelValue::UInt(_) | CelValue::Float(_) => "a number",
        CelValue::String(_) => "a string",
        CelValue::List(_) => "a list",
        CelValue::Map(_) => "an object",
        CelValue::Timestamp(_) => "a time",
        CelValue::Duration(_) => "a duration",
        CelValue::Bytes(_) => "bytes",
        _ => "another kind of value",
    }
}
