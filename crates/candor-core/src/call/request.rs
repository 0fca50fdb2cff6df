//! A `tools/call` request as it came, with the places that may have to change on its way to the server.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use super::keyed::GivenKey;
use super::rounds::RoundMark;
use crate::contract::recovery::KeyPlace;
use crate::delivery::task::EXTENSION;
use crate::names::{OperationId, ToolName};
use crate::wire::decode::{CallParams, Implementation, RequestMeta};
use crate::wire::encode::{Edits, add_members, span};
use crate::wire::envelope::{Message, Request, read, text_of};
use crate::wire::members::{entries, object};
use crate::wire::revision::Revision;

/// Key of what the client can do in a modern request's `_meta` (2026-07-28).
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// No such member. Checked as `{}`, forwarded as it came.
    Absent,
    /// Null. Checked as `{}`, forwarded as it came.
    Null,
    /// An object: where it stands.
    Object(Range<usize>),
}

/// A well-formed `tools/call`.
#[derive(Debug, Clone)]
pub struct CallRequest {
    text: String,
    id: Range<usize>,
    /// The tool's name.
    pub tool: ToolName,
    /// The arguments.
    pub arguments: Arguments,
    /// Did the request ask for a task (2025-11-25)?
    pub as_task: bool,
    /// The revision it is written in.
    pub revision: Revision,
    /// The token that progress notifications will name, raw.
    pub progress_token: Option<String>,
    /// Who asks, where the request says so itself (2026-07-28).
    pub client: Option<String>,
    /// The revision that the request names itself (2026-07-28).
    pub named_revision: Option<Revision>,
    /// Does it bring the state of an earlier round back (2026-07-28)?
    pub is_round: bool,
    /// What 2026-07-28 wants in `_meta` of every request, raw; nothing in the legacy era.
    pub protocol_meta: Option<String>,
    /// Its idempotency key.
    pub key: GivenKey,
    /// What it goes on with, where it is a further round of one operation (2026-07-28).
    pub round: Option<RoundMark>,
    /// Where `params` stands.
    params: Range<usize>,
    /// Where `_meta` stands, where it is an object.
    meta: Option<Range<usize>>,
}

/// Why a `tools/call` is malformed, in words that say what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    /// No parameters.
    #[error("it has no \"params\"; an object with \"name\" was expected")]
    NoParams,
    /// The parameters name a member twice.
    #[error("its \"params\" name a member twice")]
    Ambiguous,
    /// No tool is named.
    #[error("its \"params\" have no \"name\"; the tool's name was expected")]
    NoName,
    /// The name is no string.
    #[error("\"name\" is not a string; the tool's name was expected")]
    BadName,
    /// It has no id: nobody could be answered, and nothing it did would be known.
    #[error("it has no \"id\"; a call without one can't be answered")]
    NoId,
    /// Its id is still open on the same pipe.
    #[error("a request with its id is still open on this pipe; a new id was expected")]
    OpenId,
    /// Its parameters are no object.
    #[error("its \"params\" are not an object")]
    BadParams,
    /// The arguments are neither absent, null nor an object.
    #[error("\"arguments\" is not an object; an object with one member per argument was expected")]
    BadArguments,
}

impl BadCall {
    /// The JSON-RPC code of the refusal (JSON-RPC 2.0, section 5.1).
    pub fn rpc_code(self) -> i64 {
        match self {
            Self::NoId | Self::OpenId | Self::BadParams => -32600,
            Self::NoParams | Self::Ambiguous | Self::NoName | Self::BadName | Self::BadArguments => -32602,
        }
    }
}

impl CallRequest {
    /// Reads a request whose method is `tools/call`; `text` is the frame it was read from, `in_force` the revision where
    /// it names none.
    ///
    /// # Errors
    /// Where it is malformed.
    pub fn read(text: &str, request: &Request<'_>, in_force: Revision) -> Result<Self, BadCall> {
        let raw = request.params.ok_or(BadCall::NoParams)?;
        let params: CallParams<'_> = serde_json::from_str(raw.get()).map_err(|_| BadCall::Ambiguous)?;
        let name = text_of(params.name.ok_or(BadCall::NoName)?.get()).map_err(|_| BadCall::BadName)?;
        let arguments = match params.arguments {
            None => Arguments::Absent,
            Some(raw) if raw.get() == "null" => Arguments::Null,
            Some(raw) if raw.get().starts_with('{') => {
                Arguments::Object(span(text, raw.get()).unwrap_or_default())
            }
            Some(_) => return Err(BadCall::BadArguments),
        };
        let meta: Option<RequestMeta<'_>> = params.meta.and_then(|raw| object(raw.get()));
        let named_revision = meta.as_ref().and_then(RequestMeta::revision);
        let key = meta.as_ref().and_then(|meta| meta.idempotency_key);
        Ok(Self {
            key: GivenKey::read(key.map(RawValue::get)),
            round: RoundMark::of_request(&params, name.as_ref()),
            params: span(text, raw.get()).unwrap_or_default(),
            meta: params
                .meta
                .filter(|raw| raw.get().starts_with('{'))
                .and_then(|raw| span(text, raw.get())),
            client: meta
                .as_ref()
                .and_then(|meta| Some(Implementation::name_in(meta.client_info?.get())?.into_owned())),
            named_revision,
            progress_token: meta
                .as_ref()
                .and_then(|meta| Some(meta.progress_token?.get().to_owned())),
            protocol_meta: meta.as_ref().and_then(RequestMeta::protocol_members),
            id: span(text, request.id.get()).unwrap_or_default(),
            tool: ToolName::from(name.as_ref()),
            arguments,
            is_round: params.request_state.is_some(),
            as_task: params.task.is_some_and(|raw| raw.get() != "null"),
            revision: named_revision.unwrap_or(in_force),
            text: text.to_owned(),
        })
    }

    /// Reads a frame that must be a `tools/call`; for replays and tests.
    pub fn parse(text: &str, revision: Revision) -> Option<Result<Self, BadCall>> {
        match read(text) {
            Ok(Message::Request(request)) if request.method == "tools/call" => {
                Some(Self::read(text, &request, revision))
            }
            _ => None,
        }
    }

    /// The id as the caller wrote it.
    pub fn id(&self) -> &str {
        self.text.get(self.id.clone()).unwrap_or("null")
    }

    /// The arguments as the caller wrote them; `None` where there are none.
    pub fn raw_arguments(&self) -> Option<&str> {
        match &self.arguments {
            Arguments::Object(span) => self.text.get(span.clone()),
            Arguments::Absent | Arguments::Null => None,
        }
    }

    /// The frame for the server: the id is Candor's own, the arguments are as they came unless they were coerced. A key
    /// that the server takes is added where it is to stand, unless the caller put something there.
    pub fn upstream(&self, id: &str, coerced: Option<&Value>, key: Option<(&KeyPlace, &str)>) -> String {
        let mut edits = Edits::new();
        edits.replace(self.id.clone(), id);
        let mut arguments = match (coerced, &self.arguments) {
            (Some(value), Arguments::Object(_)) => Some(value.to_string()),
            _ => None,
        };
        match key {
            Some((KeyPlace::Argument(name), key)) => {
                let raw = arguments.as_deref().or(self.raw_arguments()).unwrap_or("{}");
                arguments = with_member(raw, name, key).or(arguments);
            }
            Some((KeyPlace::Meta(name), key)) => self.add_to_meta(&mut edits, name, key),
            None => {}
        }
        match (&self.arguments, arguments) {
            (_, None) => {}
            (Arguments::Object(span), Some(text)) => edits.replace(span.clone(), text),
            (Arguments::Null, Some(_)) => {}
            (Arguments::Absent, Some(text)) => {
                self.add_to_params(&mut edits, &format!("\"arguments\":{text}"));
            }
        }
        edits.apply(&self.text)
    }

    /// The same call without what belongs to a round of it: answers and state are for whoever asked (2026-07-28). Nothing
    /// where they can't be taken out.
    pub fn without_round(&self) -> Option<Self> {
        let Ok(Message::Request(request)) = read(&self.text) else {
            return None;
        };
        let params = request.params?.get();
        let kept = without(params, &["inputResponses"])?;
        let kept = without(&kept, &["requestState"])?;
        self.with_params(params, kept)
    }

    /// Does whoever asks say that it takes tasks, by the extension of 2026-07-28?
    pub fn takes_tasks(&self) -> bool {
        let declared = || {
            let meta = self.protocol_meta.as_deref()?;
            let meta: Value = meta
                .contains(EXTENSION)
                .then(|| serde_json::from_str(meta).ok())??;
            Some(
                meta.get(CAPABILITIES)?
                    .get("extensions")?
                    .get(EXTENSION)
                    .is_some(),
            )
        };
        declared().unwrap_or(false)
    }

    /// The same call as the task of this operation: a plain call to the server, under a key of its own where it has none, so
    /// that what became of it is kept. Nothing where the wish can't be taken out.
    pub fn as_task_of(&self, operation: OperationId) -> Option<Self> {
        let mut plain = self.as_plain()?;
        if plain.key == GivenKey::None {
            plain.key = GivenKey::Key(format!("candor task {}", operation.uuid()));
        }
        Some(plain)
    }

    /// The same call from somebody who takes no tasks: what is offered as a task by Candor is a plain call to the server.
    fn as_plain(&self) -> Option<Self> {
        let Ok(Message::Request(request)) = read(&self.text) else {
            return None;
        };
        let params = request.params?.get();
        let kept = without(params, &["task"])?;
        let kept = without(&kept, &["_meta", CAPABILITIES, "extensions", EXTENSION])?;
        self.with_params(params, kept)
    }

    fn with_params(&self, params: &str, kept: String) -> Option<Self> {
        let mut edits = Edits::new();
        edits.replace(span(&self.text, params)?, kept);
        let mut bare = Self::parse(&edits.apply(&self.text), self.revision)?.ok()?;
        bare.client.clone_from(&self.client);
        Some(bare)
    }

    /// What the client brought back from an earlier round: its state, as text, and its answers, raw (2026-07-28).
    pub fn round(params: &RawValue) -> Option<(String, Option<String>)> {
        let params: CallParams<'_> = serde_json::from_str(params.get()).ok()?;
        let state = text_of(params.request_state?.get()).ok()?.into_owned();
        Some((state, params.input_responses.map(|raw| raw.get().to_owned())))
    }

    fn add_to_meta(&self, edits: &mut Edits, name: &str, key: &str) {
        match &self.meta {
            Some(span) => {
                let raw = self.text.get(span.clone()).unwrap_or_default();
                if let Some(whole) = with_member(raw, name, key) {
                    edits.replace(span.clone(), whole);
                }
            }
            None => {
                let member = Value::from(name).to_string();
                self.add_to_params(edits, &format!("\"_meta\":{{{member}:{}}}", Value::from(key)));
            }
        }
    }

    fn add_to_params(&self, edits: &mut Edits, member: &str) {
        if let Some((at, what)) = add_members(&self.text, &self.params, member) {
            edits.insert(at, what);
        }
    }

    /// Lets go of the text, once nothing of it will be sent any more.
    pub fn forget(&mut self) {
        self.text = String::new();
        self.id = 0..0;
        self.arguments = Arguments::Absent;
        self.params = 0..0;
        self.meta = None;
    }
}

/// An object without the member that this path leads to; unchanged where it has none. `None` where it is no object.
fn without(raw: &str, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let mut kept = Vec::new();
    for (name, value) in entries(raw)? {
        let value = value.get();
        let meant = text_of(name).is_ok_and(|name| name == *first);
        match (meant, rest.is_empty()) {
            (true, true) => {}
            (true, false) => {
                let value = without(value, rest).unwrap_or_else(|| value.to_owned());
                kept.push(format!("{name}:{value}"));
            }
            (false, _) => kept.push(format!("{name}:{value}")),
        }
    }
    Some(format!("{{{}}}", kept.join(",")))
}

/// An object with one member more; `None` where it has it already, or is none.
fn with_member(raw: &str, name: &str, value: &str) -> Option<String> {
    let has = |written: &str| serde_json::from_str::<String>(written).is_ok_and(|written| written == name);
    if entries(raw)?.iter().any(|(written, _)| has(written)) {
        return None;
    }
    let member = format!("{}:{}", Value::from(name), Value::from(value));
    let (at, what) = add_members(raw, &(0..raw.len()), &member)?;
    let mut edits = Edits::new();
    edits.insert(at, what);
    Some(edits.apply(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_loses_what_belongs_to_it_and_nothing_else() {
        let frame = r#"{"jsonrpc":"2.0","id":"r2","method":"tools/call","params":{"name":"drop","inputResponses":{"a":1},"arguments":{"n":1.10},"requestState":"s","_meta":{"x":[ 1]}}}"#;
        let request = CallRequest::parse(frame, Revision::V2026_07_28).unwrap().unwrap();
        let bare = request.without_round().unwrap();
        assert_eq!(
            bare.upstream("7", None, None),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"drop","arguments":{"n":1.10},"_meta":{"x":[ 1]}}}"#
        );
        assert_eq!(
            (bare.id(), bare.raw_arguments()),
            ("\"r2\"", Some(r#"{"n":1.10}"#))
        );
        let Ok(Message::Request(read)) = read(frame) else {
            panic!("it is a request")
        };
        let round = CallRequest::round(read.params.unwrap());
        assert_eq!(round, Some(("s".to_owned(), Some(r#"{"a":1}"#.to_owned()))));
    }

    #[test]
    fn a_wish_for_a_task_is_taken_out_and_nothing_else() {
        let legacy = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"x","task":{"ttl":1},"arguments":{"n":1.10}}}"#;
        let request = CallRequest::parse(legacy, Revision::V2025_11_25)
            .unwrap()
            .unwrap();
        let plain = request.as_plain().unwrap();
        assert!(request.as_task && !plain.as_task);
        assert_eq!(
            plain.upstream("7", None, None),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":1.10}}}"#
        );
        let modern = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{},"extensions":{"io.modelcontextprotocol/tasks":{},"other/one":{}}}}}}"#;
        let request = CallRequest::parse(modern, Revision::V2026_07_28)
            .unwrap()
            .unwrap();
        let plain = request.as_plain().unwrap();
        assert!(request.takes_tasks() && !plain.takes_tasks());
        assert_eq!(
            plain.upstream("4", None, None),
            modern.replace(r#""io.modelcontextprotocol/tasks":{},"#, "")
        );
    }
}
