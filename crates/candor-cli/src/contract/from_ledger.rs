//! Recorded calls out of the ledger, as far as it keeps them: redacted, and whole up to 16 kB.

use std::path::Path;

use candor_ledger::{Filter, Reader};
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::recorded::{Answer, Look, Recorded, RecordedCall};
use super::replay::Replayed;
use crate::calls::say_notes;
use crate::record::{Body, Concluded};

/// A call, with what was concluded of it when it was made.
pub(super) type Past = Vec<Replayed>;

/// The newest calls of a server that the ledger keeps whole, oldest first, each with its verdict then; and how many it
/// does not keep whole.
pub(super) fn load(path: &Path, server: Option<&str>, limit: u32) -> anyhow::Result<(Recorded, Past, usize)> {
    let reader = Reader::open(path)?;
    say_notes(&reader);
    let rows = reader.operations(&Filter {
        server: server.map(str::to_owned),
        limit,
        ..Filter::default()
    })?;
    let (mut recorded, mut past, mut left_out) = (Recorded::default(), Past::new(), 0);
    for row in rows.iter().rev() {
        let intent = row.intent.as_ref().map(|record| Body::read(&record.entry.body));
        let concluded = row.latest.as_ref().map(Concluded::of);
        let (Some(intent), Some(concluded)) = (intent, concluded) else {
            left_out += 1;
            continue;
        };
        let line = recorded.calls.len() + 1;
        match call(line, &row.tool, &intent, &concluded.body) {
            Some(call) => {
                recorded.calls.push(call);
                past.push(Replayed {
                    flagged: concluded.body.at("/verdict/error").is_some(),
                    text: concluded.body.text("/text").unwrap_or_default().to_owned(),
                    outcome: concluded.outcome,
                    effect: concluded.effect,
                    evidence: concluded.evidence,
                });
            }
            None => left_out += 1,
        }
    }
    Ok((recorded, past, left_out))
}

/// None where the ledger holds a part of it only, and where it was never sent.
fn call(line: usize, tool: &str, intent: &Body, verdict: &Body) -> Option<RecordedCall> {
    let how = verdict.text("/how")?;
    let attempts = verdict.at("/verdict/attempts").and_then(Value::as_u64)?;
    if attempts == 0 {
        return None;
    }
    let answer = match verdict.at("/reply") {
        None => Answer::Lost,
        Some(reply) if reply.is_object() && how.starts_with("e_") => Answer::Error(to_raw_value(reply).ok()?),
        Some(reply) if reply.is_object() => Answer::Result(to_raw_value(reply).ok()?),
        // Cut: what is missing might be what decides.
        Some(_) => return None,
    };
    let arguments = match intent.at("/arguments") {
        None => serde_json::Map::new(),
        Some(arguments) => arguments.as_object()?.clone(),
    };
    let look = verdict.text("/readBack/tool").and_then(|tool| {
        Some(Look {
            tool: tool.to_owned(),
            result: to_raw_value(
                verdict
                    .at("/readBack/answer")
                    .filter(|answer| answer.is_object())?,
            )
            .ok()?,
        })
    });
    Some(RecordedCall {
        line,
        tool: tool.to_owned(),
        arguments,
        answer,
        looks: look.into_iter().collect(),
        expect: None,
    })
}
