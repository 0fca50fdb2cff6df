//! `candor settle ID`: a person's word on what became of a call, as a new record. The old one stays.

pub(crate) mod args;

use std::io::{self, Write};

use candor_core::call::crashed::{self, OpenIntent};
use candor_core::call::settled::{Settled, Settling, Word, amendment};
use candor_core::delivery::redaction;
use candor_core::names::UnixMillis;
use candor_core::record::Entry;
use candor_gateway::clock;
use candor_gateway::recorder::stored;
use candor_ledger::{Fault, Ledger, Lookup, OpenOptions, Phase, Reader, StoredEntry};
use serde_json::{Map, Value, json};

use self::args::SettleArgs;
use crate::calls::say_notes;
use crate::exit::Exit;
use crate::record::Call;
use crate::{place, screen, show};

pub(crate) fn run(args: &SettleArgs) -> anyhow::Result<Exit> {
    let reader = Reader::open(&place::ledger(&args.place)?)?;
    let no_ledger = say_notes(&reader);
    let Some((call, records)) = found(&reader, &args.id)? else {
        return show::not_found(&reader, &args.id, no_ledger);
    };
    if let Some(why) = refusal(&call, args) {
        screen::note(&why);
        return Ok(Exit::FINDINGS);
    }
    let by = who();
    write(&reader, entries(&call, &records, args, &by))?;
    // What is told is what is in the record now.
    let after = found(&reader, &call.operation.to_string())?.map_or_else(|| call.clone(), |(call, _)| call);
    screen::print(|out| {
        if args.json {
            let value = Value::Object(as_json(&call, &after, args, &by));
            return writeln!(out, "{}", screen::pretty_json(&value));
        }
        print(out, &call, &after, args, &by)
    })?;
    Ok(Exit::GOOD)
}

/// The one call whose id ends so, with its records.
fn found(reader: &Reader, id: &str) -> anyhow::Result<Option<(Call, Vec<StoredEntry>)>> {
    let Lookup::One(records) = reader.operation(id)? else {
        return Ok(None);
    };
    Ok(show::find(reader, &records, clock::now().0)?.map(|call| (call, records)))
}

/// Why it is not settled, where something speaks against it.
fn refusal(call: &Call, args: &SettleArgs) -> Option<String> {
    let what = format!("{} on {}", screen::line(&call.tool), screen::line(&call.server));
    if call.running {
        return Some(format!(
            "not settled: {what} is still open in a Candor that lives. Its end settles it, or leaves it for `candor calls --unsettled`."
        ));
    }
    let stands = call.concluded.as_ref().filter(|_| !call.unsettled)?;
    if args.anyway {
        return None;
    }
    Some(format!(
        "not settled: nobody has to settle {what}. It stands as outcome {}, effect {}, evidence {} (candor show {}); \
         --anyway puts your word over that.",
        screen::line(&stands.outcome),
        screen::line(&stands.effect),
        screen::line(&stands.evidence),
        call.operation.short()
    ))
}

/// Who speaks: the name of the user that runs this.
fn who() -> String {
    let named = ["USER", "LOGNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    let name = named.unwrap_or_else(|| format!("user {}", rustix::process::geteuid().as_raw()));
    name.chars().take(80).collect()
}

/// The word; and before it, where an instance ended without one, the verdict that its next start would have written.
fn entries(call: &Call, records: &[StoredEntry], args: &SettleArgs, by: &str) -> Vec<Entry> {
    let now = clock::now();
    let body =
        |found: Option<&'_ StoredEntry>| found.map(|record| record.entry.body.clone()).unwrap_or_default();
    let intent = body(records.iter().find(|record| record.entry.phase == Phase::Intent));
    let crashed = records
        .last()
        .filter(|record| record.entry.phase == Phase::Intent)
        .map(|open| {
            let open = OpenIntent {
                operation: call.operation,
                at: UnixMillis(open.entry.at_ms),
                server: &call.server,
                tool: &call.tool,
                body: &open.entry.body,
            };
            crashed::verdict(&open, now)
        });
    let mut ended = records
        .iter()
        .rev()
        .filter(|record| record.entry.phase != Phase::Intent);
    let latest = match &crashed {
        Some(verdict) => verdict.body.clone().into_bytes(),
        None => body(ended.next()),
    };
    let settled = Settled {
        operation: call.operation,
        server: &call.server,
        tool: &call.tool,
        intent: &intent,
        latest: &latest,
    };
    let settling = Settling {
        word: args.word(),
        because: &args.because,
        by,
    };
    let word = amendment(&settled, &settling, now);
    crashed.into_iter().chain([word]).collect()
}

/// Writes as an instance of its own, whose chain shows the word; nothing is pruned on the way.
fn write(reader: &Reader, entries: Vec<Entry>) -> anyhow::Result<()> {
    let options = OpenOptions {
        retention: None,
        ..OpenOptions::default()
    };
    let ledger = Ledger::open(reader.place(), options)?.ledger;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        ledger
            .append(entries.into_iter().map(stored).collect())
            .await
            .map_err(not_written)?;
        // The word is on disk; a lock file that stays is swept by the next start.
        if let Err(fault) = ledger.close().await {
            screen::note(&format!("note: the ledger did not close in time: {fault}"));
        }
        Ok(())
    })
}

/// Only a disk that did not answer leaves open whether the word is there.
fn not_written(fault: Fault) -> anyhow::Error {
    let what = match fault {
        Fault::Undecided { .. } => "whether your word was written is not known yet; candor show tells it",
        _ => "your word could not be written, and nothing was settled",
    };
    anyhow::Error::new(fault).context(what)
}

fn print(out: &mut dyn Write, before: &Call, after: &Call, args: &SettleArgs, by: &str) -> io::Result<()> {
    let word = match args.word() {
        Word::Applied => "done",
        Word::NotApplied => "not done, and nothing changed",
    };
    writeln!(
        out,
        "Settled: {} on {} was {word}, on the word of {}.",
        screen::line(&after.tool),
        screen::line(&after.server),
        screen::line(by)
    )?;
    for (name, of) in [
        (
            "outcome",
            (|is| &is.outcome) as fn(&crate::record::Concluded) -> &String,
        ),
        ("effect", |is| &is.effect),
        ("evidence", |is| &is.evidence),
    ] {
        let word = |call: &Call| {
            call.concluded
                .as_ref()
                .map_or_else(|| "–".to_owned(), |is| screen::line(of(is)))
        };
        writeln!(out, "  {name:<9} {} → {}", word(before), word(after))?;
    }
    writeln!(
        out,
        "What was recorded before stays; candor show {} tells both.",
        after.operation.short()
    )
}

fn as_json(before: &Call, after: &Call, args: &SettleArgs, by: &str) -> Map<String, Value> {
    let mut out = after.to_json();
    let was = before
        .concluded
        .as_ref()
        .map(|is| json!({ "outcome": is.outcome, "effect": is.effect, "evidence": is.evidence }));
    out.insert("was".into(), json!(was));
    out.insert("by".into(), json!(redaction::text(by).value));
    out.insert("because".into(), json!(redaction::text(&args.because).value));
    out
}

#[cfg(test)]
mod tests;
