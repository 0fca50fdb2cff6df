//! What a tool says became of a call. Nothing in here can be read as done unless it is.

use std::time::Duration;

pub use candor_core::arguments::issue::Issue;
/// An outcome without its value: the word of a [`Part`].
pub use candor_core::judgment::verdict::Outcome as Word;
pub use candor_core::judgment::verdict::{Effect, Kind, Part, Repeat};
use rmcp::model::ContentBlock;

/// What became of a call.
#[derive(Debug, Clone)]
pub enum Outcome<T> {
    /// It is done, and the tool knows it.
    Completed(Done<T>),
    /// It is taken on and not done yet. There is no `T` here: an acceptance can't be read as a result.
    Accepted(Reference),
    /// The tool's own rules refused it.
    Rejected(Reason),
    /// It broke down.
    Failed(Reason),
    /// Some of it is done. What became of the whole follows from the parts: where none is done it is told as failed, or
    /// as unknown if that is what one of them is.
    Partial(Parts<T>),
    /// Nobody knows whether it is done.
    Unknown(Reason),
}

/// A finished call.
#[derive(Debug, Clone)]
pub struct Done<T> {
    /// Its result; becomes `structuredContent`.
    pub value: T,
    /// What proves it, where there is such a thing.
    pub receipt: Option<Receipt>,
    /// Content for a person, instead of the value as JSON text.
    pub content: Option<Vec<ContentBlock>>,
}

/// What proves that something was done: a confirmation number, the id of a payment. It becomes the verdict's
/// `reference`.
///
/// (In the gateway a receipt proves that a record is on disk. A server has no such ledger; what it can hand out is
/// this.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub String);

/// What an accepted call can be followed by: an id, a ticket, a URL. Empty where whoever took it on gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference(pub String);

/// Parts of a call, each with its own outcome and effect.
#[derive(Debug, Clone)]
pub struct Parts<T> {
    /// What there is of a result.
    pub value: Option<T>,
    /// The parts.
    pub parts: Vec<Part>,
    /// One sentence about the whole.
    pub message: String,
    /// A stable code.
    pub code: String,
    /// What proves the part that is done.
    pub receipt: Option<Receipt>,
}

/// Why something is not done, or not known to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// A stable code of the tool's own, such as `ROOM_UNAVAILABLE`.
    pub code: String,
    /// One sentence, for the model and for a person.
    pub message: String,
    /// Of what sort; `None` for the usual one of the outcome.
    pub kind: Option<Kind>,
    /// What it changed; `None` for the usual one of the outcome: rejected changed nothing, failed nobody knows.
    pub effect: Option<Effect>,
    /// What a repeat would mean; `None` for the usual one of the outcome.
    pub repeat: Option<Repeat>,
    /// How long to wait before a repeat.
    pub retry_after: Option<Duration>,
    /// What is wrong with the arguments.
    pub issues: Vec<Issue>,
    /// What could be done next, described and never ordered.
    pub next_step: Option<String>,
    /// What it can be followed by.
    pub reference: Option<Reference>,
}

impl<T> Parts<T> {
    /// Parts with a code and one sentence about the whole; there are none yet.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            value: None,
            parts: Vec::new(),
            message: message.into(),
            code: code.into(),
            receipt: None,
        }
    }

    /// Adds a part that is done.
    #[must_use]
    pub fn done(self, name: impl Into<String>) -> Self {
        self.part(name, Word::Completed, Effect::Applied, None)
    }

    /// Adds a part that is not done and changed nothing.
    #[must_use]
    pub fn not_done(self, name: impl Into<String>, code: impl Into<String>) -> Self {
        self.part(name, Word::Failed, Effect::NotApplied, Some(code.into()))
    }

    /// Adds a part of which nobody knows whether it is done.
    #[must_use]
    pub fn unknown(self, name: impl Into<String>, code: impl Into<String>) -> Self {
        self.part(name, Word::Unknown, Effect::Unknown, Some(code.into()))
    }

    /// Says what there is of a result.
    #[must_use]
    pub fn value(self, value: T) -> Self {
        Self {
            value: Some(value),
            ..self
        }
    }

    /// Says what proves the part that is done.
    #[must_use]
    pub fn receipt(self, receipt: impl Into<String>) -> Self {
        Self {
            receipt: Some(Receipt(receipt.into())),
            ..self
        }
    }

    fn part(mut self, name: impl Into<String>, outcome: Word, effect: Effect, code: Option<String>) -> Self {
        self.parts.push(Part {
            name: name.into(),
            outcome,
            effect,
            code,
        });
        self
    }
}

impl Reason {
    /// A reason with its code and one sentence.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            kind: None,
            effect: None,
            repeat: None,
            retry_after: None,
            issues: Vec::new(),
            next_step: None,
            reference: None,
        }
    }

    /// Says of what sort it is.
    #[must_use]
    pub fn kind(self, kind: Kind) -> Self {
        Self {
            kind: Some(kind),
            ..self
        }
    }

    /// Says what was changed.
    #[must_use]
    pub fn effect(self, effect: Effect) -> Self {
        Self {
            effect: Some(effect),
            ..self
        }
    }

    /// Says what a repeat would mean.
    #[must_use]
    pub fn repeat(self, repeat: Repeat) -> Self {
        Self {
            repeat: Some(repeat),
            ..self
        }
    }

    /// Says how long to wait.
    #[must_use]
    pub fn retry_after(self, wait: Duration) -> Self {
        Self {
            retry_after: Some(wait),
            ..self
        }
    }

    /// Says what is wrong with the arguments.
    #[must_use]
    pub fn issues(self, issues: Vec<Issue>) -> Self {
        Self { issues, ..self }
    }

    /// Says what could be done next.
    #[must_use]
    pub fn next_step(self, step: impl Into<String>) -> Self {
        Self {
            next_step: Some(step.into()),
            ..self
        }
    }

    /// Says what it can be followed by.
    #[must_use]
    pub fn reference(self, reference: impl Into<String>) -> Self {
        Self {
            reference: Some(Reference(reference.into())),
            ..self
        }
    }
}

impl<T> Outcome<T> {
    /// It is done.
    pub fn completed(value: T) -> Self {
        Self::Completed(Done {
            value,
            receipt: None,
            content: None,
        })
    }

    /// It is done, and this proves it.
    pub fn completed_with(value: T, receipt: impl Into<String>) -> Self {
        Self::Completed(Done {
            value,
            receipt: Some(Receipt(receipt.into())),
            content: None,
        })
    }

    /// It is taken on, and can be followed by this.
    pub fn accepted(reference: impl Into<String>) -> Self {
        Self::Accepted(Reference(reference.into()))
    }

    /// The same outcome with another value, where it has one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Completed(done) => Outcome::Completed(Done {
                value: change(done.value),
                receipt: done.receipt,
                content: done.content,
            }),
            Self::Accepted(reference) => Outcome::Accepted(reference),
            Self::Rejected(reason) => Outcome::Rejected(reason),
            Self::Failed(reason) => Outcome::Failed(reason),
            Self::Partial(parts) => Outcome::Partial(Parts {
                value: parts.value.map(change),
                parts: parts.parts,
                message: parts.message,
                code: parts.code,
                receipt: parts.receipt,
            }),
            Self::Unknown(reason) => Outcome::Unknown(reason),
        }
    }
}
