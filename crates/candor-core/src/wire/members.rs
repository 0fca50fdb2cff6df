//! Objects, read member by member without trusting a decoder to see what others see.
//!
//! Serde reads an array as a struct, and can't hold a name with half a surrogate pair. Both would let a server show
//! Candor one thing and its host another.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::encode::span;

/// Reads an object, and nothing that is no object, as `T`. `raw` is JSON text without white space around it.
pub fn object<'a, T: Deserialize<'a>>(raw: &'a str) -> Option<T> {
    if raw.starts_with('{') {
        serde_json::from_str(raw).ok()
    } else {
        None
    }
}

/// A JSON value in the text it was read from, and where its members stand: no one who wants one of them reads the rest
/// again.
#[derive(Debug, Clone)]
pub struct Opened<'a> {
    raw: &'a str,
    members: Vec<(&'a str, &'a str)>,
}

impl<'a> Opened<'a> {
    /// A value, read by itself.
    pub fn whole(raw: &'a str) -> Self {
        let members = entries(raw).unwrap_or_default();
        Self {
            raw,
            members: members
                .into_iter()
                .map(|(name, value)| (name, value.get()))
                .collect(),
        }
    }

    /// The object in `text` that these are the members of. Nothing where it has none, and its place can't be told by
    /// them.
    pub(super) fn of_members(text: &'a str, read: Option<&Members<'a>>) -> Option<Option<Self>> {
        let Some(Members(read)) = read else {
            return Some(None);
        };
        let (first, _) = read.first()?;
        let (_, last) = read.last()?;
        let before = text.get(..span(text, first.get())?.start)?.trim_ascii_end();
        let after = span(text, last.get())?.end;
        let close = after + text.get(after..)?.find('}')?;
        Some(Some(Self {
            raw: text.get(before.len().checked_sub(1)?..=close)?,
            members: read
                .iter()
                .map(|(name, value)| (name.get(), value.get()))
                .collect(),
        }))
    }

    /// The value as it was written.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// Is it an object?
    pub fn is_object(&self) -> bool {
        self.raw.starts_with('{')
    }

    /// Its members in order, duplicates and all: each name as it was written, quotes included, and its value.
    pub fn members(&self) -> &[(&'a str, &'a str)] {
        &self.members
    }

    /// The first member of a name that needs no escapes, where it was written without any.
    pub fn member(&self, name: &str) -> Option<&'a str> {
        let is_meant =
            |written: &str| written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) == Some(name);
        self.members
            .iter()
            .find(|(written, _)| is_meant(written))
            .map(|(_, value)| *value)
    }

    /// Where it stands in the text it was read from, and its members relative to that text.
    pub fn places(&self, text: &str) -> Option<Places> {
        let place = |(name, value): &(&str, &str)| Some((span(text, name)?, span(text, value)?));
        Some(Places {
            whole: span(text, self.raw)?,
            members: self.members.iter().map(place).collect::<Option<_>>()?,
        })
    }
}

/// Where an opened value stands in a text, for whoever keeps both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    whole: Range<usize>,
    members: Vec<(Range<usize>, Range<usize>)>,
}

impl Places {
    /// The value in the text that the places were taken from.
    pub fn open<'a>(&self, text: &'a str) -> Opened<'a> {
        let at = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default();
        Opened {
            raw: at(&self.whole),
            members: self
                .members
                .iter()
                .map(|(name, value)| (at(name), at(value)))
                .collect(),
        }
    }
}

/// The members of an object while it is read as a part of another.
pub(super) struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Vec<(&'de RawValue, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        from.deserialize_map(Reader).map(Members)
    }
}

/// The members of an object in order, duplicates and all: each name as it was written, quotes included, and its value.
/// `None` where `object` is no JSON object.
pub fn entries(object: &str) -> Option<Vec<(&str, &RawValue)>> {
    let mut rest = object.trim_ascii().strip_prefix('{')?.trim_ascii_start();
    let mut out = Vec::new();
    if rest == "}" {
        return Some(out);
    }
    loop {
        let (name, after) = value(rest)?;
        if !name.get().starts_with('"') {
            return None;
        }
        let after = after.trim_ascii_start().strip_prefix(':')?;
        let (member, after) = value(after)?;
        out.push((name.get(), member));
        rest = after.trim_ascii_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_ascii_start(),
            None => return (rest == "}").then_some(out),
        }
    }
}

/// The JSON value that `text` begins with, and what follows it.
fn value(text: &str) -> Option<(&RawValue, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

/// Does any object in this JSON text name a member twice? Two readers would then see two different values. `value` is
/// what the text was read as: of a member named twice it holds one.
pub fn is_ambiguous(text: &str, value: &Value) -> bool {
    colons(text) > member_count(value)
}

/// How many colons a JSON text has outside its strings: one for each member of its objects (RFC 8259, section 4).
fn colons(text: &str) -> usize {
    let (mut count, mut quoted, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b':' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

fn member_count(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len() + members.values().map(member_count).sum::<usize>(),
        Value::Array(items) => items.iter().map(member_count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_as_they_were_written() {
        let names = |text| {
            entries(text).map(|list| {
                list.iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(
            names(r#"{ "a" : [1, 2] ,"\ud800":{"b":"}"}, "a":1.10 }"#).unwrap(),
            [r#""a"=[1, 2]"#, r#""\ud800"={"b":"}"}"#, r#""a"=1.10"#]
        );
        assert_eq!(names("{}").unwrap().len(), 0);
        for bad in [
            "[]",
            "[[\"a\",1]]",
            "{",
            r#"{"a" 1}"#,
            r#"{"a":1,}"#,
            r#"{1:2}"#,
            "null",
            "",
        ] {
            assert!(entries(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn an_array_is_no_object() {
        #[derive(Deserialize)]
        struct One {
            #[serde(rename = "a")]
            _a: u8,
        }
        assert!(object::<One>("{\"a\":1}").is_some());
        assert!(object::<One>("[1]").is_none());
    }

    #[test]
    fn a_name_twice_at_any_depth_is_seen() {
        for (text, twice) in [
            (r#"{"a":1,"a":2}"#, true),
            (r#"{"a":1,"\u0061":2}"#, true),
            (r#"[{"x":{"a":1.5,"a":1e400}}]"#, true),
            (
                r#"{"a":{"a":1},"b":[{"a":1},{"a":1}],"n":1e400,"m":7205759403792793601}"#,
                false,
            ),
            (r#"{"a:b":":","c\\":"\":","d":{"\\\"x":1}}"#, false),
            (r#"{"a:b":":","c\\":"\":","c\\":1}"#, true),
        ] {
            let value = serde_json::from_str(text).unwrap();
            assert_eq!(is_ambiguous(text, &value), twice, "{text}");
        }
    }
}
