//! Words with a fixed list: modes, classes, levels. The list serves the reader and the JSON Schema alike.

use std::borrow::Cow;

use candor_core::arguments::check::Mode;
use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::Document;
use candor_core::contract::recovery::Lowered;
use candor_core::contract::schema::Formats;
use candor_core::contract::terms::ShapeMode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// How much of what Candor does is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    /// What failed.
    Error,
    /// And what is odd.
    #[default]
    Warn,
    /// And what happened.
    Info,
    /// And how.
    Debug,
    /// And every step of it.
    Trace,
}

impl LogLevel {
    /// The word for it, as configuration, command line and log filters spell it.
    pub fn as_str(self) -> &'static str {
        Self::LIST
            .iter()
            .find(|(_, level)| *level == self)
            .map_or("warn", |(word, _)| word)
    }
}

/// A word that is no log level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no log level; the levels are error, warn, info, debug, trace")]
pub struct NoLogLevel(pub String);

impl std::str::FromStr for LogLevel {
    type Err = NoLogLevel;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::LIST.iter().find(|(known, _)| *known == word.to_lowercase());
        found
            .map(|(_, level)| *level)
            .ok_or_else(|| NoLogLevel(word.to_owned()))
    }
}

/// A type with one word for each of its values.
pub(super) trait Word: Copy + 'static {
    /// The words and their values, in the order in which documents list them.
    const LIST: &'static [(&'static str, Self)];
    /// The words alone, in the same order.
    const WORDS: &'static [&'static str];
}

/// Gives a type its words, once.
macro_rules! words {
    ($type:ty: $($word:literal => $value:expr),+ $(,)?) => {
        impl Word for $type {
            const LIST: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
            const WORDS: &'static [&'static str] = &[$($word),+];
        }
    };
}

words!(Mode: "off" => Self::Off, "warn" => Self::Warn, "enforce" => Self::Enforce, "coerce" => Self::Coerce);
words!(EffectClass: "read" => Self::Read, "write" => Self::Write, "idempotent" => Self::Idempotent);
words!(ShapeMode: "warn" => Self::Warn, "strict" => Self::Strict);
words!(Formats: "annotate" => Self::Annotate, "assert" => Self::Assert);
words!(Lowered: "failed" => Self::Failed, "rejected" => Self::Rejected, "unknown" => Self::Unknown);
words!(Document: "structured" => Self::Structured, "text" => Self::Text);
words!(
    LogLevel: "error" => Self::Error, "warn" => Self::Warn, "info" => Self::Info, "debug" => Self::Debug,
    "trace" => Self::Trace,
);

/// A value written as one of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OneOf<T>(pub(super) T);

impl<T: Word> JsonSchema for OneOf<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::WORDS.join("_or_").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "enum": T::WORDS }, { "type": "string", "pattern": super::keys::VARIABLE }] })
    }
}
