//! Where a debug build can be made to end as if it were killed: one name for each of the nine stops of a call.
//!
//! The crash tests say which by `CANDOR_STOP_AT`. A release build knows nothing of it.

/// One of the nine stops of a call (see ARCHITECTURE.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// A frame with a tool call is in.
    FrameRead,
    /// It was read as a `tools/call`.
    EnvelopeRead,
    /// It is known where it goes.
    Routed,
    /// Its arguments are checked; nothing is recorded.
    Admitted,
    /// The intent is on disk.
    IntentRecorded,
    /// The request has left.
    Sent,
    /// The answer is judged; the verdict is not recorded.
    Judged,
    /// The verdict is on disk; that of a known read is on its way there.
    VerdictRecorded,
    /// The answer has left.
    Delivered,
}

#[cfg(debug_assertions)]
impl Stop {
    fn name(self) -> &'static str {
        match self {
            Self::FrameRead => "frame_read",
            Self::EnvelopeRead => "envelope_read",
            Self::Routed => "routed",
            Self::Admitted => "admitted",
            Self::IntentRecorded => "intent_recorded",
            Self::Sent => "sent",
            Self::Judged => "judged",
            Self::VerdictRecorded => "verdict_recorded",
            Self::Delivered => "delivered",
        }
    }

    /// Is this process to end here?
    pub(super) fn is_wanted(self) -> bool {
        static WANTED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
        WANTED
            .get_or_init(|| std::env::var("CANDOR_STOP_AT").ok())
            .as_deref()
            == Some(self.name())
    }
}

#[cfg(not(debug_assertions))]
impl Stop {
    /// Never in a release build.
    pub(super) fn is_wanted(self) -> bool {
        false
    }
}

/// Ends this process here, at once and without a word, where a test wants that.
pub(super) fn stop_at(stop: Stop) {
    if stop.is_wanted() {
        std::process::abort();
    }
}

/// The same for the first stop, where only bytes are known: frames without a tool call pass.
pub(super) fn stop_at_frame(bytes: &[u8]) {
    if Stop::FrameRead.is_wanted() && bytes.windows(12).any(|part| part == b"\"tools/call\"") {
        std::process::abort();
    }
}
