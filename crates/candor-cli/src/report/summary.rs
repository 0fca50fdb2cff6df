//! What a report counts and lists, before it is put into words.

use std::collections::BTreeMap;

use candor_ledger::Session;
use serde_json::Value;

use super::section::{COUNT, Section};
use crate::record::{Body, Call};
use crate::screen;

/// How many calls of each section are kept to be listed.
pub(super) const LISTED: usize = 100;
/// How many calls that wait for somebody are kept to be listed.
pub(super) const OPEN_LISTED: usize = 1_000;
/// How far a message is kept, in columns.
const MESSAGE: usize = 300;

/// Counts by section.
pub(super) type Counts = [u64; COUNT];

/// One report.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) now_ms: i64,
    pub(super) calls: u64,
    pub(super) sections: Counts,
    /// On what evidence, by its word.
    pub(super) evidence: BTreeMap<String, Counts>,
    pub(super) tools: BTreeMap<(String, String), Tool>,
    /// Why something was not done, by code.
    pub(super) reasons: BTreeMap<String, Reason>,
    /// Calls in which a finding was made, by its code.
    pub(super) findings: BTreeMap<String, u64>,
    pub(super) attempts: Attempts,
    /// The newest of each section, in the order of [`Section::ALL`].
    pub(super) listed: [Vec<Item>; COUNT],
    pub(super) unsettled: u64,
    pub(super) running: u64,
    /// The oldest wait longest: they come first.
    pub(super) open: Vec<Item>,
    /// When each call began, and where it stands.
    pub(super) moments: Vec<(i64, Section)>,
    /// The version of a body that a newer program wrote.
    pub(super) newer: Option<u64>,
    pub(super) cut: Option<Cut>,
    /// The sessions whose calls these are, the last first.
    pub(super) sessions: Vec<Session>,
}

/// Calls that a report leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// When the newest of them began.
    pub(super) before_ms: i64,
    /// Is one of them unsettled, or still running?
    pub(super) open: bool,
}

/// One tool of one server.
#[derive(Debug, Default)]
pub(super) struct Tool {
    pub(super) sections: Counts,
    pub(super) sent: u64,
    pub(super) unsettled: u64,
}

impl Tool {
    pub(super) fn calls(&self) -> u64 {
        self.sections.iter().sum()
    }
}

/// Why calls were not done.
#[derive(Debug)]
pub(super) struct Reason {
    pub(super) kind: String,
    pub(super) calls: u64,
    /// Calls that were never sent.
    pub(super) unsent: u64,
    /// The newest message.
    pub(super) message: String,
}

/// How often was really sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Attempts {
    pub(super) sent: u64,
    pub(super) never_sent: u64,
    pub(super) more_than_once: u64,
}

/// One call as a report lists it. Its texts are foreign: whoever shows them escapes them.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) short: String,
    pub(super) started_ms: i64,
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) section: Section,
    /// `running` where there is no outcome yet.
    pub(super) outcome: String,
    pub(super) effect: String,
    pub(super) evidence: String,
    pub(super) unsettled: bool,
    pub(super) attempts: Option<u64>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) reference: Option<String>,
    /// Who settled it, and why.
    pub(super) settled: Option<(String, String)>,
    /// What a look showed that its verdict stands on.
    pub(super) seen: Option<String>,
    /// The tool by which its contract says to look again.
    pub(super) looks_by: Option<String>,
}

impl Item {
    fn of(call: &Call, section: Section) -> Self {
        let concluded = call.concluded.as_ref();
        let text = |pointer: &str| {
            let found = concluded.and_then(|concluded| concluded.body.text(pointer));
            found.map(|text| screen::cut(text, MESSAGE))
        };
        Self {
            id: call.operation.to_string(),
            short: call.operation.short(),
            started_ms: call.started_ms,
            server: call.server.clone(),
            tool: call.tool.clone(),
            section,
            outcome: concluded.map_or_else(|| "running".to_owned(), |is| is.outcome.clone()),
            effect: concluded.map_or_else(|| "–".to_owned(), |is| is.effect_shown().to_owned()),
            evidence: concluded.map_or_else(|| "–".to_owned(), |is| is.evidence.clone()),
            unsettled: call.unsettled,
            attempts: attempts(call),
            code: call.code().map(str::to_owned),
            message: text("/verdict/error/message"),
            reference: text("/verdict/reference"),
            settled: text("/settled/by").zip(text("/settled/because")),
            seen: concluded.and_then(|concluded| seen(&concluded.body)),
            looks_by: call.looks_again_by().map(str::to_owned),
        }
    }
}

fn seen(body: &Body) -> Option<String> {
    let shows = match body.text("/readBack/shows")? {
        "applied" => "shows that it was done",
        "not_applied" => "shows that nothing changed",
        _ => return None,
    };
    let tool = screen::cut(body.text("/readBack/tool")?, MESSAGE);
    Some(format!("{tool} {shows}"))
}

fn attempts(call: &Call) -> Option<u64> {
    call.concluded.as_ref()?.body.at("/verdict/attempts")?.as_u64()
}

impl Summary {
    pub(super) fn new(now_ms: i64) -> Self {
        Self {
            now_ms,
            calls: 0,
            sections: [0; COUNT],
            evidence: BTreeMap::new(),
            tools: BTreeMap::new(),
            reasons: BTreeMap::new(),
            findings: BTreeMap::new(),
            attempts: Attempts::default(),
            listed: Default::default(),
            unsettled: 0,
            running: 0,
            open: Vec::new(),
            moments: Vec::new(),
            newer: None,
            cut: None,
            sessions: Vec::new(),
        }
    }

    /// Is something unsettled or still running, as far as is known?
    pub(super) fn is_open(&self) -> bool {
        self.unsettled > 0 || self.running > 0 || self.cut.is_some_and(|cut| cut.open)
    }

    /// How many calls stand in a section.
    pub(super) fn count(&self, section: Section) -> u64 {
        count(&self.sections, section)
    }

    /// Counts one call. They come newest first.
    pub(super) fn add(&mut self, call: &Call) {
        let section = Section::of(call);
        let item = Item::of(call, section);
        self.calls += 1;
        one_more(&mut self.sections, section);
        // A call that runs has no evidence yet.
        if call.concluded.is_some() {
            one_more(self.evidence.entry(item.evidence.clone()).or_default(), section);
        }
        self.moments.push((call.started_ms, section));
        self.newer = self.newer.max(call.newer());
        self.running += u64::from(call.running);
        self.unsettled += u64::from(call.unsettled);
        self.sent(&item);
        self.found(call);
        self.refused(call, &item);
        if item.unsettled && self.open.len() < OPEN_LISTED {
            self.open.push(item);
        } else if let Some(list) = self.listed.get_mut(section.index())
            && list.len() < LISTED
        {
            list.push(item);
        }
    }

    /// All calls are counted.
    pub(super) fn close(&mut self) {
        self.open.reverse();
        self.moments.reverse();
    }

    fn sent(&mut self, item: &Item) {
        let sent = item.attempts.unwrap_or(0);
        self.attempts.sent += sent;
        self.attempts.never_sent += u64::from(item.attempts == Some(0));
        self.attempts.more_than_once += u64::from(sent > 1);
        let tool = self
            .tools
            .entry((item.server.clone(), item.tool.clone()))
            .or_default();
        one_more(&mut tool.sections, item.section);
        tool.sent += sent;
        tool.unsettled += u64::from(item.unsettled);
    }

    fn found(&mut self, call: &Call) {
        let mut codes: Vec<String> = call
            .findings()
            .iter()
            .filter_map(|finding| finding.get("code").and_then(Value::as_str).map(str::to_owned))
            .collect();
        codes.sort_unstable();
        codes.dedup();
        for code in codes {
            *self.findings.entry(code).or_default() += 1;
        }
    }

    fn refused(&mut self, call: &Call, item: &Item) {
        let Some(code) = &item.code else { return };
        let kind = call
            .concluded
            .as_ref()
            .and_then(|concluded| concluded.body.text("/verdict/error/kind"))
            .unwrap_or("–");
        let reason = self.reasons.entry(code.clone()).or_insert_with(|| Reason {
            kind: kind.to_owned(),
            calls: 0,
            unsent: 0,
            message: item.message.clone().unwrap_or_default(),
        });
        reason.calls += 1;
        reason.unsent += u64::from(item.attempts == Some(0));
    }
}

/// The count of one section.
pub(super) fn count(counts: &Counts, section: Section) -> u64 {
    counts.get(section.index()).copied().unwrap_or(0)
}

fn one_more(counts: &mut Counts, section: Section) {
    if let Some(count) = counts.get_mut(section.index()) {
        *count += 1;
    }
}
