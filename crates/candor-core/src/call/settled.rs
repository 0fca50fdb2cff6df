//! A person's word on what became of a call. It amends the operation; what was recorded before stays.

use serde_json::{Value, json};

use crate::contract::effect::EffectClass;
use crate::delivery::redaction;
use crate::judgment::verdict::{Effect, Evidence, Failure, Kind, Outcome, Part, Protocol, Repeat, Verdict};
use crate::names::{OperationId, ServerName, ToolName, UnixMillis};
use crate::record::bodies::VERSION;
use crate::record::entry::Concluded;
use crate::record::{Entry, Phase};

/// The longest reason, in bytes.
pub const MOST_REASON: usize = 2_000;

/// What a person says became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// What was asked for was done.
    Applied,
    /// Nothing was done.
    NotApplied,
}

impl Word {
    /// The row of `decisions.toml`.
    pub fn how(self) -> &'static str {
        match self {
            Self::Applied => "settled_applied",
            Self::NotApplied => "settled_not_applied",
        }
    }
}

/// Who says what, and why.
#[derive(Debug, Clone, Copy)]
pub struct Settling<'a> {
    /// What became of it.
    pub word: Word,
    /// Why they say so. Credentials are masked, and what is over [`MOST_REASON`] is cut.
    pub because: &'a str,
    /// Who says so.
    pub by: &'a str,
}

/// A call as it stands, by its records.
#[derive(Debug, Clone, Copy)]
pub struct Settled<'a> {
    /// The operation.
    pub operation: OperationId,
    /// The server.
    pub server: &'a str,
    /// The tool, as it was recorded.
    pub tool: &'a str,
    /// The body of its intent; empty where there is none.
    pub intent: &'a [u8],
    /// The body of its latest verdict or amendment; empty where there is none.
    pub latest: &'a [u8],
}

/// The record of a person's word. Bodies that can't be read leave out what they would have said, and never stop it.
pub fn amendment(call: &Settled<'_>, settling: &Settling<'_>, now: UnixMillis) -> Entry {
    let (intent, latest) = (read(call.intent), read(call.latest));
    let before = latest.get("verdict").and_then(Verdict::from_json);
    let verdict = verdict(call, settling, class(&intent), before.as_ref());
    let reason = redaction::text(settling.because).value;
    let reason = reason
        .get(..reason.floor_char_boundary(MOST_REASON))
        .unwrap_or_default();
    let body = json!({
        "v": VERSION,
        "type": "verdict",
        "operationId": call.operation,
        "server": call.server,
        "tool": call.tool,
        "at": now,
        "how": settling.word.how(),
        "verdict": verdict.to_json(true),
        "channel": "none",
        "flagged": verdict.error.is_some(),
        "countIsZero": false,
        "text": null,
        // What was found before is still true of the call.
        "findings": latest.get("findings").cloned().unwrap_or_else(|| json!([])),
        "reply": null,
        "replyDigest": null,
        "settled": { "by": redaction::text(settling.by).value, "because": reason },
    });
    Entry {
        operation: call.operation,
        phase: Phase::Amendment,
        at: now,
        server: ServerName::from(call.server),
        tool: ToolName::from(call.tool),
        concluded: Some(Concluded::of(&verdict)),
        body: body.to_string(),
    }
}

/// A body of a version that is known; names in a newer one may mean something else.
fn read(body: &[u8]) -> Value {
    serde_json::from_slice::<Value>(body)
        .ok()
        .filter(|body| {
            body.get("v")
                .and_then(Value::as_u64)
                .is_some_and(|v| v <= u64::from(VERSION))
        })
        .unwrap_or_default()
}

fn class(intent: &Value) -> EffectClass {
    let word = intent.get("effectClass").and_then(Value::as_str);
    word.and_then(|word| word.parse().ok())
        .unwrap_or(EffectClass::Write)
}

fn verdict(
    call: &Settled<'_>,
    settling: &Settling<'_>,
    class: EffectClass,
    before: Option<&Verdict>,
) -> Verdict {
    let (outcome, effect) = match (settling.word, class) {
        // What only reads changes nothing, whoever says that it was done.
        (Word::Applied, EffectClass::Read) => (Outcome::Completed, Effect::NotApplied),
        (Word::Applied, _) => (Outcome::Completed, Effect::Applied),
        (Word::NotApplied, _) => (Outcome::Failed, Effect::NotApplied),
    };
    let earlier = before.and_then(|before| before.error.as_ref());
    Verdict {
        operation: call.operation,
        // A person's word does not change what arrived.
        protocol: before.map_or(Protocol::NoResponse, |before| before.protocol),
        outcome,
        effect,
        evidence: Evidence::Operator,
        error: (settling.word == Word::NotApplied).then(|| failure(earlier)),
        reference: before.and_then(|before| before.reference.clone()),
        parts: before.map_or_else(Vec::new, |before| {
            before
                .parts
                .iter()
                .map(|part| settle_part(part, outcome, effect))
                .collect()
        }),
        // Without a verdict nobody knows whether it left: it may have been sent once.
        attempts: before.map_or(1, |before| before.attempts),
        suggested_next_step: None,
    }
}

/// A word on the whole is a word on each part: a whole that is known and a part that is not would contradict each other.
fn settle_part(part: &Part, outcome: Outcome, effect: Effect) -> Part {
    Part {
        name: part.name.clone(),
        outcome,
        effect,
        code: part.code.clone().filter(|_| outcome == Outcome::Failed),
    }
}

/// What went wrong is what went wrong before; what a person adds is that nothing was done.
fn failure(earlier: Option<&Failure>) -> Failure {
    let kind = match earlier.map(|earlier| earlier.kind) {
        Some(Kind::OutcomeUnknown) | None => Kind::DependencyUnavailable,
        Some(kind) => kind,
    };
    Failure {
        code: earlier.map_or_else(|| "CANDOR_TOOL_FAILED".to_owned(), |earlier| earlier.code.clone()),
        kind,
        message: "A person settled it: it was not done, and nothing changed.".to_owned(),
        retry_same_request: true,
        repeat: Repeat::MayHelp,
        retry_after: None,
        issues: earlier.map_or_else(Vec::new, |earlier| earlier.issues.clone()),
    }
}

#[cfg(test)]
mod tests;
