//! The sections of a report: every call stands in exactly one, by its outcome and its effect.

use candor_core::judgment::verdict::{Effect, Outcome};

use crate::record::Call;

/// How many sections there are.
pub(super) const COUNT: usize = Section::ALL.len();

/// What became of a call, as a reader of a report asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Done,
    Reported,
    Partly,
    NotOver,
    NotDone,
    Failed,
    Unknown,
}

impl Section {
    /// In the order of a report.
    pub(super) const ALL: [Self; 7] = [
        Self::Done,
        Self::Reported,
        Self::Partly,
        Self::NotOver,
        Self::NotDone,
        Self::Failed,
        Self::Unknown,
    ];

    /// Where a call stands. A word that this program does not know is nothing known.
    pub(super) fn of(call: &Call) -> Self {
        let Some(concluded) = &call.concluded else {
            return Self::NotOver;
        };
        let (outcome, effect) = (
            Outcome::parse(&concluded.outcome),
            Effect::parse(&concluded.effect),
        );
        match (outcome, effect) {
            (Some(Outcome::Completed), _)
            | (Some(Outcome::Rejected | Outcome::Failed), Some(Effect::Applied)) => Self::Done,
            (Some(Outcome::Reported), _) => Self::Reported,
            (Some(Outcome::Partial), _)
            | (Some(Outcome::Rejected | Outcome::Failed), Some(Effect::Partial)) => Self::Partly,
            (Some(Outcome::Accepted | Outcome::InputRequired), _) => Self::NotOver,
            (Some(Outcome::Rejected | Outcome::Failed | Outcome::Unknown), Some(Effect::NotApplied)) => {
                Self::NotDone
            }
            (Some(Outcome::Rejected | Outcome::Failed), _) => Self::Failed,
            (Some(Outcome::Unknown) | None, _) => Self::Unknown,
        }
    }

    /// Its place in a list of counts.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Done => 0,
            Self::Reported => 1,
            Self::Partly => 2,
            Self::NotOver => 3,
            Self::NotDone => 4,
            Self::Failed => 5,
            Self::Unknown => 6,
        }
    }

    /// Its name for programs and styles.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Reported => "reported",
            Self::Partly => "partly_done",
            Self::NotOver => "not_over",
            Self::NotDone => "not_done",
            Self::Failed => "failed_effect_unknown",
            Self::Unknown => "unknown",
        }
    }

    /// Its name for people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Done => "Done",
            Self::Reported => "Reported",
            Self::Partly => "Done in part",
            Self::NotOver => "Not over yet",
            Self::NotDone => "Not done",
            Self::Failed => "Failed, effect unknown",
            Self::Unknown => "Unknown",
        }
    }

    /// What it means.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "Known done, on the evidence named.",
            Self::Reported => "The server reported no error; nobody looked.",
            Self::Partly => "A part is done, a part is not.",
            Self::NotOver => "Taken on, waiting for input, or still running.",
            Self::NotDone => "Refused or failed, and nothing changed.",
            Self::Failed => "Refused or failed; whether something changed first is not known.",
            Self::Unknown => "Nobody knows whether it was done.",
        }
    }
}
