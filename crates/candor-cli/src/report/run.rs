//! Runs `candor report`.

use std::io::Write;

use candor_gateway::clock;
use candor_ledger::Reader;

use super::args::{Format, ReportArgs};
use super::gather::{self, gather};
use super::span::Span;
use super::summary::Summary;
use super::{html, json, markdown, terminal};
use crate::calls::say_notes;
use crate::exit::Exit;
use crate::ledger::file::Draft;
use crate::place;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let reader = Reader::open(&place::ledger(&args.place)?)?;
    // For who asks whether all went well, a record that is not there is no good answer.
    if say_notes(&reader) {
        return Ok(Exit::USAGE);
    }
    let now_ms = clock::now().0;
    let span = Span::of(args, &reader, now_ms)?;
    let summary = gather(&reader, &span, now_ms, gather::MOST)?;
    let place = reader.place().display().to_string();
    match &args.out {
        None => {
            let screen = Screen::of_stdout();
            screen::print(|out| write(out, args.form(), &place, &span, &summary, screen))?;
        }
        Some(path) => {
            let mut draft = Draft::begin(path, args.force)?;
            let screen = Screen {
                width: None,
                colour: false,
            };
            if let Err(fault) = write(&mut draft, args.form(), &place, &span, &summary, screen) {
                draft.abandon();
                return Err(fault.into());
            }
            draft.finish()?;
            screen::note(&format!("report: {}", path.display()));
        }
    }
    if let Some(version) = summary.newer {
        screen::note(&format!(
            "note: some records were written by a newer Candor (version {version} of records); only their columns are counted"
        ));
    }
    Ok(exit(&summary))
}

/// Is anything left that somebody has to look at?
pub(super) fn exit(summary: &Summary) -> Exit {
    if summary.is_open() {
        Exit::FINDINGS
    } else {
        Exit::GOOD
    }
}

pub(super) fn write(
    out: &mut dyn Write,
    format: Format,
    place: &str,
    span: &Span,
    summary: &Summary,
    screen: Screen,
) -> std::io::Result<()> {
    match format {
        Format::Terminal => terminal::print(out, place, span, summary, screen),
        Format::Markdown => out.write_all(markdown::write(span, summary).as_bytes()),
        Format::Html => out.write_all(html::write(place, span, summary).as_bytes()),
        Format::Json => writeln!(out, "{}", screen::pretty_json(&json::value(place, span, summary))),
    }
}
