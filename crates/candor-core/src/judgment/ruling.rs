//! The ruling: for every way a call can end, every effect class and every reading of a contract, what Candor
//! concludes and says. `decisions.toml` is its answer sheet; this never reads it.

use super::finding::FindingCode;
use super::how::{How, words};
use super::mapped::{bad_shape, mapped};
use super::told::{self, Declared};
use super::verdict::{Effect, Evidence, Kind, Outcome, Protocol, Repeat};
use crate::contract::effect::EffectClass;
use crate::contract::mapping::Reading;

words! {
    /// Which way the answer to the caller takes.
    Channel {
        /// A tool result.
        Result = "result",
        /// A JSON-RPC (or HTTP) error.
        Error = "error",
        /// Nobody is answered.
        Nobody = "none",
    }
}

words! {
    /// What happens to the server's bytes.
    Bytes {
        /// They stay; only `_meta` is added.
        Untouched = "untouched",
        /// Candor's block comes first, the server's follow.
        Prefixed = "prefixed",
        /// Candor writes the whole answer.
        Authored = "authored",
        /// The server's error is passed on.
        Passed = "passed",
        /// There are none.
        Nothing = "none",
    }
}

words! {
    /// The fixed words that open the first text block. `Silent` where Candor writes no block.
    Opening {
        /// Candor writes no block.
        Silent = "",
        /// Nothing changed.
        NotDone = "NOT DONE",
        /// Refused, but nobody said whether something was done first.
        RejectedEffectUnknown = "REJECTED, EFFECT UNKNOWN",
        /// Failed, possibly mid-work.
        FailedEffectUnknown = "FAILED, EFFECT UNKNOWN",
        /// Nobody knows.
        Unknown = "UNKNOWN",
        /// A part was done.
        PartlyDone = "PARTLY DONE",
        /// Taken on.
        AcceptedNotYetDone = "ACCEPTED, NOT YET DONE",
        /// The server needs more.
        NeedsInput = "NEEDS INPUT",
        /// Done: its answer was lost or said nothing, and a look shows it.
        Done = "DONE",
        /// Flagged as an error, and a look shows that it was done all the same.
        DoneThoughReported = "DONE, THOUGH REPORTED AS AN ERROR",
    }
}

/// `isError` of the result that goes to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// As the server sent it.
    Kept,
    /// Set.
    Set,
    /// Not set, in a result of Candor's own: it says that something is done. A tool that promises structure gets it set
    /// all the same, since strict clients drop an unflagged result without it.
    Cleared,
    /// There is no result to flag.
    NoResult,
}

/// What holds for one row of the decision table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ruling {
    /// Which way the answer takes.
    pub channel: Channel,
    /// `isError` of a result.
    pub flag: Flag,
    /// The protocol's layer.
    pub protocol: Protocol,
    /// The tool's layer: was it done?
    pub outcome: Outcome,
    /// The tool's layer: what changed?
    pub effect: Effect,
    /// How that is known.
    pub evidence: Evidence,
    /// Of what sort a failure is; `None` where there is none.
    pub kind: Option<Kind>,
    /// What happens to the server's bytes.
    pub bytes: Bytes,
    /// How Candor's block opens.
    pub opening: Opening,
    /// May Candor itself send again, if a contract asks for it?
    pub may_retry: bool,
    /// What a repeat by the caller would mean; `None` where nothing went wrong.
    pub repeat: Option<Repeat>,
    /// A clause that is broken by the very way the call ended.
    pub finding: Option<FindingCode>,
}

/// Clauses of a contract, beyond class and mapping, that a ruling depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Clauses {
    /// A broken output shape is taken seriously (`output = "strict"`).
    pub strict_shape: bool,
    /// The contract says that this very refusal means that nothing was done.
    pub refusal_changes_nothing: bool,
    /// The request was sent before this ending: in an earlier round of one operation, or in an earlier attempt.
    pub sent_before: bool,
    /// What a tool written with the library declares of itself; counts for [`How::Told`] only.
    pub declared: Option<Declared>,
}

/// Rules on one call. `None` as reading means that no mapping read the result.
pub fn rule(how: How, class: EffectClass, reading: Option<Reading>, clauses: Clauses) -> Ruling {
    let as_write = match how {
        How::Malformed | How::UnknownTool | How::BadInput | How::KeyConflict => {
            refused(how, Kind::InvalidInput)
        }
        How::Unauthorised | How::Foreign | How::Unconfirmed => refused(how, Kind::PermissionDenied),
        How::Limited => refused(how, Kind::RateLimited),
        How::Resting => refused(how, Kind::DependencyUnavailable),
        How::CancelledUnsent => refused(how, Kind::Cancelled),
        How::Unrecorded => unsent(Kind::Internal),
        How::ConnectFailed => Ruling {
            may_retry: true,
            ..unsent(Kind::DependencyUnavailable)
        },
        How::Ok => mapped(false, reading),
        How::Flagged => mapped(true, reading),
        How::OkBadShape => bad_shape(reading, clauses),
        How::OkNoStructure => Ruling {
            finding: Some(FindingCode::OutputMissing),
            ..mapped(false, reading)
        },
        How::Task => Ruling {
            outcome: Outcome::Accepted,
            evidence: Evidence::Declared,
            ..reported()
        },
        How::InputRequired => Ruling {
            outcome: Outcome::InputRequired,
            evidence: Evidence::Declared,
            ..reported()
        },
        How::OddType => Ruling {
            outcome: Outcome::Unknown,
            evidence: Evidence::Declared,
            kind: Some(Kind::ContractBroken),
            finding: Some(FindingCode::ResultType),
            ..reported()
        },
        How::NotAResult | How::Oversized => lost(Kind::ContractBroken),
        How::Both | How::Timeout | How::Closed | How::HttpRefused | How::HttpBroken | How::KeyUnknown => {
            lost(Kind::OutcomeUnknown)
        }
        How::Crashed => unheard(Kind::OutcomeUnknown),
        How::CancelledSent => unheard(Kind::Cancelled),
        How::EParams => refusal(
            Opening::RejectedEffectUnknown,
            Outcome::Rejected,
            Kind::InvalidInput,
        ),
        How::EOther => refusal(Opening::FailedEffectUnknown, Outcome::Failed, Kind::Internal),
        How::EMethod | How::EReserved => passed(),
        How::EUrl => Ruling {
            outcome: Outcome::InputRequired,
            kind: None,
            ..passed()
        },
        How::Told => told::ruling(clauses.declared, class),
        How::Panicked => told::panicked(),
    };
    let as_write = if clauses.refusal_changes_nothing {
        nothing_done(how, as_write)
    } else {
        as_write
    };
    let as_write = match how {
        How::ConnectFailed | How::CancelledUnsent | How::Unrecorded | How::KeyConflict
            if clauses.sent_before =>
        {
            sent_before(as_write)
        }
        _ => as_write,
    };
    let ruling = for_class(how, class, as_write);
    Ruling {
        repeat: repeat(how, class, &ruling),
        ..ruling
    }
}

/// Refused by Candor: the model can mend it (a result), or it can't (an error).
fn refused(how: How, kind: Kind) -> Ruling {
    let base = Ruling {
        outcome: Outcome::Rejected,
        ..unsent(kind)
    };
    match how {
        How::BadInput | How::KeyConflict | How::Unconfirmed | How::Limited | How::Resting => base,
        How::CancelledUnsent => Ruling {
            channel: Channel::Nobody,
            flag: Flag::NoResult,
            bytes: Bytes::Nothing,
            opening: Opening::Silent,
            ..base
        },
        _ => Ruling {
            channel: Channel::Error,
            flag: Flag::NoResult,
            opening: Opening::Silent,
            ..base
        },
    }
}

fn unsent(kind: Kind) -> Ruling {
    Ruling {
        channel: Channel::Result,
        flag: Flag::Set,
        protocol: Protocol::NotSent,
        outcome: Outcome::Failed,
        effect: Effect::NotApplied,
        evidence: Evidence::NotSent,
        kind: Some(kind),
        bytes: Bytes::Authored,
        opening: Opening::NotDone,
        may_retry: false,
        repeat: None,
        finding: None,
    }
}

/// A result that nobody contradicts and nobody vouches for.
pub(super) fn reported() -> Ruling {
    Ruling {
        channel: Channel::Result,
        flag: Flag::Kept,
        protocol: Protocol::Delivered,
        outcome: Outcome::Reported,
        effect: Effect::Unknown,
        evidence: Evidence::Asserted,
        kind: None,
        bytes: Bytes::Untouched,
        opening: Opening::Silent,
        may_retry: false,
        repeat: None,
        finding: None,
    }
}

/// Sent, and nothing usable came back.
fn lost(kind: Kind) -> Ruling {
    Ruling {
        channel: Channel::Result,
        flag: Flag::Set,
        protocol: Protocol::NoResponse,
        outcome: Outcome::Unknown,
        effect: Effect::Unknown,
        evidence: Evidence::None,
        kind: Some(kind),
        bytes: Bytes::Authored,
        opening: Opening::Unknown,
        may_retry: false,
        repeat: None,
        finding: None,
    }
}

/// As `lost`, with nobody left to tell.
fn unheard(kind: Kind) -> Ruling {
    untold(lost(kind))
}

/// A JSON-RPC error that becomes a result the model can read. Handlers throw these mid-work too, so by itself it
/// says nothing about the effect.
fn refusal(opening: Opening, outcome: Outcome, kind: Kind) -> Ruling {
    Ruling {
        protocol: Protocol::Error,
        outcome,
        evidence: Evidence::Declared,
        opening,
        ..lost(kind)
    }
}

/// A JSON-RPC error that clients act on: it goes to the caller as it is.
fn passed() -> Ruling {
    Ruling {
        channel: Channel::Error,
        flag: Flag::NoResult,
        bytes: Bytes::Passed,
        opening: Opening::Silent,
        ..refusal(Opening::Silent, Outcome::Rejected, Kind::Internal)
    }
}

/// The contract vouches that this refusal came before any work.
fn nothing_done(how: How, ruling: Ruling) -> Ruling {
    match how {
        How::EParams | How::EOther => Ruling {
            outcome: Outcome::Rejected,
            effect: Effect::NotApplied,
            opening: Opening::NotDone,
            ..ruling
        },
        How::EMethod => Ruling {
            effect: Effect::NotApplied,
            ..ruling
        },
        How::HttpRefused => Ruling {
            outcome: Outcome::Rejected,
            effect: Effect::NotApplied,
            evidence: Evidence::Declared,
            opening: Opening::NotDone,
            ..ruling
        },
        _ => ruling,
    }
}

/// "Not sent" proves that nothing was done only where nothing was sent before either.
fn sent_before(ruling: Ruling) -> Ruling {
    Ruling {
        effect: Effect::Unknown,
        opening: match (ruling.opening, ruling.outcome) {
            (Opening::NotDone, Outcome::Rejected) => Opening::RejectedEffectUnknown,
            (Opening::NotDone, _) => Opening::FailedEffectUnknown,
            (other, _) => other,
        },
        may_retry: false,
        ..ruling
    }
}

/// What an effect class changes in the ruling for a write.
fn for_class(how: How, class: EffectClass, write: Ruling) -> Ruling {
    match class {
        EffectClass::Write => write,
        EffectClass::Idempotent if write.protocol == Protocol::NotSent && how != How::Unrecorded => write,
        EffectClass::Idempotent => Ruling {
            may_retry: write.may_retry
                || write.protocol == Protocol::NoResponse
                || (write.effect == Effect::NotApplied && write.kind.is_some()),
            ..write
        },
        EffectClass::Read => for_read(how, write),
    }
}

/// A trusted read changes nothing, however it ends. One that got no answer has simply failed.
fn for_read(how: How, write: Ruling) -> Ruling {
    let opening = match write.opening {
        Opening::FailedEffectUnknown | Opening::RejectedEffectUnknown => Opening::NotDone,
        other => other,
    };
    let read = Ruling {
        effect: Effect::NotApplied,
        opening,
        ..write
    };
    match how {
        How::Timeout | How::Closed => Ruling {
            outcome: Outcome::Failed,
            kind: Some(Kind::DependencyUnavailable),
            opening: Opening::NotDone,
            may_retry: true,
            ..read
        },
        How::EOther => Ruling {
            may_retry: true,
            ..read
        },
        // Its own words contradict each other: not even that it only reads is believed.
        How::Told if write.finding.is_some() => write,
        _ => read,
    }
}

/// What a repeat by the caller would mean. A read can't be done twice: where a write may duplicate, it may help.
fn repeat(how: How, class: EffectClass, ruling: &Ruling) -> Option<Repeat> {
    if ruling.kind.is_none() && ruling.outcome != Outcome::Accepted {
        return None;
    }
    let harmless = matches!(class, EffectClass::Read | EffectClass::Idempotent);
    Some(match how {
        // A repeat with the same key is never sent while the first is unknown.
        How::KeyUnknown => Repeat::MayHelp,
        How::Limited | How::Resting | How::ConnectFailed | How::Unrecorded | How::CancelledUnsent => {
            Repeat::MayHelp
        }
        How::Timeout | How::Closed | How::HttpBroken | How::EOther | How::Panicked if harmless => {
            Repeat::MayHelp
        }
        How::Told if ruling.finding.is_some() => Repeat::MayDuplicate,
        How::Told if ruling.outcome == Outcome::Failed && ruling.effect == Effect::NotApplied => {
            Repeat::MayHelp
        }
        How::Told if harmless && matches!(ruling.outcome, Outcome::Failed | Outcome::Unknown) => {
            Repeat::MayHelp
        }
        How::Malformed
        | How::UnknownTool
        | How::Unauthorised
        | How::Foreign
        | How::BadInput
        | How::KeyConflict
        | How::Unconfirmed
        | How::EParams
        | How::EMethod
        | How::EReserved => Repeat::SameAnswer,
        _ if ruling.outcome == Outcome::Rejected => Repeat::SameAnswer,
        // Nothing was done that a repeat could double.
        _ if ruling.outcome == Outcome::Failed && ruling.effect == Effect::NotApplied => Repeat::MayHelp,
        _ if class == EffectClass::Read => Repeat::MayHelp,
        _ => Repeat::MayDuplicate,
    })
}

/// The same conclusion, with nobody left to tell.
pub fn untold(own: Ruling) -> Ruling {
    Ruling {
        channel: Channel::Nobody,
        flag: Flag::NoResult,
        bytes: Bytes::Nothing,
        opening: Opening::Silent,
        ..own
    }
}

/// The ruling for a late answer that contradicts what an earlier one declared.
pub fn contradicted(own: Ruling) -> Ruling {
    Ruling {
        outcome: Outcome::Unknown,
        effect: Effect::Unknown,
        evidence: Evidence::Declared,
        kind: Some(Kind::ContractBroken),
        may_retry: false,
        repeat: Some(Repeat::MayDuplicate),
        finding: Some(FindingCode::Contradiction),
        ..own
    }
}

/// The ruling for an answer that came after the verdict: the operation is amended, nobody is told twice.
pub fn late(own: Ruling) -> Ruling {
    Ruling {
        protocol: Protocol::Delivered,
        ..untold(own)
    }
}

/// The stable code in the verdict where Candor is its author; `None` where nothing went wrong.
pub fn error_code(how: How) -> Option<&'static str> {
    Some(match how {
        How::Malformed => "CANDOR_MALFORMED_REQUEST",
        How::UnknownTool => "CANDOR_UNKNOWN_TOOL",
        How::Unauthorised => "CANDOR_PERMISSION_DENIED",
        How::Foreign => "CANDOR_NOT_FOUND",
        How::BadInput => "CANDOR_INVALID_INPUT",
        How::KeyConflict => "CANDOR_KEY_CONFLICT",
        How::KeyUnknown => "CANDOR_KEY_UNKNOWN",
        How::Unconfirmed => "CANDOR_NOT_CONFIRMED",
        How::Limited => "CANDOR_RATE_LIMITED",
        How::Resting => "CANDOR_SERVER_RESTING",
        How::Unrecorded => "CANDOR_NOT_RECORDED",
        How::ConnectFailed => "CANDOR_UNREACHABLE",
        How::CancelledUnsent | How::CancelledSent => "CANDOR_CANCELLED",
        How::Ok | How::OkBadShape | How::OkNoStructure => "CANDOR_CONTRACT",
        How::OddType => "CANDOR_RESULT_TYPE",
        How::Both | How::NotAResult => "CANDOR_BROKEN_RESPONSE",
        How::Oversized => "CANDOR_TOO_LARGE",
        How::Flagged | How::Told => "CANDOR_TOOL_ERROR",
        How::Panicked => "CANDOR_PANIC",
        How::EParams | How::EMethod | How::EReserved => "CANDOR_TOOL_REJECTED",
        How::EOther => "CANDOR_TOOL_FAILED",
        How::Timeout | How::Closed | How::HttpRefused | How::HttpBroken | How::Crashed => "CANDOR_NO_ANSWER",
        How::Task | How::InputRequired | How::EUrl => return None,
    })
}

/// The codes of a refusal that goes out as an error: JSON-RPC, and HTTP where the transport has a status.
pub fn refusal_codes(how: How) -> (Option<i64>, &'static [i64]) {
    match how {
        How::Malformed | How::UnknownTool => (Some(-32602), &[]),
        How::Unauthorised => (None, &[401, 403]),
        How::Foreign => (Some(-32602), &[404]),
        _ => (None, &[]),
    }
}
