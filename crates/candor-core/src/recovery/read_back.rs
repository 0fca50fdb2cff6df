//! Looking again: what is asked, and what an answer means. Nothing here asks or waits.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::contract::effect::Sourced;
use crate::contract::lower::{self, Found, LowerClause};
use crate::contract::mapping::Reading;
use crate::contract::recovery::ReadBack;
use crate::contract::rules::Seen;
use crate::contract::terms::ToolTerms;
use crate::judgment::how::{How, words};
use crate::judgment::sentence::seconds;
use crate::names::UnixMillis;
use crate::reading::members::Members;
use crate::reading::result::{Asked, read};
use crate::wire::members::Opened;
use crate::wire::reply::{Carried, Reply};
use crate::wire::revision::Revision;

/// An answer to a look is not read above this size.
const LOOKED_BYTES: usize = 1024 * 1024;

words! {
    /// What a look shows, in one word.
    Shown {
        /// The call took effect.
        Applied = "applied",
        /// It did not.
        NotApplied = "not_applied",
        /// Neither: nobody looked with success, or what was seen says nothing.
        Nothing = "nothing",
    }
}

/// What looking came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The tool that was asked.
    pub tool: String,
    /// What it shows.
    pub shown: Shown,
    /// Why it shows nothing, as a sentence's end; empty otherwise.
    pub why: String,
    /// How often it was asked.
    pub times: u32,
    /// From the sending of the call to the last look.
    pub since_sent: Duration,
    /// The arguments of the look.
    pub arguments: Option<Value>,
    /// The answer that decided, raw.
    pub answer: Option<String>,
}

/// The call that is looked after: what the expressions of its contract see of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The arguments as they were sent.
    pub args: Value,
    /// The structure of its own result; null where none came.
    pub result: Value,
    /// The texts of its own result.
    pub text: String,
    /// The revision in force.
    pub revision: Revision,
    /// When it was sent.
    pub sent: UnixMillis,
    /// May the server still be at work on it? Nobody heard that it is over.
    pub may_still_run: bool,
}

impl Subject {
    /// A call with these arguments, and the answer it got, if it got one.
    pub fn of(
        args: Value,
        reply: Option<&Reply>,
        revision: Revision,
        sent: UnixMillis,
        may_still_run: bool,
    ) -> Self {
        let (result, text) = reply.and_then(structure).unwrap_or_default();
        Self {
            args,
            result,
            text,
            revision,
            sent,
            may_still_run,
        }
    }
}

/// The arguments of a look.
///
/// # Errors
/// Which of them has no value, and why.
pub fn arguments(clause: &ReadBack, subject: &Subject, now: UnixMillis) -> Result<Value, String> {
    let seen = Seen {
        args: &subject.args,
        result: &subject.result,
        answer: &Value::Null,
        text: &subject.text,
        now: moment(now),
    };
    let mut out = Map::new();
    for (name, term) in &clause.arguments {
        let value = term
            .value(&seen)
            .map_err(|why| format!("its argument {name} can't be made: {why}"))?;
        out.insert(name.clone(), value);
    }
    Ok(Value::Object(out))
}

/// A finished answer of the tool that is asked, read by that tool's own contract.
#[derive(Debug)]
pub struct LookAnswer {
    reply: Reply,
    /// What may still call it a failure, once it is known what was asked.
    lower: Vec<Sourced<LowerClause>>,
}

impl LookAnswer {
    /// Takes in an answer; `terms` are the contract of the tool that gave it.
    ///
    /// # Errors
    /// Why it is no finished answer, as a sentence's end: a failure tells nothing of what it was asked for.
    pub fn read(reply: Reply, revision: Revision, terms: &ToolTerms) -> Result<Self, String> {
        let asked = Asked {
            revision,
            as_task: false,
            promises_structure: false,
            output: None,
            mapping: terms.mapping.as_ref().map(|mapping| &mapping.value),
            text: &terms.text,
            // Whoever is believed is believed of what was done, not of what is there.
            believed: None,
        };
        let why = match reply.carried() {
            Carried::Result(result) if result.raw().len() > LOOKED_BYTES => {
                "its answer is too large to be looked into"
            }
            Carried::Result(result) => {
                let reading = read(&result, &asked);
                match (reading.how, reading.mapped.as_ref().map(|mapped| mapped.reading)) {
                    (How::Ok, _) if reading.lowered.is_some() => {
                        "its own contract has a clause that calls its answer a failure"
                    }
                    (How::Ok, None) => {
                        let lower = terms.lower.clone();
                        return Ok(Self { reply, lower });
                    }
                    // A field that a mapping read stands over such clauses.
                    (How::Ok, Some(Reading::Completed)) => {
                        let lower = Vec::new();
                        return Ok(Self { reply, lower });
                    }
                    (How::Ok, Some(_)) => "its own contract does not read its answer as a success",
                    (How::Flagged, _) => "it answered with an error of its own",
                    _ => "its answer is no finished result",
                }
            }
            Carried::Error(_) => "it was answered with an error",
            Carried::Both | Carried::Neither => "its answer is none",
        };
        Err(why.to_owned())
    }

    /// The answer itself.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }
}

/// What an answer shows, or why it shows nothing. That something was *not* done counts only once the contract's window
/// is over: before, what was done may not show yet. `asked` are the arguments of the look.
///
/// # Errors
/// Why it shows nothing, as a sentence's end.
pub fn shown(
    clause: &ReadBack,
    subject: &Subject,
    asked: &Value,
    answer: &LookAnswer,
    now: UnixMillis,
) -> Result<Shown, String> {
    let lower = &answer.lower;
    let (answer, text) = structure(&answer.reply).unwrap_or_default();
    let of_look = Seen {
        args: asked,
        result: &answer,
        answer: &Value::Null,
        text: &text,
        now: moment(now),
    };
    match lower::read(lower, &of_look) {
        Found::Nothing => {}
        Found::Holds(_) => {
            return Err("its own contract has a clause that calls its answer a failure".to_owned());
        }
        Found::TooMuch => {
            return Err("its answer is too large for the clauses of its own contract".to_owned());
        }
    }
    let seen = Seen {
        args: &subject.args,
        result: &subject.result,
        answer: &answer,
        text: &text,
        now: moment(now),
    };
    let unread = |what: &str, why: String| format!("the condition for \"{what}\" can't be told: {why}");
    let applied = clause.applied.holds(&seen);
    let not_applied = clause.not_applied.as_ref().map(|term| term.holds(&seen));
    let since = Duration::from_millis(now.since(subject.sent));
    match (applied, not_applied) {
        (Ok(true), Some(Ok(true))) => Err("both its conditions hold at once".to_owned()),
        // A condition that can't be told beside one that holds takes nothing from it: it may need what is not there.
        (Ok(true), _) => Ok(Shown::Applied),
        // What is still being worked on may show a moment later: only the operator can say when that is over.
        (_, Some(Ok(true))) if subject.may_still_run && clause.window.is_zero() => Err(
            "nothing shows yet; the server may still be at work on it, and the contract names no window after which it is not"
                .to_owned(),
        ),
        (_, Some(Ok(true))) if since >= clause.window => Ok(Shown::NotApplied),
        (_, Some(Ok(true))) => Err(format!(
            "nothing shows yet, which says something only {} after the call was sent",
            seconds(clause.window)
        )),
        (Err(why), _) => Err(unread("applied", why.to_string())),
        (Ok(false), Some(Err(why))) => Err(unread("not applied", why.to_string())),
        (Ok(false), Some(Ok(false))) => {
            Err("its answer shows neither that it was done nor that it was not".to_owned())
        }
        (Ok(false), None) => Err("its answer does not show it".to_owned()),
    }
}

/// How long until the next look: the contract's wait, and never before its window is over where that is near.
pub fn next_wait(clause: &ReadBack, subject: &Subject, now: UnixMillis) -> Duration {
    let since = Duration::from_millis(now.since(subject.sent));
    clause.wait.max(clause.window.saturating_sub(since))
}

/// The structure of a result (its first text block that is a JSON object or list, where it has none), and its texts.
pub(crate) fn structure(reply: &Reply) -> Option<(Value, String)> {
    let Carried::Result(result) = reply.carried() else {
        return None;
    };
    structure_of(&result)
}

/// The same of a result by itself.
pub(crate) fn structure_of(result: &Opened<'_>) -> Option<(Value, String)> {
    if result.raw().len() > LOOKED_BYTES {
        return None;
    }
    let members = Members::of(result)?;
    let texts = members.texts();
    let structured = members
        .structured
        .and_then(|raw| serde_json::from_str::<Value>(raw).ok())
        .filter(|value| !value.is_null());
    let value = structured.or_else(|| {
        texts
            .iter()
            .filter_map(|text| serde_json::from_str::<Value>(text).ok())
            .find(|value| value.is_object() || value.is_array())
    });
    Some((value.unwrap_or_default(), texts.join("\n")))
}

pub(crate) fn moment(now: UnixMillis) -> Timestamp {
    Timestamp::from_millisecond(now.0).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests;
