//! Looking again at what calls left behind, as their contracts say: carried out.

use std::time::Duration;

use candor_core::call::machine::Event;
use serde_json::Value;
use tokio::time::Instant;

use super::own::Purpose;
use super::pending::CallKey;
use super::state::{Server, Session};
use super::timers::Timer;

/// A look at a call that is told waits at most so long for its answer: nobody waits for it.
const LATE_PATIENCE: Duration = Duration::from_secs(30);

/// A look that is to come.
#[derive(Debug)]
pub(super) struct Planned {
    tool: String,
    arguments: Value,
    timer: super::timers::TimerKey,
}

impl Session {
    /// A call asks to be looked after. One that is not told yet is looked at within the time that was kept for it.
    pub(super) fn plan_look(&mut self, key: CallKey, tool: String, arguments: Value, after: Duration) {
        if let Err(why) = self.may_ask_own(&tool) {
            let why = format!("it {why}");
            self.happened(key, Event::CannotLook { why });
            return;
        }
        let now = Instant::now();
        let at = now + after;
        if let Some(until) = self.look_until(key, now)
            && at >= until
        {
            self.happened(key, Event::TimedOut);
            return;
        }
        let timer = self.set_timer(at, Timer::Look(key));
        if let Some(active) = self.calls.get_mut(&key) {
            let planned = Planned {
                tool,
                arguments,
                timer,
            };
            if let Some(old) = active.look.replace(planned) {
                self.timers.remove(&old.timer);
            }
        }
    }

    /// A call asks to be sent again after a wait. One that its time has no room for is not waited for.
    pub(super) fn wait_to_send(&mut self, key: CallKey, after: Duration) {
        let at = Instant::now() + after;
        let due = self.calls.get(&key).and_then(|active| active.timer);
        if due.is_some_and(|due| at < due.0) {
            self.set_timer(at, Timer::Retry(key));
        } else {
            self.happened(key, Event::TimedOut);
        }
    }

    /// When the time for looking is over; `None` for a call that is told. The first look extends the call's deadline by
    /// what was kept back for it.
    fn look_until(&mut self, key: CallKey, now: Instant) -> Option<Instant> {
        let active = self.calls.get_mut(&key).filter(|active| !active.told)?;
        let due = active.timer.map_or(now, |timer| timer.0);
        let kept = std::mem::take(&mut active.deadline.looking);
        if kept > Duration::ZERO {
            self.set_deadline(key, due + kept);
        }
        Some(due + kept)
    }

    /// A planned look is due.
    pub(super) fn look_now(&mut self, key: CallKey) {
        let running = matches!(self.server, Server::Running);
        let now = Instant::now();
        let Some(active) = self.calls.get_mut(&key) else {
            return;
        };
        let Some(Planned { tool, arguments, .. }) = active.look.take() else {
            return;
        };
        let request = active.call.request();
        let meta = Self::own_meta(request.revision, request.protocol_meta.as_deref());
        let patience = match active.timer {
            Some(timer) if !active.told => timer.0.saturating_duration_since(now),
            _ => LATE_PATIENCE,
        };
        // Nobody waits for it: not worth starting a server for.
        if active.told && !running {
            let why = "the server is not running".to_owned();
            self.happened(key, Event::Looked(Err(why)));
            return;
        }
        self.ask_own(
            &tool,
            &arguments,
            meta.as_deref(),
            patience,
            Purpose::ReadBack(key),
        );
    }
}
