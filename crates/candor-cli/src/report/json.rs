//! A report for programs: version 1 of its shape, which docs/report.md describes.

use serde_json::{Map, Value, json};

use super::section::Section;
use super::span::Span;
use super::summary::{Counts, Item, LISTED, OPEN_LISTED, Summary, count};
use super::tables;
use crate::times;

/// The version of the shape. Members may be added; a change of meaning takes a new number.
const VERSION: u32 = 1;
/// Tools, reasons and findings that are told.
const MOST: usize = 1_000;

pub(super) fn value(place: &str, span: &Span, summary: &Summary) -> Value {
    let cut = summary
        .cut
        .map(|cut| json!({ "before": times::stamp(cut.before_ms), "open": cut.open }));
    json!({
        "type": "report",
        "version": VERSION,
        "program": concat!("candor ", env!("CARGO_PKG_VERSION")),
        "madeAt": times::stamp(summary.now_ms),
        "ledger": place,
        "span": {
            "session": span.session,
            "from": span.from_ms.map(times::stamp),
            "to": span.to_ms.map(times::stamp),
            "firstCall": summary.moments.first().map(|(ms, _)| times::stamp(*ms)),
            "lastCall": summary.moments.last().map(|(ms, _)| times::stamp(*ms)),
        },
        "sessions": summary.sessions.iter().map(|session| json!({
            "session": session.instance,
            "firstCall": times::stamp(session.first_ms),
            "lastCall": times::stamp(session.last_ms),
            "calls": session.operations,
        })).collect::<Vec<_>>(),
        "calls": summary.calls,
        "unsettled": summary.unsettled,
        "running": summary.running,
        "open": summary.is_open(),
        "sections": counts(&summary.sections),
        "evidence": summary.evidence.iter()
            .map(|(word, by_section)| (word.clone(), counts(by_section)))
            .collect::<Map<String, Value>>(),
        "attempts": {
            "sent": summary.attempts.sent,
            "neverSent": summary.attempts.never_sent,
            "sentMoreThanOnce": summary.attempts.more_than_once,
        },
        "tools": tables::by_calls(summary).iter().take(MOST).map(|(server, name, tool)| json!({
            "server": server,
            "tool": name,
            "calls": tool.calls(),
            "sections": counts(&tool.sections),
            "sent": tool.sent,
            "unsettled": tool.unsettled,
        })).collect::<Vec<_>>(),
        "reasons": summary.reasons.iter().take(MOST).map(|(code, reason)| json!({
            "code": code,
            "kind": reason.kind,
            "calls": reason.calls,
            "neverSent": reason.unsent,
            "message": reason.message,
        })).collect::<Vec<_>>(),
        "findings": summary.findings.iter().take(MOST)
            .map(|(code, calls)| json!({ "code": code, "calls": calls }))
            .collect::<Vec<_>>(),
        "unsettledCalls": summary.open.iter().take(OPEN_LISTED)
            .map(|item| call(item, Some(summary.now_ms))).collect::<Vec<_>>(),
        "listed": Section::ALL.iter().zip(&summary.listed)
            .map(|(section, list)| {
                let calls: Vec<Value> = list.iter().take(LISTED).map(|item| call(item, None)).collect();
                (section.word().to_owned(), Value::Array(calls))
            })
            .collect::<Map<String, Value>>(),
        "cut": cut,
    })
}

fn counts(counts: &Counts) -> Value {
    let words = Section::ALL.iter();
    Value::Object(
        words
            .map(|section| (section.word().to_owned(), json!(count(counts, *section))))
            .collect(),
    )
}

/// One call; with a moment, its age then, too.
fn call(item: &Item, now_ms: Option<i64>) -> Value {
    let mut out = json!({
        "operationId": item.id,
        "startedAt": times::stamp(item.started_ms),
        "server": item.server,
        "tool": item.tool,
        "outcome": item.outcome,
        "effect": item.effect,
        "evidence": item.evidence,
        "unsettled": item.unsettled,
        "attempts": item.attempts,
        "code": item.code,
        "message": item.message,
        "reference": item.reference,
        "settled": item.settled.as_ref().map(|(by, because)| json!({ "by": by, "because": because })),
        "readBackBy": item.looks_by,
    });
    if let (Some(now_ms), Some(members)) = (now_ms, out.as_object_mut()) {
        let age = now_ms.saturating_sub(item.started_ms).max(0);
        members.insert("ageMs".to_owned(), json!(age));
    }
    out
}
