//! What can be wrong with a rule as it is written. Always the operator's text, never a caller's.

use super::date::DatePatternFault;

/// A rule that can't be used, and where in its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFault {
    /// Which text of the rule.
    pub part: Part,
    /// Byte offset in that text, where it is known.
    pub at: Option<usize>,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// The texts of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The expression that must hold.
    Check,
    /// The message for a broken rule.
    Message,
}

/// What can be wrong with an expression or a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Longer than allowed.
    #[error("the expression is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// Nested deeper than the evaluator can bear.
    #[error(
        "the expression is nested too deep (more than 24 brackets or 32 operations in one another); split the rule"
    )]
    TooDeep,
    /// More than one loop inside a loop.
    #[error("at most one all/exists/exists_one/filter may stand inside another")]
    TooNested,
    /// `map` builds values, which no rule needs and which can grow without bound.
    #[error("map() is not available in a rule; all, exists, exists_one and filter are")]
    BuildsList,
    /// Not an expression.
    #[error("not a CEL expression: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// Nothing at all.
    #[error("an expression is expected")]
    Empty,
    /// A name that stands for nothing.
    #[error("there is no {name:?} here; these are known: {}", known.join(", "))]
    UnknownName {
        /// The name.
        name: String,
        /// A known one that looks like it.
        nearest: Option<&'static str>,
        /// Every name that is known.
        known: &'static [&'static str],
    },
    /// A function that does not exist.
    #[error("there is no function {name:?} in a rule")]
    UnknownFunction {
        /// The name.
        name: String,
        /// A known one that looks like it.
        nearest: Option<&'static str>,
    },
    /// `date` or `format` with other than two arguments.
    #[error("{function} takes a value and a pattern: {function}(…, 'dd/mm/yyyy')")]
    TwoArguments {
        /// The function.
        function: &'static str,
    },
    /// A regular expression that is not written in the rule. One that a caller chose could be made slow.
    #[error("matches() takes a pattern that is written in the rule")]
    PatternNotWritten,
    /// Not a regular expression.
    #[error("not a regular expression, or too large a one")]
    BadPattern,
    /// A pattern that is no date pattern.
    #[error("{0}")]
    DatePattern(#[from] DatePatternFault),
    /// A placeholder that does not end.
    #[error("\"{{{{\" without \"}}}}\"")]
    OpenPlaceholder,
    /// Too many placeholders.
    #[error("a message has at most {limit} placeholders")]
    TooManyPlaceholders {
        /// The limit.
        limit: usize,
    },
}

impl FaultKind {
    /// A concrete way out, where one is known.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownName {
                nearest: Some(nearest),
                ..
            }
            | Self::UnknownFunction {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean {nearest:?}?")),
            Self::UnknownName {
                name, nearest: None, ..
            } => Some(format!("an argument is read as args.{name}")),
            _ => None,
        }
    }
}
