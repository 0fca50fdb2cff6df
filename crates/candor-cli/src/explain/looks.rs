//! What looking again changes in a verdict, as a table: the rows of `[[read_back]]` as written.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use super::decisions::FlagCell;
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, render};

/// What was known before a look, in the table's words.
const BEFORE: [(&str, &str); 6] = [
    ("lost", "no answer came, and nobody knows what was done"),
    ("unclear", "answered, and nobody knows what was done"),
    ("contradicted", "the same, and the answer was flagged as an error"),
    ("refused", "rejected or failed, effect unknown"),
    (
        "reported",
        "reported, or completed by the contract's mapping: looked at only with `prove`",
    ),
    (
        "accepted",
        "accepted, effect unknown: looked at once its caller is told",
    ),
];

/// A cell that is not written stays as it was.
const STAYS: &str = "stays";

/// The rows for one kind of look.
#[derive(Debug, Deserialize)]
pub(super) struct Looks {
    pub(super) rows: Vec<Row>,
}

/// One row: what a look makes of what was known before.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) before: String,
    shows: String,
    flag: Option<FlagCell>,
    outcome: Option<String>,
    effect: Option<String>,
    evidence: Option<String>,
    opening: Option<String>,
    note: Option<String>,
}

const COLUMNS: [Column; 7] = [
    Column::fixed("before"),
    Column::fixed("the look shows"),
    Column::fixed("flag").left_out(1),
    Column::fixed("outcome"),
    Column::fixed("effect"),
    Column::fixed("evidence").left_out(2),
    Column::fixed("opening").cut_to(10).left_out(3),
];

impl Row {
    fn cells(&self) -> Vec<Cell> {
        let or_stays = |cell: &Option<String>| cell.clone().unwrap_or_else(|| STAYS.to_owned());
        let opening = match self.opening.as_deref() {
            None => STAYS,
            Some("") => "–",
            Some(opening) => opening,
        };
        [
            self.before.as_str(),
            &self.shows,
            self.flag.as_ref().map_or(STAYS, FlagCell::word),
            &or_stays(&self.outcome),
            &or_stays(&self.effect),
            &or_stays(&self.evidence),
            opening,
        ]
        .map(Cell::new)
        .to_vec()
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "before": self.before,
            "shows": self.shows,
            "flag": self.flag.as_ref().map(FlagCell::word),
            "outcome": self.outcome,
            "effect": self.effect,
            "evidence": self.evidence,
            "opening": self.opening,
            "note": self.note,
        })
    }
}

/// Prints what a look makes of what was known before it.
pub(super) fn print(out: &mut dyn Write, looks: &[Looks], screen: Screen, columns: usize) -> io::Result<()> {
    let rows = || looks.iter().flat_map(|looks| &looks.rows);
    let text = "What a look makes of what was known before it. A look that shows nothing changes nothing. \
                A tool that only reads is never looked after.";
    writeln!(out)?;
    for line in screen::wrap(text, columns) {
        writeln!(out, "{line}")?;
    }
    let cells: Vec<Vec<Cell>> = rows().map(Row::cells).collect();
    let table = render(&COLUMNS, &cells, screen);
    for line in &table.lines {
        writeln!(out, "  {line}")?;
    }
    if !table.left_out.is_empty() {
        writeln!(out, "  No room for: {}.", table.left_out.join(", "))?;
    }
    let before = BEFORE.iter().map(|(word, meaning)| format!("{word}: {meaning}."));
    let notes = rows().filter_map(|row| {
        let note = row.note.as_ref()?;
        Some(format!("{}, {}: {note}.", row.before, row.shows))
    });
    for line in before.chain(notes) {
        for part in screen::wrap(&line, columns.saturating_sub(4)) {
            writeln!(out, "  {part}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::decisions::Decisions;
    use super::*;

    #[test]
    fn each_word_of_the_table_is_said_what_it_means_and_no_other() {
        let decisions = Decisions::read().unwrap();
        let mut used: Vec<&str> = decisions
            .looks
            .iter()
            .flat_map(|looks| &looks.rows)
            .map(|row| row.before.as_str())
            .collect();
        used.dedup();
        assert_eq!(used, BEFORE.map(|(word, _)| word));
    }
}
