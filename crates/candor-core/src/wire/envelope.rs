//! One JSON-RPC message, read as far as its envelope.
//!
//! Which kind of message it is follows from which members are present, never from what is inside them.
//! A second member of the same name is refused: two readers would see two different messages.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::members::{Members, Opened};

/// One message, borrowing from the text it was read from.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request: it has an id and wants one answer.
    Request(Request<'a>),
    /// A notification: it wants none.
    Notification {
        /// The method's name.
        method: Cow<'a, str>,
        /// Its parameters, as they came.
        params: Option<&'a RawValue>,
    },
    /// An answer to a request.
    Response(Response<'a>),
    /// A batch (2025-03-26): its members, unread.
    Batch(Vec<&'a RawValue>),
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    /// The id as it was written: `1`, `1.0` and `"1"` are three different ids.
    pub id: &'a RawValue,
    /// The method's name.
    pub method: Cow<'a, str>,
    /// Its parameters, as they came.
    pub params: Option<&'a RawValue>,
}

/// An answer.
#[derive(Debug)]
pub struct Response<'a> {
    /// The id as it was written.
    pub id: &'a RawValue,
    /// What it carries.
    pub body: Body<'a>,
}

/// What an answer carries.
#[derive(Debug, Clone)]
pub enum Body<'a> {
    /// `result` alone (a null `error` beside it counts as absent).
    Result(Opened<'a>),
    /// `error` alone (a null `result` beside it counts as absent).
    Error(&'a RawValue),
    /// Both: nobody can say which one is meant.
    Both,
    /// Neither.
    Neither,
}

/// Why a text is no message.
#[derive(Debug)]
pub enum Malformed<'a> {
    /// Not JSON (or not UTF-8).
    NotJson,
    /// JSON, but no JSON-RPC 2.0 object: never an answer, never matched to an id.
    NotAMessage,
    /// A request whose `id` is null, or neither a string nor a number.
    BadId,
    /// A request with a good id that is wrong otherwise.
    BadRequest {
        /// Its id, so that it gets its answer.
        id: &'a RawValue,
        /// What is wrong with it.
        why: &'static str,
        /// The method, raw, whatever it is.
        method: Option<&'a RawValue>,
    },
}

/// The members of an envelope; `R` is how its result is read.
#[derive(Deserialize)]
#[serde(bound(deserialize = "R: Deserialize<'de>"))]
struct Envelope<'a, R> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default = "none", deserialize_with = "present_as")]
    result: Option<R>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn none<R>() -> Option<R> {
    None
}

fn present_as<'de, R: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<R>, D::Error> {
    R::deserialize(from).map(Some)
}

/// Keeps "absent" and "null" apart, which `Option` alone does not.
pub(crate) fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Whether the member `jsonrpc` must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// It must. From a server, an object without it is a log line that happens to be JSON.
    Demanded,
    /// A request or notification may lack it: what a host says to its server goes on as it came, and the server
    /// judges it. A wrong version is still refused.
    Forgiven,
}

/// Reads one frame in which `jsonrpc` is demanded.
///
/// # Errors
/// Where the text is no JSON-RPC 2.0 message; the reason keeps the id wherever an answer is still owed.
pub fn read(text: &str) -> Result<Message<'_>, Malformed<'_>> {
    read_as(text, Version::Demanded)
}

/// Reads one frame.
///
/// # Errors
/// Where the text is no JSON-RPC 2.0 message; the reason keeps the id wherever an answer is still owed.
pub fn read_as(text: &str, version: Version) -> Result<Message<'_>, Malformed<'_>> {
    match first_byte(text) {
        Some(b'{') => read_object(text, version),
        Some(b'[') => match serde_json::from_str(text) {
            Ok(members) => Ok(Message::Batch(members)),
            Err(_) => Err(Malformed::NotJson),
        },
        _ if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => Err(Malformed::NotAMessage),
        _ => Err(Malformed::NotJson),
    }
}

fn read_object(text: &str, version: Version) -> Result<Message<'_>, Malformed<'_>> {
    // A result that is an object with members is opened on the way: the answer to a call is read once. Whatever else
    // it is costs a second reading.
    let envelope = serde_json::from_str::<Envelope<'_, Members<'_>>>(text)
        .ok()
        .and_then(|envelope| {
            Opened::of_members(text, envelope.result.as_ref()).map(|result| (envelope, result))
        });
    if let Some((envelope, result)) = envelope {
        return read_members(&envelope, result, version);
    }
    let mut envelope =
        serde_json::from_str::<Envelope<'_, &RawValue>>(text).map_err(|fault| match fault.classify() {
            // The envelope's own refusal: JSON, but with a member twice.
            serde_json::error::Category::Data => Malformed::NotAMessage,
            _ => Malformed::NotJson,
        })?;
    let result = envelope.result.take().map(|raw| Opened::whole(raw.get()));
    read_members(&envelope, result, version)
}

fn read_members<'a, R>(
    envelope: &Envelope<'a, R>,
    result: Option<Opened<'a>>,
    version: Version,
) -> Result<Message<'a>, Malformed<'a>> {
    let versioned = envelope.jsonrpc.is_some_and(|version| version.get() == "\"2.0\"");
    let forgiven = envelope.jsonrpc.is_none() && version == Version::Forgiven;
    let (id, error) = (envelope.id, envelope.error);
    let id = match (envelope.method, id) {
        (Some(method), id) => return read_call(versioned || forgiven, method, id, envelope.params),
        (None, Some(id)) if versioned && is_id(id) => id,
        (None, _) => return Err(Malformed::NotAMessage),
    };
    Ok(Message::Response(Response {
        id,
        body: body(result, error),
    }))
}

fn read_call<'a>(
    versioned: bool,
    method: &'a RawValue,
    id: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
) -> Result<Message<'a>, Malformed<'a>> {
    let fault = |why| match id {
        Some(id) if is_id(id) => Malformed::BadRequest {
            id,
            why,
            method: Some(method),
        },
        Some(_) => Malformed::BadId,
        None => Malformed::NotAMessage,
    };
    if !versioned {
        return Err(fault("the member \"jsonrpc\" must be \"2.0\""));
    }
    let Ok(method) = text_of(method.get()) else {
        return Err(fault("the member \"method\" must be a string"));
    };
    if let Some(params) = params
        && !matches!(first_byte(params.get()), Some(b'{'))
    {
        return Err(fault("the member \"params\" must be an object"));
    }
    match id {
        None => Ok(Message::Notification { method, params }),
        Some(id) if is_id(id) => Ok(Message::Request(Request { id, method, params })),
        Some(_) => Err(Malformed::BadId),
    }
}

fn body<'a>(result: Option<Opened<'a>>, error: Option<&'a RawValue>) -> Body<'a> {
    let error = error.filter(|raw| raw.get() != "null");
    match (result, error) {
        (Some(result), Some(error)) if result.raw() == "null" => Body::Error(error),
        (Some(_), Some(_)) => Body::Both,
        // `"result": null` alone is a result, though not one that any MCP method gives.
        (Some(result), None) => Body::Result(result),
        (None, Some(error)) => Body::Error(error),
        (None, None) => Body::Neither,
    }
}

/// A string or a number; MCP forbids null.
fn is_id(raw: &RawValue) -> bool {
    matches!(first_byte(raw.get()), Some(b'"' | b'-' | b'0'..=b'9'))
}

fn first_byte(text: &str) -> Option<u8> {
    text.bytes().find(|byte| !byte.is_ascii_whitespace())
}

/// A raw JSON string as text, without a copy where nothing is escaped.
///
/// # Errors
/// Where the value is no string, or one that no text can hold (a lone surrogate).
pub fn text_of(raw: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    match serde_json::from_str::<&str>(raw) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(_) if raw.starts_with('"') => serde_json::from_str::<String>(raw).map(Cow::Owned),
        Err(_) => Err(serde_json::Error::custom("not a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> String {
        match read(text) {
            Ok(Message::Request(request)) => format!("request {} {}", request.id, request.method),
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Response(Response { id, body })) => match body {
                Body::Result(result) => format!("result {id} {}", result.raw()),
                Body::Error(raw) => format!("error {id} {raw}"),
                Body::Both => format!("both {id}"),
                Body::Neither => format!("neither {id}"),
            },
            Ok(Message::Batch(members)) => format!("batch {}", members.len()),
            Err(Malformed::NotJson) => "not json".into(),
            Err(Malformed::NotAMessage) => "not a message".into(),
            Err(Malformed::BadId) => "bad id".into(),
            Err(Malformed::BadRequest { id, .. }) => format!("bad request {id}"),
        }
    }

    #[test]
    fn only_a_host_may_leave_the_version_out() {
        let text = r#"{"id":2,"method":"p"}"#;
        assert!(matches!(
            read_as(text, Version::Forgiven),
            Ok(Message::Request(_))
        ));
        assert!(matches!(read(text), Err(Malformed::BadRequest { .. })));
        let wrong = r#"{"jsonrpc":"1.0","id":2,"method":"p"}"#;
        assert!(matches!(
            read_as(wrong, Version::Forgiven),
            Err(Malformed::BadRequest { .. })
        ));
        let answer = r#"{"id":2,"result":{}}"#;
        assert!(matches!(
            read_as(answer, Version::Forgiven),
            Err(Malformed::NotAMessage)
        ));
    }

    #[test]
    fn what_is_present_decides_the_kind() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
            (r#" {"id":"","jsonrpc":"2.0","method":"p"} "#, r#"request "" p"#),
            (
                r#"{"jsonrpc":"2.0","id":1.0,"method":"p","params":{}}"#,
                "request 1.0 p",
            ),
            (r#"{"jsonrpc":"2.0","id":0,"method":"p"}"#, "request 0 p"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"p"}"#, "bad id"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"p"}"#, "bad id"),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "bad request 1"),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":[]}"#,
                "bad request 2",
            ),
            (r#"{"jsonrpc":"1.0","id":2,"method":"p"}"#, "bad request 2"),
            (r#"{"id":2,"method":"p"}"#, "bad request 2"),
            (r#"{"jsonrpc":"2.0","method":"n"}"#, "notification n"),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#,
                r#"result 1 {"a":1}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
                "result 1 {}",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}}"#,
                r#"error 1 {"code":1}"#,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "both 1"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "neither 1"),
            (r#"{"id":1,"result":{}}"#, "not a message"),
            (r#"{"level":"info","msg":"x"}"#, "not a message"),
            (r#"{"jsonrpc":"2.0"}"#, "not a message"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"p"}"#, "not a message"),
            (r#"[{"jsonrpc":"2.0","method":"n"}]"#, "batch 1"),
            ("3", "not a message"),
            ("Server started", "not json"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"p"}{"#, "not json"),
            ("", "not json"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }
}
