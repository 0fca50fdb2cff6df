//! A caller that is kept for the end of what the server took on. That it was taken on is on disk before the first look; only
//! the telling waits.

use std::time::Duration;

use super::{Action, After, Call, Event, FollowedEnd, KEPT_LATE, State};
use crate::delivery::answer::Draft;
use crate::judgment::how::How;
use crate::judgment::judge::{Judgment, judge};
use crate::judgment::verdict::Outcome;
use crate::names::UnixMillis;
use crate::record::Recording;
use crate::wire::reply::Reply;

/// What is told where no end comes in time.
#[derive(Debug)]
pub(super) struct Holding {
    draft: Draft,
    after: After,
    recording: Recording,
    reply: Reply,
}

impl Call {
    /// Is its caller kept for the end of what was taken on?
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Holding(_))
    }

    /// How long its caller is kept for the end, where the contract says so. A caller that asked for a task has what it wants.
    pub(super) fn kept_for(&self, judgment: &Judgment) -> Option<Duration> {
        let verdict = &judgment.verdict;
        let taken_on = verdict.outcome == Outcome::Accepted && verdict.reference.is_some();
        if !taken_on || judgment.how == How::Task || self.request.as_task {
            return None;
        }
        let mapping = &self.terms()?.mapping.as_ref()?.value;
        mapping.reference.as_ref()?.state.as_ref()?.wait
    }

    /// It is on disk that the work was taken on: its caller waits. What could not be recorded is told at once.
    pub(super) fn hold(
        &mut self,
        draft: Draft,
        after: After,
        recording: Recording,
        reply: Reply,
        now: UnixMillis,
    ) -> Vec<Action> {
        let within = self.kept_for(draft.judgment());
        let (Some(within), false) = (within, matches!(recording, Recording::Not { .. })) else {
            return self.tell(draft, after, &recording, now);
        };
        self.state = State::Holding(Box::new(Holding {
            draft,
            after,
            recording,
            reply,
        }));
        vec![Action::Hold { within }]
    }

    /// Something happened while its caller waits for the end.
    pub(super) fn holding(&mut self, holding: Holding, event: Event, now: UnixMillis) -> Vec<Action> {
        match event {
            Event::Followed(end) => self.tell_end(&holding, *end, now),
            // Nothing is lost by telling what is known: the work is followed on.
            Event::Waited | Event::TimedOut | Event::Cancelled | Event::Lost(_) => {
                self.tell(holding.draft, holding.after, &holding.recording, now)
            }
            event => {
                if let Event::Replied(reply) = event
                    && self.early.len() < KEPT_LATE
                {
                    self.early.push(reply);
                }
                self.state = State::Holding(Box::new(holding));
                Vec::new()
            }
        }
    }

    /// The end came in time: it amends the record, and then the caller gets it.
    fn tell_end(&mut self, holding: &Holding, end: FollowedEnd, now: UnixMillis) -> Vec<Action> {
        let FollowedEnd { entry, ending, by } = end;
        let mut scene = self.scene(now);
        // The shape that this tool promises is not that of the tool that was asked.
        scene.strict_shape = false;
        let mut judgment = judge(&scene, &ending);
        let reference = holding.draft.judgment().verdict.reference.clone();
        judgment.verdict.reference = judgment.verdict.reference.or(reference);
        self.declared = judgment.ruling.effect;
        let draft = Draft::followed(
            &scene,
            &ending,
            judgment,
            self.caller(),
            &self.disclosure,
            &holding.reply,
            &by,
        );
        self.state = State::Concluding {
            draft: Box::new(draft),
            after: holding.after,
            hold: None,
        };
        vec![Action::Record {
            entries: vec![entry],
            wait: self.waits_for_disk(),
        }]
    }
}
