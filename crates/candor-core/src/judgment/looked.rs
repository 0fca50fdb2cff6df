//! What a look changes in a ruling, as `[[read_back]]` of `decisions.toml` says. A look that shows nothing changes nothing.

use super::how::{How, words};
use super::ruling::{Bytes, Channel, Flag, Opening, Ruling};
use super::verdict::{Effect, Evidence, Kind, Outcome, Protocol, Repeat};
use crate::recovery::read_back::Shown;

words! {
    /// What was known before the look: the rows of `[[read_back]]`.
    Before {
        /// Sent, and nothing usable came back.
        Lost = "lost",
        /// Answered, and the answer leaves it open.
        Unclear = "unclear",
        /// Flagged as an error, against its own words.
        Contradicted = "contradicted",
        /// Refused or failed, and whether something changed is open.
        Refused = "refused",
        /// The server says that it is done.
        Reported = "reported",
        /// Taken on.
        Accepted = "accepted",
    }
}

impl Before {
    /// What a ruling leaves open for a look; `None` where a look would tell nothing new.
    pub fn of(ruling: &Ruling, how: How) -> Option<Self> {
        match (ruling.outcome, ruling.effect) {
            (Outcome::Unknown, Effect::Unknown) if ruling.protocol == Protocol::NoResponse => {
                Some(Self::Lost)
            }
            (Outcome::Unknown, Effect::Unknown) if how == How::Flagged => Some(Self::Contradicted),
            (Outcome::Unknown, Effect::Unknown) => Some(Self::Unclear),
            (Outcome::Failed | Outcome::Rejected, Effect::Unknown) => Some(Self::Refused),
            (Outcome::Reported, Effect::Unknown) | (Outcome::Completed, Effect::Applied) => {
                Some(Self::Reported)
            }
            (Outcome::Accepted, Effect::Unknown) => Some(Self::Accepted),
            _ => None,
        }
    }

    /// Is it looked at only where the contract asks for proof?
    pub fn is_a_success(self) -> bool {
        self == Self::Reported
    }
}

/// The ruling after a look.
pub fn looked(own: Ruling, before: Before, shown: Shown) -> Ruling {
    match shown {
        Shown::Nothing => own,
        Shown::Applied => applied(own, before),
        Shown::NotApplied => not_applied(own, before),
    }
}

fn applied(own: Ruling, before: Before) -> Ruling {
    let told = own.channel == Channel::Result;
    let done = Ruling {
        outcome: Outcome::Completed,
        effect: Effect::Applied,
        evidence: Evidence::ReadBack,
        kind: None,
        may_retry: false,
        repeat: None,
        ..own
    };
    match before {
        Before::Reported => done,
        Before::Lost | Before::Unclear | Before::Accepted => Ruling {
            flag: match (told, own.bytes) {
                (false, _) => own.flag,
                (true, Bytes::Authored) => Flag::Cleared,
                (true, _) => Flag::Kept,
            },
            opening: if own.opening == Opening::Silent {
                Opening::Silent
            } else {
                Opening::Done
            },
            ..done
        },
        Before::Contradicted | Before::Refused => Ruling {
            outcome: if before == Before::Refused {
                own.outcome
            } else {
                Outcome::Failed
            },
            kind: own.kind,
            repeat: Some(match own.repeat {
                // What is idempotent does no harm a second time either.
                Some(Repeat::MayHelp) => Repeat::MayHelp,
                _ => Repeat::MayDuplicate,
            }),
            ..opened(done, told, Opening::DoneThoughReported)
        },
    }
}

fn not_applied(own: Ruling, before: Before) -> Ruling {
    let told = own.channel == Channel::Result;
    let nothing = Ruling {
        outcome: Outcome::Failed,
        effect: Effect::NotApplied,
        evidence: Evidence::ReadBack,
        kind: Some(match own.kind {
            Some(Kind::OutcomeUnknown) => Kind::DependencyUnavailable,
            Some(kind) => kind,
            None => Kind::ContractBroken,
        }),
        flag: if told { Flag::Set } else { own.flag },
        may_retry: true,
        repeat: Some(Repeat::MayHelp),
        ..opened(own, told, Opening::NotDone)
    };
    match before {
        // What is taken on need not show yet.
        Before::Accepted => own,
        Before::Refused if own.outcome == Outcome::Rejected => Ruling {
            outcome: own.outcome,
            may_retry: own.may_retry,
            repeat: own.repeat,
            ..nothing
        },
        _ => nothing,
    }
}

/// The same with a block of Candor's first, where somebody is told.
fn opened(ruling: Ruling, told: bool, opening: Opening) -> Ruling {
    if !told {
        return ruling;
    }
    Ruling {
        opening,
        bytes: match ruling.bytes {
            Bytes::Untouched => Bytes::Prefixed,
            bytes => bytes,
        },
        ..ruling
    }
}

#[cfg(test)]
mod tests;
