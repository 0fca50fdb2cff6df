//! What earlier runs left open: looked for again once the server can be asked, and amended where that settles it.

use std::time::Duration;

use candor_core::contract::recovery::ReadBack;
use candor_core::names::{OperationId, ServerName, UnixMillis};
use candor_core::record::Entry;
use candor_core::recovery::read_back::{Look, LookAnswer, Shown, arguments, shown};
use candor_core::recovery::settle::{Open, Unsettled};
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::Revision;
use candor_ledger::{Filter, OperationRow, Reader, Standing};
use serde_json::Value;
use tokio::time::Instant;

use super::own::Purpose;
use super::state::{Recorded, Server, Session};
use super::timers::{Timer, TimerKey};
use crate::clock;
use crate::recorder::Recorder;

/// Operations that are looked for: the youngest.
const MOST: u32 = 100;
/// None that began earlier than this.
const YOUNGEST: Duration = Duration::from_hours(24);
/// Looks for one of them.
const MOST_LOOKS: u32 = 10;
/// The longest wait between two of them.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long one answer is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is looked for, one after the other.
#[derive(Debug, Default)]
pub(super) struct Reconciler {
    /// The ledger was asked already.
    asked: bool,
    open: Vec<Sought>,
    busy: Option<OperationId>,
    timer: Option<TimerKey>,
}

#[derive(Debug)]
struct Sought {
    open: Open,
    clause: ReadBack,
    times: u32,
    wait: Duration,
    due: Instant,
    asked: Value,
}

impl Session {
    /// The server can be asked, or its tools have become known: what is still open is looked for.
    pub(super) fn reconcile(&mut self) {
        if !self.reconciler.asked {
            self.reconciler.asked = true;
            let Recorder::Ledger(ledger) = &self.recorder else {
                return;
            };
            let (place, server) = (ledger.place().to_owned(), self.name());
            let revision = self.revision_in_force();
            self.records.spawn(async move {
                let read = move || unsettled(&place, &server, revision);
                let found = tokio::task::spawn_blocking(read).await.unwrap_or_default();
                Recorded::Unsettled(found)
            });
            return;
        }
        self.seek();
    }

    /// The ledger said what is open. What no contract says how to look for stays on the list for a person.
    pub(super) fn unsettled_found(&mut self, found: Vec<Open>) {
        let now = Instant::now();
        for open in found {
            let terms = self.terms()(open.tool());
            let Some(clause) = terms.read_back else { continue };
            self.reconciler.open.push(Sought {
                wait: clause.value.wait.max(Duration::from_secs(1)),
                clause: clause.value,
                open,
                times: 0,
                due: now,
                asked: Value::Null,
            });
        }
        self.seek();
    }

    /// Makes the next look that is due, if none is under way.
    pub(super) fn seek(&mut self) {
        if self.reconciler.busy.is_some() || !matches!(self.server, Server::Running) {
            return;
        }
        let now = Instant::now();
        let mut at = 0;
        while let Some(sought) = self.reconciler.open.get(at) {
            let (due, tool) = (sought.due, sought.clause.tool.clone());
            // One whose tool can't be asked may be askable once the server has listed its tools.
            if due > now || self.may_ask_own(&tool).is_err() {
                at += 1;
                continue;
            }
            if self.look_for(at) {
                return;
            }
        }
        self.wait_for_next(now);
    }

    /// Asks for one of them; false where it can't be asked for at all, and is dropped.
    fn look_for(&mut self, at: usize) -> bool {
        let Some(sought) = self.reconciler.open.get_mut(at) else {
            return false;
        };
        match arguments(&sought.clause, &sought.open.subject, clock::now()) {
            Ok(asked) => {
                let (operation, tool) = (sought.open.operation(), sought.clause.tool.clone());
                sought.asked = asked.clone();
                self.reconciler.busy = Some(operation);
                let meta = Self::own_meta(self.revision_in_force(), None);
                self.ask_own(
                    &tool,
                    &asked,
                    meta.as_deref(),
                    PATIENCE,
                    Purpose::Settle(operation),
                );
                true
            }
            Err(why) => {
                let sought = self.reconciler.open.remove(at);
                tracing::info!(operation = %sought.open.operation(), %why, "a call of an earlier run can't be looked for");
                false
            }
        }
    }

    fn wait_for_next(&mut self, now: Instant) {
        let due = self.reconciler.open.iter().map(|sought| sought.due);
        let Some(due) = due.filter(|due| *due > now).min() else {
            return;
        };
        if let Some(old) = self.reconciler.timer.take() {
            self.timers.remove(&old);
        }
        self.reconciler.timer = Some(self.set_timer(due, Timer::Reconcile));
    }

    /// A look for what an earlier run left open has ended.
    pub(super) fn sought(&mut self, operation: OperationId, end: Result<Reply, String>) {
        self.reconciler.busy = None;
        let place = self
            .reconciler
            .open
            .iter()
            .position(|sought| sought.open.operation() == operation);
        if let Some(at) = place {
            let mut sought = self.reconciler.open.remove(at);
            let end = end.and_then(|reply| self.read_look(&sought.clause.tool, reply));
            sought.times += 1;
            let seen = sought.saw(&end, clock::now());
            // A condition that has no value on such an answer would else never be told to who wrote it.
            if let Err(why) = &seen {
                let tool = &sought.clause.tool;
                tracing::info!(%operation, %tool, %why, "a look for a call that an earlier run left open shows nothing");
            }
            if let Some(entry) = seen.ok().flatten() {
                tracing::info!(%operation, "a call that an earlier run left open is settled: a look shows what came of it");
                self.record_news(entry);
            } else if sought.times < MOST_LOOKS {
                sought.due = Instant::now() + sought.wait;
                sought.wait = (sought.wait * 2).min(LONGEST_WAIT);
                self.reconciler.open.push(sought);
            }
        }
        self.seek();
    }
}

impl Sought {
    /// What a look makes of it: an amendment, nothing new, or why it shows nothing.
    fn saw(&self, end: &Result<LookAnswer, String>, now: UnixMillis) -> Result<Option<Entry>, String> {
        let answer = end.as_ref().map_err(Clone::clone)?;
        let shown: Shown = shown(&self.clause, &self.open.subject, &self.asked, answer, now)?;
        let look = Look {
            tool: self.clause.tool.clone(),
            shown,
            why: String::new(),
            times: self.times,
            since_sent: Duration::from_millis(now.since(self.open.subject.sent)),
            arguments: Some(self.asked.clone()),
            answer: answer.reply().said().map(str::to_owned),
        };
        Ok(self.open.amendment(look, now))
    }
}

/// What the ledger has that is not settled. What can't be looked for is said in the log.
fn unsettled(place: &std::path::Path, server: &ServerName, revision: Revision) -> Vec<Open> {
    let since = i64::try_from(YOUNGEST.as_millis()).unwrap_or(i64::MAX);
    let filter = Filter {
        server: Some(server.to_string()),
        unsettled_only: true,
        since_ms: Some(clock::now().0.saturating_sub(since)),
        limit: MOST,
        ..Filter::default()
    };
    let rows = Reader::open(place)
        .map_err(|fault| fault.to_string())
        .and_then(|reader| reader.operations(&filter).map_err(|fault| fault.to_string()));
    match rows {
        Ok(rows) => rows.iter().filter_map(|row| open(row, revision)).collect(),
        Err(fault) => {
            tracing::warn!(%fault, "what earlier runs left open can't be looked for");
            Vec::new()
        }
    }
}

fn open(row: &OperationRow, revision: Revision) -> Option<Open> {
    // A living sibling still waits for it.
    if row.standing != Standing::Ended {
        return None;
    }
    let operation = OperationId::new(row.operation);
    let unsettled = Unsettled {
        operation,
        at: UnixMillis(row.started_ms),
        server: &row.server,
        tool: &row.tool,
        intent: &row.intent.as_ref()?.entry.body,
        latest: &row.latest.as_ref()?.entry.body,
    };
    match Open::read(&unsettled, revision) {
        Ok(open) => Some(open),
        Err(why) => {
            tracing::info!(%operation, %why, "a call of an earlier run can't be looked for");
            None
        }
    }
}
