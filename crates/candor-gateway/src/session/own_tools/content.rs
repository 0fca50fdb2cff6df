//! What the record says in answer to an agent's question. Reads files: never on the loop's own thread.

use std::path::Path;

use candor_core::delivery::operation::{Step, operation};
use candor_core::names::UnixMillis;
use candor_core::record::Phase;
use candor_ledger::{Filter, Lookup, OperationRow, Reader, StoredEntry};
use serde_json::{Value, json};

/// Operations in one list.
const MOST_LISTED: u32 = 50;

/// What an agent asks.
#[derive(Debug)]
pub(super) enum Question {
    /// What became of this operation?
    Operation {
        /// Its id, or the end of it.
        id: String,
    },
    /// The same, as a resource.
    Resource {
        /// The address.
        uri: String,
        /// The id in it.
        id: String,
    },
    /// What is not settled?
    Unsettled,
}

/// What the record says.
#[derive(Debug)]
pub(super) enum Answer {
    /// This.
    Told {
        /// In one sentence.
        sentence: String,
        /// As a value.
        value: Value,
    },
    /// Nothing, and why.
    Not(String),
}

/// Answers from the ledger at this place, and only of this server's operations.
pub(super) fn answer(place: &Path, server: &str, question: &Question) -> Answer {
    let Ok(reader) = Reader::open(place) else {
        return Answer::Not("the record of calls can't be read now".to_owned());
    };
    let answer = match question {
        Question::Operation { id } | Question::Resource { id, .. } => one(&reader, server, id),
        Question::Unsettled => unsettled(&reader, server),
    };
    answer.unwrap_or_else(|| Answer::Not("the record of calls can't be read now".to_owned()))
}

fn one(reader: &Reader, server: &str, id: &str) -> Option<Answer> {
    // Not the end of an id at all, another server's, and none: for whoever asks these are the same.
    let none = || {
        Answer::Not(format!(
            "no operation of this server has an id that ends in {}; at least 4 of its last hexadecimal digits were expected",
            json!(id.chars().take(64).collect::<String>())
        ))
    };
    match reader.operation(id) {
        Err(candor_ledger::ReadFault::NotASuffix { .. }) => Some(none()),
        Err(fault) => {
            tracing::warn!(%fault, "a question about the record could not be answered");
            None
        }
        Ok(Lookup::None) => Some(none()),
        Ok(Lookup::Ambiguous(_)) => Some(Answer::Not(
            "several operations have ids that end so; more digits tell them apart".to_owned(),
        )),
        Ok(Lookup::One(records)) => {
            let own = records
                .first()
                .is_some_and(|record| record.entry.server == server);
            Some(if own { told(&records) } else { none() })
        }
    }
}

fn told(records: &[StoredEntry]) -> Answer {
    let steps: Vec<Step<'_>> = records.iter().map(step).collect();
    let Some(first) = records.first() else {
        return Answer::Not("the record is empty".to_owned());
    };
    let id = first.entry.operation.to_string();
    let value = operation(&id, &first.entry.server, &first.entry.tool, &steps);
    Answer::Told {
        sentence: value
            .get("sentence")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        value,
    }
}

fn step(record: &StoredEntry) -> Step<'_> {
    Step {
        phase: match record.entry.phase {
            candor_ledger::Phase::Intent => Phase::Intent,
            candor_ledger::Phase::Verdict => Phase::Verdict,
            candor_ledger::Phase::Amendment => Phase::Amendment,
        },
        at: UnixMillis(record.entry.at_ms),
        body: &record.entry.body,
    }
}

fn unsettled(reader: &Reader, server: &str) -> Option<Answer> {
    let filter = Filter {
        server: Some(server.to_owned()),
        unsettled_only: true,
        limit: MOST_LISTED + 1,
        ..Filter::default()
    };
    let rows = reader
        .operations(&filter)
        .inspect_err(|fault| tracing::warn!(%fault, "a question about the record could not be answered"))
        .ok()?;
    let most = usize::try_from(MOST_LISTED).unwrap_or(usize::MAX);
    let more = rows.len() > most;
    let listed: Vec<Value> = rows.iter().take(most).map(listed).collect();
    let sentence = match (listed.len(), more) {
        (0, _) => "No recorded call of this server is left to be settled.".to_owned(),
        (1, _) => "1 call of this server is not settled.".to_owned(),
        (count, false) => format!("{count} calls of this server are not settled, newest first."),
        (count, true) => {
            format!("The newest {count} calls of this server that are not settled; there are more.")
        }
    };
    let value = json!({ "unsettled": listed, "count": listed.len(), "more": more });
    Some(Answer::Told { sentence, value })
}

fn listed(row: &OperationRow) -> Value {
    let steps: Vec<Step<'_>> = row.intent.iter().chain(&row.latest).map(step).collect();
    operation(&row.operation.to_string(), &row.server, &row.tool, &steps)
}
