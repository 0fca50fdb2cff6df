//! What waits for somebody's word: how old it is, the newest that is known, and what would settle it.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::record::Call;
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, Tone, render};
use crate::times;

/// How many columns a word of a server may take where nothing says how wide the place is.
const SHOWN: usize = 60;

const COLUMNS: [Column; 4] = [
    Column::fixed("id"),
    Column::fixed("age").right(),
    Column::fixed("what is known").cut_to(16).left_out(2),
    Column::fixed("what would settle it").cut_to(20).left_out(1),
];

/// From its beginning until now.
pub(crate) fn age_ms(call: &Call, now_ms: i64) -> u64 {
    u64::try_from(now_ms.saturating_sub(call.started_ms)).unwrap_or(0)
}

/// A table of its own, since each needs more room than a row of the list has.
pub(super) fn print(out: &mut dyn Write, calls: &[Call], now_ms: i64, screen: Screen) -> io::Result<()> {
    if calls.is_empty() {
        return Ok(());
    }
    let rows: Vec<Vec<Cell>> = calls.iter().map(|call| row(call, now_ms)).collect();
    let table = render(&COLUMNS, &rows, screen);
    writeln!(out)?;
    for line in table.lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    if !table.left_out.is_empty() {
        writeln!(out, "No room for: {}.", table.left_out.join(", "))?;
    }
    writeln!(
        out,
        "Who has looked at the target says so: candor settle ID --applied (or --not-applied) --because \"…\""
    )
}

fn row(call: &Call, now_ms: i64) -> Vec<Cell> {
    vec![
        Cell::new(call.operation.short()),
        Cell::toned(times::rough(age_ms(call, now_ms)), Tone::Open),
        Cell::new(screen::cut(&known(call), SHOWN)),
        Cell::new(settles(call)),
    ]
}

/// The newest fact: a reference to follow, else what was said of how it ended.
fn known(call: &Call) -> String {
    match (call.reference(), call.message()) {
        (Some(reference), _) => format!("reference {}", screen::line(reference)),
        (None, Some(message)) => screen::line(message),
        (None, None) => "nothing more".to_owned(),
    }
}

fn settles(call: &Call) -> String {
    match call.looks_again_by() {
        Some(tool) => format!("a look by {}, or a person", screen::line(tool)),
        None => "a person".to_owned(),
    }
}

/// The same for a program.
pub(super) fn to_json(call: &Call, now_ms: i64) -> Map<String, Value> {
    let mut by = vec!["operator"];
    if call.looks_again_by().is_some() {
        by.insert(0, "read_back");
    }
    [
        ("ageMs".to_owned(), json!(age_ms(call, now_ms))),
        ("settledBy".to_owned(), json!(by)),
    ]
    .into_iter()
    .collect()
}
