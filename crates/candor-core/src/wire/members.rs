//! Objects, read member by member without trusting a decoder to see what others see.
//!
//! Serde reads an array as a struct, and can't hold a name with half a surrogate pair. Both would let a server show
//! Candor one thing and its host another.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Reads an object, and nothing that is no object, as `T`.
pub fn object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    if raw.get().starts_with('{') {
        serde_json::from_str(raw.get()).ok()
    } else {
        None
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

/// Does any object in this JSON text name a member twice? Two readers would then see two different values. A text that
/// is no JSON names nothing.
pub fn is_ambiguous(text: &str) -> bool {
    let mut twice = false;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // An error here means no JSON, or a name that no text can hold; what was seen until then counts.
    let _ = Unique(&mut twice).deserialize(&mut deserializer);
    twice
}

struct Unique<'t>(&'t mut bool);

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Unique(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // A number of arbitrary precision comes as a map of one made-up member; it can't repeat it.
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            *self.0 |= !names.insert(name);
            map.next_value_seed(Unique(self.0))?;
        }
        Ok(())
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
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert!(object::<One>(&raw("{\"a\":1}")).is_some());
        assert!(object::<One>(&raw("[1]")).is_none());
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
            ("no json", false),
        ] {
            assert_eq!(is_ambiguous(text), twice, "{text}");
        }
    }
}
