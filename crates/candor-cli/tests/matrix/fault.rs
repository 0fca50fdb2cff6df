//! The rows: what goes wrong.

/// The nine stops of a call, by the names that `CANDOR_STOP_AT` knows.
pub(crate) const STOPS: [&str; 9] = [
    "frame_read",
    "envelope_read",
    "routed",
    "admitted",
    "intent_recorded",
    "sent",
    "judged",
    "verdict_recorded",
    "delivered",
];

/// What goes wrong with the call, once. The backend that is asked later is well again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    Nothing,
    /// Lost before the send: the server has ended, and is not started anew.
    GoneBefore,
    /// Lost before the send: the server reads nothing, and its pipe is full.
    PipeFull,
    /// Lost after the send: the call is in the pipe, and nobody reads it.
    Unread,
    /// Lost after the send: read, and the server ends without a word or deed.
    Swallowed,
    /// SIGKILL before the write.
    CrashBefore,
    /// SIGKILL after the write.
    CrashAfter,
    /// The deadline passes, and nothing is ever written.
    TimeoutBefore,
    /// The deadline passes, and the write comes after it.
    TimeoutLateWrite,
    /// The deadline passes after the write.
    TimeoutAfter,
    /// The deadline passes after the write, and then the answer comes.
    LateAnswer,
    /// Done, answered, and answered again with the contrary.
    AnsweredTwice,
    /// Taken on in time, done later.
    SlowAccept,
    /// Taken on after the deadline, done still later.
    LateAccept,
    /// The ledger can't be opened.
    LedgerShut,
    /// The ledger goes while the call is open.
    LedgerGone,
    /// Candor is killed at this stop (an index of [`STOPS`]).
    Killed(usize),
}

impl Fault {
    /// Every row, in the order of the table.
    pub(crate) const ALL: [Self; 25] = [
        Self::Nothing,
        Self::GoneBefore,
        Self::PipeFull,
        Self::Unread,
        Self::Swallowed,
        Self::CrashBefore,
        Self::CrashAfter,
        Self::TimeoutBefore,
        Self::TimeoutLateWrite,
        Self::TimeoutAfter,
        Self::LateAnswer,
        Self::AnsweredTwice,
        Self::SlowAccept,
        Self::LateAccept,
        Self::LedgerShut,
        Self::LedgerGone,
        Self::Killed(0),
        Self::Killed(1),
        Self::Killed(2),
        Self::Killed(3),
        Self::Killed(4),
        Self::Killed(5),
        Self::Killed(6),
        Self::Killed(7),
        Self::Killed(8),
    ];

    /// What the row is called.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Self::Nothing => "nothing goes wrong",
            Self::GoneBefore => "lost before send: the server is gone",
            Self::PipeFull => "lost before send: the pipe is full",
            Self::Unread => "lost after send: never read",
            Self::Swallowed => "lost after send: the server ends",
            Self::CrashBefore => "crash before the write",
            Self::CrashAfter => "crash after the write",
            Self::TimeoutBefore => "timeout, nothing written",
            Self::TimeoutLateWrite => "timeout before the write",
            Self::TimeoutAfter => "timeout after the write",
            Self::LateAnswer => "timeout after the write, late answer",
            Self::AnsweredTwice => "answered twice, with the contrary",
            Self::SlowAccept => "accepted, done later",
            Self::LateAccept => "accepted after the deadline, done later",
            Self::LedgerShut => "ledger can't be opened",
            Self::LedgerGone => "ledger goes during the call",
            Self::Killed(stop) => return format!("killed at stop {}, {}", stop + 1, STOPS[stop]),
        };
        name.to_owned()
    }

    /// Whether the deadline must pass for it. Everywhere else it is far away.
    pub(crate) fn times_out(self) -> bool {
        matches!(
            self,
            Self::PipeFull
                | Self::Unread
                | Self::TimeoutBefore
                | Self::TimeoutLateWrite
                | Self::TimeoutAfter
                | Self::LateAnswer
                | Self::LateAccept
        )
    }

    /// Whether Candor is killed while a read's record, which waits for nobody, may be on its way to disk.
    pub(crate) fn races_a_read(self) -> bool {
        matches!(self.stop(), Some("verdict_recorded" | "delivered"))
    }

    /// The stop at which Candor ends.
    pub(crate) fn stop(self) -> Option<&'static str> {
        match self {
            Self::Killed(stop) => Some(STOPS[stop]),
            _ => None,
        }
    }
}
