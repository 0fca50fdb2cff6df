//! A call as a task, for clients that take tasks: 2025-11-25 (`tasks/get`, `tasks/result`, `tasks/cancel`) and the extension
//! `io.modelcontextprotocol/tasks` of 2026-07-28. The server knows nothing of it: to it the call is like any other.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::answer::{Caller, VERDICT, own_result};
use super::operation::moment;
use super::redaction::{self, KnownSecrets};
use crate::call::keyed::{FirstUse, Stands};
use crate::describe::{Lang, Subject, describe};
use crate::judgment::ruling::Flag;
use crate::judgment::verdict::{OnDisk, Outcome, Verdict};
use crate::names::{OperationId, UnixMillis};
use crate::wire::encode::{Edits, Pieces, add_members, span};
use crate::wire::members::Opened;
use crate::wire::reply::{Carried, Reply};
use crate::wire::revision::{Era, Revision};

/// The extension's name (2026-07-28).
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// In `_meta` of what belongs to a task (2025-11-25, tasks).
const RELATED: &str = "io.modelcontextprotocol/related-task";
/// At least so long is kept what became of a task, from its creation on: an answer is kept as long as an idempotency key.
const KEPT: Duration = Duration::from_hours(24);
/// How often a client is asked to look.
const POLL: Duration = Duration::from_secs(2);

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Working,
    /// Its answer is there.
    Completed,
    /// There is none, or one that says failure.
    Failed,
    /// It was given up by whoever began it.
    Cancelled,
}

impl Status {
    /// The protocol's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Where a task stands with this answer. A flagged result is a failure in 2025-11-25; in 2026-07-28 only an error is.
    pub fn of_answer(reply: &Reply, revision: Revision) -> Self {
        let Carried::Result(result) = reply.carried() else {
            return Self::Failed;
        };
        if says_cancelled(&result) {
            return Self::Cancelled;
        }
        let flagged = result.member("isError") == Some("true");
        // What asks for more than a task of a plain tool can give is no end of it.
        let goes_on = matches!(
            result.member("resultType"),
            Some("\"input_required\"" | "\"task\"")
        );
        if goes_on || (flagged && revision.era() == Era::Legacy) {
            Self::Failed
        } else {
            Self::Completed
        }
    }
}

fn says_cancelled(result: &Opened<'_>) -> bool {
    let verdict = || {
        let meta: Value = serde_json::from_str(result.member("_meta")?).ok()?;
        Some(meta.get(VERDICT)?.get("error")?.get("kind")? == "cancelled")
    };
    verdict().unwrap_or(false)
}

/// A task as it is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Its id, which is the operation's.
    pub id: OperationId,
    /// Where it stands.
    pub status: Status,
    /// What there is to say of that.
    pub message: Option<String>,
    /// When the call was opened.
    pub created: UnixMillis,
    /// When it became what it is.
    pub updated: UnixMillis,
}

impl Told {
    fn members(&self, revision: Revision) -> Map<String, Value> {
        let (ttl, poll) = match revision.era() {
            Era::Legacy => ("ttl", "pollInterval"),
            Era::Modern => ("ttlMs", "pollIntervalMs"),
        };
        let mut members = Map::new();
        members.insert("taskId".to_owned(), json!(self.id));
        members.insert("status".to_owned(), json!(self.status.as_str()));
        if let Some(message) = &self.message {
            members.insert("statusMessage".to_owned(), json!(message));
        }
        members.insert("createdAt".to_owned(), moment(self.created));
        members.insert("lastUpdatedAt".to_owned(), moment(self.updated));
        members.insert(ttl.to_owned(), json!(KEPT.as_millis()));
        members.insert(poll.to_owned(), json!(POLL.as_millis()));
        members
    }

    /// The answer to the `tools/call` that became this task.
    pub fn created(&self, id: &str, revision: Revision) -> String {
        let members = Value::Object(self.members(revision));
        let result = match revision.era() {
            Era::Legacy => json!({ "task": members }),
            Era::Modern => with_type("task", self.members(revision)),
        };
        frame(id, &result.to_string())
    }

    /// The answer to `tasks/get`; in 2026-07-28 with what became of it.
    pub fn shown(&self, id: &str, revision: Revision, end: Option<&Reply>) -> String {
        let members = self.members(revision);
        if revision.era() == Era::Legacy {
            return frame(id, &Value::Object(members).to_string());
        }
        let mut result = with_type("complete", members).to_string();
        let end = end.and_then(|reply| match (self.status, reply.carried()) {
            (Status::Completed, Carried::Result(result)) => Some(format!(",\"result\":{}", result.raw())),
            (Status::Failed, Carried::Error(error)) => Some(format!(",\"error\":{error}")),
            (Status::Failed, _) => Some(format!(",\"error\":{}", not_carried())),
            _ => None,
        });
        if let Some(end) = end {
            result.insert_str(result.len().saturating_sub(1), &end);
        }
        frame(id, &result)
    }

    /// The answer to `tasks/cancel`.
    pub fn cancelled(&self, id: &str, revision: Revision) -> String {
        match revision.era() {
            Era::Legacy => self.shown(id, revision, None),
            Era::Modern => frame(id, "{\"resultType\":\"complete\"}"),
        }
    }
}

/// A server that answers a call with a task or a question of its own, though its contract says that it is a plain tool.
fn not_carried() -> Value {
    json!({
        "code": -32603,
        "message": "The server answered with a task or a question of its own, which a task of Candor's can't carry. Call the tool without a task.",
    })
}

fn with_type(kind: &str, members: Map<String, Value>) -> Value {
    let mut result = Map::new();
    result.insert("resultType".to_owned(), json!(kind));
    result.extend(members);
    Value::Object(result)
}

fn frame(id: &str, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// The answer to `tasks/result` (2025-11-25): what the call itself would have got, and which task it belongs to.
pub fn payload(id: &str, task: OperationId, reply: &Reply) -> Option<Pieces> {
    let text = reply.frame();
    let mut edits = Edits::new();
    edits.replace(reply.id(), id);
    if let Carried::Result(result) = reply.carried() {
        let member = format!("\"{RELATED}\":{{\"taskId\":{}}}", json!(task));
        let (at, what) = match result.member("_meta").and_then(|raw| span(text, raw)) {
            Some(meta) => add_members(text, &meta, &member)?,
            None => add_members(
                text,
                &span(text, result.raw())?,
                &format!("\"_meta\":{{{member}}}"),
            )?,
        };
        edits.insert(at, what);
    }
    Some(edits.share(text))
}

/// What the record says of a task whose process is gone, or that has forgotten it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// As it is told.
    pub told: Told,
    /// The answer: the one that is kept, else Candor's own about the verdict. `None` while it runs.
    pub answer: Option<Reply>,
}

/// Whom and what a kept task is told of.
#[derive(Debug, Clone, Copy)]
pub struct Teller<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The revision in force.
    pub revision: Revision,
    /// Values that are masked.
    pub secrets: &'a KnownSecrets,
}

impl Teller<'_> {
    /// Reads the first use of the key that a task is kept under; `created` and `updated` are its records'.
    pub fn kept(&self, first: &FirstUse, created: UnixMillis, updated: UnixMillis) -> Kept {
        let told = |status, message| Told {
            id: first.operation,
            status,
            message,
            created,
            updated,
        };
        let (verdict, amended) = match &first.stands {
            Stands::Running => {
                return Kept {
                    told: told(Status::Working, None),
                    answer: None,
                };
            }
            Stands::Ended { verdict, amended } => (Some(verdict.as_ref()), *amended),
            Stands::Lost | Stands::Forgotten => (None, false),
        };
        let known = verdict.is_some_and(|verdict| verdict.outcome != Outcome::Unknown);
        let kept = first.answer.as_deref().filter(|_| known || verdict.is_none());
        let said = kept.and_then(Reply::parse);
        // An answer that the record has overtaken is told with what is known now.
        let message = (amended || said.is_none()).then(|| self.sentence(verdict));
        let answer = said.or_else(|| Reply::parse(self.authored(verdict, first.operation)));
        let status = answer
            .as_ref()
            .map_or(Status::Failed, |answer| Status::of_answer(answer, self.revision));
        Kept {
            told: told(status, message),
            answer,
        }
    }

    fn sentence(&self, verdict: Option<&Verdict>) -> String {
        let sentence = verdict.map_or_else(
            || {
                format!(
                    "Nobody knows whether {} on {} was done: Candor ended while the call ran.",
                    self.tool, self.server
                )
            },
            |verdict| {
                let subject = Subject {
                    server: self.server,
                    tool: self.tool,
                    verdict,
                    flagged: false,
                    count_is_zero: false,
                };
                describe(&subject, Lang::En)
            },
        );
        redaction::known(&sentence, self.secrets).value.into_owned()
    }

    /// A result of Candor's own that tells the verdict: no answer of the server's is kept.
    fn authored(&self, verdict: Option<&Verdict>, operation: OperationId) -> String {
        let mut meta = Map::new();
        if let Some(verdict) = verdict {
            let told = json!(verdict.told(OnDisk::Yes));
            meta.insert(VERDICT.to_owned(), redaction::known_json(told, self.secrets));
        }
        let good = verdict.is_some_and(|verdict| {
            matches!(
                verdict.outcome,
                Outcome::Reported | Outcome::Completed | Outcome::Accepted
            )
        });
        let flag = if good { Flag::Cleared } else { Flag::Set };
        let caller = Caller {
            id: "0".to_owned(),
            revision: self.revision,
            promises_structure: true,
        };
        let text = format!(
            "{} (call {}). The server's own answer is not kept.",
            self.sentence(verdict).trim_end_matches('.'),
            operation.short()
        );
        own_result(&caller, &text, flag, meta)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn told(status: Status) -> Told {
        Told {
            id: OperationId::new(Uuid::from_u128(7)),
            status,
            message: None,
            created: UnixMillis(0),
            updated: UnixMillis(1_000),
        }
    }

    fn reply(body: &str) -> Reply {
        Reply::parse(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{body}}}")).unwrap()
    }

    #[test]
    fn each_era_has_its_own_words_for_a_task() {
        let id = "00000000-0000-0000-0000-000000000007";
        let legacy = told(Status::Working).created("\"a\"", Revision::V2025_11_25);
        assert_eq!(
            legacy,
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{{\"task\":{{\"taskId\":\"{id}\",\"status\":\"working\",\
                 \"createdAt\":\"1970-01-01T00:00:00Z\",\"lastUpdatedAt\":\"1970-01-01T00:00:01Z\",\"ttl\":86400000,\
                 \"pollInterval\":2000}}}}}}"
            )
        );
        let modern = told(Status::Working).created("1", Revision::V2026_07_28);
        assert!(
            modern.contains("\"resultType\":\"task\",\"taskId\"") && modern.contains("\"ttlMs\":86400000")
        );
    }

    #[test]
    fn what_became_of_it_stands_in_the_modern_answer_alone() {
        let good = reply(r#""result":{"content":[],"resultType":"complete"}"#);
        let told = told(Status::Completed);
        let modern = told.shown("1", Revision::V2026_07_28, Some(&good));
        assert!(
            modern.ends_with(r#","result":{"content":[],"resultType":"complete"}}}"#),
            "{modern}"
        );
        assert!(
            !told
                .shown("1", Revision::V2025_11_25, Some(&good))
                .contains("content")
        );
    }

    #[test]
    fn a_failure_is_one_by_the_words_of_its_revision() {
        let flagged = reply(r#""result":{"content":[],"isError":true}"#);
        let cancelled = reply(
            r#""result":{"content":[],"isError":true,"_meta":{"candor/verdict":{"error":{"kind":"cancelled"}}}}"#,
        );
        let error = reply(r#""error":{"code":1,"message":"no"}"#);
        let asks = reply(r#""result":{"resultType":"input_required"}"#);
        for (reply, legacy, modern) in [
            (&flagged, Status::Failed, Status::Completed),
            (&cancelled, Status::Cancelled, Status::Cancelled),
            (&error, Status::Failed, Status::Failed),
            (&asks, Status::Failed, Status::Failed),
        ] {
            assert_eq!(
                Status::of_answer(reply, Revision::V2025_11_25),
                legacy,
                "{reply:?}"
            );
            assert_eq!(
                Status::of_answer(reply, Revision::V2026_07_28),
                modern,
                "{reply:?}"
            );
        }
    }

    #[test]
    fn a_payload_is_the_calls_own_answer_and_says_whose() {
        let answer = reply(r#""result":{"content":[ ],"_meta":{"x":1.0}}"#);
        let task = OperationId::new(Uuid::from_u128(7));
        assert_eq!(
            payload("9", task, &answer).unwrap().into_text(),
            r#"{"jsonrpc":"2.0","id":9,"result":{"content":[ ],"_meta":{"x":1.0,"io.modelcontextprotocol/related-task":{"taskId":"00000000-0000-0000-0000-000000000007"}}}}"#
        );
        let error = reply(r#""error":{"code":1,"message":"no"}"#);
        assert_eq!(
            payload("9", task, &error).unwrap().into_text(),
            r#"{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"no"}}"#
        );
    }
}
