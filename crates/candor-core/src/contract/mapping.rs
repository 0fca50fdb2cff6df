//! What a server's declared field says about an outcome.
//!
//! Prose never decides (DESIGN 3a): a mapping reads one field that the operator named, and compares it with values
//! that the operator listed. A field that is absent, or a value in no list, is said to be so and never guessed.

pub mod parts;
pub mod pointer;
pub mod scalar;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use self::parts::PartsClause;
use self::pointer::Pointer;
use self::scalar::Scalar;
use super::recovery::Lowered;
use crate::judgment::verdict::Part;
use crate::reading::sign::says_something;
use crate::recovery::retry::LONGEST_ASKED;

/// Text blocks above this many bytes are not read for a mapping.
pub const TEXT_LIMIT: usize = 1024 * 1024;
/// Codes, references and the value itself are cut at this many bytes.
const SHORT_LIMIT: usize = 200;
/// Messages and suggestions are cut at this many bytes.
const LONG_LIMIT: usize = 2000;

/// What a mapping made of a result: the column `contract` of `decisions.toml` (its `none` is: there is no mapping).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The field says: done.
    Completed,
    /// The field says: taken on, not done.
    Accepted,
    /// The field says: refused as asked.
    Rejected,
    /// The field says: tried, and failed.
    Failed,
    /// It failed, and the server's code is one of which the contract says that nothing was done.
    FailedUnapplied,
    /// The field says: done in part.
    Partial,
    /// The parts say nothing that could be known of the whole.
    Unknown,
    /// No field says anything, and a clause about the text lowers the claim.
    Lowered(Lowered),
    /// The field, or the structure it should be in, is absent.
    Missing,
    /// The field holds a value that no list names.
    Unlisted,
}

/// The five lists of values that a mapping may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueList {
    /// Values that mean done.
    Completed,
    /// Values that mean taken on, not done.
    Accepted,
    /// Values that mean refused as asked.
    Rejected,
    /// Values that mean tried and failed.
    Failed,
    /// Values that mean done in part.
    Partial,
}

impl ValueList {
    /// Every list, in the order in which documents name them.
    pub const ALL: [Self; 5] = [
        Self::Completed,
        Self::Accepted,
        Self::Rejected,
        Self::Failed,
        Self::Partial,
    ];

    /// The list's key in `candor.toml`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Partial => "partial",
        }
    }
}

impl From<ValueList> for Reading {
    fn from(list: ValueList) -> Self {
        match list {
            ValueList::Completed => Self::Completed,
            ValueList::Accepted => Self::Accepted,
            ValueList::Rejected => Self::Rejected,
            ValueList::Failed => Self::Failed,
            ValueList::Partial => Self::Partial,
        }
    }
}

/// Which value means what. A value is in one list at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values(Vec<(Scalar, ValueList)>);

/// One value that would have two meanings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{value} is listed as {} and as {}", first.as_str(), second.as_str())]
pub struct TwoMeanings {
    /// The value.
    pub value: Scalar,
    /// The list it is in.
    pub first: ValueList,
    /// The list it was to be added to.
    pub second: ValueList,
}

impl Values {
    /// Adds `value` to `list`. Adding it twice to the same list changes nothing.
    ///
    /// # Errors
    /// If another list holds an equal value: a mapping must not have to choose.
    pub fn add(&mut self, list: ValueList, value: Scalar) -> Result<(), TwoMeanings> {
        match self.meaning(&value) {
            Some(first) if first == list => Ok(()),
            Some(first) => Err(TwoMeanings {
                value,
                first,
                second: list,
            }),
            None => {
                self.0.push((value, list));
                Ok(())
            }
        }
    }

    /// The list that holds a value equal to `value`.
    pub fn meaning(&self, value: &Scalar) -> Option<ValueList> {
        self.0
            .iter()
            .find(|(listed, _)| listed == value)
            .map(|(_, list)| *list)
    }

    /// Whether no list holds anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values of one list, in the order in which they were added.
    pub fn of(&self, list: ValueList) -> impl Iterator<Item = &Scalar> {
        self.0
            .iter()
            .filter(move |(_, of)| *of == list)
            .map(|(value, _)| value)
    }
}

/// Which document of a result the pointers point into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Document {
    /// The result's `structuredContent`.
    #[default]
    Structured,
    /// The first text block that is, as a whole, the text of a JSON object.
    Text,
}

/// Something to follow: a task id, a ticket, a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What the server gave, cut at 200 bytes.
    pub value: String,
    /// What the operator calls such a thing ("job"), for "job 4711".
    pub noun: Option<String>,
    /// The tool that shows its state, where the operator named one.
    pub state: Option<StateTool>,
}

/// A tool that shows the state of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateTool {
    /// The tool's name at the same server.
    pub tool: String,
    /// The argument that takes the reference.
    pub argument: String,
    /// How long a caller is kept for the end before it is told that the work was taken on.
    pub wait: Option<Duration>,
}

/// Where a reference is found and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceClause {
    /// Where the reference is.
    pub pointer: Pointer,
    /// What the operator calls it.
    pub noun: Option<String>,
    /// The tool that shows its state.
    pub state: Option<StateTool>,
}

/// How one tool's results are read: which field decides, which values mean what, and where details are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The document that all pointers point into.
    pub document: Document,
    /// The field that decides, where one does.
    pub pointer: Option<Pointer>,
    /// What its values mean.
    pub values: Values,
    /// The server's own error code.
    pub code: Option<Pointer>,
    /// The server's own message.
    pub message: Option<Pointer>,
    /// Something to follow.
    pub reference: Option<ReferenceClause>,
    /// The server's suggestion. It is data: quoted as the server's words, never acted on (DESIGN 3b).
    pub suggestion: Option<Pointer>,
    /// How long the server asks to wait before a repeat.
    pub retry_after: Option<Pointer>,
    /// The items of a batch, each with a field of its own. Where they can be read, they decide.
    pub parts: Option<PartsClause>,
    /// Fields that hold something only where the call failed. They can only lower what the rest says.
    pub failed_where: Vec<Pointer>,
    /// Codes of which the contract says that nothing was done.
    pub nothing_done: BTreeSet<String>,
}

/// What a mapping found in one result. All texts are the server's own, cut, not yet masked or escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedReading {
    /// What the deciding field means.
    pub reading: Reading,
    /// The deciding field's value: a string without quotes, anything else as JSON. `None` where it is missing.
    pub value: Option<String>,
    /// The server's error code.
    pub code: Option<String>,
    /// The server's message.
    pub message: Option<String>,
    /// Something to follow.
    pub reference: Option<Reference>,
    /// The server's suggestion.
    pub suggestion: Option<String>,
    /// How many seconds the field says to wait before a repeat; see [`MappedReading::asked_wait`].
    pub retry_after: Option<u64>,
    /// The items of a batch, each by itself.
    pub parts: Vec<Part>,
}

impl MappedReading {
    /// How many seconds the server asks to wait before a repeat: where it refused or failed. What was done, or was taken on,
    /// is not to be repeated, whatever the field says.
    pub fn asked_wait(&self) -> Option<u64> {
        match self.reading {
            Reading::Rejected | Reading::Failed | Reading::FailedUnapplied => self.retry_after,
            _ => None,
        }
    }
}

impl Mapping {
    /// Reads one result: its `structuredContent`, and the texts of its text blocks in order. Cannot fail: what can't
    /// be read is [`Reading::Missing`]. `None` where the contract has nothing to say about it:
    /// no field decides, and none speaks of a failure.
    pub fn read(&self, structured: Option<&Value>, texts: &[&str]) -> Option<MappedReading> {
        match self.document {
            Document::Structured => self.read_document(structured),
            Document::Text => self.read_document(texts.iter().find_map(|text| json_object(text)).as_ref()),
        }
    }

    fn read_document(&self, document: Option<&Value>) -> Option<MappedReading> {
        let find = |pointer: &Pointer| document.and_then(|whole| pointer.find(whole));
        let plain = |pointer: &Option<Pointer>, limit| {
            let scalar = Scalar::of(find(pointer.as_ref()?)?)?;
            (scalar != Scalar::Null).then(|| cut(&scalar.to_plain(), limit))
        };
        let field = self.pointer.as_ref().and_then(find);
        let failure = self
            .failed_where
            .iter()
            .filter_map(find)
            .find(|value| says_something(value));
        let of_items = self
            .parts
            .as_ref()
            .and_then(|clause| clause.read(document?, &self.nothing_done));
        let code = plain(&self.code, SHORT_LIMIT);
        let (reading, parts) = match of_items {
            Some(items) => (Some(self.beside(items.reading, field)), items.parts),
            None if self.pointer.is_some() || self.parts.is_some() => {
                (Some(self.by_field(field)), Vec::new())
            }
            None => (None, Vec::new()),
        };
        let reading = match (reading, failure) {
            (
                None | Some(Reading::Completed | Reading::Accepted | Reading::Missing | Reading::Unlisted),
                Some(_),
            ) => Reading::Failed,
            (reading, _) => reading?,
        };
        let spared = reading == Reading::Failed && self.says_nothing_done(code.as_deref());
        let retry_after = self.retry_after.as_ref().and_then(find);
        Some(MappedReading {
            reading: if spared { Reading::FailedUnapplied } else { reading },
            retry_after: retry_after.and_then(delay_seconds),
            value: field.or(failure).map(shown),
            code,
            message: plain(&self.message, LONG_LIMIT),
            reference: self.reference.as_ref().and_then(|clause| {
                Some(Reference {
                    value: plain(&Some(clause.pointer.clone()), SHORT_LIMIT)?,
                    noun: clause.noun.clone(),
                    state: clause.state.clone(),
                })
            }),
            suggestion: plain(&self.suggestion, LONG_LIMIT),
            parts,
        })
    }

    /// What the deciding field means by itself.
    fn by_field(&self, field: Option<&Value>) -> Reading {
        match field.map(Scalar::of) {
            None => Reading::Missing,
            Some(None) => Reading::Unlisted,
            Some(Some(value)) => self
                .values
                .meaning(&value)
                .map_or(Reading::Unlisted, Reading::from),
        }
    }

    /// What the items and a field beside them say together: the worse of the two. A field that speaks of a failure takes
    /// away that all is done, and more than that it doesn't know of the items.
    fn beside(&self, items: Reading, field: Option<&Value>) -> Reading {
        if self.pointer.is_none() || items != Reading::Completed {
            return items;
        }
        match self.by_field(field) {
            Reading::Completed => items,
            Reading::Rejected | Reading::Failed => Reading::Failed,
            other => other,
        }
    }

    /// Is this a code of which the contract says that nothing was done?
    pub fn says_nothing_done(&self, code: Option<&str>) -> bool {
        code.is_some_and(|code| self.nothing_done.contains(code))
    }
}

/// The JSON object that `text` is as a whole, if it is one and not too large.
fn json_object(text: &str) -> Option<Value> {
    // Most texts are prose: the first character says so without a parse.
    if text.len() > TEXT_LIMIT || !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok().filter(Value::is_object)
}

/// A wait before a repeat, in seconds: a whole number, or a text of digits as the header has it (RFC 9110, section 10.2.3,
/// `delay-seconds`). A date is none, and who asks to wait longer than a day is not believed.
fn delay_seconds(value: &Value) -> Option<u64> {
    let seconds = match value {
        Value::Number(number) => number.as_u64()?,
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok()?,
        _ => return None,
    };
    (seconds <= LONGEST_ASKED).then_some(seconds)
}

fn shown(value: &Value) -> String {
    match Scalar::of(value) {
        Some(scalar) => cut(&scalar.to_plain(), SHORT_LIMIT),
        None if value.is_array() => "an array".to_owned(),
        None => "an object".to_owned(),
    }
}

/// At most `limit` bytes of `text`, with an ellipsis where something was cut.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit.saturating_sub('…'.len_utf8()));
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests;
