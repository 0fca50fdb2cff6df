//! What each status of HTTP, and each way of getting none, means for an operation. A table, and nothing else decides.
//!
//! Sources: RFC 9110 section 15 (statuses), RFC 6585 (428, 429, 431), RFC 8470 (425), RFC 4918 (207). Where those
//! leave open whether anything was done, a write's effect is `unknown`: only a refusal that the status defines as one,
//! or a request that never left, shows that nothing was.

use ::http::StatusCode;
use candor_core::contract::effect::EffectClass;
use candor_core::judgment::verdict::{Effect, Kind, Outcome, Repeat};

/// How an exchange ended, as the table sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this status, and for 2xx with the data that was promised.
    Status(StatusCode),
    /// With a 2xx whose body is not what was promised: a page of HTML, broken JSON, another shape, too long.
    NotPromised,
    /// The request left, and no answer came.
    Lost,
    /// No connection, so nothing left.
    NeverConnected,
}

/// What an ending means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    /// What became of the operation.
    pub outcome: Outcome,
    /// What it changed.
    pub effect: Effect,
    /// Of what sort the trouble is; `None` where there is none.
    pub kind: Option<Kind>,
    /// What a repeat would mean; `None` where there is no trouble.
    pub repeat: Option<Repeat>,
}

/// Which endings a row is about.
#[derive(Debug, Clone, Copy)]
pub enum When {
    /// Statuses, as ranges with both ends. An earlier row wins over a later one.
    Statuses(&'static [(u16, u16)]),
    /// [`Ending::NotPromised`].
    NotPromised,
    /// [`Ending::Lost`].
    Lost,
    /// [`Ending::NeverConnected`].
    NeverConnected,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What it is about.
    pub when: When,
    /// For an operation that may change something, each time it is called.
    pub write: Ruling,
    /// For an operation that changes nothing.
    pub read: Ruling,
    /// Why, in a few words.
    pub because: &'static str,
}

impl Row {
    /// The ruling for this class. A second identical call of an idempotent operation changes nothing more, so where a
    /// repeat of a write might do it twice, one of these is harmless; what the first call did is just as unknown.
    pub fn ruling(&self, class: EffectClass) -> Ruling {
        match class {
            EffectClass::Read => self.read,
            EffectClass::Write => self.write,
            EffectClass::Idempotent => match self.write.repeat {
                Some(Repeat::MayDuplicate) => Ruling {
                    repeat: Some(Repeat::MayHelp),
                    ..self.write
                },
                _ => self.write,
            },
        }
    }

    fn is_about(&self, ending: Ending) -> bool {
        match (self.when, ending) {
            (When::Statuses(ranges), Ending::Status(status)) => ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&status.as_u16())),
            (When::NotPromised, Ending::NotPromised)
            | (When::Lost, Ending::Lost)
            | (When::NeverConnected, Ending::NeverConnected) => true,
            _ => false,
        }
    }
}

/// What this ending means for an operation of this class.
pub fn ruling(ending: Ending, class: EffectClass) -> Ruling {
    TABLE
        .iter()
        .find(|row| row.is_about(ending))
        .unwrap_or(&SERVER_FAULT)
        .ruling(class)
}

const fn done(effect: Effect) -> Ruling {
    Ruling {
        outcome: Outcome::Completed,
        effect,
        kind: None,
        repeat: None,
    }
}

const fn accepted(effect: Effect, repeat: Repeat) -> Ruling {
    Ruling {
        outcome: Outcome::Accepted,
        effect,
        kind: None,
        repeat: Some(repeat),
    }
}

/// Refused before anything was done: the same for every class.
const fn refused(kind: Kind, repeat: Repeat) -> Ruling {
    Ruling {
        outcome: Outcome::Rejected,
        effect: Effect::NotApplied,
        kind: Some(kind),
        repeat: Some(repeat),
    }
}

/// A write that broke down somewhere.
const fn broke(kind: Kind) -> Ruling {
    let (effect, repeat) = (Effect::Unknown, Some(Repeat::MayDuplicate));
    Ruling {
        outcome: Outcome::Failed,
        effect,
        kind: Some(kind),
        repeat,
    }
}

/// A write of which nobody knows.
const fn unknown(kind: Kind) -> Ruling {
    let (effect, repeat) = (Effect::Unknown, Some(Repeat::MayDuplicate));
    Ruling {
        outcome: Outcome::Unknown,
        effect,
        kind: Some(kind),
        repeat,
    }
}

/// No data, and nothing changed.
const fn no_data(kind: Kind, repeat: Repeat) -> Ruling {
    Ruling {
        outcome: Outcome::Failed,
        effect: Effect::NotApplied,
        kind: Some(kind),
        repeat: Some(repeat),
    }
}

const fn both(statuses: &'static [(u16, u16)], ruling: Ruling, because: &'static str) -> Row {
    Row {
        when: When::Statuses(statuses),
        write: ruling,
        read: ruling,
        because,
    }
}

/// RFC 9110 section 15.6, and for numbers that are no statuses section 15: they count as 500.
const SERVER_FAULT: Row = Row {
    when: When::Statuses(&[(500, 999)]),
    write: broke(Kind::Internal),
    read: no_data(Kind::Internal, Repeat::MayHelp),
    because: "it broke down inside; a number beyond 599 counts as 500",
};

/// The table. An earlier row wins over a later one.
pub static TABLE: &[Row] = &[
    Row {
        when: When::Statuses(&[(202, 202)]),
        write: accepted(Effect::Unknown, Repeat::MayDuplicate),
        read: accepted(Effect::NotApplied, Repeat::MayHelp),
        because: "taken on, not done; followed by `Location`, or by the id in the body",
    },
    Row {
        when: When::Statuses(&[(204, 205)]),
        write: done(Effect::Applied),
        read: done(Effect::NotApplied),
        because: "done, without data",
    },
    Row {
        when: When::Statuses(&[(207, 207)]),
        write: Ruling {
            outcome: Outcome::Partial,
            effect: Effect::Partial,
            kind: Some(Kind::BusinessRule),
            repeat: Some(Repeat::MayDuplicate),
        },
        read: Ruling {
            outcome: Outcome::Partial,
            effect: Effect::NotApplied,
            kind: Some(Kind::BusinessRule),
            repeat: Some(Repeat::MayHelp),
        },
        because: "each part has a status of its own, ruled by this table",
    },
    Row {
        when: When::Statuses(&[(200, 299)]),
        write: done(Effect::Applied),
        read: done(Effect::NotApplied),
        because: "the data that was promised is there",
    },
    Row {
        when: When::NotPromised,
        write: unknown(Kind::ContractBroken),
        read: no_data(Kind::ContractBroken, Repeat::SameAnswer),
        because: "a 2xx with a page, broken JSON or another shape: who wrote it is not known",
    },
    Row {
        when: When::Statuses(&[(303, 303)]),
        write: accepted(Effect::Unknown, Repeat::MayDuplicate),
        read: no_data(Kind::ContractBroken, Repeat::SameAnswer),
        because: "answered elsewhere: at `Location`; without one, as the other redirections",
    },
    Row {
        when: When::Statuses(&[(100, 199), (300, 399)]),
        write: unknown(Kind::OutcomeUnknown),
        read: no_data(Kind::ContractBroken, Repeat::SameAnswer),
        because: "no end of it: a redirection that was not followed, or no final status",
    },
    both(
        &[(401, 401), (403, 403), (407, 407)],
        refused(Kind::PermissionDenied, Repeat::SameAnswer),
        "the credential does not do; whose it is decides what may be told",
    ),
    both(
        &[(404, 404), (410, 410)],
        refused(Kind::BusinessRule, Repeat::SameAnswer),
        "what it is about is not there, or not for this caller",
    ),
    Row {
        when: When::Statuses(&[(408, 408)]),
        write: Ruling {
            outcome: Outcome::Rejected,
            effect: Effect::Unknown,
            kind: Some(Kind::OutcomeUnknown),
            repeat: Some(Repeat::MayDuplicate),
        },
        read: no_data(Kind::OutcomeUnknown, Repeat::MayHelp),
        because: "the server gave up waiting; gateways send it too when the work had begun",
    },
    both(
        &[
            (402, 402),
            (409, 409),
            (412, 412),
            (423, 424),
            (428, 428),
            (451, 451),
        ],
        refused(Kind::BusinessRule, Repeat::SameAnswer),
        "a rule, or the state of the thing, is against it",
    ),
    both(
        &[
            (405, 406),
            (411, 411),
            (415, 415),
            (417, 417),
            (426, 426),
            (431, 431),
        ],
        refused(Kind::Internal, Repeat::SameAnswer),
        "the server that sent it and its backend do not fit; no other argument mends that",
    ),
    both(
        &[(421, 421), (425, 425)],
        refused(Kind::DependencyUnavailable, Repeat::MayHelp),
        "not looked at here or not yet; later, or over another connection, it may be",
    ),
    both(
        &[(429, 429)],
        refused(Kind::RateLimited, Repeat::MayHelp),
        "too many; `Retry-After` says how long to wait",
    ),
    both(
        &[(400, 499)],
        refused(Kind::InvalidInput, Repeat::SameAnswer),
        "the request is wrong; among them 400, 413, 414 and 422",
    ),
    both(
        &[(501, 501), (505, 505)],
        refused(Kind::Internal, Repeat::SameAnswer),
        "the backend can't do this at all",
    ),
    Row {
        when: When::Statuses(&[(502, 504)]),
        write: broke(Kind::DependencyUnavailable),
        read: no_data(Kind::DependencyUnavailable, Repeat::MayHelp),
        because: "between here and there something is missing; `Retry-After` promises nothing about the first call",
    },
    SERVER_FAULT,
    Row {
        when: When::Lost,
        write: unknown(Kind::OutcomeUnknown),
        read: no_data(Kind::OutcomeUnknown, Repeat::MayHelp),
        because: "sent, and no answer: done, not done, or still running",
    },
    Row {
        when: When::NeverConnected,
        write: no_data(Kind::DependencyUnavailable, Repeat::MayHelp),
        read: no_data(Kind::DependencyUnavailable, Repeat::MayHelp),
        because: "nothing left, so nothing was done",
    },
];

#[cfg(test)]
mod tests;
