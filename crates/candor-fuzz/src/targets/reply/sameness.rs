//! What stays of a server's answer, found by readers that know nothing of how answers are edited.

use std::fmt;

use candor_core::judgment::ruling::{Bytes, Flag, Ruling};
use candor_core::wire::envelope::{Body, Message, read};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::broken::{Broken, law};
use crate::targets::shape::same_but_strings;

/// The members of an object as they are written, in order, doubles and all.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some((name, raw)) = map.next_entry::<Box<RawValue>, Box<RawValue>>()? {
                    // A name that no text can hold (half a surrogate pair) is known by how it is written.
                    let name = serde_json::from_str(name.get()).unwrap_or_else(|_| name.get().to_owned());
                    members.push((name, raw));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(InOrder)
    }
}

impl Members {
    fn of(raw: &str) -> Option<Self> {
        serde_json::from_str(raw).ok()
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(of, _)| of == name);
        found.map(|(_, raw)| raw.get())
    }

    fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|(of, _)| of == name).count()
    }
}

/// The frame with the caller's id in the place of its own, by text alone.
fn renamed(frame: &str, caller: &str) -> Option<String> {
    let Ok(Message::Response(response)) = read(frame) else {
        return None;
    };
    let id = response.id.get();
    let at = (id.as_ptr() as usize).checked_sub(frame.as_ptr() as usize)?;
    Some(format!(
        "{}{caller}{}",
        frame.get(..at)?,
        frame.get(at + id.len()..)?
    ))
}

fn result(frame: &str) -> Option<&str> {
    match read(frame) {
        Ok(Message::Response(response)) => match response.body {
            Body::Result(result) => Some(result.raw()),
            Body::Error(_) | Body::Both | Body::Neither => None,
        },
        _ => None,
    }
}

/// An error that goes on as it came, but for masked strings and the word that they are.
pub(super) fn passed(frame: &str, out: &str, caller: &str) -> Result<(), Broken> {
    if renamed(frame, caller).as_deref() == Some(out) {
        return Ok(());
    }
    let seen = || format!("{out} of {frame}");
    let (Some(before), Some(after)) = (
        error(frame).and_then(Members::of),
        error(out).and_then(Members::of),
    ) else {
        return law("a passed error that changes is an object", false, seen);
    };
    let kept = before.0.len() == after.0.len()
        && before
            .0
            .iter()
            .zip(&after.0)
            .all(|((name, old), (other, new))| match name.as_str() {
                _ if name != other => false,
                "code" => old.get() == new.get(),
                _ => like(old.get(), new.get(), Some("candor/redacted")),
            });
    law("a passed error changes by masks alone", kept, seen)
}

/// The same JSON, but for masked strings and one member that may have been added.
fn like(old: &str, new: &str, added: Option<&str>) -> bool {
    if old == new {
        return true;
    }
    let values = (
        serde_json::from_str::<Value>(old),
        serde_json::from_str::<Value>(new),
    );
    match values {
        (Ok(old), Ok(mut new)) => {
            if let (Some(added), Value::Object(members)) = (added, &mut new)
                && old.get(added).is_none()
            {
                members.shift_remove(added);
            }
            same_but_strings(&old, &new)
        }
        // What no plain parser reads (half a surrogate pair) can't be compared.
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

fn error(frame: &str) -> Option<&str> {
    match read(frame) {
        Ok(Message::Response(response)) => match response.body {
            Body::Error(raw) => Some(raw.get()),
            Body::Result(_) | Body::Both | Body::Neither => None,
        },
        _ => None,
    }
}

/// A result with nothing wrong: one insertion, and it is Candor's members of `_meta`.
pub(super) fn untouched(frame: &str, out: &str, caller: &str) -> Result<(), Broken> {
    let seen = || format!("{out} of {frame}");
    let (Some(expected), Some(before), Some(after)) = (
        renamed(frame, caller),
        result(frame).and_then(Members::of),
        result(out).and_then(Members::of),
    ) else {
        return law("an untouched result is an object before and after", false, seen);
    };
    let meta = before.get("_meta");
    let rewritten = meta == Some("null")
        || (meta.is_some_and(|raw| Members::of(raw).is_none()) && after.get("_meta") != meta)
        || meta
            .and_then(Members::of)
            .is_some_and(|meta| meta.0.iter().any(|(name, _)| name.starts_with("candor/")));
    if !rewritten {
        let same = expected
            .bytes()
            .zip(out.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        let rest = expected.as_bytes().get(same..).unwrap_or_default();
        law(
            "a result with nothing wrong keeps every byte",
            out.len() >= expected.len() && out.as_bytes().ends_with(rest),
            seen,
        )?;
    }
    same_members(&before, &after, &["_meta"], Masks::No, seen)?;
    disclosed(&before, &after, Masks::No, seen)
}

/// A result with a block, a flag or a mask: what is not one of these stays.
pub(super) fn reworked(frame: &str, out: &str, ruling: &Ruling) -> Result<(), Broken> {
    let seen = || format!("{out} of {frame}");
    let (Some(before), Some(after)) = (
        result(frame).and_then(Members::of),
        result(out).and_then(Members::of),
    ) else {
        return law("a reworked result is an object before and after", false, seen);
    };
    let masks = if ruling.flag == Flag::Set {
        Masks::May
    } else {
        Masks::No
    };
    same_members(&before, &after, &["_meta", "isError", "content"], masks, seen)?;
    disclosed(&before, &after, masks, seen)?;
    if ruling.flag == Flag::Set {
        let flagged = after.get("isError") == Some("true") && after.count("isError") == 1;
        law("a flagged result has its flag", flagged, seen)?;
    }
    let blocks = |members: &Members| -> Option<Vec<Box<RawValue>>> {
        serde_json::from_str(members.get("content")?).ok()
    };
    let (old, Some(new)) = (blocks(&before).unwrap_or_default(), blocks(&after)) else {
        return law("a reworked result has blocks", false, seen);
    };
    let added = new.len().checked_sub(old.len());
    let as_ruled = match ruling.bytes {
        Bytes::Prefixed => added == Some(1) && new.first().is_some_and(|block| opens(block, ruling)),
        _ => matches!(added, Some(0 | 1)),
    };
    law(
        "one block at most comes first, with the ruling's words",
        as_ruled,
        seen,
    )?;
    let kept = new
        .iter()
        .skip(added.unwrap_or_default())
        .zip(&old)
        .all(|(new, old)| masks.allow(old.get(), new.get()));
    law("the server's blocks stay, but for masked text", kept, seen)
}

/// A result or error that Candor wrote.
pub(super) fn authored(out: &str, operation: u128) -> Result<(), Broken> {
    let id = uuid::Uuid::from_u128(operation).hyphenated().to_string();
    let value: Value = serde_json::from_str(out).unwrap_or_default();
    let at = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let named = at("/result/_meta/candor~1verdict/operationId")
        .or_else(|| at("/error/data/candor~1verdict/operationId"));
    law(
        "what Candor writes says of which operation",
        named == Some(id),
        || out.to_owned(),
    )
}

fn opens(block: &RawValue, ruling: &Ruling) -> bool {
    let block: Value = serde_json::from_str(block.get()).unwrap_or_default();
    let text = block.get("text").and_then(Value::as_str);
    text.is_some_and(|text| text.starts_with(ruling.opening.as_str()))
}

/// May strings differ by masks? In a flagged answer they may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Masks {
    May,
    No,
}

impl Masks {
    fn allow(self, old: &str, new: &str) -> bool {
        old == new || (self == Self::May && like(old, new, None))
    }
}

/// Every member of the server's is there, in its order and as it was written; only these may differ or be added.
fn same_members(
    before: &Members,
    after: &Members,
    but: &[&str],
    masks: Masks,
    seen: impl Fn() -> String,
) -> Result<(), Broken> {
    let kept = before.0.iter().zip(&after.0).all(|((name, old), (other, new))| {
        name == other && (but.contains(&name.as_str()) || masks.allow(old.get(), new.get()))
    });
    let added = after
        .0
        .iter()
        .skip(before.0.len())
        .all(|(name, _)| but.contains(&name.as_str()));
    law(
        "members keep their order and their text",
        kept && added && after.0.len() >= before.0.len(),
        seen,
    )
}

/// The verdict stands in `_meta` once, and what the server put there stays, out of Candor's keys.
fn disclosed(
    before: &Members,
    after: &Members,
    masks: Masks,
    seen: impl Fn() -> String,
) -> Result<(), Broken> {
    let old = match before.get("_meta") {
        None | Some("null") => Members(Vec::new()),
        Some(raw) => match Members::of(raw) {
            Some(old) => old,
            // No object: it stays as it is and there is no place for a verdict, or it gives way to one.
            None if after.get("_meta") == Some(raw) => return Ok(()),
            None => Members(Vec::new()),
        },
    };
    let Some(new) = after.get("_meta").and_then(Members::of) else {
        return law("a result has its verdict", false, seen);
    };
    let kept = old.0.iter().zip(&new.0).all(|((name, old), (renamed, new))| {
        let ours = name.starts_with("candor/");
        masks.allow(old.get(), new.get())
            && (ours == renamed.starts_with("candor/claimed"))
            && (ours || name == renamed)
    });
    law(
        "a server's _meta stays, out of Candor's keys",
        kept && new.0.len() > old.0.len(),
        &seen,
    )?;
    let own = new
        .get("candor/verdict")
        .is_some_and(|raw| raw.contains("operationId"));
    law(
        "the verdict is there once, and is Candor's",
        own && new.count("candor/verdict") == 1,
        seen,
    )
}
