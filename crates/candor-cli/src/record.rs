//! One call as the ledger has it: the columns, and the bodies behind them.
//!
//! Bodies are versioned JSON. One of a newer version may mean something else by the same names, so nothing is read from
//! it: the columns, which every version keeps, are shown, and that there is more is said.

mod body;
mod verdict;

use std::collections::BTreeSet;

use candor_core::call::crashed::{self, OpenIntent};
use candor_core::judgment::verdict::{Effect, Evidence, Outcome};
use candor_core::names::{OperationId, UnixMillis};
use candor_ledger::{OperationRow, Standing, StoredEntry};
use serde_json::{Map, Value, json};

pub(crate) use self::body::Body;
pub(crate) use self::verdict::{issues, verdict};
use crate::times;

/// One call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) operation: OperationId,
    pub(crate) server: String,
    pub(crate) tool: String,
    /// When its first record was made, in milliseconds since 1970.
    pub(crate) started_ms: i64,
    /// From its first record to its verdict, in milliseconds; `None` where there is none yet.
    pub(crate) took_ms: Option<u64>,
    /// Does it still go on?
    pub(crate) running: bool,
    /// Does somebody still have to find out what happened?
    pub(crate) unsettled: bool,
    /// What was concluded; `None` while it runs.
    pub(crate) concluded: Option<Concluded>,
    intent: Option<Body>,
}

/// What was concluded, as the ledger's columns say it, and the body behind them.
#[derive(Debug, Clone)]
pub(crate) struct Concluded {
    pub(crate) outcome: String,
    pub(crate) effect: String,
    pub(crate) evidence: String,
    pub(crate) body: Body,
}

impl Concluded {
    /// The columns and body of a verdict or an amendment.
    pub(crate) fn of(record: &StoredEntry) -> Self {
        let word = |column: &Option<String>| column.clone().unwrap_or_default();
        Self {
            outcome: word(&record.entry.outcome),
            effect: word(&record.entry.effect),
            evidence: word(&record.entry.evidence),
            body: Body::read(&record.entry.body),
        }
    }

    /// The effect as a person should read it: where the server merely asserted, nobody knows what changed, and a word
    /// would look like knowledge.
    pub(crate) fn effect_shown(&self) -> &str {
        if self.evidence == Evidence::Asserted.as_str() {
            "–"
        } else {
            &self.effect
        }
    }
}

impl Call {
    /// Reads one row. A call that an instance left open when it ended is judged here as the next start will judge it.
    pub(crate) fn of(row: &OperationRow, now_ms: i64) -> Self {
        let mut call = Self {
            operation: OperationId::new(row.operation),
            server: row.server.clone(),
            tool: row.tool.clone(),
            started_ms: row.started_ms,
            took_ms: row
                .ended_ms
                .map(|ended| UnixMillis(ended).since(UnixMillis(row.started_ms))),
            running: row.standing == Standing::Running,
            unsettled: row.unsettled && row.standing == Standing::Ended,
            concluded: row
                .latest
                .as_ref()
                .filter(|_| row.standing == Standing::Ended)
                .map(Concluded::of),
            intent: row.intent.as_ref().map(|record| Body::read(&record.entry.body)),
        };
        if row.standing == Standing::Abandoned {
            call.abandon(row.intent.as_ref(), now_ms);
        }
        call
    }

    fn abandon(&mut self, intent: Option<&StoredEntry>, now_ms: i64) {
        let open = OpenIntent {
            operation: self.operation,
            at: UnixMillis(self.started_ms),
            server: &self.server,
            tool: &self.tool,
            body: intent.map_or(&[], |record| record.entry.body.as_slice()),
        };
        let entry = crashed::verdict(&open, UnixMillis(now_ms));
        let (outcome, effect, evidence) = entry
            .concluded
            .map_or((Outcome::Unknown, Effect::Unknown, Evidence::None), |columns| {
                (columns.outcome, columns.effect, columns.evidence)
            });
        self.unsettled = entry.concluded.is_none_or(|columns| columns.unsettled);
        self.concluded = Some(Concluded {
            outcome: outcome.to_string(),
            effect: effect.to_string(),
            evidence: evidence.to_string(),
            body: Body::read(entry.body.as_bytes()),
        });
    }

    /// The stable code of what went wrong, where something did.
    pub(crate) fn code(&self) -> Option<&str> {
        self.concluded.as_ref()?.body.at("/verdict/error/code")?.as_str()
    }

    /// The tool by which its contract says to look again; `None` where it says nothing of that.
    pub(crate) fn looks_again_by(&self) -> Option<&str> {
        let clauses = self.intent.as_ref()?.list("/contract").iter();
        clauses
            .filter_map(|clause| clause.get("clause")?.as_str())
            .find_map(|clause| clause.strip_prefix("read_back by "))
            .map(|clause| clause.split(": applied if").next().unwrap_or(clause))
    }

    /// What the tool's own or Candor's own message says of what went wrong.
    pub(crate) fn message(&self) -> Option<&str> {
        self.concluded.as_ref()?.body.text("/verdict/error/message")
    }

    /// Something to follow, as the server names it.
    pub(crate) fn reference(&self) -> Option<&str> {
        self.concluded.as_ref()?.body.text("/verdict/reference")
    }

    /// The version of a body that a newer program wrote.
    pub(crate) fn newer(&self) -> Option<u64> {
        let concluded = self.concluded.as_ref().map(|concluded| &concluded.body);
        concluded.into_iter().chain(&self.intent).find_map(Body::newer)
    }

    /// Everything that was found, before the answer and in it, each once.
    pub(crate) fn findings(&self) -> Vec<Value> {
        let before = self
            .intent
            .as_ref()
            .and_then(|body| body.at("/disclosed/findings"));
        let after = self
            .concluded
            .as_ref()
            .and_then(|concluded| concluded.body.at("/findings"));
        let mut seen = BTreeSet::new();
        let all = before
            .into_iter()
            .chain(after)
            .filter_map(Value::as_array)
            .flatten();
        all.filter(|finding| seen.insert(finding.to_string()))
            .cloned()
            .collect()
    }

    /// The call as one object: the verdict's parts stand beside the call's own. `outcome` is null while it runs.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let concluded = self.concluded.as_ref();
        let part = |name: &str| {
            let found = concluded.and_then(|concluded| concluded.body.at(&format!("/verdict/{name}")));
            found.cloned().unwrap_or(Value::Null)
        };
        let parts = part("parts");
        let readable = concluded.is_some_and(|concluded| concluded.body.newer().is_none());
        let members = [
            ("operationId", json!(self.operation)),
            ("server", json!(self.server)),
            ("tool", json!(self.tool)),
            ("startedAt", json!(times::stamp(self.started_ms))),
            ("durationMs", json!(self.took_ms)),
            ("protocol", part("protocol")),
            ("outcome", json!(concluded.map(|concluded| &concluded.outcome))),
            ("effect", json!(concluded.map(|concluded| &concluded.effect))),
            ("evidence", json!(concluded.map(|concluded| &concluded.evidence))),
            ("error", part("error")),
            ("reference", part("reference")),
            (
                "parts",
                if parts.is_null() && readable {
                    json!([])
                } else {
                    parts
                },
            ),
            ("attempts", part("attempts")),
            // What is read here is in the ledger.
            ("recorded", json!(true)),
            ("unsettled", json!(self.unsettled)),
            ("findings", json!(self.findings())),
            (
                "how",
                concluded
                    .and_then(|concluded| concluded.body.at("/how"))
                    .cloned()
                    .unwrap_or(Value::Null),
            ),
        ];
        members
            .map(|(name, value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    }
}
