//! What came of a question: four ends, and no other. Silence is never consent.

use std::fmt;

use candor_core::arguments::{self, Checked, Issue, Mode, Terms, lines};
use candor_core::contract::schema::Schema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::form::Form;
use crate::outcome::{Effect, Kind, Reason, Repeat};

/// Most bytes of the sentences that say what was wrong with an answer.
const MOST_WORDS: usize = 600;

/// What came of a question. Only the first is a yes.
///
/// Its `Debug` form never shows what the user wrote, so that it can go to a log.
#[derive(Clone, PartialEq, Eq)]
#[must_use = "only `Accepted` is a yes"]
pub enum Answer<T = Value> {
    /// The user sent the form, and what is in it fits. Members that the form doesn't have are left out.
    Accepted(T),
    /// The user said no.
    Declined,
    /// The user closed the question without deciding.
    Cancelled,
    /// No answer came in time.
    Expired,
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accepted(_) => "Accepted(***)",
            Self::Declined => "Declined",
            Self::Cancelled => "Cancelled",
            Self::Expired => "Expired",
        })
    }
}

impl<T> Answer<T> {
    /// The same end with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Answer<U> {
        match self {
            Self::Accepted(value) => Answer::Accepted(change(value)),
            Self::Declined => Answer::Declined,
            Self::Cancelled => Answer::Cancelled,
            Self::Expired => Answer::Expired,
        }
    }

    /// The value if the user accepted, else a reason for [`Outcome::Rejected`](crate::Outcome::Rejected) that says which
    /// of the other three ends it was: `USER_DECLINED`, `USER_CANCELLED` or `INPUT_EXPIRED`. Nothing was done.
    ///
    /// # Errors
    ///
    /// That reason.
    #[expect(
        clippy::result_large_err,
        reason = "it is made once in a call, and is what the tool returns"
    )]
    pub fn or_reason(self) -> Result<T, Reason> {
        let (code, message) = match self {
            Self::Accepted(value) => return Ok(value),
            Self::Declined => ("USER_DECLINED", "The user was asked and declined."),
            Self::Cancelled => (
                "USER_CANCELLED",
                "The user was asked and closed the question without deciding.",
            ),
            Self::Expired => ("INPUT_EXPIRED", "The user was asked; no answer came in time."),
        };
        Err(Reason::new(code, message)
            .kind(Kind::PermissionDenied)
            .effect(Effect::NotApplied)
            .repeat(Repeat::SameAnswer))
    }
}

impl Answer<Value> {
    /// The answer as a type of the tool's own.
    ///
    /// # Errors
    ///
    /// serde's, where the type asks for more than the form: a fault of the tool.
    pub fn read<T: DeserializeOwned>(self) -> Result<Answer<T>, serde_json::Error> {
        Ok(match self {
            Self::Accepted(value) => Answer::Accepted(serde_json::from_value(value)?),
            Self::Declined => Answer::Declined,
            Self::Cancelled => Answer::Cancelled,
            Self::Expired => Answer::Expired,
        })
    }
}

/// An answer that can't be taken: it is asked for again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// What is wrong, the first of it; empty where it is no answer at all.
    pub issues: Vec<Issue>,
    /// How much was found wrong.
    pub total: usize,
}

impl Misfit {
    /// In words, for the user: what was wrong, never more of what was written than the core shows of it.
    pub fn words(&self) -> String {
        if self.issues.is_empty() {
            return "The last answer couldn't be read.".to_owned();
        }
        format!(
            "The last answer didn't fit. {}",
            lines(&self.issues, self.total, MOST_WORDS)
        )
    }
}

/// Which end a result of `elicitation/create` says.
pub(super) enum End<'a> {
    Accept(&'a Value),
    Other(Answer<Value>),
}

/// What was given to a question by form or URL. `expired` is no action of the specification; it is what the deadlines
/// here write down, and would be no consent if a client wrote it.
pub(super) fn end(given: &Value) -> Option<End<'_>> {
    match given.get("action").and_then(Value::as_str)? {
        "accept" => Some(End::Accept(given.get("content").unwrap_or(&Value::Null))),
        "decline" => Some(End::Other(Answer::Declined)),
        "cancel" => Some(End::Other(Answer::Cancelled)),
        "expired" => Some(End::Other(Answer::Expired)),
        _ => None,
    }
}

/// Reads what was given to a form. Its content is looked at on accept only: a refusal is never turned into an error.
pub(super) fn read(form: &Form, given: &Value) -> Result<Answer<Value>, Misfit> {
    let unread = Misfit {
        issues: Vec::new(),
        total: 0,
    };
    let content = match end(given).ok_or_else(|| unread.clone())? {
        End::Other(answer) => return Ok(answer),
        End::Accept(content) => content,
    };
    let empty = Value::Object(Map::new());
    let content = if content.is_null() { &empty } else { content };
    let schema = form.compiled().map_err(|_| unread)?;
    let found = checked(&schema, content);
    if found.total > 0 {
        return Err(Misfit {
            issues: found.issues,
            total: found.total,
        });
    }
    let mut content = content.clone();
    if let Some(members) = content.as_object_mut() {
        members.retain(|name, _| form.fields.iter().any(|(field, _)| field == name));
    }
    Ok(Answer::Accepted(content))
}

/// The core's check of an answer: nothing is coerced, since the user can be asked again.
pub(super) fn checked(schema: &Schema, content: &Value) -> Checked {
    arguments::check(
        schema,
        content,
        &Terms {
            mode: Mode::Enforce,
            ..Terms::default()
        },
    )
}
