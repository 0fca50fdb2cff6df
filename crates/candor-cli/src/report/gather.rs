//! Reads the calls of a span, newest first and a page at a time: a long record does not have to fit in memory.

use candor_ledger::{Filter, OperationRow, Reader, Session};

use super::span::Span;
use super::summary::{Cut, Summary};
use crate::ledger::progress::Progress;
use crate::record::Call;

/// How many calls one report reads; of more, the newest count, and that the others were left out is said.
pub(super) const MOST: u64 = 100_000;
/// Sessions that one report names.
const SESSIONS: usize = 100;
/// Calls that are read at once.
const PAGE: u32 = 500;

/// Reads a span.
///
/// # Errors
/// A fault of the file.
pub(super) fn gather(reader: &Reader, span: &Span, now_ms: i64, most: u64) -> anyhow::Result<Summary> {
    let mut summary = Summary::new(now_ms);
    let mut progress = Progress::new();
    let filled = fill(reader, span, most, &mut summary, &mut progress);
    progress.end();
    filled?;
    summary.close();
    summary.sessions = sessions(reader, span)?;
    Ok(summary)
}

/// The sessions that a span touches, the last first.
fn sessions(reader: &Reader, span: &Span) -> anyhow::Result<Vec<Session>> {
    let touched = |session: &Session| match span.session {
        Some(asked) => session.instance == asked,
        None => {
            span.from_ms.is_none_or(|from| session.last_ms >= from)
                && span.to_ms.is_none_or(|to| session.first_ms < to)
        }
    };
    let sessions = reader.sessions()?.into_iter().rev();
    Ok(sessions.filter(touched).take(SESSIONS).collect())
}

fn fill(
    reader: &Reader,
    span: &Span,
    most: u64,
    summary: &mut Summary,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let mut filter = Filter {
        since_ms: span.from_ms,
        until_ms: span.to_ms,
        instance: span.session,
        limit: PAGE,
        ..Filter::default()
    };
    loop {
        let mut rows = reader.operations(&filter)?;
        let full = rows.len() >= usize::try_from(filter.limit).unwrap_or(usize::MAX);
        // The next page begins where this one ends: calls that began in its last millisecond are left to it, since more of
        // them may follow.
        let last = rows.last().map(|row| row.started_ms).filter(|_| full);
        if let Some(last) = last {
            if rows.first().is_some_and(|row| row.started_ms == last) {
                filter.limit = filter.limit.saturating_mul(4);
                continue;
            }
            rows.retain(|row| row.started_ms > last);
        }
        for row in &rows {
            if summary.calls >= most {
                summary.cut = Some(cut(reader, span, row)?);
                return Ok(());
            }
            progress.step();
            summary.add(&Call::of(row, summary.now_ms));
        }
        let Some(last) = last else { return Ok(()) };
        filter.until_ms = Some(last.saturating_add(1));
        filter.limit = PAGE;
    }
}

/// What is said of the calls that are left out: since when, and whether one of them is open.
fn cut(reader: &Reader, span: &Span, first_left_out: &OperationRow) -> anyhow::Result<Cut> {
    let filter = Filter {
        since_ms: span.from_ms,
        until_ms: Some(first_left_out.started_ms.saturating_add(1)),
        instance: span.session,
        unsettled_only: true,
        limit: 1,
        ..Filter::default()
    };
    Ok(Cut {
        before_ms: first_left_out.started_ms,
        open: !reader.operations(&filter)?.is_empty(),
    })
}
