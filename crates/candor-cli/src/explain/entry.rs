//! One thing that can be explained, and how it is printed.

use std::io::{self, Write};

use candor_core::contract::effect::EffectClass;
use candor_core::judgment::finding::FindingCode;
use candor_core::judgment::verdict::Evidence;
use serde_json::{Value, json};

use super::decisions::{Decisions, Line};
use super::{looks, pages};
use crate::meanings::{self, groups};
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, render};

/// What sort of thing is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    /// A stable code of Candor's own.
    ErrorCode,
    /// A broken or unverifiable clause.
    Finding,
    /// A way a call can end.
    Ending,
    /// A group of words of the verdict.
    Group,
    /// One such word.
    Word,
}

impl Subject {
    pub(super) const ALL: [Self; 5] = [
        Self::ErrorCode,
        Self::Finding,
        Self::Ending,
        Self::Group,
        Self::Word,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ErrorCode => "Error codes: in a verdict, where Candor is its author",
            Self::Finding => "Findings: broken or unverifiable clauses; none moves an outcome by itself",
            Self::Ending => "Endings: how a call can end, as seen from Candor",
            Self::Group => "Parts of a verdict",
            Self::Word => "Words",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::ErrorCode => "error code",
            Self::Finding => "finding",
            Self::Ending => "ending",
            Self::Group => "part of a verdict",
            Self::Word => "word",
        }
    }
}

/// One thing with a name.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) subject: Subject,
    pub(super) name: String,
    pub(super) meaning: String,
    /// For a group its words, for a word its group.
    with: Vec<(String, String)>,
}

/// Everything that can be explained, in the order in which it is listed.
pub(super) fn all(decisions: &Decisions) -> Vec<Entry> {
    let entry = |subject, name: &str, meaning: &str| Entry {
        subject,
        name: name.to_owned(),
        meaning: meaning.to_owned(),
        with: Vec::new(),
    };
    let mut out = Vec::new();
    for code in decisions.codes() {
        out.push(entry(
            Subject::ErrorCode,
            code,
            pages::page(code).map_or("", pages::meaning),
        ));
    }
    for code in FindingCode::ALL {
        out.push(entry(Subject::Finding, code.as_str(), meanings::finding(*code)));
    }
    for how in decisions.endings() {
        out.push(entry(
            Subject::Ending,
            how,
            decisions.how(how).unwrap_or_default(),
        ));
    }
    for group in groups() {
        let words = group
            .words
            .iter()
            .map(|(word, meaning)| ((*word).to_owned(), (*meaning).to_owned()));
        out.push(Entry {
            with: words.collect(),
            ..entry(Subject::Group, group.name, group.question)
        });
    }
    for group in groups() {
        for (word, meaning) in group.words {
            let of = vec![(group.name.to_owned(), group.question.to_owned())];
            out.push(Entry {
                with: of,
                ..entry(Subject::Word, word, meaning)
            });
        }
    }
    out
}

/// A name as it is compared: people write `not-done`, `NOT DONE` and `not_done`.
fn folded(name: &str) -> String {
    let words = name
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

impl Entry {
    pub(super) fn is_called(&self, name: &str) -> bool {
        folded(&self.name) == folded(name)
    }

    pub(super) fn head_json(&self) -> Value {
        json!({ "subject": self.subject.noun(), "name": self.name, "meaning": self.meaning, "of": self.group() })
    }

    fn group(&self) -> Option<&str> {
        (self.subject == Subject::Word)
            .then(|| self.with.first().map(|(name, _)| name.as_str()))
            .flatten()
    }

    /// Is this the evidence of a look?
    fn is_about_looks(&self) -> bool {
        self.subject == Subject::Word && self.name == Evidence::ReadBack.as_str()
    }

    /// The ends that this is about.
    fn endings<'d>(&'d self, decisions: &'d Decisions) -> Vec<&'d str> {
        match self.subject {
            Subject::ErrorCode => decisions.endings_of(&self.name),
            Subject::Ending => vec![&self.name],
            Subject::Finding => {
                let of_finding = |how: &&str| {
                    decisions
                        .lines(how)
                        .iter()
                        .any(|line| line.row.finding.as_ref() == Some(&self.name))
                };
                decisions.endings().into_iter().filter(of_finding).collect()
            }
            Subject::Group | Subject::Word => Vec::new(),
        }
    }

    /// The lines of the table for one of its ends: for a finding only those that have it.
    fn lines(&self, decisions: &Decisions, how: &str) -> Vec<Line> {
        let mut lines = decisions.lines(how);
        if self.subject == Subject::Finding {
            lines.retain(|line| line.row.finding.as_ref() == Some(&self.name));
        }
        lines
    }

    pub(super) fn to_json(&self, decisions: &Decisions) -> Value {
        let mut out = self.head_json();
        let endings: Vec<Value> = self
            .endings(decisions)
            .into_iter()
            .map(|how| {
                let rows: Vec<Value> = self.lines(decisions, how).iter().map(line_json).collect();
                json!({ "how": how, "meaning": decisions.how(how), "code": decisions.code(how), "rows": rows })
            })
            .collect();
        if let Some(members) = out.as_object_mut() {
            members.insert("page".into(), json!(pages::page(&self.name)));
            members.insert("endings".into(), Value::Array(endings));
            if self.is_about_looks() {
                let rows = decisions.looks.iter().flat_map(|looks| &looks.rows);
                members.insert("readBack".into(), rows.map(looks::Row::to_json).collect());
            }
            let words = self.with.iter().filter(|_| self.subject == Subject::Group);
            members.insert(
                "words".into(),
                words
                    .map(|(word, meaning)| json!({ "word": word, "meaning": meaning }))
                    .collect(),
            );
        }
        out
    }

    pub(super) fn print(
        &self,
        out: &mut dyn Write,
        decisions: &Decisions,
        screen: Screen,
        columns: usize,
    ) -> io::Result<()> {
        match (self.subject, pages::page(&self.name)) {
            (_, Some(page)) => {
                for line in pages::laid_out(page, columns) {
                    writeln!(out, "{line}")?;
                }
            }
            (Subject::Word, None) => {
                for (group, question) in &self.with {
                    writeln!(out, "{} ({group}: {question})", self.name)?;
                    writeln!(out, "  {}", self.meaning)?;
                }
            }
            (Subject::Group, None) => {
                writeln!(out, "{}: {}", self.name, self.meaning)?;
                let widest = self.with.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
                for (word, meaning) in &self.with {
                    writeln!(out, "  {word:widest$}  {meaning}")?;
                }
            }
            (_, None) => writeln!(out, "{} ({})\n  {}", self.name, self.subject.noun(), self.meaning)?,
        }
        for how in self.endings(decisions) {
            self.print_ending(out, decisions, how, (screen, columns))?;
        }
        if self.is_about_looks() {
            looks::print(out, &decisions.looks, screen, columns)?;
        }
        Ok(())
    }

    fn print_ending(
        &self,
        out: &mut dyn Write,
        decisions: &Decisions,
        how: &str,
        (screen, columns): (Screen, usize),
    ) -> io::Result<()> {
        if self.subject == Subject::Ending {
            if let Some(code) = decisions.code(how) {
                writeln!(
                    out,
                    "  Code {code} where something went wrong and Candor is the author."
                )?;
            }
            writeln!(out)?;
        } else {
            writeln!(out)?;
            for line in screen::wrap(
                &format!("Ending {how}: {}.", decisions.how(how).unwrap_or_default()),
                columns,
            ) {
                writeln!(out, "{line}")?;
            }
        }
        let lines = self.lines(decisions, how);
        let rows: Vec<Vec<Cell>> = lines.iter().map(row).collect();
        // An end that no mapping can read has nothing to say about a contract.
        let any_reading = lines.iter().any(|line| line.reading.is_some());
        let shown = |index: usize| any_reading || index != CONTRACT;
        let table = render(
            &only(&COLUMNS, shown),
            &rows.iter().map(|row| only(row, shown)).collect::<Vec<_>>(),
            screen,
        );
        for line in &table.lines {
            writeln!(out, "  {line}")?;
        }
        if !table.left_out.is_empty() {
            writeln!(out, "  No room for: {}.", table.left_out.join(", "))?;
        }
        for line in &lines {
            let Some(note) = &line.row.note else { continue };
            let of = line
                .reading
                .as_deref()
                .filter(|reading| *reading != "none")
                .map_or_else(String::new, |reading| format!(", {reading}"));
            let text = format!("{}{of}: {note}.", classes(line));
            for part in screen::wrap(&text, columns.saturating_sub(4)) {
                writeln!(out, "  {part}")?;
            }
        }
        Ok(())
    }
}

const COLUMNS: [Column; 10] = [
    Column::fixed("class"),
    Column::fixed("contract").left_out(5),
    Column::fixed("channel"),
    Column::fixed("flag"),
    Column::fixed("outcome"),
    Column::fixed("effect"),
    Column::fixed("evidence").left_out(2),
    Column::fixed("opening").cut_to(10).left_out(4),
    Column::fixed("a repeat").left_out(3),
    Column::fixed("Candor may retry").left_out(1),
];

/// Where the column `contract` stands.
const CONTRACT: usize = 1;

fn only<T: Clone>(all: &[T], shown: impl Fn(usize) -> bool) -> Vec<T> {
    all.iter()
        .enumerate()
        .filter(|(index, _)| shown(*index))
        .map(|(_, item)| item.clone())
        .collect()
}

fn classes(line: &Line) -> String {
    if line.classes.len() == EffectClass::ALL.len() {
        return "any class".to_owned();
    }
    line.classes
        .iter()
        .map(|class| class.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn row(line: &Line) -> Vec<Cell> {
    let row = &line.row;
    [
        classes(line).as_str(),
        line.reading.as_deref().unwrap_or("–"),
        &row.channel,
        row.flag(),
        &row.outcome,
        &row.effect,
        &row.evidence,
        if row.opening.is_empty() {
            "–"
        } else {
            row.opening.as_str()
        },
        line.repeat.unwrap_or("–"),
        if row.retry { "yes" } else { "no" },
    ]
    .map(Cell::new)
    .to_vec()
}

fn line_json(line: &Line) -> Value {
    let row = &line.row;
    json!({
        "classes": line.classes.iter().map(|class| class.as_str()).collect::<Vec<_>>(),
        "contract": line.reading,
        "channel": row.channel,
        "flag": row.flag(),
        "protocol": row.protocol,
        "outcome": row.outcome,
        "effect": row.effect,
        "evidence": row.evidence,
        "kind": row.kind,
        "bytes": row.bytes,
        "opening": row.opening,
        "repeat": line.repeat,
        "candorMayRetry": row.retry,
        "finding": row.finding,
        "note": row.note,
    })
}
