//! Sending again, where the contract says so. Each send is on disk before it leaves, as the first was.

use std::time::Duration;

use super::looking::Looking;
use super::{Action, Call, Event, KEPT_LATE, State};
use crate::judgment::ending::Ending;
use crate::judgment::judge::Judgment;
use crate::judgment::verdict::{Effect, Evidence};
use crate::names::UnixMillis;
use crate::record::Recording;
use crate::recovery::read_back::Look;
use crate::recovery::retry::{Tries, asked, wait};
use crate::wire::reply::Reply;

/// How an earlier try ended: told after all, where nothing better comes.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) ending: Ending,
    pub(super) reply: Option<Reply>,
    pub(super) look: Option<Look>,
    /// Did it leave open whether something changed?
    open: bool,
}

impl Call {
    /// Is this ending to be followed by another try? Then that is what must be done.
    pub(super) fn try_again(
        &mut self,
        judgment: &Judgment,
        (ending, reply, look): (&Ending, Option<&Reply>, Option<&Look>),
        now: UnixMillis,
    ) -> Option<Vec<Action>> {
        let clause = &self.terms()?.retry.as_ref()?.value;
        let tries = Tries {
            made: self.tries,
            elapsed: Duration::from_millis(now.since(self.opened)),
        };
        let after = wait(
            clause,
            ending,
            &judgment.ruling,
            tries,
            reply.and_then(|reply| asked(ending, reply)),
        )?;
        let held = Held {
            ending: ending.clone(),
            reply: reply.cloned(),
            look: look.cloned(),
            open: judgment.ruling.effect == Effect::Unknown,
        };
        // One that never left says less than one that did.
        if self.held.is_none() || self.sent.is_some() {
            let was_open = self.held.as_ref().is_some_and(|held| held.open);
            if !was_open || held.open || look.is_some() {
                self.held = Some(Box::new(held));
            }
        }
        self.state = State::Retrying { recording: false };
        Some(vec![Action::Wait { after }])
    }

    /// The ending to tell of: where this try shows nothing of what an earlier one may have done, that one's.
    pub(super) fn honest(&mut self, judgment: &Judgment) -> Option<Held> {
        let held = self.held.take()?;
        let ruling = &judgment.ruling;
        let proves_nothing = match ruling.evidence {
            Evidence::NotSent => self.attempts > 0,
            Evidence::ReadBack | Evidence::Operator => false,
            _ => held.open && ruling.effect == Effect::NotApplied,
        };
        proves_nothing.then_some(*held)
    }

    /// Something happened while the call waits to be sent again.
    pub(super) fn retrying(&mut self, recording: bool, event: Event, now: UnixMillis) -> Vec<Action> {
        match (recording, event) {
            (false, Event::Waited) => {
                self.state = State::Retrying { recording: true };
                vec![Action::Record {
                    entries: self.intent(now),
                    wait: self.waits_for_disk(),
                }]
            }
            (true, Event::Recorded(made)) => {
                let refused = matches!(made, Recording::Not { .. }) && self.must_be_recorded();
                if refused || self.timed_out {
                    return self.tell_held(now);
                }
                if self.cancelled {
                    return self.give_up_trying(now);
                }
                self.sent = None;
                self.settled = None;
                self.tries += 1;
                self.state = State::Waiting;
                vec![Action::Send]
            }
            (false, Event::TimedOut) => self.tell_held(now),
            (false, Event::Cancelled) => self.give_up_trying(now),
            (true, Event::TimedOut) => {
                self.timed_out = true;
                self.state = State::Retrying { recording };
                Vec::new()
            }
            (true, Event::Cancelled) => {
                self.cancelled = true;
                self.state = State::Retrying { recording };
                Vec::new()
            }
            // An answer to an earlier try after all.
            (false, Event::Replied(reply)) => self.settle(&reply, true, now),
            (_, event) => {
                if let Event::Replied(reply) = event
                    && self.early.len() < KEPT_LATE
                {
                    self.early.push(reply);
                }
                self.state = State::Retrying { recording };
                Vec::new()
            }
        }
    }

    fn tell_held(&mut self, now: UnixMillis) -> Vec<Action> {
        match self.held.take() {
            Some(held) => self.close(&held.ending, held.reply.as_ref(), held.look, now),
            None => self.close(&super::not_in_time(), None, None, now),
        }
    }

    fn give_up_trying(&mut self, now: UnixMillis) -> Vec<Action> {
        let held = self.held.take();
        self.early.extend(held.and_then(|held| held.reply));
        let ending = if self.attempts > 0 {
            Ending::CancelledSent
        } else {
            Ending::CancelledUnsent
        };
        self.close(&ending, None, None, now)
    }

    /// Something happened while the caller still waits and Candor looks.
    pub(super) fn recovering(
        &mut self,
        looking: Looking,
        reply: Option<Reply>,
        event: Event,
        now: UnixMillis,
    ) -> Vec<Action> {
        match event {
            Event::Looked(end) => self.looked(looking, reply, &end, now),
            Event::CannotLook { why } => self.cannot_look(looking, reply.as_ref(), why, now),
            Event::TimedOut => self.stop_looking(looking, reply.as_ref(), now),
            // The answer came after all, before anybody was told that it would not.
            Event::Replied(answer) if reply.is_none() => self.settle(&answer, true, now),
            Event::Cancelled => {
                self.early.extend(reply);
                self.close(&Ending::CancelledSent, None, None, now)
            }
            event => {
                if let Event::Replied(answer) = event
                    && self.early.len() < KEPT_LATE
                {
                    self.early.push(answer);
                }
                self.state = State::Recovering {
                    looking: Box::new(looking),
                    reply,
                };
                Vec::new()
            }
        }
    }
}
