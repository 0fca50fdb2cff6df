//! Looking again: what is asked, and what an answer means. Nothing here asks or waits.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::contract::recovery::ReadBack;
use crate::contract::rules::Seen;
use crate::judgment::how::{How, words};
use crate::judgment::sentence::seconds;
use crate::names::UnixMillis;
use crate::reading::members::Members;
use crate::reading::result::{Asked, read};
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

/// What an answer shows, or why it shows nothing. That something was *not* done counts only once the contract's window
/// is over: before, what was done may not show yet.
///
/// # Errors
/// Why it shows nothing, as a sentence's end.
pub fn shown(clause: &ReadBack, subject: &Subject, reply: &Reply, now: UnixMillis) -> Result<Shown, String> {
    let asked = Asked {
        revision: subject.revision,
        as_task: false,
        promises_structure: false,
        output: None,
        mapping: None,
        text: &[],
        believed: None,
    };
    match reply.carried() {
        Carried::Result(result) if result.raw().len() > LOOKED_BYTES => {
            return Err("its answer is too large to be looked into".to_owned());
        }
        Carried::Result(result) => match read(&result, &asked).how {
            How::Ok => {}
            How::Flagged => return Err("it answered with an error of its own".to_owned()),
            _ => return Err("its answer is no finished result".to_owned()),
        },
        Carried::Error(_) => return Err("it was answered with an error".to_owned()),
        Carried::Both | Carried::Neither => return Err("its answer is none".to_owned()),
    }
    let (answer, text) = structure(reply).unwrap_or_default();
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
    if result.raw().len() > LOOKED_BYTES {
        return None;
    }
    let members = Members::of(&result)?;
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
