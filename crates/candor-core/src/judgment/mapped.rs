//! The rulings on results: what a contract reads in them, and what their shape costs.

use super::finding::FindingCode;
use super::ruling::{Bytes, Clauses, Flag, Opening, Ruling, reported};
use super::verdict::{Effect, Evidence, Kind, Outcome};
use crate::contract::mapping::Reading;
use crate::contract::recovery::Lowered;

/// A result, read by the contract's mapping if it has one. The flag and the mapped field are two statements of one
/// server: where they contradict each other neither is believed.
pub(super) fn mapped(flagged: bool, reading: Option<Reading>) -> Ruling {
    let declared = |outcome, effect, kind, opening| Ruling {
        flag: Flag::Set,
        outcome,
        effect,
        evidence: Evidence::Declared,
        kind: Some(kind),
        bytes: if flagged {
            Bytes::Untouched
        } else {
            Bytes::Prefixed
        },
        opening: if flagged { Opening::Silent } else { opening },
        ..reported()
    };
    let contradiction = Ruling {
        bytes: Bytes::Prefixed,
        opening: Opening::Unknown,
        finding: Some(FindingCode::Contradiction),
        ..declared(
            Outcome::Unknown,
            Effect::Unknown,
            Kind::ContractBroken,
            Opening::Unknown,
        )
    };
    let unreadable = |finding| Ruling {
        evidence: Evidence::Asserted,
        finding: Some(finding),
        ..declared(
            Outcome::Unknown,
            Effect::Unknown,
            Kind::ContractBroken,
            Opening::Unknown,
        )
    };
    let bare_flag = Ruling {
        evidence: Evidence::Asserted,
        ..declared(
            Outcome::Failed,
            Effect::Unknown,
            Kind::Unclassified,
            Opening::Silent,
        )
    };
    match (reading, flagged) {
        (None, false) => reported(),
        (None, true) => bare_flag,
        (Some(Reading::Completed), false) => Ruling {
            outcome: Outcome::Completed,
            effect: Effect::Applied,
            evidence: Evidence::Declared,
            ..reported()
        },
        (Some(Reading::Accepted), false) => Ruling {
            outcome: Outcome::Accepted,
            evidence: Evidence::Declared,
            bytes: Bytes::Prefixed,
            opening: Opening::AcceptedNotYetDone,
            ..reported()
        },
        (Some(Reading::Completed | Reading::Accepted), true) => contradiction,
        (Some(Reading::Rejected), _) => declared(
            Outcome::Rejected,
            Effect::NotApplied,
            Kind::BusinessRule,
            Opening::NotDone,
        ),
        (Some(Reading::Failed), _) => declared(
            Outcome::Failed,
            Effect::Unknown,
            Kind::Internal,
            Opening::FailedEffectUnknown,
        ),
        (Some(Reading::FailedUnapplied), _) => declared(
            Outcome::Failed,
            Effect::NotApplied,
            Kind::Internal,
            Opening::NotDone,
        ),
        (Some(Reading::Unknown), _) => declared(
            Outcome::Unknown,
            Effect::Unknown,
            Kind::OutcomeUnknown,
            Opening::Unknown,
        ),
        (Some(Reading::Partial), _) => declared(
            Outcome::Partial,
            Effect::Partial,
            Kind::BusinessRule,
            Opening::PartlyDone,
        ),
        // A text is read of unflagged results only: the flag says more.
        (Some(Reading::Lowered(_)), true) => bare_flag,
        (Some(Reading::Lowered(means)), false) => lowered(means),
        (Some(Reading::Missing), false) => unreadable(FindingCode::MappingMissing),
        (Some(Reading::Unlisted), false) => unreadable(FindingCode::MappingUnlisted),
        (Some(Reading::Missing), true) => Ruling {
            finding: Some(FindingCode::MappingMissing),
            ..bare_flag
        },
        (Some(Reading::Unlisted), true) => Ruling {
            finding: Some(FindingCode::MappingUnlisted),
            ..bare_flag
        },
    }
}

/// A broken shape costs a finding and no more, unless the operator said `strict`. What it never does is make an
/// effect `not_applied`: the action answered.
pub(super) fn bad_shape(reading: Option<Reading>, clauses: Clauses) -> Ruling {
    let ruling = Ruling {
        finding: Some(FindingCode::OutputShape),
        ..mapped(false, reading)
    };
    if !clauses.strict_shape {
        return ruling;
    }
    Ruling {
        flag: Flag::Set,
        outcome: Outcome::Unknown,
        effect: Effect::Unknown,
        evidence: Evidence::Asserted,
        kind: Some(Kind::ContractBroken),
        bytes: Bytes::Prefixed,
        opening: Opening::Unknown,
        ..ruling
    }
}

/// A claim that a clause about the text takes away. All of it is prose that an operator vouched for: `asserted`.
fn lowered(means: Lowered) -> Ruling {
    let (outcome, kind, opening) = match means {
        Lowered::Failed => (Outcome::Failed, Kind::Unclassified, Opening::FailedEffectUnknown),
        Lowered::Rejected => (
            Outcome::Rejected,
            Kind::Unclassified,
            Opening::RejectedEffectUnknown,
        ),
        Lowered::Unknown => (Outcome::Unknown, Kind::OutcomeUnknown, Opening::Unknown),
    };
    Ruling {
        flag: Flag::Set,
        outcome,
        kind: Some(kind),
        bytes: Bytes::Prefixed,
        opening,
        finding: Some(FindingCode::TextClause),
        ..reported()
    }
}
