//! Candor's own tools and resource, where the operator wants them: an agent can see for itself what is done and what is not.
//! Off by default, and then no byte is changed for them. They read the record, and are no operations themselves.

mod content;

use std::collections::BTreeSet;

use candor_core::delivery::answer::own_error;
use candor_core::wire::decode::{CallParams, Handshake, Implementation, ToolsPage};
use candor_core::wire::encode::{Edits, add_members, span};
use candor_core::wire::envelope::{Body, Message, Request, Response, read, text_of};
use candor_core::wire::members::{Opened, object};
use candor_core::wire::method::Method;
use candor_core::wire::revision::{Era, Revision};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use self::content::{Answer, Question};
use super::pending::{CallKey, Origin};
use super::state::{Recorded, Session};
use crate::recorder::Recorder;

/// The tool that tells of one operation.
const OPERATION: &str = "candor_operation";
/// The tool that lists what is not settled.
const UNSETTLED: &str = "candor_unsettled";
/// What the addresses of operations begin with.
const SCHEME: &str = "candor://operations/";
/// Questions about the record that are answered at once; more are refused.
const MOST_QUESTIONS: usize = 32;
/// "Resource not found" (MCP 2025-11-25, server/resources).
const NOT_FOUND: i64 = -32002;
/// JSON-RPC 2.0, section 5.1; and what 2026-07-28 says of a resource that is not there.
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// What one session knows of its own tools.
#[derive(Debug)]
pub(super) struct OwnTools {
    wanted: bool,
    /// Which of our names the server has tools of.
    taken: BTreeSet<&'static str>,
    /// Does the server announce resources itself?
    server_has_resources: bool,
    /// Questions that are being answered.
    open: usize,
}

impl OwnTools {
    /// Nothing is known yet.
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            taken: BTreeSet::new(),
            server_has_resources: false,
            open: 0,
        }
    }

    /// Takes on one more question about the record, or says why not.
    pub(super) fn is_busy(&mut self) -> Option<String> {
        if self.open >= MOST_QUESTIONS {
            return Some(format!(
                "{MOST_QUESTIONS} questions about the record are open already"
            ));
        }
        self.open += 1;
        None
    }
}

/// What a request asks of Candor itself.
enum Wish {
    /// Something about the record.
    Asks(Question),
    /// Our resource templates, of a server that has none.
    Templates,
    /// The resources of a server that has none.
    Resources,
}

#[derive(Deserialize)]
struct ReadParams<'a> {
    #[serde(borrow)]
    uri: &'a RawValue,
}

impl Session {
    /// Is this request for Candor itself? Then it is answered here, and the server never hears of it.
    pub(super) fn answers_itself(&mut self, request: &Request<'_>, origin: &Origin) -> bool {
        if !self.own_tools.wanted {
            return false;
        }
        let Some(wish) = self.wish(request) else {
            return false;
        };
        self.note_client(request, Method::Other);
        let revision = self.revision_in_force();
        match wish {
            Wish::Asks(question) => self.ask_record(question, origin),
            Wish::Templates => {
                let templates = format!("\"resourceTemplates\":[{}]", template());
                self.answer(origin, plain_result(&origin.id, revision, &templates));
            }
            Wish::Resources => self.answer(origin, plain_result(&origin.id, revision, "\"resources\":[]")),
        }
        true
    }

    fn wish(&self, request: &Request<'_>) -> Option<Wish> {
        let without_resources = !self.own_tools.server_has_resources;
        match request.method.as_ref() {
            "tools/call" => {
                let params: CallParams<'_> = serde_json::from_str(request.params?.get()).ok()?;
                let name = text_of(params.name?.get()).ok()?;
                let free = |own: &str| name == own && !self.own_tools.taken.contains(own);
                let arguments = params.arguments.map(RawValue::get);
                if free(OPERATION) {
                    let id = arguments.and_then(id_in).unwrap_or_default();
                    Some(Wish::Asks(Question::Operation { id }))
                } else {
                    free(UNSETTLED).then_some(Wish::Asks(Question::Unsettled))
                }
            }
            "resources/read" => {
                let params: ReadParams<'_> = object(request.params?.get())?;
                let uri = text_of(params.uri.get()).ok()?.into_owned();
                let id = uri.strip_prefix(SCHEME)?.to_owned();
                Some(Wish::Asks(Question::Resource { uri, id }))
            }
            "resources/templates/list" if without_resources => Some(Wish::Templates),
            "resources/list" if without_resources => Some(Wish::Resources),
            _ => None,
        }
    }

    /// The record is read beside the loop; the answer comes back as an event.
    fn ask_record(&mut self, question: Question, origin: &Origin) {
        let revision = self.revision_in_force();
        let place = match &self.recorder {
            Recorder::Ledger(ledger) => ledger.place().to_owned(),
            Recorder::Unavailable(_) | Recorder::Off => {
                let why = "calls are not recorded here, so nothing can be told of them";
                let frame = framed(&origin.id, revision, &question, Answer::Not(why.to_owned()));
                self.answer(origin, frame);
                return;
            }
        };
        if let Some(why) = self.own_tools.is_busy() {
            self.answer(origin, framed(&origin.id, revision, &question, Answer::Not(why)));
            return;
        }
        self.next_call += 1;
        self.pending.hold(&origin.id, CallKey(self.next_call));
        let (server, origin) = (self.name().to_string(), origin.clone());
        self.records.spawn(async move {
            let read = tokio::task::spawn_blocking(move || {
                let answer = content::answer(&place, &server, &question);
                (question, answer)
            });
            let frame = match read.await {
                Ok((question, answer)) => framed(&origin.id, revision, &question, answer),
                Err(_) => own_error(
                    Some(&origin.id),
                    INTERNAL_ERROR,
                    "the record could not be read",
                    None,
                ),
            };
            Recorded::OwnAnswer(origin, frame)
        });
    }

    /// A question about the record is answered.
    pub(super) fn own_answered_host(&mut self, origin: &Origin, frame: String) {
        self.own_tools.open = self.own_tools.open.saturating_sub(1);
        self.answer(origin, frame);
    }

    /// The server's answer with what is Candor's own added, where it is the answer to a question for that.
    pub(super) fn with_own(&mut self, method: Method, first_page: bool, frame: String) -> String {
        if !self.own_tools.wanted {
            return frame;
        }
        let Ok(Message::Response(Response {
            body: Body::Result(result),
            ..
        })) = read(&frame)
        else {
            return frame;
        };
        let edit = match method {
            Method::Initialize | Method::Discover => self.announced(&frame, &result),
            Method::ToolsList => self.with_own_tools(&frame, &result, first_page),
            Method::TemplatesList => with_items(&frame, &result, "resourceTemplates", &template()),
            _ => None,
        };
        edit.map_or_else(|| frame.clone(), |edits| edits.apply(&frame))
    }

    /// Resources are announced where the server has none itself.
    fn announced(&mut self, frame: &str, result: &Opened<'_>) -> Option<Edits> {
        let capabilities = Handshake::read(result.raw())?.capabilities?;
        let own = Opened::whole(capabilities.get());
        self.own_tools.server_has_resources = own.member("resources").is_some();
        if self.own_tools.server_has_resources {
            return None;
        }
        let place = span(frame, capabilities.get())?;
        let (at, what) = add_members(frame, &place, "\"resources\":{}")?;
        let mut edits = Edits::new();
        edits.insert(at, what);
        Some(edits)
    }

    fn with_own_tools(&mut self, frame: &str, result: &Opened<'_>, first_page: bool) -> Option<Edits> {
        let page: ToolsPage<'_> = object(result.raw())?;
        if first_page {
            self.own_tools.taken.clear();
        }
        for name in page
            .tools
            .iter()
            .filter_map(|tool| Implementation::name_in(tool.get()))
        {
            let own = [OPERATION, UNSETTLED].into_iter().find(|own| *own == name);
            if let Some(own) = own
                && self.own_tools.taken.insert(own)
            {
                tracing::warn!(server = %self.name(), tool = own, "the server has a tool of this name; Candor's own is left out");
            }
        }
        let own: Vec<String> = [OPERATION, UNSETTLED]
            .into_iter()
            .filter(|own| !self.own_tools.taken.contains(own))
            .map(|own| definition(own, self.revision_in_force()).to_string())
            .collect();
        if own.is_empty() {
            return None;
        }
        with_items(frame, result, "tools", &own.join(","))
    }
}

/// Adds items to a list of the result, on its last page.
fn with_items(frame: &str, result: &Opened<'_>, list: &str, items: &str) -> Option<Edits> {
    if result
        .member("nextCursor")
        .is_some_and(|cursor| cursor.starts_with('"'))
    {
        return None;
    }
    let place = span(frame, result.member(list)?)?;
    let inside = frame.get(place.start + 1..place.end.checked_sub(1)?)?;
    let comma = if inside.trim_ascii().is_empty() { "" } else { "," };
    let mut edits = Edits::new();
    edits.insert(place.end - 1, format!("{comma}{items}"));
    Some(edits)
}

fn id_in(arguments: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    Some(value.get("id")?.as_str()?.to_owned())
}

fn definition(tool: &str, revision: Revision) -> Value {
    let (description, schema) = match tool {
        OPERATION => (
            "Tells what is known of one earlier tool call of this server: whether it was done, on what evidence, and what was \
             known of it before. Reads a record and changes nothing.",
            json!({
                "type": "object",
                "properties": { "id": { "type": "string", "description": "The operation's id, or its last 8 digits, as a verdict or a text names it." } },
                "required": ["id"],
            }),
        ),
        _ => (
            "Lists earlier tool calls of this server of which nobody knows yet whether they were done: accepted and not \
             finished, or unknown. Reads a record and changes nothing.",
            json!({ "type": "object", "properties": {} }),
        ),
    };
    let mut definition = json!({ "name": tool, "description": description, "inputSchema": schema });
    if revision > Revision::V2024_11_05
        && let Some(members) = definition.as_object_mut()
    {
        let hints = json!({ "readOnlyHint": true, "openWorldHint": false });
        members.insert("annotations".to_owned(), hints);
    }
    definition
}

fn template() -> String {
    json!({
        "uriTemplate": format!("{SCHEME}{{id}}"),
        "name": "operation",
        "description": "What is known of one earlier tool call of this server, by the operation's id.",
        "mimeType": "application/json",
    })
    .to_string()
}

/// The answer to a question about the record, in the form that its way of asking has.
fn framed(id: &str, revision: Revision, question: &Question, answer: Answer) -> String {
    match (question, answer) {
        (Question::Resource { uri, .. }, Answer::Told { value, .. }) => {
            let contents = json!([{ "uri": uri, "mimeType": "application/json", "text": value.to_string() }]);
            plain_result(id, revision, &format!("\"contents\":{contents}"))
        }
        (Question::Resource { uri, .. }, Answer::Not(why)) => {
            let code = match revision.era() {
                Era::Legacy => NOT_FOUND,
                Era::Modern => INVALID_PARAMS,
            };
            let data = std::iter::once(("uri".to_owned(), json!(uri))).collect();
            own_error(Some(id), code, &why, Some(data))
        }
        (_, Answer::Told { sentence, value }) => {
            let text = format!("{sentence}\n{value}");
            tool_result(id, revision, &text, Some(value))
        }
        (_, Answer::Not(why)) => tool_result(id, revision, &why, None),
    }
}

fn tool_result(id: &str, revision: Revision, text: &str, structured: Option<Value>) -> String {
    let mut members = format!("\"content\":{}", json!([{ "type": "text", "text": text }]));
    match structured {
        Some(value) if revision.has_structured_content() => {
            members.push_str(&format!(",\"structuredContent\":{value}"));
        }
        Some(_) => {}
        None => members.push_str(",\"isError\":true"),
    }
    let kind = match revision.era() {
        Era::Legacy => "",
        Era::Modern => "\"resultType\":\"complete\",",
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{kind}{members}}}}}")
}

/// A result that is no tool's. What it says may change with the next call, so nobody keeps it.
fn plain_result(id: &str, revision: Revision, members: &str) -> String {
    let kind = match revision.era() {
        Era::Legacy => "",
        Era::Modern => "\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",",
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{kind}{members}}}}}")
}
