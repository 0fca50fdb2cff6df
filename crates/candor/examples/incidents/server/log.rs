//! The event log: what was asked of the desk and what became of it, the refusals too. A log that holds only what succeeded
//! can't answer the question it is kept for: who tried what?

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

/// Most events that are kept; the oldest go first.
const MAX_EVENTS: usize = 10_000;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Event {
    /// When, in RFC 3339.
    at: String,
    /// Who asked.
    pub(crate) who: String,
    /// The tool.
    pub(crate) tool: String,
    /// What became of it: an outcome of the verdict, such as `completed` or `rejected`.
    pub(crate) outcome: String,
    /// The code of a refusal or a failure.
    pub(crate) code: Option<String>,
}

/// Events of all tenants. Each is read by its own tenant alone.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<VecDeque<(String, Event)>>);

impl Log {
    /// Writes down what became of a call.
    pub(crate) fn write(&self, event: &candor::Event) {
        let Some(who) = &event.principal else { return };
        let written = Event {
            at: event.at.to_string(),
            who: who.id.clone(),
            tool: event.tool.clone(),
            outcome: event.outcome.to_string(),
            code: event.code.clone(),
        };
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() >= MAX_EVENTS {
            events.pop_front();
        }
        events.push_back((who.tenant.clone().unwrap_or_default(), written));
    }

    /// What happened to one tenant, the newest last.
    pub(crate) fn of(&self, tenant: &str, most: usize) -> Vec<Event> {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = events.iter().rev().filter(|(owner, _)| owner == tenant);
        let mut newest: Vec<Event> = theirs.take(most).map(|(_, event)| event.clone()).collect();
        newest.reverse();
        newest
    }
}
