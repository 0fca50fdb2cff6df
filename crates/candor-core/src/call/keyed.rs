//! Idempotency keys: what a key says of a call, and what a second call with the same key is told. Only a key tells a
//! re-issue from a deliberate repeat; without one nothing is swallowed (DESIGN 3d).

use std::time::Duration;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::arguments::issue::Issue;
use crate::delivery::answer::{Caller, Delivery, Disclosure, Draft};
use crate::delivery::replay;
use crate::judgment::ending::{Ending, Scene};
use crate::judgment::judge::judge;
use crate::judgment::verdict::{Outcome, Verdict};
use crate::names::OperationId;
use crate::record::Recording;
use crate::wire::envelope::text_of;

/// The member of a call's `_meta` that holds its key.
pub const MEMBER: &str = "candor/idempotencyKey";
/// The longest key, in bytes.
const LONGEST: usize = 255;

/// What a call says of its key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum GivenKey {
    /// It has none.
    #[default]
    None,
    /// It has one.
    Key(String),
    /// It has something that is none: what it is, as a sentence's end.
    Bad(&'static str),
}

impl GivenKey {
    /// Reads the member's raw value.
    pub fn read(raw: Option<&str>) -> Self {
        let Some(raw) = raw else { return Self::None };
        match text_of(raw) {
            Err(_) => Self::Bad("something else than a string"),
            Ok(key) if key.is_empty() => Self::Bad("an empty string"),
            Ok(key) if key.len() > LONGEST => Self::Bad("a longer string"),
            Ok(key) => Self::Key(key.into_owned()),
        }
    }

    /// The key.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::None | Self::Bad(_) => None,
        }
    }

    /// What is wrong with it.
    pub fn issue(&self) -> Option<Issue> {
        let Self::Bad(what) = self else { return None };
        Some(Issue {
            path: "_meta[\"candor/idempotencyKey\"]".to_owned(),
            rule: "idempotency_key".to_owned(),
            expected: format!("a string of 1 to {LONGEST} bytes"),
            received: Some((*what).to_owned()),
            hint: None,
        })
    }
}

/// What a record does with the key of its call, in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyUse {
    /// Takes it. The digest is that of the arguments it goes with.
    Claim([u8; 32]),
    /// Keeps the answer that the caller gets.
    Keep(String),
    /// Nothing was sent under it: it may be used again.
    Free,
    /// Leaves it as it is: claimed, and never free while the outcome is unknown.
    Hold,
}

/// The operation that used a key first.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstUse {
    /// The operation.
    pub operation: OperationId,
    /// Were its arguments the same?
    pub same_arguments: bool,
    /// What became of it.
    pub stands: Stands,
    /// The answer that is kept of it.
    pub answer: Option<String>,
    /// That its last record is on disk.
    pub recording: Recording,
}

/// What became of the operation that used a key first.
#[derive(Debug, Clone, PartialEq)]
pub enum Stands {
    /// It is open, and whoever has it lives.
    Running,
    /// It is open, and whoever had it is gone; or what is recorded of it can't be read.
    Lost,
    /// It is over.
    Ended {
        /// The latest verdict on it.
        verdict: Box<Verdict>,
        /// Is that another than the first?
        amended: bool,
    },
    /// Its records are pruned.
    Forgotten,
}

/// What a second call with a key comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// The arguments are others: it is refused.
    Conflict,
    /// The first is still running.
    Wait,
    /// Nobody knows what became of the first.
    Unknown,
    /// The first answer, once more.
    Replay(String),
    /// The verdict on the first, without an answer of the server's.
    Tell(Box<Verdict>),
}

impl FirstUse {
    /// What a second call comes to.
    pub fn next(&self) -> Next {
        if !self.same_arguments {
            return Next::Conflict;
        }
        match (&self.stands, &self.answer) {
            (Stands::Running, _) => Next::Wait,
            (Stands::Lost, _) | (Stands::Forgotten, None) => Next::Unknown,
            (Stands::Ended { verdict, .. }, _) if verdict.outcome == Outcome::Unknown => Next::Unknown,
            (Stands::Ended { .. } | Stands::Forgotten, Some(answer)) => Next::Replay(answer.clone()),
            (Stands::Ended { verdict, .. }, None) => Next::Tell(verdict.clone()),
        }
    }

    /// The latest verdict, where it is another than the first.
    fn amendment(&self) -> Option<&Verdict> {
        match &self.stands {
            Stands::Ended {
                verdict,
                amended: true,
            } => Some(verdict),
            _ => None,
        }
    }

    /// How often it was sent, as far as that is recorded.
    fn attempts(&self) -> u32 {
        match &self.stands {
            Stands::Ended { verdict, .. } => verdict.attempts,
            Stands::Running | Stands::Lost | Stands::Forgotten => 1,
        }
    }
}

/// What the caller of a second call with a key is told of the first; `None` where that is a refusal of its own.
pub fn retold(scene: &Scene, first: &FirstUse, caller: &Caller, disclosure: &Disclosure) -> Option<Delivery> {
    let unknown = |running| {
        let scene = Scene {
            operation: first.operation,
            attempts: first.attempts(),
            elapsed: Duration::ZERO,
            ..scene.clone()
        };
        let ending = Ending::KeyUnknown { running };
        let judgment = judge(&scene, &ending);
        Draft::new(&scene, &ending, judgment, caller.clone(), disclosure, None).sign(&first.recording)
    };
    Some(match first.next() {
        Next::Conflict => return None,
        Next::Wait => unknown(true),
        Next::Unknown => unknown(false),
        Next::Replay(answer) => {
            match (
                replay::replayed(&answer, &caller.id, first.operation, first.amendment()),
                &first.stands,
            ) {
                (Some(delivery), _) => delivery,
                // Whoever changed the kept bytes did not change the record.
                (None, Stands::Ended { verdict, .. }) => {
                    replay::settled(scene, verdict, caller, disclosure, &first.recording)
                }
                (None, _) => unknown(false),
            }
        }
        Next::Tell(verdict) => replay::settled(scene, &verdict, caller, disclosure, &first.recording),
    })
}

/// The digest of a call's arguments, whatever the order of their members and the space between them.
pub fn arguments_digest(raw: Option<&str>) -> [u8; 32] {
    let raw = raw.unwrap_or("{}");
    let text =
        serde_json::from_str::<Value>(raw).map_or_else(|_| raw.to_owned(), |value| sorted(value).to_string());
    Sha256::digest(text.as_bytes()).into()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(
                members
                    .into_iter()
                    .map(|(name, value)| (name, sorted(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_the_same_whatever_their_order_and_never_by_rounding() {
        let digest = |raw| arguments_digest(Some(raw));
        assert_eq!(
            digest(r#"{"a":1,"b":{"d":2,"c":3}}"#),
            digest(r#"{ "b": {"c":3,"d":2}, "a": 1 }"#)
        );
        assert_eq!(arguments_digest(None), digest("{}"));
        assert_ne!(
            digest(r#"{"a":9007199254740993}"#),
            digest(r#"{"a":9007199254740992}"#)
        );
        assert_ne!(digest(r#"{"a":1.0}"#), digest(r#"{"a":1}"#));
        assert_ne!(digest(r#"{"a":[1,2]}"#), digest(r#"{"a":[2,1]}"#));
    }

    #[test]
    fn a_key_is_a_string_of_some_bytes() {
        assert_eq!(GivenKey::read(None), GivenKey::None);
        assert_eq!(GivenKey::read(Some(r#""k""#)).key(), Some("k"));
        let longest = format!("\"{}\"", "k".repeat(255));
        assert!(GivenKey::read(Some(&longest)).issue().is_none());
        let longer = format!("\"{}\"", "k".repeat(256));
        for bad in ["7", "null", "\"\"", "{}", longer.as_str()] {
            assert!(GivenKey::read(Some(bad)).issue().is_some(), "{bad}");
        }
    }
}
