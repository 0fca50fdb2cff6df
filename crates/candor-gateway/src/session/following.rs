//! Accepted work is followed to its end in the background, also what earlier runs left: the caller has its reference and
//! waits for nothing of this. What an end makes of the operation amends the record.

use std::collections::BTreeMap;
use std::time::Duration;

use candor_core::call::machine::{Event, FollowedEnd};
use candor_core::contract::effect::EffectClass;
use candor_core::contract::terms::ToolTerms;
use candor_core::contract::tool::Knowledge;
use candor_core::judgment::verdict::Outcome;
use candor_core::known::Known;
use candor_core::names::{OperationId, ToolName, UnixMillis};
use candor_core::record::Entry;
use candor_core::recovery::follow::{Followed, LONGEST, Look, Reader, Recorded as OnRecord, Way, parameters};
use candor_core::wire::reply::Reply;
use candor_core::wire::revision::Era;
use candor_ledger::Filter;
use serde_json::Value;
use tokio::time::Instant;

use super::own::Purpose;
use super::pending::CallKey;
use super::state::{Recorded, Server, Session};
use super::timers::{Timer, TimerKey};
use crate::clock;
use crate::recorder::Recorder;

/// Work that is followed at once. What is accepted beyond that stays on the list of what is open.
const MOST_FOLLOWED: usize = 64;
/// How long one look may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// What the tasks of 2026-07-28 want in `_meta` of a request of Candor's own.
const META: &str = "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
     \"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}";

/// What one session follows.
#[derive(Debug, Default)]
pub(super) struct Following {
    open: BTreeMap<OperationId, Tracked>,
    /// Were those that earlier runs left looked for?
    looked: bool,
}

#[derive(Debug)]
struct Tracked {
    followed: Followed,
    looks: u32,
    /// The next look; none while one is on its way.
    timer: Option<TimerKey>,
    /// The call whose caller waits for the end.
    held: Option<CallKey>,
}

/// An operation that an earlier run left accepted, as it stands in the ledger.
#[derive(Debug)]
pub(super) struct LeftAccepted {
    operation: OperationId,
    server: String,
    tool: String,
    at: UnixMillis,
    class: EffectClass,
    body: Vec<u8>,
}

impl Session {
    /// These entries of a call are being recorded: is there accepted work among them?
    pub(super) fn note_accepted(&mut self, key: CallKey, entries: &[Entry]) {
        for entry in entries {
            let is_accepted = entry
                .concluded
                .is_some_and(|concluded| concluded.outcome == Outcome::Accepted);
            let Some(active) = self.calls.get(&key).filter(|_| is_accepted) else {
                continue;
            };
            let unknown = ToolTerms::default();
            let record = OnRecord {
                operation: entry.operation,
                server: entry.server.as_str(),
                tool: entry.tool.as_str(),
                at: entry.at,
                body: entry.body.as_bytes(),
            };
            let terms = active.call.terms().unwrap_or(&unknown);
            if let Some(followed) = Followed::of_record(&record, active.call.class(), terms) {
                self.follow(followed);
            }
        }
    }

    fn follow(&mut self, followed: Followed) {
        let operation = followed.operation;
        if self.following.open.len() >= MOST_FOLLOWED && !self.following.open.contains_key(&operation) {
            tracing::warn!(
                operation = %operation.short(),
                "accepted, and not followed: {MOST_FOLLOWED} operations are followed already"
            );
            return;
        }
        let at = Instant::now() + followed.wait(0);
        let tracked = Tracked {
            followed,
            looks: 0,
            timer: None,
            held: None,
        };
        self.following.open.insert(operation, tracked);
        self.plan_follow(operation, at);
    }

    /// The next look, in place of any that was planned before.
    fn plan_follow(&mut self, operation: OperationId, at: Instant) {
        let timer = self.set_timer(at, Timer::Follow(operation));
        let tracked = self.following.open.get_mut(&operation);
        if let Some(old) = tracked.and_then(|tracked| tracked.timer.replace(timer)) {
            self.timers.remove(&old);
        }
    }

    /// A call's caller is kept for the end of its work: it is looked at soon. One that nobody follows is told at once.
    pub(super) fn hold_for_end(&mut self, key: CallKey, within: Duration) {
        let operation = self.calls.get(&key).map(|active| active.call.operation());
        let followed = operation.and_then(|operation| {
            let tracked = self.following.open.get_mut(&operation)?;
            tracked.held = Some(key);
            Some((operation, tracked.timer.is_some()))
        });
        let Some((operation, planned)) = followed else {
            self.happened(key, Event::Waited);
            return;
        };
        let now = Instant::now();
        self.set_timer(now + within, Timer::Retry(key));
        if planned {
            self.plan_follow(operation, now + Followed::soon(0));
        }
    }

    /// Nobody looks any more: a caller that waits for it is told what is known.
    fn forget_followed(&mut self, operation: OperationId) {
        let tracked = self.following.open.remove(&operation);
        if let Some(key) = tracked.and_then(|tracked| tracked.held) {
            self.happened(key, Event::Waited);
        }
    }

    /// Is the caller of this call kept for an end?
    fn is_held(&self, key: CallKey) -> bool {
        self.calls.get(&key).is_some_and(|active| active.call.is_held())
    }

    /// The next look is due.
    pub(super) fn look_at_accepted(&mut self, operation: OperationId) {
        let Some(tracked) = self.following.open.get_mut(&operation) else {
            return;
        };
        tracked.timer = None;
        if !tracked.followed.is_due(clock::now()) {
            self.following.open.remove(&operation);
            tracing::info!(operation = %operation.short(), "followed for 24 hours without an end; it stays accepted");
            return;
        }
        // A server that is gone is not started for this: the next call of the host's does that.
        let ready = matches!(self.server, Server::Running) && (self.initialized || !self.has_handshake);
        if !ready {
            self.look_later(operation);
            return;
        }
        let followed = tracked.followed.clone();
        let modern = self.revision_in_force().era() == Era::Modern;
        let purpose = Purpose::Follow(operation);
        match &followed.way {
            Way::Task => {
                let members = members_of(&parameters(&followed, false));
                self.request_own("tasks/get", &members, modern.then_some(META), PATIENCE, purpose);
            }
            Way::Tool { tool, argument } => {
                if let Err(why) = self.may_ask_own(tool) {
                    tracing::warn!(operation = %operation.short(), %tool, "accepted, and not followed: the tool that shows its state {why}");
                    self.forget_followed(operation);
                    return;
                }
                let arguments = parameters(&followed, self.takes_number(tool, argument));
                let meta = Self::own_meta(self.revision_in_force(), None);
                self.ask_own(tool, &arguments, meta.as_deref(), PATIENCE, purpose);
            }
        }
    }

    /// Does this argument's schema ask for a number?
    fn takes_number(&mut self, tool: &str, argument: &str) -> bool {
        let name = ToolName::from(tool);
        let mut catalogue = std::mem::take(&mut self.catalogue);
        let knowledge = catalogue.knowledge(&name, self.terms());
        self.catalogue = catalogue;
        let Knowledge::Listed(tool) = knowledge else {
            return false;
        };
        let Known::Is(schema) = &tool.input else {
            return false;
        };
        let properties = schema.source().get("properties");
        let kind = properties.and_then(|properties| properties.get(argument)?.get("type")?.as_str());
        matches!(kind, Some("integer" | "number"))
    }

    fn look_later(&mut self, operation: OperationId) {
        let held = self
            .following
            .open
            .get(&operation)
            .and_then(|tracked| tracked.held);
        let held = held.filter(|key| self.is_held(*key));
        let Some(tracked) = self.following.open.get_mut(&operation) else {
            return;
        };
        // Once nobody waits any more, it is looked at as rarely as any other.
        tracked.looks = match (tracked.held, held) {
            (Some(_), None) => 0,
            _ => tracked.looks.saturating_add(1),
        };
        tracked.held = held;
        let wait = match held {
            Some(_) => Followed::soon(tracked.looks),
            None => tracked.followed.wait(tracked.looks),
        };
        self.plan_follow(operation, Instant::now() + wait);
    }

    /// A look has ended, with an answer or without one.
    pub(super) fn followed_answered(&mut self, operation: OperationId, end: Result<Reply, String>) {
        let Some(tracked) = self.following.open.get(&operation) else {
            return;
        };
        let shown = match end {
            Err(why) => Look::Nothing { why },
            Ok(reply) => {
                let read = match &tracked.followed.way {
                    Way::Task => tracked.followed.tool.clone(),
                    Way::Tool { tool, .. } => ToolName::from(tool.as_str()),
                };
                let terms = self.terms()(&read);
                let reader = Reader {
                    revision: self.revision_in_force(),
                    terms: &terms,
                    secrets: &self.secrets,
                    now: clock::now(),
                };
                reader.look(&tracked.followed, &reply)
            }
        };
        match shown {
            Look::Ended { entry, ending } => {
                let tracked = self.following.open.remove(&operation);
                let waits = tracked.and_then(|tracked| {
                    let Way::Tool { tool, .. } = tracked.followed.way else {
                        return None;
                    };
                    Some((tracked.held.filter(|key| self.is_held(*key))?, *ending?, tool))
                });
                match waits {
                    Some((key, ending, by)) => {
                        let entry = *entry;
                        let end = FollowedEnd { entry, ending, by };
                        self.happened(key, Event::Followed(Box::new(end)));
                    }
                    None => self.record_news(*entry),
                }
            }
            Look::GoesOn { interval } => {
                if let Some(tracked) = self.following.open.get_mut(&operation) {
                    tracked.followed.interval = interval.or(tracked.followed.interval);
                }
                self.look_later(operation);
            }
            Look::Nothing { why } => {
                tracing::debug!(operation = %operation.short(), %why, "a look at accepted work showed nothing");
                self.look_later(operation);
            }
        }
    }

    /// The server can be asked: looks, once, for what earlier runs left accepted.
    pub(super) fn look_for_accepted(&mut self) {
        let Recorder::Ledger(ledger) = &self.recorder else {
            return;
        };
        if std::mem::replace(&mut self.following.looked, true) {
            return;
        }
        let (place, server) = (ledger.place().to_owned(), self.name().to_string());
        let since = clock::now()
            .0
            .saturating_sub(i64::try_from(LONGEST.as_millis()).unwrap_or(i64::MAX));
        self.records.spawn(async move {
            let read = tokio::task::spawn_blocking(move || left_accepted(&place, server, since)).await;
            Recorded::LeftAccepted(read.unwrap_or_default())
        });
    }

    /// What earlier runs left accepted is followed on.
    pub(super) fn take_up(&mut self, left: Vec<LeftAccepted>) {
        for left in left {
            let terms = self.terms()(&ToolName::from(left.tool.as_str()));
            let record = OnRecord {
                operation: left.operation,
                server: &left.server,
                tool: &left.tool,
                at: left.at,
                body: &left.body,
            };
            if let Some(followed) = Followed::of_record(&record, left.class, &terms) {
                self.follow(followed);
            }
        }
    }
}

/// The newest operations of this server that are accepted and open, of runs that have ended.
fn left_accepted(place: &std::path::Path, server: String, since_ms: i64) -> Vec<LeftAccepted> {
    let filter = Filter {
        server: Some(server),
        outcome: Some(Outcome::Accepted.as_str().to_owned()),
        unsettled_only: true,
        since_ms: Some(since_ms),
        limit: u32::try_from(MOST_FOLLOWED).unwrap_or(u32::MAX),
        ..Filter::default()
    };
    let opened = candor_ledger::Reader::open(place).map_err(|fault| fault.to_string());
    let read = opened.and_then(|reader| {
        let rows = reader.operations(&filter).map_err(|fault| fault.to_string())?;
        // A living sibling follows its own, at a server process of its own.
        let left = |row: candor_ledger::OperationRow| {
            let latest = row.latest.filter(|latest| !reader.is_alive(latest.instance))?;
            Some(LeftAccepted {
                operation: OperationId::new(row.operation),
                server: row.server,
                tool: row.tool,
                at: UnixMillis(latest.entry.at_ms),
                class: row
                    .intent
                    .map_or(EffectClass::Write, |intent| class_in(&intent.entry.body)),
                body: latest.entry.body,
            })
        };
        Ok(rows.into_iter().filter_map(left).collect())
    });
    read.unwrap_or_else(|why| {
        tracing::warn!(%why, "what earlier runs left accepted can't be read");
        Vec::new()
    })
}

fn class_in(intent: &[u8]) -> EffectClass {
    let body: Value = serde_json::from_slice(intent).unwrap_or_default();
    let class = body.get("effectClass").and_then(Value::as_str);
    class
        .and_then(|word| word.parse().ok())
        .unwrap_or(EffectClass::Write)
}

fn members_of(parameters: &Value) -> String {
    let text = parameters.to_string();
    text.get(1..text.len().saturating_sub(1))
        .unwrap_or_default()
        .to_owned()
}
