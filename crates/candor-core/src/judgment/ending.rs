//! How one call ended, with everything known of it, and the scene it happened in.

use std::time::Duration;

use super::how::{How, words};
use super::told::Told;
use crate::arguments::issue::Issue;
use crate::asking::confirmation::Answer;
use crate::contract::effect::EffectClass;
use crate::delivery::redaction::KnownSecrets;
use crate::names::{OperationId, ServerName, ToolName};
use crate::reading::result::ResultReading;

/// How a call ended. Endings that only a face yet to come can produce (credentials, tenants, HTTP)
/// have no variant here; the table's rows for them are held by the ruling's own tests.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Not a valid `tools/call`.
    Malformed {
        /// What is wrong with it.
        why: String,
        /// The JSON-RPC code of the refusal: -32600 where it is no request, -32602 where its parameters are wrong.
        rpc_code: i64,
    },
    /// No such tool.
    UnknownTool {
        /// The nearest names that are there.
        nearest: Vec<String>,
    },
    /// The arguments break the schema or an extra rule.
    BadInput {
        /// The first issues.
        issues: Vec<Issue>,
        /// How many there are in all.
        total: usize,
        /// Did an operator's rule break, beside or instead of the schema?
        by_rule: bool,
        /// How often these very arguments were refused, this time included.
        times: u32,
    },
    /// A person had to agree, and did not.
    Unconfirmed {
        /// How the question ended.
        answer: Answer,
        /// How long it was open.
        waited: Duration,
    },
    /// The ledger can't take the intent.
    Unrecorded {
        /// Why not ("disk full").
        why: String,
    },
    /// No byte of the request left.
    ConnectFailed {
        /// Why not.
        why: String,
        /// Will every later call end so, until a person does something?
        lasts: bool,
    },
    /// Its idempotency key was used before with other arguments.
    KeyConflict {
        /// The operation that used it first.
        first: OperationId,
    },
    /// The call that used its idempotency key first has no known outcome. The scene is that of the first call.
    KeyUnknown {
        /// Is the first still running?
        running: bool,
    },
    /// The server failed so often that its contract has it left alone for a while.
    Resting {
        /// For so many seconds more.
        seconds: u64,
        /// So often it failed, one after the other.
        failures: u32,
    },
    /// The caller cancelled before it was sent.
    CancelledUnsent,
    /// A result came.
    Replied(Box<ResultReading>),
    /// A JSON-RPC error came.
    Refused {
        /// Its code, where it is an integer.
        code: Option<i64>,
        /// Its message, the server's own words.
        message: Option<String>,
        /// Its data in short, the server's own words.
        data: Option<String>,
        /// Does the server still list the tool?
        listed: bool,
        /// Does the contract say that this very code means that nothing was done?
        changes_nothing: bool,
    },
    /// Result and error in one response, or neither.
    Both {
        /// True for both, false for neither.
        present: bool,
    },
    /// An answer over the frame limit.
    Oversized {
        /// Its length in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The deadline passed.
    Timeout,
    /// The server's process or stream ended.
    Closed {
        /// How ("exit 137"), where known.
        exit: String,
        /// Will the next call start it anew?
        restarts: bool,
    },
    /// The caller cancelled, or left.
    CancelledSent,
    /// Found at start: an intent without a verdict, of an instance that is gone.
    Crashed,
    /// A tool written with the library says itself how it ended.
    Told(Box<Told>),
    /// A tool written with the library panicked.
    Panicked {
        /// The id under which the server's log has what happened: all that a caller is told of it.
        correlation: String,
    },
}

/// -32042: the server asks for a URL elicitation (2025-11-25).
const URL_ELICITATION: i64 = -32042;

impl Ending {
    /// The row of the table.
    pub fn how(&self) -> How {
        match self {
            Self::Malformed { .. } => How::Malformed,
            Self::UnknownTool { .. } => How::UnknownTool,
            Self::BadInput { .. } => How::BadInput,
            Self::Unconfirmed { .. } => How::Unconfirmed,
            Self::Unrecorded { .. } => How::Unrecorded,
            Self::ConnectFailed { .. } => How::ConnectFailed,
            Self::KeyConflict { .. } => How::KeyConflict,
            Self::KeyUnknown { .. } => How::KeyUnknown,
            Self::Resting { .. } => How::Resting,
            Self::CancelledUnsent => How::CancelledUnsent,
            Self::Replied(reading) => reading.how,
            // A tool that its server lists no more: the refusal is as good as "no such method".
            Self::Refused {
                code: Some(-32602),
                listed,
                ..
            } => {
                if *listed {
                    How::EParams
                } else {
                    How::EMethod
                }
            }
            Self::Refused {
                code: Some(-32601 | -32600),
                ..
            } => How::EMethod,
            Self::Refused {
                code: Some(URL_ELICITATION),
                ..
            } => How::EUrl,
            Self::Refused {
                code: Some(-32099..=-32020),
                ..
            } => How::EReserved,
            Self::Refused { .. } => How::EOther,
            Self::Both { .. } => How::Both,
            Self::Oversized { .. } => How::Oversized,
            Self::Timeout => How::Timeout,
            Self::Closed { .. } => How::Closed,
            Self::CancelledSent => How::CancelledSent,
            Self::Crashed => How::Crashed,
            Self::Told(_) => How::Told,
            Self::Panicked { .. } => How::Panicked,
        }
    }
}

words! {
    /// Who speaks in the sentences about a call.
    Voice {
        /// The gateway, which stands between caller and server.
        Gateway = "gateway",
        /// The server itself, written with the library.
        Library = "library",
    }
}

/// What the judge and the words need to know beside the ending.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The operation.
    pub operation: OperationId,
    /// The server.
    pub server: ServerName,
    /// The tool.
    pub tool: ToolName,
    /// What the call may change; a tool that nobody classified counts as a write.
    pub class: EffectClass,
    /// Does an annotation that nobody trusts call it read-only?
    pub claims_read_only: bool,
    /// How often it was really sent.
    pub attempts: u32,
    /// From sending (or from receiving, where it was never sent) to the ending.
    pub elapsed: Duration,
    /// A broken output shape is taken seriously.
    pub strict_shape: bool,
    /// Will an operation of this id be found in the ledger?
    pub recorded: bool,
    /// Who speaks.
    pub voice: Voice,
    /// Values that no text of Candor's may hold.
    pub secrets: KnownSecrets,
}
