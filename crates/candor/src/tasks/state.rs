//! The states of a task, the same five in the 2025-11-25 tasks and in the extension of 2026-07-28, and which may follow
//! which. Pure.

use std::time::Duration;

use jiff::Timestamp;

/// Where a task stands. The words are those of both specifications (2025-11-25 `TaskStatus`, SEP-2663).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The tool runs.
    Working,
    /// The tool waits for the user.
    InputRequired,
    /// The tool ran to its end. Its result says whether the thing was done: a refusal is an end as well.
    Completed,
    /// The tool did not reach its end: it crashed, or answered with a protocol error.
    Failed,
    /// The tool stopped because it was asked to.
    Cancelled,
}

impl Status {
    /// Every status there is.
    pub const ALL: [Self; 5] = [
        Self::Working,
        Self::InputRequired,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word on the wire and in a store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status with this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Nothing follows it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// May `next` follow?
    ///
    /// A task that waits may go on waiting for something else (one of two questions is answered, or a second one comes
    /// up); nothing else follows itself, and nothing follows an end.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Working => next != Self::Working,
            Self::InputRequired => true,
            Self::Completed | Self::Failed | Self::Cancelled => false,
        }
    }

    /// The status after a step to `next`.
    ///
    /// # Errors
    ///
    /// [`OutOfTurn`] names the status the task is in, if `next` may not follow it.
    pub fn turn(self, next: Self) -> Result<Self, OutOfTurn> {
        if self.may_become(next) {
            Ok(next)
        } else {
            Err(OutOfTurn { now: self })
        }
    }
}

/// A step that may not follow from where the task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the task is {}", .now.as_str())]
pub struct OutOfTurn {
    /// Where it stands.
    pub now: Status,
}

/// Until when a task is kept: its creation and its time to live, counted from there. `None` where it is kept for ever
/// (or for longer than there are timestamps).
pub(crate) fn expiry(created: Timestamp, ttl: Option<Duration>) -> Option<Timestamp> {
    created.checked_add(ttl?).ok()
}

/// Is a task that is kept until `expiry` gone at `now`? At the very moment of its expiry it is.
pub(crate) fn is_gone(expiry: Option<Timestamp>, now: Timestamp) -> bool {
    expiry.is_some_and(|expiry| expiry <= now)
}

#[cfg(test)]
mod tests {
    use super::Status::{Cancelled, Completed, Failed, InputRequired, Working};
    use super::*;

    #[test]
    fn every_pair_of_states_is_decided() {
        let allowed = [
            (Working, InputRequired),
            (Working, Completed),
            (Working, Failed),
            (Working, Cancelled),
            (InputRequired, Working),
            (InputRequired, InputRequired),
            (InputRequired, Completed),
            (InputRequired, Failed),
            (InputRequired, Cancelled),
        ];
        for from in Status::ALL {
            for to in Status::ALL {
                assert_eq!(
                    from.may_become(to),
                    allowed.contains(&(from, to)),
                    "{from:?} to {to:?}"
                );
                let step = from.turn(to);
                assert_eq!(step.is_ok(), from.may_become(to));
                if let Err(refused) = step {
                    assert_eq!(refused.to_string(), format!("the task is {}", from.as_str()));
                }
            }
        }
    }

    #[test]
    fn nothing_follows_an_end() {
        for end in Status::ALL.into_iter().filter(|status| status.is_final()) {
            assert!(
                Status::ALL.into_iter().all(|next| !end.may_become(next)),
                "{end:?}"
            );
        }
        assert_eq!(
            Status::ALL.into_iter().filter(|status| status.is_final()).count(),
            3
        );
    }

    #[test]
    fn words_are_read_back() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
        }
        assert_eq!(Status::parse("done"), None);
    }

    #[test]
    fn a_task_is_gone_at_its_expiry_and_not_before() {
        let created = Timestamp::from_millisecond(1_000).unwrap();
        let at = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap();
        let expiry_of = |ttl| expiry(created, ttl);
        let soon = expiry_of(Some(Duration::from_millis(500)));
        assert!(!is_gone(soon, at(1_499)));
        assert!(is_gone(soon, at(1_500)));
        assert!(!is_gone(expiry_of(None), Timestamp::MAX));
        assert_eq!(expiry_of(Some(Duration::MAX)), None, "longer than time itself");
    }
}
