//! What may be done after a verdict: looking again, sending again, a key against doing it twice, asking the user first.
//!
//! Nothing of it happens without a contract (DESIGN 3d).

use std::time::Duration;

use super::rules::Term;

/// A look at what a call left behind, by a tool of the same server that changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadBack {
    /// The tool that is asked. It must be declared or named as one that changes nothing.
    pub tool: String,
    /// Its arguments by name, each an expression over the call and its result.
    pub arguments: Vec<(String, Term)>,
    /// Holds where the answer shows that the call took effect.
    pub applied: Term,
    /// Holds where the answer shows that it did not. Without one, nothing ever shows that.
    pub not_applied: Option<Term>,
    /// How often is asked at most, from 1.
    pub attempts: u32,
    /// The wait between two of them.
    pub wait: Duration,
    /// So long after the call was sent, an answer may not show yet what was done: "not applied" counts only after it.
    pub window: Duration,
    /// Is a success looked at too, before it is told as done?
    pub prove: bool,
}

/// When a call may be sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Sends in all, from 2.
    pub attempts: u32,
    /// From the opening of the call to the last send.
    pub within: Duration,
    /// The first wait; each further one is twice as long. What the server asks for (`Retry-After`) stands over it.
    pub wait: Duration,
}

/// When a server that fails is left alone for a while. Only failures of a dependency count, never a tool's errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    /// Failures one after the other that open it.
    pub failures: u32,
    /// How long it stays open; then one call tries.
    pub pause: Duration,
}

/// How an idempotency key is passed on to a server that takes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// As an argument of this name.
    Argument(String),
    /// As a member of `_meta` of this name.
    Meta(String),
}

/// A person must agree before a call is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    /// What they are asked, in the operator's words; a sentence of Candor's without them.
    pub message: Option<String>,
}

/// What a text clause makes of a result. It can only lower a claim (DESIGN 3a).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lowered {
    /// Tried, and failed; whether something changed is open.
    Failed,
    /// Refused as asked; whether something changed is open.
    Rejected,
    /// Nobody knows.
    Unknown,
}
