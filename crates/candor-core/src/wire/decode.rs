//! The parts of `params`, `result` and `error` that Candor reads, each by the method that asked for it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::envelope::{present, text_of};
use super::members::object;
use super::revision::Revision;

/// Key of the revision in a modern request's `_meta` (2026-07-28).
pub const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// `params` of `tools/call`.
#[derive(Debug, Deserialize)]
pub struct CallParams<'a> {
    /// The tool's name.
    #[serde(borrow, default, deserialize_with = "present")]
    pub name: Option<&'a RawValue>,
    /// The arguments: absent, null or an object in a well-formed call.
    #[serde(borrow, default, deserialize_with = "present")]
    pub arguments: Option<&'a RawValue>,
    /// Per-request metadata.
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    pub meta: Option<&'a RawValue>,
    /// The wish to have the call run as a task (2025-11-25).
    #[serde(borrow, default, deserialize_with = "present")]
    pub task: Option<&'a RawValue>,
    /// Answers to what an earlier round asked for (2026-07-28).
    #[serde(borrow, default, rename = "inputResponses", deserialize_with = "present")]
    pub input_responses: Option<&'a RawValue>,
    /// The state of an earlier round, as it was handed out (2026-07-28).
    #[serde(borrow, default, rename = "requestState", deserialize_with = "present")]
    pub request_state: Option<&'a RawValue>,
}

/// The metadata of a request that Candor reads.
#[derive(Debug, Deserialize)]
pub struct RequestMeta<'a> {
    /// 2026-07-28: the revision the request is written in.
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/protocolVersion",
        deserialize_with = "present"
    )]
    pub revision: Option<&'a RawValue>,
    /// 2026-07-28: who asks.
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/clientInfo",
        deserialize_with = "present"
    )]
    pub client_info: Option<&'a RawValue>,
    /// 2026-07-28: what the one who asks can do.
    #[serde(
        borrow,
        default,
        rename = "io.modelcontextprotocol/clientCapabilities",
        deserialize_with = "present"
    )]
    pub client_capabilities: Option<&'a RawValue>,
    /// The token that progress notifications will name.
    #[serde(borrow, default, rename = "progressToken", deserialize_with = "present")]
    pub progress_token: Option<&'a RawValue>,
    /// The caller's word that a call with the same key is the same call.
    #[serde(
        borrow,
        default,
        rename = "candor/idempotencyKey",
        deserialize_with = "present"
    )]
    pub idempotency_key: Option<&'a RawValue>,
}

impl RequestMeta<'_> {
    /// What the protocol wants in `_meta` of every request of 2026-07-28, as a raw object: who asks, in which
    /// revision, with which capabilities. `None` where the request names no revision.
    pub fn protocol_members(&self) -> Option<String> {
        let member = |name: &str, raw: Option<&RawValue>| {
            raw.map(|raw| format!("\"io.modelcontextprotocol/{name}\":{}", raw.get()))
        };
        let members = [
            member("protocolVersion", Some(self.revision?)),
            member("clientInfo", self.client_info),
            member("clientCapabilities", self.client_capabilities),
        ];
        Some(format!(
            "{{{}}}",
            members.into_iter().flatten().collect::<Vec<_>>().join(",")
        ))
    }

    /// The revision, where the request names one that this program knows.
    pub fn revision(&self) -> Option<Revision> {
        text_of(self.revision?.get())
            .ok()
            .and_then(|text| Revision::parse(&text))
    }
}

/// `params` of any request, as far as its `_meta`.
#[derive(Debug, Deserialize)]
pub struct AnyParams<'a> {
    /// Per-request metadata.
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    pub meta: Option<&'a RawValue>,
}

/// The `_meta` of a request's `params`, leniently: anything unreadable is nothing.
pub fn request_meta(params: Option<&RawValue>) -> Option<RequestMeta<'_>> {
    let params: AnyParams<'_> = object(params?.get())?;
    object(params.meta?.get())
}

/// A JSON-RPC error object, leniently.
#[derive(Debug, Deserialize)]
pub struct ErrorObject<'a> {
    /// The code; `None` where it is no integer in range.
    #[serde(default, deserialize_with = "integer_or_none")]
    pub code: Option<i64>,
    /// The message; `None` where it is no string.
    #[serde(borrow, default, deserialize_with = "present")]
    message: Option<&'a RawValue>,
    /// Anything more.
    #[serde(borrow, default, deserialize_with = "present")]
    pub data: Option<&'a RawValue>,
}

impl<'a> ErrorObject<'a> {
    /// Reads an error; one that is no object at all is an error without code and message.
    pub fn read(raw: &'a str) -> Self {
        object(raw).unwrap_or(Self {
            code: None,
            message: None,
            data: None,
        })
    }

    /// The message, where it is a string.
    pub fn message(&self) -> Option<Cow<'a, str>> {
        text_of(self.message?.get()).ok()
    }
}

fn integer_or_none<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let raw = <&RawValue>::deserialize(from)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// Name and version in `clientInfo` or `serverInfo`.
#[derive(Debug, Deserialize)]
pub struct Implementation<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
}

impl<'a> Implementation<'a> {
    /// The name in an `Implementation` object.
    pub fn name_in(raw: &'a str) -> Option<Cow<'a, str>> {
        let read: Self = object(raw)?;
        text_of(read.name?.get()).ok()
    }
}

/// `params` of `initialize`, or its result: the members Candor reads.
#[derive(Debug, Deserialize)]
pub struct Handshake<'a> {
    /// The revision asked for, or agreed on.
    #[serde(borrow, default, rename = "protocolVersion", deserialize_with = "present")]
    revision: Option<&'a RawValue>,
    /// Who asks.
    #[serde(borrow, default, rename = "clientInfo", deserialize_with = "present")]
    client_info: Option<&'a RawValue>,
    /// What the one who asks can do.
    #[serde(borrow, default, deserialize_with = "present")]
    pub capabilities: Option<&'a RawValue>,
    /// Who answers.
    #[serde(borrow, default, rename = "serverInfo", deserialize_with = "present")]
    server_info: Option<&'a RawValue>,
}

impl<'a> Handshake<'a> {
    /// Reads `params` or `result` of `initialize` (or the result of `server/discover`).
    pub fn read(raw: &'a str) -> Option<Self> {
        object(raw)
    }

    /// The revision, where this program knows it.
    pub fn revision(&self) -> Option<Revision> {
        text_of(self.revision?.get())
            .ok()
            .and_then(|text| Revision::parse(&text))
    }

    /// The host's name.
    pub fn client_name(&self) -> Option<Cow<'a, str>> {
        Implementation::name_in(self.client_info?.get())
    }

    /// The server's name.
    pub fn server_name(&self) -> Option<Cow<'a, str>> {
        Implementation::name_in(self.server_info?.get())
    }
}

/// `params` of `notifications/cancelled`.
#[derive(Debug, Deserialize)]
pub struct CancelledParams<'a> {
    /// The id of the request that is cancelled, as it was written.
    #[serde(borrow, default, rename = "requestId", deserialize_with = "present")]
    pub request_id: Option<&'a RawValue>,
}

/// `params` of `notifications/progress`.
#[derive(Debug, Deserialize)]
pub struct ProgressParams<'a> {
    /// The token the request gave.
    #[serde(borrow, default, rename = "progressToken", deserialize_with = "present")]
    pub progress_token: Option<&'a RawValue>,
}

/// A result of `tools/list`, leniently: tools stay raw, so that a bad one costs only itself.
#[derive(Debug, Deserialize)]
pub struct ToolsPage<'a> {
    /// The tools of this page.
    #[serde(borrow)]
    pub tools: Vec<&'a RawValue>,
    /// Where the next page starts; absent or null on the last one.
    #[serde(borrow, default, rename = "nextCursor", deserialize_with = "present")]
    next_cursor: Option<&'a RawValue>,
}

impl<'a> ToolsPage<'a> {
    /// The cursor of the next page, raw, where there is one.
    pub fn next_cursor(&self) -> Option<&'a RawValue> {
        self.next_cursor.filter(|cursor| cursor.get().starts_with('"'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_has_a_code() {
        let code = |text: &str| ErrorObject::read(text).code;
        assert_eq!(code(r#"{"code":-32602,"message":"no"}"#), Some(-32602));
        assert_eq!(code(r#"[-32602,"no",null]"#), None);
        assert_eq!(code(r#""-32602""#), None);
    }
}
