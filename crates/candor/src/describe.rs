//! One sentence for a person about any tool result, in English or Chinese.
//!
//! It opens as `decisions.toml` says (DESIGN section 3b): what is flagged never opens as done, something accepted is said
//! to be not yet done, and a result whose structured `count` is 0 says that nothing was found. A reference is always
//! named.

use std::time::Duration;

use candor_core::contract::effect::EffectClass;
use candor_core::delivery::quote;
use candor_core::delivery::redaction::KnownSecrets;
pub use candor_core::describe::Lang;
use candor_core::describe::{self, Subject};
use candor_core::judgment::ending::{Ending, Scene, Voice};
use candor_core::judgment::judge::judge;
use candor_core::judgment::verdict::{Effect, Evidence, Outcome, Protocol, Verdict};
use candor_core::names::{OperationId, ServerName, ToolName};
use candor_core::reading::result::{Asked, ResultReading, read};
use candor_core::wire::members::Opened;
use candor_core::wire::revision::Revision;
use rmcp::model::CallToolResult;
use serde_json::Value;
use uuid::Uuid;

/// Where a verdict stands in a result's `_meta` (DESIGN section 3b).
const VERDICT: &str = "candor/verdict";
/// Where a result names the task it comes from (MCP 2025-11-25, tasks).
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Describes a result of `tool` on `server` in one sentence and a half: how it ended, what it was about, what changed.
///
/// A verdict in the result's `_meta["candor/verdict"]` is taken at its word, unless it contradicts the result's flag or
/// itself. Every other result is judged by what it says in structured facts: its flag and its type, never its prose. Of
/// an unflagged one no more is known than that the server reported no error.
///
/// ```
/// use candor::describe::{Lang, describe};
/// use candor::rmcp::model::{CallToolResult, ContentBlock};
///
/// let result = CallToolResult::error(vec![ContentBlock::text("no such room")]);
/// assert_eq!(
///     describe(&result, "rooms", "book_room", Lang::En),
///     "Did not succeed, effect unknown: book_room on rooms (CANDOR_TOOL_ERROR). Whether anything changed is not known."
/// );
/// ```
pub fn describe(result: &CallToolResult, server: &str, tool: &str, lang: Lang) -> String {
    let secrets = KnownSecrets::default();
    let flagged = result.is_error == Some(true);
    let reading = reading(result);
    let count_is_zero = reading.count_is_zero;
    let verdict = told(result)
        .filter(|verdict| fits(verdict, flagged))
        .unwrap_or_else(|| judged(reading));
    let subject = Subject {
        server: &quote::name(server, &secrets),
        tool: &quote::name(tool, &secrets),
        verdict: &shown(verdict, result, &secrets),
        flagged,
        count_is_zero,
    };
    describe::describe(&subject, lang)
}

/// The verdict that the result carries.
fn told(result: &CallToolResult) -> Option<Verdict> {
    Verdict::from_json(result.meta.as_ref()?.get(VERDICT)?)
}

/// Can this verdict be the one on this result? Anybody can write one: it may not say done of what is flagged, nor
/// claim more than what it stands on.
fn fits(verdict: &Verdict, flagged: bool) -> bool {
    let failed = matches!(
        verdict.outcome,
        Outcome::Rejected | Outcome::Failed | Outcome::Partial | Outcome::Unknown
    );
    let claims_done = verdict.outcome == Outcome::Completed || verdict.effect == Effect::Applied;
    let is_known = matches!(
        verdict.evidence,
        Evidence::Declared | Evidence::ReadBack | Evidence::Operator
    );
    let whole = !matches!(
        (verdict.outcome, verdict.effect),
        (Outcome::Completed, Effect::Partial | Effect::Unknown)
    );
    let sent = verdict.protocol != Protocol::NotSent || verdict.effect == Effect::NotApplied;
    (failed || !flagged) && (is_known || !claims_done) && whole && sent
}

/// What the result says in structured facts.
fn reading(result: &CallToolResult) -> ResultReading {
    // Only the modern era has a `resultType`; before it a structure that is null is none.
    let revision = if result.result_type.is_some() {
        Revision::V2026_07_28
    } else {
        Revision::V2025_11_25
    };
    let asked = Asked {
        revision,
        as_task: false,
        promises_structure: false,
        output: None,
        mapping: None,
        text: &[],
        believed: None,
    };
    match serde_json::to_string(result) {
        Ok(text) => read(&Opened::whole(&text), &asked),
        Err(_) => ResultReading::no_result("it can't be written as JSON"),
    }
}

/// The verdict on a result that carries none: of a server that nobody wrote a contract for, on a tool that counts as a
/// write.
fn judged(reading: ResultReading) -> Verdict {
    let scene = Scene {
        operation: OperationId::new(Uuid::nil()),
        server: ServerName::from(""),
        tool: ToolName::from(""),
        class: EffectClass::Write,
        claims_read_only: false,
        attempts: 1,
        elapsed: Duration::ZERO,
        strict_shape: false,
        recorded: false,
        voice: Voice::Library,
        secrets: KnownSecrets::default(),
    };
    judge(&scene, &Ending::Replied(Box::new(reading))).verdict
}

/// The verdict as a sentence may show it: what came from outside can forge no line, and a reference that stands only in
/// the protocol's own place is named too.
fn shown(verdict: Verdict, result: &CallToolResult, secrets: &KnownSecrets) -> Verdict {
    let task = result.meta.as_ref().and_then(|meta| meta.get(RELATED_TASK));
    let task = task.and_then(|task| task.get("taskId")).and_then(Value::as_str);
    let reference = verdict.reference.as_deref().or(task);
    Verdict {
        reference: reference
            .filter(|reference| !reference.is_empty())
            .map(|reference| quote::reference(reference, secrets)),
        error: verdict.error.map(|mut error| {
            error.code = quote::name(&error.code, secrets);
            error
        }),
        // Who cancels before a call is sent gets no answer: a flagged one is of a call that was not merely cancelled.
        attempts: verdict.attempts.max(u32::from(result.is_error == Some(true))),
        ..verdict
    }
}

#[cfg(test)]
mod tests;
