//! What the doctor found: what, where, and what to do.

use serde_json::{Value, json};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Something to mend.
    Problem,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The configs of hosts.
    Hosts,
    /// The record of calls.
    Ledger,
    /// The clock.
    Clock,
    /// A candor.toml.
    Config,
    /// Servers that were started for it.
    Servers,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// How much it weighs.
    pub(super) weight: Weight,
    /// What was looked at.
    pub(super) part: Part,
    /// Which kind it is: a stable word.
    pub(super) code: &'static str,
    /// Where: a file, a server, a tool.
    pub(super) place: String,
    /// What is there.
    pub(super) what: String,
    /// What to do, where there is something.
    pub(super) todo: Option<String>,
}

impl Weight {
    /// The word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}

impl Part {
    /// All, in the order they are told.
    pub(super) const ALL: [Self; 5] = [
        Self::Hosts,
        Self::Servers,
        Self::Config,
        Self::Ledger,
        Self::Clock,
    ];

    /// The word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Ledger => "ledger",
            Self::Clock => "clock",
            Self::Config => "config",
            Self::Servers => "servers",
        }
    }
}

impl Part {
    /// Something as it should be.
    pub(super) fn good(
        self,
        code: &'static str,
        place: impl Into<String>,
        what: impl Into<String>,
    ) -> Finding {
        self.finding(Weight::Good, code, place.into(), what.into(), None)
    }

    /// Something worth knowing.
    pub(super) fn note(
        self,
        code: &'static str,
        place: impl Into<String>,
        what: impl Into<String>,
    ) -> Finding {
        self.finding(Weight::Note, code, place.into(), what.into(), None)
    }

    /// Something to mend, and how.
    pub(super) fn problem(
        self,
        code: &'static str,
        place: impl Into<String>,
        what: impl Into<String>,
        todo: impl Into<String>,
    ) -> Finding {
        self.finding(
            Weight::Problem,
            code,
            place.into(),
            what.into(),
            Some(todo.into()),
        )
    }

    fn finding(
        self,
        weight: Weight,
        code: &'static str,
        place: String,
        what: String,
        todo: Option<String>,
    ) -> Finding {
        Finding {
            weight,
            part: self,
            code,
            place,
            what,
            todo,
        }
    }
}

impl Finding {
    /// With what to do about it.
    pub(super) fn todo(self, todo: impl Into<String>) -> Self {
        Self {
            todo: Some(todo.into()),
            ..self
        }
    }

    /// As a program reads it.
    pub(super) fn json(&self) -> Value {
        json!({
            "weight": self.weight.as_str(),
            "part": self.part.as_str(),
            "code": self.code,
            "where": self.place,
            "what": self.what,
            "do": self.todo,
        })
    }
}
