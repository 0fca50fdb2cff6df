//! What a call may do to the world, as far as somebody trusted said.
//!
//! A tool that nobody classified has no class at all: verdicts treat it as a write, but it is not a *known* write
//! (DESIGN 3e: if the ledger can't be written, known writes are refused and the rest goes through).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a call of a tool may change. Names are those of `candor.toml` and of the column `class` in `decisions.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectClass {
    /// It changes nothing, whatever the answer: its effect is `not_applied`.
    Read,
    /// It may change something, and a second call may change it again.
    Write,
    /// It may change something, and a second identical call changes nothing more.
    Idempotent,
}

impl EffectClass {
    /// Every class, in the order in which documents list them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Idempotent];

    /// The word for this class in `candor.toml`, `decisions.toml` and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Idempotent => "idempotent",
        }
    }
}

impl fmt::Display for EffectClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// A word that names no effect class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no effect class: read, write or idempotent is expected")]
pub struct NoEffectClass(pub String);

impl FromStr for EffectClass {
    type Err = NoEffectClass;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|class| class.as_str() == word)
            .ok_or_else(|| NoEffectClass(word.to_owned()))
    }
}

/// Where a clause of a contract came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nobody said anything: Candor's own default.
    Default,
    /// An annotation of the server's tool definition, which counts because the operator trusts that server's hints.
    TrustedAnnotation,
    /// A line of a configuration file.
    Config {
        /// The file, as the operator named it.
        file: String,
        /// The line, counted from 1.
        line: u32,
    },
    /// An option of the command line.
    CommandLine,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::TrustedAnnotation => out.write_str("the server's annotation, trusted"),
            Self::Config { file, line } => write!(out, "{file}:{line}"),
            Self::CommandLine => out.write_str("command line"),
        }
    }
}

/// A clause and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// What the clause says.
    pub value: T,
    /// Who said so.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// A clause and its source.
    pub const fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }

    /// A clause that nobody stated.
    pub const fn default_of(value: T) -> Self {
        Self::new(value, Source::Default)
    }
}

/// Reads the effect class out of a tool definition's `annotations` (MCP schema, `ToolAnnotations`).
///
/// Only what is said counts: an absent hint has a default in the protocol, and a default is not a hint. Hints that
/// contradict each other say nothing. A hint that is no boolean is none. Whether the server is trusted at all is the
/// caller's question.
pub fn class_from_annotations(annotations: &Value) -> Option<EffectClass> {
    let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
    let read_only = hint("readOnlyHint");
    let destructive = hint("destructiveHint") == Some(true);
    let idempotent = hint("idempotentHint") == Some(true);
    match read_only {
        Some(true) if destructive => None,
        Some(true) => Some(EffectClass::Read),
        // A tool that says it destroys is never sent twice on the word of a second hint.
        _ if destructive => Some(EffectClass::Write),
        _ if idempotent => Some(EffectClass::Idempotent),
        Some(false) => Some(EffectClass::Write),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hints_that_were_given_decide_and_defaults_do_not() {
        let cases = [
            (json!({"readOnlyHint": true}), Some(EffectClass::Read)),
            (
                json!({"readOnlyHint": true, "destructiveHint": false}),
                Some(EffectClass::Read),
            ),
            (
                json!({"readOnlyHint": true, "idempotentHint": true}),
                Some(EffectClass::Read),
            ),
            (json!({"readOnlyHint": true, "destructiveHint": true}), None),
            (json!({"readOnlyHint": false}), Some(EffectClass::Write)),
            (
                json!({"readOnlyHint": false, "idempotentHint": true}),
                Some(EffectClass::Idempotent),
            ),
            (json!({"idempotentHint": true}), Some(EffectClass::Idempotent)),
            (
                json!({"idempotentHint": true, "destructiveHint": true}),
                Some(EffectClass::Write),
            ),
            (json!({"destructiveHint": true}), Some(EffectClass::Write)),
            (json!({"destructiveHint": false}), None),
            (json!({"idempotentHint": false}), None),
            (json!({"openWorldHint": false}), None),
            (json!({"readOnlyHint": "true"}), None),
            (json!({"readOnlyHint": null}), None),
            (json!({}), None),
            (json!(null), None),
            (json!(["readOnlyHint"]), None),
        ];
        for (annotations, expected) in cases {
            assert_eq!(class_from_annotations(&annotations), expected, "{annotations}");
        }
    }

    #[test]
    fn words_round_trip_and_others_are_refused() {
        for class in EffectClass::ALL {
            assert_eq!(class.as_str().parse(), Ok(class));
        }
        assert_eq!("Read".parse::<EffectClass>(), Err(NoEffectClass("Read".into())));
    }

    #[test]
    fn a_source_names_its_place() {
        let sources = [
            Source::Default,
            Source::TrustedAnnotation,
            Source::Config {
                file: "candor.toml".into(),
                line: 12,
            },
            Source::CommandLine,
        ];
        let shown: Vec<String> = sources.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "default",
                "the server's annotation, trusted",
                "candor.toml:12",
                "command line"
            ]
        );
    }
}
