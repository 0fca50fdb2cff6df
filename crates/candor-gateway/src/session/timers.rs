//! What is due when: deadlines of calls, looks to come, questions that expire.

use std::time::Duration;

use candor_core::call::machine::Event;
use candor_core::names::OperationId;
use tokio::time::Instant;

use super::pending::{BatchKey, CallKey};
use super::state::Session;
use crate::deadline::MAXIMUM;

/// When, and a number that keeps two timers of one moment apart.
pub(super) type TimerKey = (Instant, u64);

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// A call's deadline.
    Call(CallKey),
    /// A call has waited long enough to be told of its tool.
    Learning(CallKey),
    /// What an earlier run left open is to be looked for.
    Reconcile,
    /// A call has waited long enough: to be sent again, or for the end of what was taken on.
    Retry(CallKey),
    /// A call is to be looked after.
    Look(CallKey),
    /// The record of a trusted read has waited long enough for its verdict.
    Defer(CallKey),
    /// A question to the user has been open long enough.
    Question(CallKey),
    /// The next look at accepted work is due.
    Follow(OperationId),
    /// A batch has waited long enough for its last answers.
    Batch(BatchKey),
    /// A call that may be a task has taken so long that it is one.
    Task(OperationId),
    /// Candor's own listing has taken too long.
    Listing(u64),
    /// A call of Candor's own has.
    Own(u64),
    /// The handshake with a server that was started anew has.
    Handshake(u64),
    /// When is it looked again what became of the call that used this call's key first?
    Key(CallKey),
}

impl Session {
    pub(super) fn set_timer(&mut self, at: Instant, timer: Timer) -> TimerKey {
        self.next_timer += 1;
        let key = (at, self.next_timer);
        self.timers.insert(key, timer);
        key
    }

    /// Carries out every timer that is due.
    pub(super) fn fire_timers(&mut self) {
        let now = Instant::now();
        while let Some((&key, &timer)) = self.timers.first_key_value()
            && key.0 <= now
        {
            self.timers.remove(&key);
            match timer {
                Timer::Call(call) => self.call_timed_out(call),
                Timer::Learning(call) => self.learning_timed_out(call),
                Timer::Reconcile => self.seek(),
                Timer::Retry(call) => self.happened(call, Event::Waited),
                Timer::Look(call) => self.look_now(call),
                Timer::Defer(call) => self.flush_deferred(call),
                Timer::Key(call) => self.happened(call, Event::KeyDue),
                Timer::Task(operation) => self.task_due(operation),
                Timer::Batch(batch) => self.batch_timed_out(batch),
                Timer::Follow(operation) => self.look_at_accepted(operation),
                Timer::Question(call) => self.question_expired(call),
                Timer::Listing(upstream) => self.listing_timed_out(upstream),
                Timer::Own(upstream) => self.own_timed_out(upstream),
                Timer::Handshake(upstream) => self.handshake_timed_out(upstream),
            }
        }
    }

    fn call_timed_out(&mut self, key: CallKey) {
        if let Some(active) = self.calls.get_mut(&key) {
            active.timer = None;
        }
        self.recall(key);
        self.happened(key, Event::TimedOut);
    }

    /// When the next timer is due.
    pub(super) fn next_due(&self) -> Instant {
        // Far away, and no overflow: a loop that wakes up once an hour for nothing costs nothing.
        let idle = Instant::now() + Duration::from_secs(3600);
        self.timers.first_key_value().map_or(idle, |(key, _)| key.0)
    }

    /// The deadline of a call, in place of the one it had.
    pub(super) fn set_deadline(&mut self, key: CallKey, at: Instant) {
        let timer = self.set_timer(at, Timer::Call(key));
        if let Some(active) = self.calls.get_mut(&key)
            && let Some(old) = active.timer.replace(timer)
        {
            self.timers.remove(&old);
        }
    }

    /// The server reports progress under a token: the wait of that call starts anew, up to the maximum.
    pub(super) fn progressed(&mut self, token: &str) {
        let Some(&key) = self.progress.get(token) else {
            return;
        };
        let Some(active) = self.calls.get(&key) else {
            return;
        };
        let (Some(sent), true) = (active.sent, active.deadline.renewable && !active.told) else {
            return;
        };
        let most = MAXIMUM.saturating_sub(active.deadline.looking);
        let at = (Instant::now() + active.deadline.wait).min(sent.at + most);
        self.set_deadline(key, at);
    }
}
