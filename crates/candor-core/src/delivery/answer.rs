//! The one value that may be delivered. A [`Delivery`] is made from a judgment, and only with a receipt or a stated
//! reason why there is none.

use std::ops::Range;

use bytestring::ByteString;
use serde_json::{Map, Value, json};

use super::news::News;
use super::redaction::{self, KnownSecrets, Redacted};
use super::result::Reworked;
use super::wording;
use crate::judgment::ending::{Ending, Scene};
use crate::judgment::finding::{Finding, FindingCode};
use crate::judgment::how::How;
use crate::judgment::judge::Judgment;
use crate::judgment::ruling::{Bytes, Channel, Flag, Ruling, refusal_codes};
use crate::judgment::verdict::OnDisk;
use crate::record::Recording;
use crate::wire::decode::ErrorObject;
use crate::wire::encode::{Edits, Pieces, add_members, span};
use crate::wire::reply::{Carried, Reply};
use crate::wire::revision::{Era, Revision};

/// The key of the verdict in `_meta`.
pub(super) const VERDICT: &str = "candor/verdict";

/// What the caller's side needs to be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Caller {
    /// The id of the request, as the caller wrote it.
    pub id: String,
    /// The revision in force.
    pub revision: Revision,
    /// Does the tool declare an `outputSchema` (or may it: it is not known)? Strict clients check even errors
    /// against it, so Candor's own results carry no structure then.
    pub promises_structure: bool,
}

/// What Candor did to the call besides judging it, disclosed in `_meta`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disclosure {
    /// Arguments that were coerced: path, from, to.
    pub coerced: Vec<Value>,
    /// Notices about arguments that passed.
    pub notices: Vec<String>,
    /// Findings from before the answer came.
    pub findings: Vec<Finding>,
    /// What became known of earlier calls.
    pub news: Vec<News>,
}

impl Disclosure {
    /// The news that no `_meta` has told yet.
    pub(super) fn news_members(&self) -> Vec<Value> {
        let untold = self.news.iter().filter(|news| !news.in_meta);
        untold.map(News::member).collect()
    }
}

/// An answer that lacks only the word whether it is recorded.
#[derive(Debug, Clone)]
pub struct Draft {
    judgment: Judgment,
    /// Candor's block as given, where it wrote one.
    pub block: Option<String>,
    meta: Map<String, Value>,
    caller: Caller,
    shape: Shape,
    secrets: KnownSecrets,
}

#[derive(Debug, Clone)]
enum Shape {
    /// The server's frame, edited.
    Server {
        frame: ByteString,
        id: Range<usize>,
        result: Box<Reworked>,
    },
    /// The server's error, passed on with its credentials masked.
    Passed {
        frame: ByteString,
        id: Range<usize>,
        edits: Edits,
    },
    /// A result of Candor's own.
    Result,
    /// An error of Candor's own.
    Error { code: i64 },
    /// Nobody is answered.
    Nobody,
}

/// What may be delivered: the whole frame, or nothing where nobody is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    frame: Option<Pieces>,
}

impl Delivery {
    /// Of a frame that another part of the delivery has made.
    pub(super) fn of(frame: Option<Pieces>) -> Self {
        Self { frame }
    }

    /// The frame for the caller, without its newline.
    pub fn into_frame(self) -> Option<Pieces> {
        self.frame
    }
}

impl Draft {
    /// Drafts the answer to a judged call. `reply` is the server's, where one came.
    pub fn new(
        scene: &Scene,
        ending: &Ending,
        judgment: Judgment,
        caller: Caller,
        disclosure: &Disclosure,
        reply: Option<&Reply>,
    ) -> Self {
        let block = wording::block(scene, ending, &judgment);
        Self::with_block(scene, ending, judgment, caller, disclosure, reply, block)
    }

    /// Drafts the answer to a call whose caller waited for its end: `first` is the server's answer from when it took the call
    /// on, `by` the tool that showed the end.
    pub fn followed(
        scene: &Scene,
        ending: &Ending,
        mut judgment: Judgment,
        caller: Caller,
        disclosure: &Disclosure,
        first: &Reply,
        by: &str,
    ) -> Self {
        let block = wording::followed::block(scene, ending, &judgment, by);
        judgment.ruling.bytes = Bytes::Prefixed;
        Self::with_block(
            scene,
            ending,
            judgment,
            caller,
            disclosure,
            Some(first),
            Some(block),
        )
    }

    fn with_block(
        scene: &Scene,
        ending: &Ending,
        mut judgment: Judgment,
        caller: Caller,
        disclosure: &Disclosure,
        reply: Option<&Reply>,
        block: Option<String>,
    ) -> Self {
        let secrets = scene.secrets.clone();
        let block = block.map(|mut block| {
            for news in &disclosure.news {
                block.push('\n');
                block.push_str(&news.line(&secrets));
            }
            redaction::known(&block, &secrets).value.into_owned()
        });
        let mut shape = shape(&judgment, block.as_deref(), reply, &secrets);
        if let (Shape::Error { code }, Ending::Malformed { rpc_code, .. }) = (&mut shape, ending) {
            *code = *rpc_code;
        }
        let believed = matches!(ending, Ending::Replied(reply) if reply.believed);
        if shape.claims() && !believed {
            judgment.findings.push(Finding::new(
                FindingCode::ClaimedVerdict,
                "the server put values under Candor's own keys; they stand under candor/claimed",
            ));
        }
        let mut meta = disclosed(disclosure, &judgment);
        if let Shape::Server { result, .. } = &shape
            && let Some(masked) = &result.masked
        {
            meta.insert("candor/redacted".to_owned(), masked.clone());
        }
        if let (Shape::Result, Ending::Refused { .. }, Some(raw)) = (
            &shape,
            ending,
            reply.and_then(|reply| upstream_error(reply, &secrets)),
        ) {
            meta.insert("candor/upstreamError".to_owned(), raw.value);
            if !raw.changes.is_empty() {
                let changes = redaction::disclosure(&raw.changes);
                meta.insert("candor/redacted".to_owned(), Value::Object(changes));
            }
        }
        Self {
            judgment,
            block,
            meta,
            caller,
            shape,
            secrets,
        }
    }

    /// The whole answer as it leaves if its verdict is on disk: what is kept for an idempotency key, in the transaction that
    /// puts the verdict there.
    pub fn as_recorded(&self) -> Option<String> {
        let recorded = Recorded {
            on_disk: OnDisk::Yes,
            why_not: None,
        };
        self.clone()
            .complete(recorded)
            .into_frame()
            .map(Pieces::into_text)
    }

    /// Which news it tells, in its text and in its `_meta`.
    pub fn tells_news(&self) -> (bool, bool) {
        let in_meta = self.judgment.ruling.channel == Channel::Result;
        (in_meta && self.block.is_some(), in_meta)
    }

    /// The judgment it delivers.
    pub fn judgment(&self) -> &Judgment {
        &self.judgment
    }

    /// Completes the answer: with the receipt, or with the reason why there is none.
    pub fn sign(self, recording: &Recording) -> Delivery {
        let why_not = match recording {
            Recording::Not { why } => Some(why.as_str()),
            _ => None,
        };
        self.complete(Recorded {
            on_disk: on_disk(recording),
            why_not,
        })
    }

    fn complete(mut self, recorded: Recorded<'_>) -> Delivery {
        let frame = match std::mem::replace(&mut self.shape, Shape::Nobody) {
            Shape::Nobody => None,
            Shape::Server { frame, id, result } => {
                let members = self.members(recorded);
                Some(result.finish(&frame, (id, &self.caller.id), &members))
            }
            Shape::Passed { frame, id, mut edits } => {
                edits.replace(id, self.caller.id);
                Some(edits.share(&frame))
            }
            Shape::Result => {
                let meta = self.meta(recorded);
                let block = self.block.as_deref().unwrap_or_default();
                Some(own_result(&self.caller, block, self.judgment.ruling.flag, meta).into())
            }
            Shape::Error { code } => {
                let error = self.judgment.verdict.error.as_ref();
                let message = error.map_or("", |error| error.message.as_str());
                let message = redaction::known(message, &self.secrets).value.into_owned();
                let meta = self.meta(recorded);
                Some(own_error(Some(&self.caller.id), code, &message, Some(meta)).into())
            }
        };
        Delivery { frame }
    }

    /// What Candor says in `_meta`.
    fn meta(&mut self, recorded: Recorded<'_>) -> Map<String, Value> {
        let verdict = json!(self.judgment.verdict.told(recorded.on_disk));
        let mut meta = Map::new();
        meta.insert(VERDICT.to_owned(), redaction::known_json(verdict, &self.secrets));
        for (key, value) in std::mem::take(&mut self.meta) {
            meta.insert(key, redaction::known_json(value, &self.secrets));
        }
        if let Some(why) = recorded.why_not {
            meta.insert("candor/notRecorded".to_owned(), json!(why));
        }
        meta
    }

    /// The same as text, without braces. Most answers hold a verdict of fixed words alone, which is written as it is.
    fn members(&mut self, recorded: Recorded<'_>) -> String {
        let told = self.judgment.verdict.told(recorded.on_disk);
        if self.meta.is_empty()
            && recorded.why_not.is_none()
            && self.judgment.verdict.has_no_text()
            && let Ok(verdict) = serde_json::to_string(&told)
        {
            return format!("\"{VERDICT}\":{verdict}");
        }
        let mut text = Value::Object(self.meta(recorded)).to_string();
        text.pop();
        text.remove(0);
        text
    }
}

/// Whether the verdict is on disk, and if not, why.
#[derive(Debug, Clone, Copy)]
struct Recorded<'w> {
    on_disk: OnDisk,
    why_not: Option<&'w str>,
}

/// A record that is only queued is on its way and not yet there.
fn on_disk(recording: &Recording) -> OnDisk {
    match recording {
        Recording::Queued => OnDisk::NotYet,
        _ if recording.is_recorded() => OnDisk::Yes,
        _ => OnDisk::No,
    }
}

fn disclosed(disclosure: &Disclosure, judgment: &Judgment) -> Map<String, Value> {
    let mut meta = Map::new();
    let findings: Vec<&Finding> = disclosure.findings.iter().chain(&judgment.findings).collect();
    if !findings.is_empty() {
        meta.insert("candor/findings".to_owned(), json!(findings));
    }
    if !disclosure.coerced.is_empty() {
        meta.insert("candor/coerced".to_owned(), json!(disclosure.coerced));
    }
    if !disclosure.notices.is_empty() {
        meta.insert("candor/notices".to_owned(), json!(disclosure.notices));
    }
    let news = disclosure.news_members();
    if !news.is_empty() && judgment.ruling.channel == Channel::Result {
        meta.insert("candor/news".to_owned(), Value::Array(news));
    }
    meta
}

impl Shape {
    /// Did the server put something under Candor's own keys?
    fn claims(&self) -> bool {
        matches!(self, Self::Server { result, .. } if result.claimed)
    }
}

fn shape(judgment: &Judgment, block: Option<&str>, reply: Option<&Reply>, secrets: &KnownSecrets) -> Shape {
    let ruling = &judgment.ruling;
    match (ruling.channel, ruling.bytes) {
        (Channel::Nobody, _) => Shape::Nobody,
        (Channel::Error, Bytes::Passed) => reply
            .map(|reply| passed(reply, judgment.how, secrets))
            .unwrap_or(Shape::Error { code: -32603 }),
        (Channel::Error, _) => Shape::Error {
            code: refusal_codes(judgment.how).0.unwrap_or(-32603),
        },
        (Channel::Result, Bytes::Untouched | Bytes::Prefixed) => reply
            .and_then(|reply| edited(reply, ruling, block, secrets))
            .unwrap_or(Shape::Result),
        (Channel::Result, _) => Shape::Result,
    }
}

/// The server's own result, with the edits that its ruling asks for; `None` where it can't be edited.
fn edited(reply: &Reply, ruling: &Ruling, block: Option<&str>, secrets: &KnownSecrets) -> Option<Shape> {
    let Carried::Result(result) = reply.carried() else {
        return None;
    };
    Some(Shape::Server {
        id: reply.id(),
        result: Box::new(Reworked::plan(reply.frame(), &result, ruling, block, secrets)?),
        frame: reply.frame().clone(),
    })
}

/// The server's own error: passed on with its credentials masked and that disclosed, as in a flagged answer. One that
/// asks the user to follow a URL is left whole: the URL may need what its query holds.
fn passed(reply: &Reply, how: How, secrets: &KnownSecrets) -> Shape {
    let mut edits = Edits::new();
    if let Carried::Error(raw) = reply.carried()
        && how != How::EUrl
    {
        mask_error(&mut edits, reply.frame(), raw, secrets);
    }
    Shape::Passed {
        id: reply.id(),
        frame: reply.frame().clone(),
        edits,
    }
}

fn mask_error(edits: &mut Edits, frame: &str, raw: &str, secrets: &KnownSecrets) {
    let Some(place) = span(frame, raw) else {
        return;
    };
    let redacted = redaction::raw(raw, secrets);
    if redacted.changes.is_empty() {
        return;
    }
    for rewritten in redacted.value {
        let (start, end) = (rewritten.span.start, rewritten.span.end);
        edits.replace(place.start + start..place.start + end, rewritten.text);
    }
    // Where its data has room for it; data that is no object is the server's own choice of shape.
    let disclosed = json!({ "candor/redacted": redaction::disclosure(&redacted.changes) }).to_string();
    let members = disclosed
        .get(1..disclosed.len().saturating_sub(1))
        .unwrap_or_default();
    let insert = match ErrorObject::read(raw)
        .data
        .and_then(|data| span(frame, data.get()))
    {
        Some(data) => add_members(frame, &data, members),
        None => add_members(frame, &place, &format!("\"data\":{{{members}}}")),
    };
    if let Some((at, what)) = insert {
        edits.insert(at, what);
    }
}

/// The raw form of a JSON-RPC error that became a result, with the least information.
fn upstream_error(reply: &Reply, secrets: &KnownSecrets) -> Option<Redacted<Value>> {
    let Carried::Error(raw) = reply.carried() else {
        return None;
    };
    let value: Value = serde_json::from_str(raw).ok()?;
    Some(redaction::least_json(&value, secrets))
}

/// A result of Candor's own.
pub(super) fn own_result(caller: &Caller, block: &str, flag: Flag, meta: Map<String, Value>) -> String {
    let mut result = Map::new();
    if caller.revision.era() == Era::Modern {
        result.insert("resultType".to_owned(), json!("complete"));
    }
    result.insert("content".to_owned(), json!([{ "type": "text", "text": block }]));
    if caller.revision.has_structured_content()
        && !caller.promises_structure
        && let Some(verdict) = meta.get(VERDICT)
    {
        result.insert("structuredContent".to_owned(), verdict.clone());
    }
    let flagged = flag != Flag::Cleared || caller.promises_structure;
    result.insert("isError".to_owned(), json!(flagged));
    result.insert("_meta".to_owned(), Value::Object(meta));
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}",
        caller.id,
        Value::Object(result)
    )
}

/// A JSON-RPC error frame of Candor's own. `id` is raw JSON text; without one the member is left out, as the schemas
/// since 2025-11-25 want it (older ones know no error without an id: give `null` there, JSON-RPC 2.0 section 5).
pub fn own_error(id: Option<&str>, code: i64, message: &str, data: Option<Map<String, Value>>) -> String {
    let mut error = Map::new();
    error.insert("code".to_owned(), json!(code));
    error.insert("message".to_owned(), json!(message));
    if let Some(data) = data {
        error.insert("data".to_owned(), Value::Object(data));
    }
    let id = id.map_or_else(String::new, |id| format!("\"id\":{id},"));
    format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{}}}", Value::Object(error))
}
