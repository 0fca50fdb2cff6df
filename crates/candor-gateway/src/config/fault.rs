//! What can be wrong with a configuration file, and where.

use std::fmt;
use std::ops::Range;

use candor_core::contract::mapping::TwoMeanings;
use candor_core::contract::mapping::pointer::PointerFault;
use candor_core::contract::rules::{FaultKind as ExpressionFault, Part, RuleFault};
use candor_core::contract::text::TextFault;
use candor_core::delivery::redaction::SecretPatternFault;

use super::duration::DurationFault;
use super::expand::ExpandFault;
use super::pack::PackFault;

/// One fault of a file. `Display` gives `file:line:column: what`, one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The file, as the operator named it.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// Bytes of the file's text to underline.
    pub span: Range<usize>,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The file is larger than a configuration can be.
    #[error("the file is larger than {limit} bytes")]
    FileTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// Not TOML.
    #[error("not TOML: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// A key that means nothing here.
    #[error("unknown key {key:?}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The known key that is most like it.
        nearest: Option<&'static str>,
        /// Every key that is known here.
        known: &'static [&'static str],
    },
    /// A key that must be there is not.
    #[error("the key {key:?} is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A value of another kind.
    #[error("{expected} is expected here, this is {found}")]
    WrongKind {
        /// What is wanted.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A word that is not on the list.
    #[error("{} is expected here", one_of(known))]
    UnknownWord {
        /// The word on the list that is most like it.
        nearest: Option<&'static str>,
        /// The list.
        known: &'static [&'static str],
    },
    /// A variable that can't be put in.
    #[error("{0}")]
    Expand(ExpandFault),
    /// Not a deadline.
    #[error("{0}")]
    Duration(DurationFault),
    /// Not a JSON Pointer.
    #[error("{0}")]
    Pointer(PointerFault),
    /// No time zone of this name.
    #[error("there is no time zone of this name; IANA names are known, such as Europe/Zurich or UTC")]
    TimeZone,
    /// A number that no JSON can carry.
    #[error("a number that JSON has is expected here")]
    NotANumber,
    /// A refusal that is neither a JSON-RPC error code nor an HTTP status.
    #[error("a JSON-RPC error code (negative) or an HTTP status from 400 to 499 is expected here")]
    Refusal,
    /// A value that two lists name.
    #[error("{0}")]
    TwoMeanings(TwoMeanings),
    /// An outcome that lists no value at all.
    #[error("an outcome lists at least one value under completed, accepted, rejected, failed or partial")]
    NoValues,
    /// A key that makes no sense without another.
    #[error("{key:?} needs {other:?} beside it")]
    Alone {
        /// The key that is there.
        key: &'static str,
        /// The key that is not.
        other: &'static str,
    },
    /// Two rules of one name.
    #[error("another rule of this tool has this name (line {line})")]
    SameRuleName {
        /// Where the first one is.
        line: u32,
    },
    /// A rule that can't be used.
    #[error("{}", in_rule(.0))]
    Rule(RuleFault),
    /// Something in the head of a contract pack.
    #[error(transparent)]
    Pack(PackFault),
    /// A pattern for texts that can't be used.
    #[error("{0}")]
    Text(TextFault),
    /// A pattern for secrets that can't be used.
    #[error("{0}")]
    SecretPattern(SecretPatternFault),
    /// A name that no secret has.
    #[error("the name of a member is expected here, at most {limit} bytes")]
    SecretName {
        /// The limit in bytes.
        limit: usize,
    },
    /// More than is looked for in every text.
    #[error("at most {limit} names and {limit} patterns are masked beside Candor's own")]
    TooManySecrets {
        /// The limit.
        limit: usize,
    },
    /// More text clauses than one tool can have.
    #[error("a tool has at most {limit} clauses about texts")]
    TooManyTexts {
        /// The limit.
        limit: usize,
    },
    /// More expressions that lower a claim than one tool can have.
    #[error("a tool has at most {limit} clauses under \"lower\"")]
    TooManyLower {
        /// The limit.
        limit: usize,
    },
    /// A code that nothing reads.
    #[error(
        "a code is compared with what \"code\" of the outcome or of its parts reads, and this tool has none"
    )]
    CodeUnread,
    /// No code, or a number in quotes.
    #[error(
        "a code of the server's own is expected here, at most {limit} bytes; JSON-RPC codes and HTTP statuses are written \
         without quotes"
    )]
    OwnCode {
        /// The limit in bytes.
        limit: usize,
    },
    /// An expression of a later look that can't be used.
    #[error("{0}")]
    Term(ExpressionFault),
    /// A look again by the tool whose effect is in question.
    #[error("a read-back asks another tool than the one that is looked at, and one that changes nothing")]
    ReadBackByItself,
    /// A look again by a tool that the file calls a write.
    #[error("this file says that this tool changes something; a read-back asks one that changes nothing")]
    ReadBackByAWrite,
    /// A look again at what a tool did that does nothing.
    #[error("this tool has effect \"read\": it changes nothing that could be looked at")]
    ReadBackOfARead,
    /// A key that goes two ways, or none.
    #[error("an idempotency key goes one way: either \"argument\" or \"meta\" is expected")]
    OneKeyPlace,
    /// A name that no argument and no member has.
    #[error("a name without spaces and of at most {limit} bytes is expected here")]
    KeyName {
        /// The limit in bytes.
        limit: usize,
    },
    /// A number too small or too large.
    #[error("a whole number from {least} to {most} is expected here")]
    OutOfBounds {
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
    /// A wait for the end of accepted work that is too short or too long.
    #[error("a wait for the end of accepted work is from 100ms to 60s")]
    WaitBounds,
    /// No sentence to ask a person.
    #[error("a sentence of at most {limit} bytes is expected here, or true")]
    Question {
        /// The limit in bytes.
        limit: usize,
    },
    /// More faults than are worth listing.
    #[error("{count} more faults are not shown")]
    More {
        /// How many.
        count: usize,
    },
}

impl ConfigFault {
    /// A concrete way out, where one is known.
    pub fn help(&self) -> Option<String> {
        match &self.kind {
            FaultKind::UnknownKey {
                nearest: Some(nearest),
                ..
            }
            | FaultKind::UnknownWord {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean {nearest:?}?")),
            FaultKind::UnknownKey {
                nearest: None, known, ..
            } => Some(format!("known here: {}", known.join(", "))),
            FaultKind::Expand(ExpandFault::Unset { name }) => {
                Some(format!("set it, or give a default: ${{{name}:-…}}"))
            }
            FaultKind::Rule(fault) => fault.kind.help(),
            FaultKind::Term(fault) => fault.help(),
            _ => None,
        }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: {}", self.file, self.line, self.column, self.kind)
    }
}

impl std::error::Error for ConfigFault {}

fn one_of(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [only] => format!("{only:?}"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|word| format!("{word:?}")).collect();
            format!("{} or {last:?}", most.join(", "))
        }
    }
}

fn in_rule(fault: &RuleFault) -> String {
    match fault.part {
        Part::Check => fault.kind.to_string(),
        Part::Message => format!("in the message: {}", fault.kind),
    }
}
