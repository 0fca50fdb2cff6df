//! Least information: what a text that Candor writes itself may say of others' words, all rules together.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::bare::without_url_parts;
use super::change::{Change, Redacted, RedactionKind, tally};
use super::frames::without_frames;
use super::json::{Strings, walk};
use super::known::KnownSecrets;
use super::scan::masked;

/// How often a text is looked through for URLs before it is cut at the first.
const PASSES: usize = 8;

/// Foreign words for a text of Candor's own: frames of a stack are left out, credentials and known secrets masked, and
/// URLs lose user info, query and fragment. Never for a server's own answer, which keeps all but its credentials.
///
/// Frames: Python, Java, Node, Rust, .NET, Go. What stands before the stack, the last cause, and what stands after it
/// stay, and how many frames were left out is said.
#[must_use]
pub fn least<'a>(input: &'a str, secrets: &KnownSecrets) -> Redacted<Cow<'a, str>> {
    let mut changes = Vec::new();
    let mut value = Cow::Borrowed(input);
    if let Some((trimmed, count)) = without_frames(input) {
        tally(&mut changes, RedactionKind::StackFrame, count);
        value = Cow::Owned(trimmed);
    }
    // What is left of a URL can read as one once more; each pass leaves less, and a text that goes on is cut there.
    for pass in 0.. {
        let before = places(&changes);
        value = step(value, &mut changes, |text| masked(text, secrets));
        value = step(value, &mut changes, without_url_parts);
        if places(&changes) == before {
            break;
        }
        if pass >= PASSES {
            let end = value.find("://").unwrap_or(0);
            value = Cow::Owned(format!("{}…", value.get(..end).unwrap_or_default()));
            break;
        }
    }
    Redacted { value, changes }
}

/// In how many places something changed.
fn places(changes: &[Change]) -> usize {
    changes.iter().map(|change| change.count).sum()
}

/// As [`least`], for every string in a JSON value; strings under a secret's name are masked whole.
#[must_use]
pub fn least_json(value: &Value, secrets: &KnownSecrets) -> Redacted<Value> {
    walk(value.clone(), secrets, Strings::Least)
}

/// Counts of what changed as a `_meta` value discloses them: kind by kind.
#[must_use]
pub fn disclosure(changes: &[Change]) -> Map<String, Value> {
    changes
        .iter()
        .filter_map(|change| {
            let kind = serde_json::to_value(change.kind).ok()?;
            Some((kind.as_str()?.to_owned(), Value::from(change.count)))
        })
        .collect()
}

fn step<'a>(
    value: Cow<'a, str>,
    changes: &mut Vec<Change>,
    rule: impl for<'b> Fn(&'b str) -> Redacted<Cow<'b, str>>,
) -> Cow<'a, str> {
    let mut note = |changed: &[Change]| {
        for change in changed {
            tally(changes, change.kind, change.count);
        }
    };
    match value {
        Cow::Borrowed(text) => {
            let redacted = rule(text);
            note(&redacted.changes);
            redacted.value
        }
        Cow::Owned(text) => {
            let redacted = rule(&text);
            note(&redacted.changes);
            Cow::Owned(redacted.value.into_owned())
        }
    }
}
