//! The ways a call can end, as seen from Candor: the rows of `decisions.toml`.

/// Declares an enum whose variants are words of the design, with the one spelling used on the wire and on disk.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every word, in the order of the design.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as the design spells it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Reads the design's spelling.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// How a call ended.
    How {
        /// Not a valid `tools/call`.
        Malformed = "malformed",
        /// The name is in no list, even after one refresh.
        UnknownTool = "unknown_tool",
        /// No or bad credential, or a scope is missing.
        Unauthorised = "unauthorised",
        /// It belongs to another tenant or principal.
        Foreign = "foreign",
        /// The arguments break the schema or an extra rule.
        BadInput = "bad_input",
        /// The confirmation was declined, cancelled, expired or impossible.
        Unconfirmed = "unconfirmed",
        /// Refused by Candor's own limit.
        Limited = "limited",
        /// The server failed so often that it is left alone for a while.
        Resting = "resting",
        /// The ledger can't take the intent.
        Unrecorded = "unrecorded",
        /// No byte of the request left.
        ConnectFailed = "connect_failed",
        /// Its idempotency key was used with other arguments.
        KeyConflict = "key_conflict",
        /// The call that used its idempotency key first has no known outcome.
        KeyUnknown = "key_unknown",
        /// The caller cancelled before it was sent.
        CancelledUnsent = "cancelled_unsent",
        /// An unflagged result, nothing promised is missing.
        Ok = "ok",
        /// An unflagged result whose structure breaks its schema.
        OkBadShape = "ok_bad_shape",
        /// An unflagged result without the structure its schema promises.
        OkNoStructure = "ok_no_structure",
        /// A result with `isError: true`.
        Flagged = "flagged",
        /// A task handle.
        Task = "task",
        /// `resultType: "input_required"`.
        InputRequired = "input_required",
        /// A `resultType` that neither revision nor extension defines.
        OddType = "odd_type",
        /// Result and error in one response, or neither.
        Both = "both",
        /// A result that the revision's schema refuses.
        NotAResult = "not_a_result",
        /// An answer over the frame limit.
        Oversized = "oversized",
        /// -32602 for a tool that is still listed.
        EParams = "e_params",
        /// -32601 or -32600.
        EMethod = "e_method",
        /// -32020 to -32099 as the specification defines them.
        EReserved = "e_reserved",
        /// -32042 (2025-11-25).
        EUrl = "e_url",
        /// Any other JSON-RPC error.
        EOther = "e_other",
        /// Sent; the deadline passed.
        Timeout = "timeout",
        /// Sent; then the process or the stream ended.
        Closed = "closed",
        /// An HTTP refusal without a JSON-RPC body.
        HttpRefused = "http_refused",
        /// HTTP 5xx or an unreadable body.
        HttpBroken = "http_broken",
        /// The caller cancelled, or left, after it was sent.
        CancelledSent = "cancelled_sent",
        /// Found at start: an intent without a verdict.
        Crashed = "crashed",
        /// A tool written with the library says itself how it ended.
        Told = "told",
        /// A tool written with the library panicked.
        Panicked = "panicked",
    }
}
