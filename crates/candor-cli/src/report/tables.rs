//! The tables of a report, once for all forms. Foreign text stands here as it was recorded; each form escapes it in its own
//! way.

use candor_core::judgment::finding::FindingCode;

use super::cells::{Table, Text, Weight, foreign, head, number, own};
use super::section::Section;
use super::summary::{Item, LISTED, OPEN_LISTED, Reason, Summary, Tool, count};
use super::words::{attempts, grouped};
use crate::{meanings, times};

/// Rows of a table of tools, of reasons or of findings.
const MOST_ROWS: usize = 100;

/// Every table, in the order of a report.
pub(super) fn tables(summary: &Summary) -> Vec<Table> {
    let mut out = vec![sections(summary)];
    out.extend(open(summary));
    for section in [
        Section::Done,
        Section::Partly,
        Section::NotOver,
        Section::Failed,
        Section::Unknown,
        Section::NotDone,
    ] {
        out.extend(listed(summary, section));
    }
    out.extend(reasons(summary));
    out.extend(tools(summary));
    out.extend(findings(summary));
    out.extend(listed(summary, Section::Reported));
    out.push(sessions(summary));
    out.retain(|table| !table.rows.is_empty());
    for table in &mut out {
        table.drop_empty_columns();
    }
    out
}

fn sections(summary: &Summary) -> Table {
    let rows = Section::ALL.iter().map(|section| {
        vec![
            Text::Of(*section),
            Text::Number(summary.count(*section)),
            own(evidence(summary, *section)),
            own(section.meaning()),
        ]
    });
    Table {
        title: "What became of it".to_owned(),
        note: "Every call stands in one row. The evidence says how that is known.".to_owned(),
        columns: vec![
            head("", 0),
            number("calls", 0),
            head("evidence", 1),
            head("what it means", 2),
        ],
        rows: if summary.calls == 0 {
            Vec::new()
        } else {
            rows.collect()
        },
        left_out: 0,
        weight: Weight::Main,
    }
}

/// `declared 3, read_back 1`.
fn evidence(summary: &Summary, section: Section) -> String {
    let words = summary.evidence.iter().filter_map(|(word, counts)| {
        let calls = count(counts, section);
        (calls > 0).then(|| format!("{word} {}", grouped(calls)))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn open(summary: &Summary) -> Option<Table> {
    let row = |item: &Item| {
        let age = u64::try_from(summary.now_ms.saturating_sub(item.started_ms)).unwrap_or(0);
        vec![
            own(item.short.clone()),
            own(times::rough(age)),
            foreign(&item.server),
            foreign(&item.tool),
            foreign(&item.outcome),
            known(item),
            match &item.looks_by {
                Some(tool) => foreign(&format!("a look by {tool}, or a person")),
                None => own("a person"),
            },
        ]
    };
    (summary.unsettled > 0).then(|| Table {
        title: "Waits for somebody".to_owned(),
        note: "Nobody knows yet what became of these. Who has looked at the target says so: candor settle ID --applied \
               (or --not-applied) --because \"…\""
            .to_owned(),
        columns: vec![
            head("id", 0),
            number("age", 0),
            head("server", 3),
            head("tool", 0),
            head("outcome", 2),
            head("what is known", 1),
            head("what would settle it", 4),
        ],
        rows: summary.open.iter().take(OPEN_LISTED).map(row).collect(),
        left_out: left_out(summary.unsettled, summary.open.len()),
        weight: Weight::Open,
    })
}

fn left_out(all: u64, shown: usize) -> u64 {
    all.saturating_sub(u64::try_from(shown).unwrap_or(u64::MAX))
}

/// The newest fact of a call.
fn known(item: &Item) -> Text {
    let reference = item
        .reference
        .as_ref()
        .map(|reference| format!("reference {reference}"));
    // A message about a call that failed tells what was seen itself.
    let message = item.message.as_ref().or(item.seen.as_ref());
    let parts = match (&item.settled, reference, message) {
        (Some((by, because)), ..) => format!("{by}: {because}"),
        (None, Some(reference), Some(message)) => format!("{reference}; {message}"),
        (None, Some(reference), None) => reference,
        (None, None, Some(message)) => message.clone(),
        (None, None, None) => String::new(),
    };
    Text::Foreign(parts)
}

fn listed(summary: &Summary, section: Section) -> Option<Table> {
    let list = summary.listed.get(section.index())?;
    let row = |item: &Item| {
        vec![
            own(item.short.clone()),
            own(times::moment(item.started_ms)),
            foreign(&item.server),
            foreign(&item.tool),
            foreign(&item.outcome),
            foreign(&item.effect),
            foreign(&item.evidence),
            foreign(item.code.as_deref().unwrap_or_default()),
            known(item),
        ]
    };
    let waiting = summary.open.iter().filter(|item| item.section == section).count();
    let shown = list.len() + waiting;
    let above = match waiting {
        0 => String::new(),
        1 => " 1 that waits for somebody stands above.".to_owned(),
        _ => format!(" {waiting} that wait for somebody stand above."),
    };
    Some(Table {
        title: match section {
            Section::Done => "Done, and how that is known".to_owned(),
            Section::NotDone => "Not done, and nothing changed".to_owned(),
            other => other.title().to_owned(),
        },
        note: format!("{} Newest first.{above}", section.meaning()),
        columns: vec![
            head("id", 0),
            head("began", 5),
            head("server", 4),
            head("tool", 0),
            head("outcome", 0),
            head("effect", 3),
            head("evidence", 2),
            head("code", 1),
            head("what is known", 6),
        ],
        rows: list.iter().take(LISTED).map(row).collect(),
        left_out: left_out(summary.count(section), shown),
        weight: if section == Section::Reported {
            Weight::Detail
        } else {
            Weight::Main
        },
    })
}

fn reasons(summary: &Summary) -> Option<Table> {
    let mut reasons: Vec<_> = summary.reasons.iter().collect();
    reasons.sort_by(|(left, this), (right, that)| that.calls.cmp(&this.calls).then(left.cmp(right)));
    let row = |(code, reason): &(&String, &Reason)| {
        vec![
            foreign(code),
            foreign(&reason.kind),
            Text::Number(reason.calls),
            Text::Number(reason.unsent),
            foreign(&reason.message),
        ]
    };
    let shown = reasons.len().min(MOST_ROWS);
    (!reasons.is_empty()).then(|| Table {
        title: "Reasons".to_owned(),
        note: "Why calls were refused, failed, or are not known. candor explain CODE explains Candor's own codes.".to_owned(),
        columns: vec![
            head("code", 0),
            head("kind", 1),
            number("calls", 0),
            number("never sent", 2),
            head("the newest, in words", 3),
        ],
        rows: reasons.iter().take(MOST_ROWS).map(row).collect(),
        left_out: left_out(
            summary.reasons.values().map(|reason| reason.calls).sum(),
            usize::try_from(
                reasons
                    .iter()
                    .take(shown)
                    .map(|(_, reason)| reason.calls)
                    .sum::<u64>(),
            )
            .unwrap_or(usize::MAX),
        ),
        weight: Weight::Main,
    })
}

/// The tools, those with the most calls first.
pub(super) fn by_calls(summary: &Summary) -> Vec<(&str, &str, &Tool)> {
    let mut tools: Vec<_> = summary
        .tools
        .iter()
        .map(|((server, tool), counts)| (server.as_str(), tool.as_str(), counts))
        .collect();
    tools.sort_by(|left, right| {
        right
            .2
            .calls()
            .cmp(&left.2.calls())
            .then((left.0, left.1).cmp(&(right.0, right.1)))
    });
    tools
}

fn tools(summary: &Summary) -> Option<Table> {
    let tools = by_calls(summary);
    let row = |(server, tool, counts): &(&str, &str, &Tool)| {
        let mut row = vec![foreign(server), foreign(tool), Text::Number(counts.calls())];
        row.extend(
            Section::ALL
                .iter()
                .map(|section| Text::Number(count(&counts.sections, *section))),
        );
        row.extend([Text::Number(counts.sent), Text::Number(counts.unsettled)]);
        row
    };
    let short = |section: Section| match section {
        Section::Done => "done",
        Section::Reported => "reported",
        Section::Partly => "in part",
        Section::NotOver => "not over",
        Section::NotDone => "not done",
        Section::Failed => "failed",
        Section::Unknown => "unknown",
    };
    let mut columns = vec![head("server", 1), head("tool", 0), number("calls", 0)];
    columns.extend(Section::ALL.iter().map(|section| number(short(*section), 0)));
    columns.extend([number("sent", 2), number("unsettled", 0)]);
    let shown: u64 = tools.iter().take(MOST_ROWS).map(|(.., tool)| tool.calls()).sum();
    (!tools.is_empty()).then(|| Table {
        title: "By server and tool".to_owned(),
        note: attempts(summary),
        columns,
        rows: tools.iter().take(MOST_ROWS).map(row).collect(),
        left_out: summary.calls.saturating_sub(shown),
        weight: Weight::Detail,
    })
}

fn sessions(summary: &Summary) -> Table {
    let row = |session: &candor_ledger::Session| {
        vec![
            own(session.instance.to_string()),
            own(times::moment(session.first_ms)),
            own(times::moment(session.last_ms)),
            Text::Number(session.operations),
        ]
    };
    Table {
        title: "Sessions".to_owned(),
        note: "Each is one run of Candor; candor report --session ID tells of one. The last comes first."
            .to_owned(),
        columns: vec![
            head("id", 0),
            head("first call", 1),
            head("last call", 2),
            number("calls", 0),
        ],
        rows: summary.sessions.iter().map(row).collect(),
        left_out: 0,
        weight: Weight::Detail,
    }
}

fn findings(summary: &Summary) -> Option<Table> {
    let mut findings: Vec<_> = summary.findings.iter().collect();
    findings.sort_by(|(left, this), (right, that)| that.cmp(this).then(left.cmp(right)));
    let row = |(code, calls): &(&String, &u64)| {
        let meaning = FindingCode::ALL
            .iter()
            .find(|known| known.as_str() == code.as_str())
            .map_or("", |known| meanings::finding(*known));
        vec![foreign(code), Text::Number(**calls), own(meaning)]
    };
    (!findings.is_empty()).then(|| Table {
        title: "Findings".to_owned(),
        note: "Clauses that were broken, or could not be checked. A finding never moves a verdict by itself."
            .to_owned(),
        columns: vec![head("code", 0), number("calls", 0), head("what it means", 1)],
        rows: findings.iter().take(MOST_ROWS).map(row).collect(),
        left_out: left_out(
            u64::try_from(findings.len()).unwrap_or(u64::MAX),
            findings.len().min(MOST_ROWS),
        ),
        weight: Weight::Detail,
    })
}
