//! The way back: an outcome as the answer of a server's own HTTP API, with problem details (RFC 9457).
//!
//! A status is chosen so that a client that knows only statuses never learns more than is known: what may have been
//! done is never answered by a status that means a refusal. The exact words are in the member `candor`.

use ::http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode};
use bytes::Bytes;
use candor_core::judgment::verdict::{Effect, Kind, Outcome as Word, Part, Repeat};
use candor_core::judgment::whole::whole;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::problem;
use crate::outcome::{Outcome, Parts, Reason, Reference};

/// How a server's API names its problems.
#[derive(Debug, Clone, Default)]
pub struct Api {
    types: Option<String>,
}

/// An answer to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The media type of the body; `None` without one.
    pub media_type: Option<&'static str>,
    /// `Location` and `Retry-After`, where there are such.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Reply {
    fn new(status: StatusCode, media_type: &'static str, body: &Value) -> Self {
        let body = Bytes::from(body.to_string());
        Self {
            status,
            media_type: Some(media_type),
            headers: HeaderMap::new(),
            body,
        }
    }
}

impl From<Reply> for Response<Bytes> {
    fn from(reply: Reply) -> Self {
        let mut response = Self::new(reply.body);
        *response.status_mut() = reply.status;
        *response.headers_mut() = reply.headers;
        if let Some(media_type) = reply.media_type {
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        response
    }
}

impl Api {
    /// Problems have no `type`, only a `code`.
    pub fn new() -> Self {
        Self::default()
    }

    /// The `type` of a problem is this with its code appended, such as
    /// `https://rooms.example/problems/ROOM_UNAVAILABLE`.
    pub fn with_types(base: impl Into<String>) -> Self {
        Self {
            types: Some(base.into()),
        }
    }

    /// The answer for an outcome. A completed value is the body as it is, with 200, or 204 where it is JSON `null`.
    /// A value that is no JSON (a map with keys that are no text) is answered by a 500: done, but it can't be said.
    pub fn reply<T: Serialize>(&self, outcome: &Outcome<T>) -> Reply {
        match outcome {
            Outcome::Completed(done) => match serde_json::to_value(&done.value) {
                Ok(Value::Null) => {
                    let (status, headers) = (StatusCode::NO_CONTENT, HeaderMap::new());
                    Reply {
                        status,
                        media_type: None,
                        headers,
                        body: Bytes::new(),
                    }
                }
                Ok(value) => Reply::new(StatusCode::OK, "application/json", &value),
                Err(_) => self.unsayable(),
            },
            Outcome::Accepted(reference) => accepted(reference),
            Outcome::Rejected(reason) => self.problem(Word::Rejected, Effect::NotApplied, reason),
            Outcome::Failed(reason) => self.problem(Word::Failed, Effect::Unknown, reason),
            Outcome::Unknown(reason) => self.problem(Word::Unknown, Effect::Unknown, reason),
            Outcome::Partial(parts) => self.parts(parts),
        }
    }

    fn unsayable(&self) -> Reply {
        let reason = Reason::new(
            "RESULT_UNREADABLE",
            "It is done, and its result can't be written as JSON",
        );
        self.problem(Word::Failed, Effect::Applied, &reason)
    }

    fn problem(&self, outcome: Word, usual: Effect, reason: &Reason) -> Reply {
        let effect = reason.effect.unwrap_or(usual);
        let kind = reason.kind.unwrap_or(usual_kind(outcome));
        let status = status_of(outcome, effect, kind);
        let mut body = self.opening(status, &reason.code, &reason.message);
        if !reason.issues.is_empty() {
            body.insert("errors".into(), reason.issues.iter().map(error).collect());
        }
        let verdict = json!({
            "outcome": outcome, "effect": effect, "kind": kind,
            "repeat": reason.repeat.unwrap_or(usual_repeat(effect, kind)),
            "reference": reason.reference.as_ref().map(|reference| &reference.0),
            "suggestedNextStep": reason.next_step,
        });
        body.insert("candor".into(), verdict);
        let mut reply = Reply::new(status, problem::MEDIA_TYPE, &Value::Object(body));
        if let Some(wait) = reason.retry_after {
            reply
                .headers
                .insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
        }
        reply
    }

    /// 207 is a 2xx, so its body is a problem: a client that looks only at the class of a status, or only at the media
    /// type, has one of the two to stumble over.
    fn parts<T: Serialize>(&self, parts: &Parts<T>) -> Reply {
        let status = StatusCode::MULTI_STATUS;
        let mut body = self.opening(status, &parts.code, &parts.message);
        body.insert("parts".into(), parts.parts.iter().map(part).collect());
        if let Some(value) = parts
            .value
            .as_ref()
            .and_then(|value| serde_json::to_value(value).ok())
        {
            body.insert("value".into(), value);
        }
        let reference = parts.receipt.as_ref().map(|receipt| &receipt.0);
        let (outcome, effect) = whole(&parts.parts);
        body.insert(
            "candor".into(),
            json!({ "outcome": outcome, "effect": effect, "reference": reference }),
        );
        Reply::new(status, problem::MEDIA_TYPE, &Value::Object(body))
    }

    fn opening(&self, status: StatusCode, code: &str, message: &str) -> Map<String, Value> {
        let of_type = self
            .types
            .as_ref()
            .map_or_else(|| "about:blank".to_owned(), |base| format!("{base}{code}"));
        let mut body = Map::new();
        body.insert("type".into(), json!(of_type));
        body.insert(
            "title".into(),
            json!(status.canonical_reason().unwrap_or("Problem")),
        );
        body.insert("status".into(), json!(status.as_u16()));
        body.insert("detail".into(), json!(message));
        body.insert("code".into(), json!(code));
        body
    }
}

fn accepted(reference: &Reference) -> Reply {
    let id = Some(&reference.0).filter(|id| !id.is_empty());
    let body = json!({ "id": id, "candor": { "outcome": Word::Accepted, "reference": id } });
    let mut reply = Reply::new(StatusCode::ACCEPTED, "application/json", &body);
    let place = id.filter(|id| {
        ["/", "https://", "http://"]
            .iter()
            .any(|start| id.starts_with(start))
    });
    if let Some(place) = place.and_then(|place| HeaderValue::from_str(place).ok()) {
        reply.headers.insert(LOCATION, place);
    }
    reply
}

/// The status that says no more than is known. 4xx (but 408) and 501 mean that nothing was done; so they are for that.
fn status_of(outcome: Word, effect: Effect, kind: Kind) -> StatusCode {
    let refused = outcome == Word::Rejected && effect == Effect::NotApplied;
    match kind {
        Kind::InvalidInput if refused => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::PermissionDenied if refused => StatusCode::FORBIDDEN,
        Kind::RateLimited if refused => StatusCode::TOO_MANY_REQUESTS,
        Kind::BusinessRule | Kind::Cancelled | Kind::Unclassified if refused => StatusCode::CONFLICT,
        // Clients and gateways repeat 502, 503 and 504 by themselves: only for what a repeat can't do twice.
        Kind::DependencyUnavailable if effect == Effect::NotApplied => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn usual_kind(outcome: Word) -> Kind {
    match outcome {
        Word::Rejected => Kind::BusinessRule,
        Word::Unknown => Kind::OutcomeUnknown,
        _ => Kind::Internal,
    }
}

fn usual_repeat(effect: Effect, kind: Kind) -> Repeat {
    match (effect, kind) {
        (Effect::NotApplied, Kind::DependencyUnavailable | Kind::RateLimited) => Repeat::MayHelp,
        (Effect::NotApplied, _) => Repeat::SameAnswer,
        _ => Repeat::MayDuplicate,
    }
}

/// Whole seconds, rounded up: a client that comes too early is refused again.
fn seconds(wait: std::time::Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

fn error(issue: &crate::outcome::Issue) -> Value {
    let received = issue.received.as_ref();
    let detail = format!("expected {}", issue.expected);
    json!({ "pointer": pointer(&issue.path), "code": issue.rule, "detail": detail, "received": received, "hint": issue.hint })
}

fn part(part: &Part) -> Value {
    json!({ "name": part.name, "outcome": part.outcome, "effect": part.effect, "code": part.code })
}

/// A JSON Pointer as the fragment of a URI (RFC 6901 section 6).
fn pointer(path: &str) -> String {
    let mut out = "#".to_owned();
    for byte in path.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte);
        if plain {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests;
