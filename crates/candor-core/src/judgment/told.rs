//! What a tool written with the library says of its own call, and the rulings on it.

use super::finding::FindingCode;
use super::ruling::{Bytes, Channel, Flag, Opening, Ruling};
use super::verdict::{Effect, Evidence, Kind, Outcome, Part, Protocol, Repeat};
use crate::arguments::issue::Issue;
use crate::contract::effect::EffectClass;
use crate::contract::mapping::Reference;

/// Outcome and effect as a tool declares them: the column `contract` of the rows for `told`, as `outcome/effect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Declared {
    /// Was it done?
    pub outcome: Outcome,
    /// What did it change?
    pub effect: Effect,
}

/// What a tool says of its own call. Only pairs of outcome and effect that have a row in `decisions.toml` are believed;
/// any other contradicts itself and is judged unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Was it done?
    pub outcome: Outcome,
    /// What did it change?
    pub effect: Effect,
    /// Of what sort a failure is; `None` for the usual one: that of the row, or `invalid_input` where there are issues.
    pub kind: Option<Kind>,
    /// The tool's own stable code, such as `ROOM_UNAVAILABLE`.
    pub code: Option<String>,
    /// One sentence, the tool's own words.
    pub message: Option<String>,
    /// What a repeat would mean; `None` for the usual.
    pub repeat: Option<Repeat>,
    /// What it can be followed by, or what proves it.
    pub reference: Option<Reference>,
    /// Items or steps, each with its own outcome and effect.
    pub parts: Vec<Part>,
    /// Seconds to wait before a repeat.
    pub retry_after: Option<u64>,
    /// What is wrong with the arguments.
    pub issues: Vec<Issue>,
    /// What could be done next, described and never ordered.
    pub next_step: Option<String>,
}

impl Told {
    /// Outcome and effect, and not a word more.
    pub fn new(outcome: Outcome, effect: Effect) -> Self {
        Self {
            outcome,
            effect,
            kind: None,
            code: None,
            message: None,
            repeat: None,
            reference: None,
            parts: Vec::new(),
            retry_after: None,
            issues: Vec::new(),
            next_step: None,
        }
    }

    /// The pair that the rulings depend on.
    pub fn declared(&self) -> Declared {
        Declared {
            outcome: self.outcome,
            effect: self.effect,
        }
    }

    /// Of what sort the failure is, where the row for it has a kind at all.
    pub fn kind_or(&self, usual: Kind) -> Kind {
        let by_issues = (!self.issues.is_empty()).then_some(Kind::InvalidInput);
        self.kind.or(by_issues).unwrap_or(usual)
    }

    /// What a repeat would mean. A wait that the tool names, and a kind that passes by itself, make a repeat worth while
    /// where nothing was changed.
    pub fn repeat_or(&self, usual: Repeat) -> Repeat {
        let passes = self.retry_after.is_some()
            || matches!(self.kind, Some(Kind::RateLimited | Kind::DependencyUnavailable));
        match self.repeat {
            Some(repeat) => repeat,
            None if passes && self.effect == Effect::NotApplied => Repeat::MayHelp,
            None => usual,
        }
    }
}

/// The row for a write of what a tool declares; `None` where it declares nothing.
pub(super) fn ruling(declared: Option<Declared>, class: EffectClass) -> Ruling {
    let Some(Declared { outcome, effect }) = declared else {
        return contradiction();
    };
    let (flag, kind, opening) = match (outcome, effect) {
        (Outcome::Completed, Effect::Applied | Effect::NotApplied) => (Flag::Kept, None, Opening::Silent),
        (Outcome::Accepted, Effect::Unknown) => (Flag::Kept, None, Opening::AcceptedNotYetDone),
        (Outcome::InputRequired, Effect::NotApplied | Effect::Unknown) => {
            (Flag::Kept, None, Opening::NeedsInput)
        }
        (Outcome::Rejected, Effect::NotApplied) => (Flag::Set, Some(Kind::BusinessRule), Opening::NotDone),
        (Outcome::Rejected, Effect::Unknown) => (
            Flag::Set,
            Some(Kind::BusinessRule),
            Opening::RejectedEffectUnknown,
        ),
        (Outcome::Failed, Effect::NotApplied) => (Flag::Set, Some(Kind::Internal), Opening::NotDone),
        (Outcome::Failed, Effect::Unknown) => (Flag::Set, Some(Kind::Internal), Opening::FailedEffectUnknown),
        // A tool that only reads and says that it changed something is believed in neither.
        (Outcome::Failed, Effect::Partial) if class != EffectClass::Read => {
            (Flag::Set, Some(Kind::Internal), Opening::PartlyDone)
        }
        (Outcome::Partial, Effect::Partial) => (Flag::Set, Some(Kind::BusinessRule), Opening::PartlyDone),
        (Outcome::Unknown, Effect::Unknown) => (Flag::Set, Some(Kind::OutcomeUnknown), Opening::Unknown),
        _ => return contradiction(),
    };
    Ruling {
        channel: Channel::Result,
        flag,
        protocol: Protocol::Delivered,
        outcome,
        effect,
        evidence: Evidence::Declared,
        kind,
        bytes: Bytes::Authored,
        opening,
        may_retry: false,
        repeat: None,
        finding: None,
    }
}

/// What a tool says of itself can't be: nobody knows.
fn contradiction() -> Ruling {
    Ruling {
        channel: Channel::Result,
        flag: Flag::Set,
        protocol: Protocol::Delivered,
        outcome: Outcome::Unknown,
        effect: Effect::Unknown,
        evidence: Evidence::Declared,
        kind: Some(Kind::ContractBroken),
        bytes: Bytes::Authored,
        opening: Opening::Unknown,
        may_retry: false,
        repeat: None,
        finding: Some(FindingCode::Contradiction),
    }
}

/// A tool that broke down inside. How far it came nobody knows.
pub(super) fn panicked() -> Ruling {
    Ruling {
        outcome: Outcome::Failed,
        kind: Some(Kind::Internal),
        opening: Opening::FailedEffectUnknown,
        finding: None,
        ..contradiction()
    }
}
