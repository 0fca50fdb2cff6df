//! Lossless coercion of arguments: what a host wrapped in text is unwrapped, if nothing can be lost and it then fits.
//!
//! Driven by the schema's own complaints: only a value whose type is refused, where no string is admitted, is a
//! candidate; the changed arguments are checked as a whole again, and count only if nothing is left to complain of.

use std::collections::{HashMap, HashSet};

use jsonschema::JsonType;
use serde_json::{Map, Number, Value};

use crate::contract::schema::{Examined, Schema, Wanted, is_masked, parent, received};

/// Most rounds: a decoded object may hold numbers in text, and a union may show its next complaint only then.
const MAX_ROUNDS: usize = 4;
/// Longest number in text, in bytes.
const MAX_NUMBER: usize = 64;
/// Longest JSON text decoded, in bytes.
const MAX_JSON: usize = 1024 * 1024;

/// Arguments after lossless coercion, with everything that was changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Coerced {
    /// What is sent instead of the arguments as they came.
    pub arguments: Value,
    /// What was changed; never empty.
    pub changes: Vec<Change>,
}

/// One value that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// JSON Pointer into the arguments.
    pub path: String,
    /// The value as it came: JSON text, cut and masked.
    pub from: String,
    /// The value as it is sent, likewise; `(left out)` for a member that was dropped.
    pub to: String,
}

/// How far coercion came.
pub(super) struct Attempt {
    pub(super) document: Value,
    pub(super) changes: Vec<Change>,
    /// What is still wrong with `document`.
    pub(super) last: Examined,
}

impl Attempt {
    /// Whether the changes made the arguments fit.
    pub(super) fn fits(&self) -> bool {
        !self.changes.is_empty() && self.last.total == 0
    }

    /// The changes that left nothing to complain of at their own place, by path.
    pub(super) fn settled(&self) -> HashMap<&str, &Change> {
        let broken: HashSet<&str> = self
            .last
            .found
            .iter()
            .flat_map(|found| holders_of(&found.path))
            .collect();
        let settled = self
            .changes
            .iter()
            .filter(|change| !broken.contains(change.path.as_str()));
        settled.map(|change| (change.path.as_str(), change)).collect()
    }

    /// The paths of all changes.
    pub(super) fn changed(&self) -> HashSet<&str> {
        self.changes.iter().map(|change| change.path.as_str()).collect()
    }
}

/// `path` and everything that holds it, up to the whole.
pub(super) fn holders_of(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(holder, _)| holder))
}

/// Whether `path` is `holder` or lies inside it.
pub(super) fn is_within(path: &str, holder: &str) -> bool {
    path.strip_prefix(holder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Unwraps what `first` complains of, as far as it goes. `limit` issues are put in words for what stays wrong.
pub(super) fn attempt(
    schema: &Schema,
    arguments: &Value,
    first: &Examined,
    drop_nulls: bool,
    limit: usize,
) -> Option<Attempt> {
    let mut made = Made::default();
    let mut document = None;
    let mut last: Option<Examined> = None;
    for _ in 0..MAX_ROUNDS {
        let examined = last.as_ref().unwrap_or(first);
        let mut current = document.take().unwrap_or_else(|| arguments.clone());
        let before = made.changes.len();
        for found in &examined.found {
            made.mend(&mut current, &found.path, found.wanted, drop_nulls);
        }
        document = Some(current);
        if made.changes.len() == before {
            break;
        }
        let again = document
            .as_ref()
            .map(|document| schema.examine(document, limit))?;
        // A change that makes the whole uncheckable proves nothing.
        if again.not_checked.len() > first.not_checked.len() {
            return None;
        }
        let done = again.total == 0;
        last = Some(again);
        if done {
            break;
        }
    }
    Some(Attempt {
        document: document?,
        changes: made.changes,
        last: last?,
    })
}

/// The changes made so far.
#[derive(Default)]
struct Made {
    changes: Vec<Change>,
    tried: HashSet<String>,
    /// Places decoded from JSON text. Inside them no further text is decoded: once is a host's habit, twice is data.
    decoded: HashSet<String>,
}

impl Made {
    fn mend(&mut self, document: &mut Value, path: &str, wanted: Option<Wanted>, drop_nulls: bool) {
        let Some(value) = document.pointer(path) else {
            return;
        };
        let from = received(value, path);
        match value {
            Value::Null if drop_nulls => {
                let Some((holder, name)) = parent(path) else {
                    return;
                };
                let Some(Value::Object(members)) = document.pointer_mut(holder) else {
                    return;
                };
                if self.tried.insert(path.to_owned()) {
                    // The order of the others stays.
                    members.shift_remove(&name);
                    self.note(path, from, "(left out)".to_owned());
                }
            }
            Value::String(text) => {
                let Some(wanted) = wanted else { return };
                let inside = holders_of(path).any(|holder| self.decoded.contains(holder));
                let Some(unwrapped) = unwrap(text, wanted, !inside) else {
                    return;
                };
                if !self.tried.insert(path.to_owned()) {
                    return;
                }
                if unwrapped.is_object() || unwrapped.is_array() {
                    self.decoded.insert(path.to_owned());
                }
                // A number that came as the text of a secret is the secret still.
                let to = if is_masked(value, path) {
                    from.clone()
                } else {
                    received(&unwrapped, path)
                };
                if let Some(place) = document.pointer_mut(path) {
                    *place = unwrapped;
                    self.note(path, from, to);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, path: &str, from: String, to: String) {
        self.changes.push(Change {
            path: path.to_owned(),
            from,
            to,
        });
    }
}

/// The value that `text` stands for, if a value of a wanted type was wrapped in text and nothing is lost by unwrapping.
fn unwrap(text: &str, wanted: Wanted, decode: bool) -> Option<Value> {
    if wanted.admits(JsonType::String) {
        return None;
    }
    let number = wanted.admits(JsonType::Integer) && is_plain_integer(text)
        || wanted.admits(JsonType::Number) && is_plain_decimal(text);
    if number {
        return text
            .parse::<Number>()
            .ok()
            .filter(|number| number.as_str() == text)
            .map(Value::Number);
    }
    if wanted.admits(JsonType::Boolean) && matches!(text, "true" | "false") {
        return Some(Value::Bool(text == "true"));
    }
    let opening = text.trim_start().chars().next();
    let structured = opening == Some('{') && wanted.admits(JsonType::Object)
        || opening == Some('[') && wanted.admits(JsonType::Array);
    if decode && structured && text.len() <= MAX_JSON {
        return serde_json::from_str(text)
            .ok()
            .filter(|value| members_in(value) == colons_in(text));
    }
    None
}

/// `0`, `4711`, `-3`: exactly as JSON would write it. Neither `007`, `+5`, `-0` nor `1e3`.
fn is_plain_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = digits.starts_with('0') && (digits.len() > 1 || text.starts_with('-'));
    !digits.is_empty()
        && !leading_zero
        && text.len() <= MAX_NUMBER
        && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// A plain integer, or one with a fraction: `3.70` stays `3.70`.
fn is_plain_decimal(text: &str) -> bool {
    let Some((whole, fraction)) = text.split_once('.') else {
        return is_plain_integer(text);
    };
    let whole = if whole == "-0" { "0" } else { whole };
    is_plain_integer(whole)
        && !fraction.is_empty()
        && text.len() <= MAX_NUMBER
        && fraction.bytes().all(|digit| digit.is_ascii_digit())
        && text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) | !text.starts_with('-')
}

/// Members of all objects in `value`. Fewer than the text has colons means that a name came twice and one was lost.
fn members_in(value: &Value) -> usize {
    match value {
        Value::Object(members) => count(members),
        Value::Array(items) => items.iter().map(members_in).sum(),
        _ => 0,
    }
}

fn count(members: &Map<String, Value>) -> usize {
    members.len() + members.values().map(members_in).sum::<usize>()
}

/// Colons outside strings: one for each member in the text.
fn colons_in(text: &str) -> usize {
    let (mut quoted, mut escaped, mut colons) = (false, false, 0);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b':' if !quoted => colons += 1,
            _ => {}
        }
    }
    colons
}
