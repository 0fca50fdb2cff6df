//! `candor explain WHAT`: codes, findings, the ways a call can end, and the words of a verdict.

mod decisions;
mod entry;
mod looks;
mod pages;

use std::io::{self, Write};
use std::sync::LazyLock;

use candor_core::arguments::nearest;
use serde_json::Value;

use self::decisions::Decisions;
use self::entry::{Entry, Subject};
use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::screen::{self, Screen};

/// How many near names an unknown one is answered with.
const NEAR: usize = 3;
/// How far a text runs where nothing says how wide the place is.
const READABLE: usize = 110;

/// The decision table as it was built in; `None` only if the build took in one that can't be read, which a test refuses.
pub(crate) fn decisions() -> Option<&'static Decisions> {
    static DECISIONS: LazyLock<Option<Decisions>> = LazyLock::new(|| Decisions::read().ok());
    DECISIONS.as_ref()
}

pub(crate) fn run(args: &ExplainArgs) -> anyhow::Result<Exit> {
    let decisions = Decisions::read()?;
    let entries = entry::all(&decisions);
    let screen = Screen::of_stdout();
    let columns = screen.width.unwrap_or(READABLE).min(READABLE);
    let Some(what) = &args.what else {
        screen::print(|out| {
            if args.json {
                list_json(out, &entries)
            } else {
                list(out, &entries, columns)
            }
        })?;
        return Ok(Exit::GOOD);
    };
    let found: Vec<&Entry> = entries.iter().filter(|entry| entry.is_called(what)).collect();
    if found.is_empty() {
        screen::note(&unknown(what, &entries));
        return Ok(Exit::USAGE);
    }
    screen::print(|out| {
        if args.json {
            let found: Value = found.iter().map(|entry| entry.to_json(&decisions)).collect();
            return writeln!(out, "{}", screen::pretty_json(&found));
        }
        for (index, entry) in found.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            entry.print(out, &decisions, screen, columns)?;
        }
        Ok(())
    })?;
    Ok(Exit::GOOD)
}

/// What there is instead of a name that is not.
fn unknown(what: &str, entries: &[Entry]) -> String {
    let mut names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let near = match nearest::name(what, &names) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => {
            let near = nearest::values(what, &names, NEAR);
            let near: Vec<&str> = near
                .into_iter()
                .filter_map(|index| names.get(index).copied())
                .collect();
            format!("The nearest names are {}.", near.join(", "))
        }
    };
    format!(
        "error: nothing here is called {what:?}. {near}\n`candor explain` lists everything; a tool's own codes are explained by its author."
    )
}

fn list(out: &mut dyn Write, entries: &[Entry], columns: usize) -> io::Result<()> {
    writeln!(out, "candor explain NAME says more of each.")?;
    for subject in Subject::ALL {
        writeln!(out, "\n{}", subject.title())?;
        let group: Vec<&Entry> = entries.iter().filter(|entry| entry.subject == subject).collect();
        let widest = group
            .iter()
            .map(|entry| screen::width(&entry.name))
            .max()
            .unwrap_or(0);
        for entry in group {
            let room = columns.saturating_sub(widest + 4).max(30);
            let mut lines = screen::wrap(&entry.meaning, room).into_iter();
            let pad = " ".repeat(widest.saturating_sub(screen::width(&entry.name)));
            writeln!(out, "  {}{pad}  {}", entry.name, lines.next().unwrap_or_default())?;
            lines.try_for_each(|line| writeln!(out, "  {:widest$}  {line}", ""))?;
        }
    }
    Ok(())
}

fn list_json(out: &mut dyn Write, entries: &[Entry]) -> io::Result<()> {
    let all: Value = entries.iter().map(Entry::head_json).collect();
    writeln!(out, "{}", screen::pretty_json(&all))
}

#[cfg(test)]
mod tests;
