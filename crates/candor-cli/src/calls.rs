//! `candor calls`: recorded calls, newest first.

mod open;

use std::io::{self, Write};

use candor_gateway::clock;
use candor_ledger::{Filter, OpenNote, Reader};
use serde_json::Value;

use crate::args::CallsArgs;
use crate::exit::Exit;
use crate::place;
use crate::record::Call;
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, Tone, render};
use crate::times;

pub(crate) fn run(args: &CallsArgs) -> anyhow::Result<Exit> {
    let reader = Reader::open(&place::ledger(&args.place)?)?;
    let now_ms = clock::now().0;
    let (calls, more) = select(&reader, args, now_ms)?;
    let no_ledger = say_notes(&reader);
    let newer = calls.iter().filter_map(Call::newer).max();
    if args.json {
        if args.place.ledger.is_none() {
            screen::note(&format!("ledger: {}", reader.place().display()));
        }
        screen::print(|out| {
            calls
                .iter()
                .try_for_each(|call| writeln!(out, "{}", as_line(call, args.unsettled.then_some(now_ms))))
        })?;
    } else if !no_ledger {
        screen::print(|out| {
            print_table(out, &reader, &calls, more, now_ms, Screen::of_stdout())?;
            if args.unsettled {
                open::print(out, &calls, now_ms, Screen::of_stdout())?;
            }
            Ok(())
        })?;
    }
    if let Some(version) = newer {
        screen::note(&format!(
            "note: some records were written by a newer Candor (version {version} of records); only their columns are shown"
        ));
    }
    Ok(if args.unsettled && !calls.is_empty() {
        Exit::FINDINGS
    } else {
        Exit::GOOD
    })
}

/// Says what a person should know about what is read. Is there no ledger yet?
pub(crate) fn say_notes(reader: &Reader) -> bool {
    let mut none = false;
    for note in reader.notes() {
        match note {
            OpenNote::NoLedger { place } => {
                none = true;
                screen::note(&format!(
                    "no ledger yet at {}: it is made when `candor -- CMD` first runs with it",
                    place.display()
                ));
            }
            OpenNote::NewerFormat { left, opened, .. } => screen::note(&format!(
                "note: {} belongs to a newer Candor; this is what stands in {}",
                left.display(),
                opened.display()
            )),
            _ => {}
        }
    }
    none
}

/// The calls that were asked for, and whether there are more.
fn select(reader: &Reader, args: &CallsArgs, now_ms: i64) -> anyhow::Result<(Vec<Call>, bool)> {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    let back = |span: std::time::Duration| {
        now_ms.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX))
    };
    let mut filter = Filter {
        server: args.server.clone(),
        tool: args.tool.clone(),
        outcome: args.outcome.map(|outcome| outcome.to_string()),
        or_abandoned: args.outcome == Some(candor_core::judgment::verdict::Outcome::Unknown),
        unsettled_only: args.unsettled,
        since_ms: args.since.map(back),
        limit: args.limit.saturating_add(1),
        ..Filter::default()
    };
    loop {
        let rows = reader.operations(&filter)?;
        let found = rows.len();
        let mut calls: Vec<Call> = rows.iter().map(|row| Call::of(row, now_ms)).collect();
        // The ledger does not know what an abandoned call could change: a trusted read leaves nothing to settle.
        calls.retain(|call| !args.unsettled || call.unsettled);
        let asked = usize::try_from(filter.limit).unwrap_or(usize::MAX);
        if calls.len() > limit || found < asked || filter.limit == u32::MAX {
            let more = calls.len() > limit;
            calls.truncate(limit);
            return Ok((calls, more));
        }
        filter.limit = filter.limit.saturating_mul(4);
    }
}

/// A call as a program reads it; with a moment, what is known of an open one then, too.
fn as_line(call: &Call, open_at: Option<i64>) -> String {
    let mut members = call.to_json();
    if let Some(now_ms) = open_at {
        members.extend(open::to_json(call, now_ms));
    }
    screen::json(&Value::Object(members))
}

const COLUMNS: [Column; 10] = [
    Column::fixed(""),
    Column::fixed("id"),
    Column::fixed("started").left_out(2),
    Column::fixed("server").cut_to(5).left_out(5),
    Column::fixed("tool").cut_to(10),
    Column::fixed("outcome"),
    Column::fixed("effect"),
    Column::fixed("evidence").left_out(4),
    Column::fixed("took").right().left_out(1),
    Column::fixed("code").cut_to(10).left_out(3),
];

fn print_table(
    out: &mut dyn Write,
    reader: &Reader,
    calls: &[Call],
    more: bool,
    now_ms: i64,
    screen: Screen,
) -> io::Result<()> {
    writeln!(
        out,
        "Ledger: {} (times are UTC)",
        screen::line(&reader.place().display().to_string())
    )?;
    if calls.is_empty() {
        return writeln!(out, "No such calls.");
    }
    let rows: Vec<Vec<Cell>> = calls.iter().map(|call| row(call, now_ms)).collect();
    let table = render(&COLUMNS, &rows, screen);
    writeln!(out)?;
    for line in table.lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let count = calls.len();
    let head = match (more, count) {
        (true, _) => format!("The newest {count}; --limit N shows more."),
        (false, 1) => "1 call.".to_owned(),
        (false, _) => format!("{count} calls, newest first."),
    };
    let unsettled = calls.iter().filter(|call| call.unsettled).count();
    let open = match unsettled {
        0 => String::new(),
        _ => format!(" {unsettled} unsettled (!): nobody knows yet what became of them."),
    };
    writeln!(out, "{head}{open} candor show ID tells all of one.")?;
    if !table.left_out.is_empty() {
        writeln!(out, "No room for: {}.", table.left_out.join(", "))?;
    }
    Ok(())
}

fn row(call: &Call, now_ms: i64) -> Vec<Cell> {
    let (outcome, effect, evidence) = match &call.concluded {
        Some(concluded) => (
            Cell::toned(screen::line(&concluded.outcome), tone(call, &concluded.outcome)),
            screen::line(concluded.effect_shown()),
            screen::line(&concluded.evidence),
        ),
        None => (Cell::new("running"), "–".to_owned(), "–".to_owned()),
    };
    let so_far = u64::try_from(now_ms.saturating_sub(call.started_ms)).unwrap_or(0);
    let took = match call.took_ms {
        Some(took) => times::span(took),
        None if call.running => format!("> {}", times::span(so_far)),
        None => "–".to_owned(),
    };
    vec![
        Cell::toned(if call.unsettled { "!" } else { "" }, Tone::Open),
        Cell::new(call.operation.short()),
        Cell::toned(times::moment(call.started_ms), Tone::Faint),
        Cell::new(screen::line(&call.server)),
        Cell::new(screen::line(&call.tool)),
        outcome,
        Cell::new(effect),
        Cell::new(evidence),
        Cell::new(took),
        Cell::new(screen::line(call.code().unwrap_or_default())),
    ]
}

pub(crate) fn tone(call: &Call, outcome: &str) -> Tone {
    match outcome {
        _ if call.unsettled => Tone::Open,
        "completed" => Tone::Good,
        "rejected" | "failed" | "partial" | "unknown" => Tone::Bad,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests;
