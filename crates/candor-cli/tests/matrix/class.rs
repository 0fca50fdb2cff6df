//! The columns: what kind of call it is, and what its contract says.

use serde_json::{Value, json};

use crate::fault::Fault;

/// A class of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Changes nothing, says its contract.
    Read,
    /// A write, and its outcome is read from a field.
    Write,
    /// A write that may be repeated, and is.
    Idempotent,
    /// A write that can be looked at, once the backend answers again.
    ReadBack,
    /// A write that can be looked at even while its own answer is lost.
    ReadBackAtOnce,
}

impl Class {
    /// Every column, in the order of the table.
    pub(crate) const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Idempotent,
        Self::ReadBack,
        Self::ReadBackAtOnce,
    ];

    /// What the column is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Idempotent => "idempotent write",
            Self::ReadBack => "write with read-back",
            Self::ReadBackAtOnce => "the same, looked at at once",
        }
    }

    /// The tool that is called.
    pub(crate) fn tool(self) -> &'static str {
        match self {
            Self::Read => "list_bookings",
            Self::Write | Self::ReadBack | Self::ReadBackAtOnce => "book_room",
            Self::Idempotent => "book_once",
        }
    }

    /// Its arguments.
    pub(crate) fn arguments(self) -> Value {
        match self {
            Self::Idempotent => json!({ "room": "14", "request": "r-1" }),
            _ => json!({ "room": "14" }),
        }
    }

    /// Whether a call should change something.
    pub(crate) fn writes(self) -> bool {
        self != Self::Read
    }

    /// Whether its contract says how to look again.
    pub(crate) fn reads_back(self) -> bool {
        matches!(self, Self::ReadBack | Self::ReadBackAtOnce)
    }

    /// Whether the backend answers to other calls while the fault lasts.
    pub(crate) fn others_are_answered(self) -> bool {
        self == Self::ReadBackAtOnce
    }

    /// `candor.toml` for it.
    pub(crate) fn config(self, fault: Fault) -> String {
        let mut text = "[servers.fixture.tools.list_bookings]\neffect = \"read\"\n".to_owned();
        if self == Self::Read {
            return text;
        }
        let tool = self.tool();
        let effect = if self == Self::Idempotent {
            "idempotent"
        } else {
            "write"
        };
        text += &format!(
            "[servers.fixture.tools.{tool}]\neffect = \"{effect}\"\n\
             [servers.fixture.tools.{tool}.outcome]\npointer = \"/status\"\n\
             completed = [\"booked\"]\naccepted = [\"queued\"]\nrejected = [\"taken\"]\nreference = \"/confirmation\"\n"
        );
        if self == Self::Idempotent {
            text += &format!(
                "[servers.fixture.tools.{tool}.retry]\nattempts = 2\nwithin = \"20s\"\nwait = \"50ms\"\n"
            );
        }
        if self.reads_back() {
            text += &read_back("fixture", "bookings", fault);
        }
        text
    }
}

/// The clause by which a booking is looked at: in `member` of what `list_bookings` answers.
pub(crate) fn read_back(server: &str, member: &str, fault: Fault) -> String {
    // So long after the send the server may still be at work: what is not there before may still come.
    let late = matches!(
        fault,
        Fault::TimeoutLateWrite | Fault::SlowAccept | Fault::LateAccept
    );
    let window = if late { "8s" } else { "1s" };
    format!(
        "[servers.{server}.tools.book_room.read_back]\ntool = \"list_bookings\"\n\
         arguments = {{ room = \"args.room\" }}\n\
         applied = \"answer.{member}.exists(b, b.room == args.room)\"\n\
         not_applied = \"!answer.{member}.exists(b, b.room == args.room)\"\n\
         attempts = 3\nwait = \"100ms\"\nwindow = \"{window}\"\n"
    )
}
