//! `candor show ID`: one call, whole. Three layers of success, each answered; then how it went and by what contract.

mod layers;
mod looks;
mod sections;
mod told;

use std::io::{self, Write};

use candor_core::describe::{Lang, Subject, describe};
use candor_core::names::OperationId;
use candor_gateway::clock;
use candor_ledger::{Filter, Lookup, Phase, Reader, StoredEntry};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::args::ShowArgs;
use crate::calls::say_notes;
use crate::exit::Exit;
use crate::place;
use crate::record::{Body, Call, Concluded, verdict};
use crate::screen::{self, Screen};
use crate::times;

/// How far a text runs where nothing says how wide the place is.
const READABLE: usize = 110;

/// One call with all its records.
pub(crate) struct Shown {
    pub(crate) call: Call,
    /// In the order they were written; at least one.
    pub(crate) records: Vec<StoredEntry>,
    /// How far a text may run.
    pub(crate) columns: usize,
}

pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let reader = Reader::open(&place::ledger(&args.place)?)?;
    let no_ledger = say_notes(&reader);
    match reader.operation(&args.id)? {
        Lookup::One(records) => {
            let Some(call) = find(&reader, &records, clock::now().0)? else {
                return Ok(none(&args.id, &reader, no_ledger));
            };
            let columns = Screen::of_stdout().width.unwrap_or(READABLE).min(READABLE);
            let shown = Shown {
                call,
                records,
                columns,
            };
            screen::print(|out| {
                if args.json {
                    return writeln!(out, "{}", screen::pretty_json(&shown.to_json(args.lang)));
                }
                shown.print(out, &reader, args.lang)
            })?;
            Ok(Exit::GOOD)
        }
        Lookup::None | Lookup::Ambiguous(_) => not_found(&reader, &args.id, no_ledger),
    }
}

/// Says why no call was found by this end of an id: there is none, or there are several.
pub(crate) fn not_found(reader: &Reader, id: &str, no_ledger: bool) -> anyhow::Result<Exit> {
    let Lookup::Ambiguous(operations) = reader.operation(id)? else {
        return Ok(none(id, reader, no_ledger));
    };
    screen::note(&format!(
        "error: several calls have an id that ends in {id:?}; give more of it:"
    ));
    for operation in operations {
        screen::note(&format!("  {}", candidate(reader, operation)?));
    }
    Ok(Exit::USAGE)
}

fn none(id: &str, reader: &Reader, no_ledger: bool) -> Exit {
    if !no_ledger {
        screen::note(&format!(
            "no call has an id that ends in {id:?} in {}.\n`candor calls --limit 1000` lists what is there; another ledger is read with --ledger PATH. \
             Records are kept for a time, and a call that was not recorded is in no ledger.",
            reader.place().display()
        ));
    }
    Exit::FINDINGS
}

/// The row of the list that these records belong to: only it knows whether the call still runs.
pub(crate) fn find(reader: &Reader, records: &[StoredEntry], now_ms: i64) -> anyhow::Result<Option<Call>> {
    let Some(first) = records.first() else {
        return Ok(None);
    };
    let filter = Filter {
        server: Some(first.entry.server.clone()),
        tool: Some(first.entry.tool.clone()),
        since_ms: Some(first.entry.at_ms),
        until_ms: Some(first.entry.at_ms.saturating_add(1)),
        limit: u32::MAX,
        ..Filter::default()
    };
    let rows = reader.operations(&filter)?;
    Ok(rows
        .iter()
        .find(|row| row.operation == first.entry.operation)
        .map(|row| Call::of(row, now_ms)))
}

/// One line about an operation whose id was not told apart from others.
fn candidate(reader: &Reader, operation: Uuid) -> anyhow::Result<String> {
    let records = match reader.operation(&operation.simple().to_string())? {
        Lookup::One(records) => records,
        Lookup::None | Lookup::Ambiguous(_) => Vec::new(),
    };
    let Some(first) = records.first() else {
        return Ok(operation.to_string());
    };
    let outcome = records
        .iter()
        .rev()
        .find_map(|record| record.entry.outcome.as_deref())
        .unwrap_or("no outcome yet");
    Ok(format!(
        "{operation}  {}  {} on {}  {}",
        times::moment(first.entry.at_ms),
        screen::line(&first.entry.tool),
        screen::line(&first.entry.server),
        screen::line(outcome)
    ))
}

impl Shown {
    /// The record of the first intent.
    pub(crate) fn intent(&self) -> Option<Body> {
        self.records
            .iter()
            .find(|record| record.entry.phase == Phase::Intent)
            .map(|record| Body::read(&record.entry.body))
    }

    /// What the caller was told: the last verdict, not what amended it later.
    pub(crate) fn told(&self) -> Option<Concluded> {
        self.records
            .iter()
            .rev()
            .find(|record| record.entry.phase == Phase::Verdict)
            .map(Concluded::of)
    }

    /// The sentence for a person, from the latest conclusion; `None` where it can't be made.
    pub(crate) fn sentence(&self, lang: Lang) -> Option<String> {
        let body = &self.call.concluded.as_ref()?.body;
        let verdict = verdict(self.call.operation, body)?;
        let is = |name: &str| body.at(name).and_then(Value::as_bool).unwrap_or(false);
        let subject = Subject {
            server: &self.call.server,
            tool: &self.call.tool,
            verdict: &verdict,
            flagged: is("/flagged") || body.text("/channel") == Some("error"),
            count_is_zero: is("/countIsZero"),
        };
        Some(describe(&subject, lang))
    }

    fn to_json(&self, lang: Lang) -> Value {
        let mut out = self.call.to_json();
        out.insert("lang".into(), json!(lang.to_string()));
        out.insert("sentence".into(), json!(self.sentence(lang)));
        out.insert("records".into(), self.records.iter().map(record_json).collect());
        Value::Object(out)
    }

    fn print(&self, out: &mut dyn Write, reader: &Reader, lang: Lang) -> io::Result<()> {
        let call = &self.call;
        writeln!(
            out,
            "{} on {}",
            screen::line(&call.tool),
            screen::line(&call.server)
        )?;
        writeln!(
            out,
            "operation {}, started {}",
            call.operation,
            times::stamp(call.started_ms)
        )?;
        writeln!(
            out,
            "ledger    {}",
            screen::line(&reader.place().display().to_string())
        )?;
        let closed = self
            .records
            .iter()
            .rev()
            .find_map(|record| Body::read(&record.entry.body).closed());
        if let Some(why) = closed {
            writeln!(out, "note: a record of this call is {why}.")?;
        }
        layers::print(self, out)?;
        told::print(self, out, lang)?;
        sections::print(self, out)
    }

    /// Writes a text behind a label, broken where it is too long.
    pub(crate) fn text(&self, out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
        let indent = screen::width(label);
        let room = self.columns.saturating_sub(indent).max(20);
        let mut label = label;
        for part in screen::lines(text)
            .iter()
            .flat_map(|line| screen::wrap(line, room))
        {
            writeln!(out, "{}", format!("{label:indent$}{part}").trim_end())?;
            label = "";
        }
        Ok(())
    }
}

fn record_json(record: &StoredEntry) -> Value {
    let entry = &record.entry;
    json!({
        "phase": phase(entry.phase),
        "at": times::stamp(entry.at_ms),
        "outcome": entry.outcome,
        "effect": entry.effect,
        "evidence": entry.evidence,
        "unsettled": entry.unsettled,
        "position": record.position,
        "instance": record.instance,
        "sequence": record.sequence,
        "digest": candor_core::record::bodies::hex(&record.digest),
        "body": Body::read(&entry.body).whole(),
    })
}

/// The word for a phase.
pub(crate) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Intent => "intent",
        Phase::Verdict => "verdict",
        Phase::Amendment => "amendment",
    }
}

/// The last 8 digits of an id that is no operation's.
pub(crate) fn short(id: Uuid) -> String {
    OperationId::new(id).short()
}

#[cfg(test)]
mod tests;
