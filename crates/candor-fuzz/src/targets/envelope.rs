//! Any text as a message: nothing panics, what is read agrees with a plain JSON parser, and a message that is sent on
//! under another id is otherwise the same, byte for byte.

use candor_core::wire::encode::{Edits, span};
use candor_core::wire::envelope::{Body, Malformed, Message, Version, read_as};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::broken::{Broken, law};
use crate::input::text;

/// Words that the reader reacts to.
pub(crate) const WORDS: &[&str] = &[
    "\"jsonrpc\":\"2.0\"",
    "\"jsonrpc\":\"1.0\"",
    "\"id\":1",
    "\"id\":null",
    "\"id\":\"a\\\"b\"",
    "\"id\":1e2",
    "\"i\\u0064\":3",
    "\"method\":\"ping\"",
    "\"method\":\"tools/call\"",
    "\"params\":{}",
    "\"params\":[]",
    "\"params\":null",
    "\"result\":{}",
    "\"result\":null",
    "\"error\":{\"code\":-32602,\"message\":\"no\"}",
    "\"error\":null",
    "[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]",
];

/// The id under which a message is sent on.
const OTHER_ID: &str = "\"candor-7\"";
/// Batches in batches are followed this far.
const BATCHES: usize = 3;

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    message(&text(input), BATCHES)
}

fn message(text: &str, batches: usize) -> Result<(), Broken> {
    for version in [Version::Demanded, Version::Forgiven] {
        let read = read_as(text, version);
        agrees(text, &read)?;
        match &read {
            Ok(Message::Request(request)) => sent_on(text, version, request.id)?,
            Ok(Message::Response(response)) => sent_on(text, version, response.id)?,
            Ok(Message::Batch(members)) if batches > 0 => {
                for member in members {
                    message(member.get(), batches - 1)?;
                }
            }
            Err(Malformed::BadRequest { id, .. }) => {
                law(
                    "an id that is answered is part of the text",
                    span(text, id.get()).is_some(),
                    || id.to_string(),
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// What was read is what a plain parser sees. Where that one refuses (a lone surrogate), there is nothing to compare.
fn agrees(text: &str, read: &Result<Message<'_>, Malformed<'_>>) -> Result<(), Broken> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Ok(());
    };
    let text_of_member =
        |name: &str, raw: &str| value.get(name) == serde_json::from_str::<Value>(raw).ok().as_ref();
    let member = |name: &str, raw: &RawValue| text_of_member(name, raw.get());
    let agrees = match read {
        Ok(Message::Request(request)) => {
            member("id", request.id)
                && value.get("method").and_then(Value::as_str) == Some(&request.method)
                && request
                    .params
                    .is_none_or(|raw| member("params", raw) && raw.get().starts_with('{'))
        }
        Ok(Message::Notification { method, params }) => {
            value.get("id").is_none()
                && value.get("method").and_then(Value::as_str) == Some(method)
                && params.is_none_or(|raw| member("params", raw))
        }
        Ok(Message::Response(response)) => {
            member("id", response.id)
                && value.get("method").is_none()
                && match &response.body {
                    Body::Result(result) => text_of_member("result", result.raw()),
                    Body::Error(raw) => member("error", raw),
                    Body::Both => value.get("result").is_some() && value.get("error").is_some(),
                    Body::Neither => value.get("result").is_none(),
                }
        }
        Ok(Message::Batch(members)) => value.as_array().is_some_and(|array| array.len() == members.len()),
        Err(Malformed::NotJson) => false,
        Err(Malformed::BadRequest { id, .. }) => member("id", id) && value.get("method").is_some(),
        Err(Malformed::BadId) => value.get("method").is_some(),
        Err(Malformed::NotAMessage) => true,
    };
    law("an envelope says what a plain parser sees", agrees, || {
        format!("{read:?} of {value}")
    })
}

/// The message under another id: all else stays, and it reads as the same message.
fn sent_on(text: &str, version: Version, id: &RawValue) -> Result<(), Broken> {
    let Some(place) = span(text, id.get()) else {
        return Err(Broken {
            law: "a message's id is part of its text",
            seen: id.to_string(),
        });
    };
    let (before, after) = (text.get(..place.start), text.get(place.end..));
    let mut edits = Edits::new();
    edits.replace(place, OTHER_ID);
    let other = edits.apply(text);
    let untouched = other
        .strip_prefix(before.unwrap_or_default())
        .and_then(|rest| rest.strip_prefix(OTHER_ID))
        .is_some_and(|rest| Some(rest) == after);
    law("sending on changes the id and nothing else", untouched, || {
        other.clone()
    })?;
    let same = match (read_as(text, version), read_as(&other, version)) {
        (Ok(Message::Request(one)), Ok(Message::Request(other))) => {
            other.id.get() == OTHER_ID
                && one.method == other.method
                && one.params.map(RawValue::get) == other.params.map(RawValue::get)
        }
        (Ok(Message::Response(one)), Ok(Message::Response(other))) => {
            other.id.get() == OTHER_ID && format!("{:?}", one.body) == format!("{:?}", other.body)
        }
        _ => false,
    };
    law("a message sent on is the same message", same, || other.clone())
}
