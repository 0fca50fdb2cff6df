//! The answers of one call so far. They travel sealed from round to round, and with a task that takes the call over.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::{Answer, Misfit};
use super::question::Question;

/// The answers of one call so far: by the key of the question, and good for the question that was shown only.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answers {
    /// What was given, by key.
    #[serde(rename = "g")]
    given: BTreeMap<String, Given>,
    /// Digests of the questions of the last round, by key: what was not asked has no answer.
    #[serde(rename = "a")]
    asked: BTreeMap<String, String>,
    /// Rounds so far.
    #[serde(rename = "r")]
    rounds: u32,
    /// Whether one of the questions so far was good for one use.
    #[serde(rename = "o")]
    once: bool,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Given {
    /// Digest of the question.
    #[serde(rename = "q")]
    question: String,
    /// As the client gave it.
    #[serde(rename = "v")]
    raw: Value,
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("given", &self.given.keys().collect::<Vec<_>>())
            .field("asked", &self.asked.keys().collect::<Vec<_>>())
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl Answers {
    /// Whether nothing was answered.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Writes down what was given to a question. The first answer that fits stands: returns whether this one was taken.
    pub fn give(&mut self, key: &str, question: &Question, raw: Value) -> bool {
        if matches!(self.to(key, question), Some(Ok(_))) {
            return false;
        }
        self.given.insert(
            key.to_owned(),
            Given {
                question: question.digest(),
                raw,
            },
        );
        true
    }

    /// The answer to this question, if there is one. An answer to another question under the same key is none: a yes to
    /// room 12 is no yes to room 14.
    pub(super) fn to(&self, key: &str, question: &Question) -> Option<Result<Answer<Value>, Misfit>> {
        let given = self.given.get(key)?;
        (given.question == question.digest()).then(|| question.read(&given.raw))
    }

    /// Takes what a client brings for the questions of the last round, and nothing else.
    pub(super) fn take(&mut self, mut responses: BTreeMap<String, Value>) {
        for (key, question) in std::mem::take(&mut self.asked) {
            if let Some(raw) = responses.remove(&key) {
                self.given.insert(key, Given { question, raw });
            }
        }
    }

    /// Notes what this round asks; an answer that didn't fit is dropped.
    pub(super) fn ask<'a>(&mut self, questions: impl Iterator<Item = (&'a String, &'a Question)>) {
        for (key, question) in questions {
            self.given.remove(key);
            self.asked.insert(key.clone(), question.digest());
            self.once |= question.once();
        }
        self.rounds = self.rounds.saturating_add(1);
    }

    pub(super) fn rounds(&self) -> u32 {
        self.rounds
    }

    pub(super) fn once(&self) -> bool {
        self.once
    }
}
