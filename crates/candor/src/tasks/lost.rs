//! What is said of a task whose tool gave no result: it crashed, its process ended, or its result is too large. Nothing
//! of what the tool was doing is told, for nobody checked it for secrets.

use candor_core::judgment::verdict::{Effect, Evidence, Failure, Kind, Outcome, Protocol, Repeat, Verdict};
use candor_core::names::OperationId;
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonObject, MetaObject};
use serde_json::{Value, json};
use uuid::Uuid;

use super::task::End;

/// The tool crashed. The correlation id stands in the server's log beside the place of the crash.
pub(crate) fn panicked(tool: &str, operation: OperationId, correlation: Uuid) -> (End, String) {
    let what = format!(
        "FAILED, EFFECT UNKNOWN: {tool} broke down while it ran as a task (correlation id {correlation}). It may be \
         done, not done, or done in part. A second identical call may do it twice."
    );
    told(
        operation,
        Outcome::Failed,
        Kind::Internal,
        "CANDOR_TOOL_FAILED",
        Evidence::Declared,
        what,
    )
}

/// The process that ran the tool ended.
pub(crate) fn orphaned(tool: &str, operation: OperationId) -> (End, String) {
    let what = format!(
        "UNKNOWN: the server ended while {tool} ran as a task. It may be done, not done, or done in part. A second \
         identical call may do it twice. The present state of the target shows which it was."
    );
    told(
        operation,
        Outcome::Unknown,
        Kind::OutcomeUnknown,
        "CANDOR_NO_ANSWER",
        Evidence::None,
        what,
    )
}

/// The tool ran to its end, and its result is more than a task may hold.
pub(crate) fn too_large(tool: &str, operation: OperationId, bytes: usize, most: usize) -> (End, String) {
    let what = format!(
        "UNKNOWN: {tool} ran to its end as a task, but its result of {bytes} bytes is more than a task may hold \
         ({most}) and was not kept. A second identical call may do the same thing twice."
    );
    told(
        operation,
        Outcome::Unknown,
        Kind::OutcomeUnknown,
        "CANDOR_TOO_LARGE",
        Evidence::None,
        what,
    )
}

/// The tool was told to stop and has not yet, and the caller's revision wants an answer.
pub(crate) fn given_up(tool: &str, operation: OperationId) -> (End, String) {
    let what = format!(
        "UNKNOWN: {tool} was told to stop and has not stopped yet; what it did and still does is not known. A second \
         identical call may do it twice."
    );
    (
        End::Cancelled(Some(stopped(operation, Outcome::Unknown, Effect::Unknown, &what))),
        what,
    )
}

/// The task waited for its user and nobody worked on it. It could be resumed, so its tool had changed nothing.
pub(crate) fn at_rest(tool: &str, operation: OperationId) -> (End, String) {
    let what = format!("NOT DONE: {tool} was cancelled while it waited for its user. Nothing changed.");
    (
        End::Cancelled(Some(stopped(
            operation,
            Outcome::Rejected,
            Effect::NotApplied,
            &what,
        ))),
        what,
    )
}

/// What `tasks/result` shows where a tool stopped and said nothing.
pub(crate) fn silent(tool: &str, operation: OperationId) -> JsonObject {
    let what = format!(
        "UNKNOWN: {tool} stopped because it was told to, and did not say what it had done until then. A second \
         identical call may do it twice."
    );
    stopped(operation, Outcome::Unknown, Effect::Unknown, &what)
}

fn stopped(operation: OperationId, outcome: Outcome, effect: Effect, what: &str) -> JsonObject {
    let verdict = verdict(
        operation,
        outcome,
        effect,
        Kind::Cancelled,
        "CANDOR_CANCELLED",
        Evidence::Declared,
        what.to_owned(),
    );
    let mut result = CallToolResult::error(vec![ContentBlock::text(what)]);
    let mut meta = MetaObject::new();
    meta.insert("candor/verdict".to_owned(), verdict.to_json(false));
    result.meta = Some(meta);
    match serde_json::to_value(&result) {
        Ok(Value::Object(result)) => result,
        // A text, a flag and JSON: they can always be written.
        Ok(_) | Err(_) => JsonObject::new(),
    }
}

fn told(
    operation: OperationId,
    outcome: Outcome,
    kind: Kind,
    code: &str,
    evidence: Evidence,
    what: String,
) -> (End, String) {
    let verdict = verdict(
        operation,
        outcome,
        Effect::Unknown,
        kind,
        code,
        evidence,
        what.clone(),
    );
    let data = json!({ "candor/verdict": verdict.to_json(false) });
    let end = End::failed(&ErrorData::internal_error(what.clone(), Some(data)));
    (end, what)
}

fn verdict(
    operation: OperationId,
    outcome: Outcome,
    effect: Effect,
    kind: Kind,
    code: &str,
    evidence: Evidence,
    message: String,
) -> Verdict {
    Verdict {
        operation,
        protocol: Protocol::Delivered,
        outcome,
        effect,
        evidence,
        error: Some(Failure {
            code: code.to_owned(),
            kind,
            message,
            retry_same_request: false,
            repeat: if effect == Effect::NotApplied {
                Repeat::MayHelp
            } else {
                Repeat::MayDuplicate
            },
            retry_after: None,
            issues: Vec::new(),
        }),
        reference: None,
        parts: Vec::new(),
        attempts: 1,
        suggested_next_step: None,
    }
}
