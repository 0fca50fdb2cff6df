//! A report for a terminal, or for reading as text.

use std::io::{self, Write};

use super::cells::{Head, Table, Text};
use super::section::Section;
use super::span::Span;
use super::summary::Summary;
use super::{tables, words};
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, Tone, render};

/// Rows of one table that are printed; the other forms have more.
const ROWS: usize = 20;
/// The widest that a text is where nothing says how wide the place is.
const WIDEST: usize = 60;
/// The widest bar.
const BAR: u64 = 24;

pub(super) fn print(
    out: &mut dyn Write,
    place: &str,
    span: &Span,
    summary: &Summary,
    screen: Screen,
) -> io::Result<()> {
    writeln!(out, "Ledger: {} (times are UTC)", screen::line(place))?;
    writeln!(out, "{}", words::about(span, summary))?;
    let columns = screen.width.unwrap_or(110).min(110);
    writeln!(out)?;
    for line in screen::wrap(&words::headline(summary), columns) {
        writeln!(out, "{line}")?;
    }
    for (index, table) in tables::tables(summary).iter().enumerate() {
        // The list of what was merely reported says little, and is long: the other forms have it.
        if table.title == Section::Reported.title() {
            continue;
        }
        writeln!(out, "\n{}", table.title)?;
        for line in screen::wrap(&table.note, columns) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        print_table(out, table, (index == 0).then_some(summary), screen)?;
    }
    Ok(())
}

fn print_table(out: &mut dyn Write, table: &Table, bars: Option<&Summary>, screen: Screen) -> io::Result<()> {
    let mut columns: Vec<Column> = table.columns.iter().map(column).collect();
    let mut rows: Vec<Vec<Cell>> = table
        .rows
        .iter()
        .take(ROWS)
        .map(|row| row.iter().map(|text| cell(text, screen)).collect())
        .collect();
    if let Some(summary) = bars {
        columns.insert(2, Column::fixed("").cut_to(8).left_out(9));
        for (row, section) in rows.iter_mut().zip(Section::ALL) {
            let bar = bar(summary.count(section), summary.calls);
            row.insert(2, Cell::toned(bar, tone(section)));
        }
    }
    let rendered = render(&columns, &rows, screen);
    for line in rendered.lines {
        writeln!(out, "{line}")?;
    }
    if !rendered.left_out.is_empty() {
        writeln!(out, "No room for: {}.", rendered.left_out.join(", "))?;
    }
    let hidden = u64::try_from(table.rows.len().saturating_sub(ROWS)).unwrap_or(0);
    match hidden + table.left_out {
        0 => Ok(()),
        more => writeln!(
            out,
            "… and {} more; candor calls lists them, --format json has more.",
            words::grouped(more)
        ),
    }
}

/// A part of the whole, at least one block where there is one call.
fn bar(count: u64, all: u64) -> String {
    let blocks = (count * BAR).div_ceil(all.max(1));
    (0..blocks.min(BAR)).map(|_| '█').collect()
}

fn column(head: &Head) -> Column {
    let column = Column::fixed(head.title);
    let column = if head.right { column.right() } else { column };
    match head.yields {
        0 if head.title == "tool" => column.cut_to(10),
        0 => column,
        rank => column.cut_to(12).left_out(10_u8.saturating_sub(rank)),
    }
}

fn cell(text: &Text, screen: Screen) -> Cell {
    match text {
        Text::Own(text) => Cell::new(text.clone()),
        Text::Foreign(text) => {
            let line = screen::line(text);
            Cell::new(match screen.width {
                None => screen::cut(&line, WIDEST),
                Some(_) => line,
            })
        }
        Text::Of(section) => Cell::toned(section.title(), tone(*section)),
        Text::Number(0) => Cell::toned("–", Tone::Faint),
        Text::Number(count) => Cell::new(words::grouped(*count)),
    }
}

fn tone(section: Section) -> Tone {
    match section {
        Section::Done => Tone::Good,
        Section::Reported => Tone::Plain,
        Section::Partly | Section::NotOver | Section::Unknown => Tone::Open,
        Section::NotDone => Tone::Faint,
        Section::Failed => Tone::Bad,
    }
}
