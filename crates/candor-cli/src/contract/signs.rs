//! Fields that may tell how a call ended, found in an output schema and in recorded results.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::listed::Drafted;

/// Members that hold a word or a yes and no about the end.
const DECIDING: [&str; 8] = [
    "status",
    "state",
    "outcome",
    "success",
    "ok",
    "succeeded",
    "successful",
    "result",
];

/// What words about the end mean, as far as a word can be trusted to mean the same everywhere.
const MEANINGS: [(&str, &[&str]); 5] = [
    (
        "completed",
        &[
            "completed",
            "complete",
            "done",
            "success",
            "succeeded",
            "successful",
            "ok",
            "finished",
        ],
    ),
    (
        "accepted",
        &[
            "accepted",
            "queued",
            "pending",
            "running",
            "scheduled",
            "in_progress",
            "submitted",
            "processing",
        ],
    ),
    (
        "rejected",
        &["rejected", "denied", "refused", "invalid", "forbidden"],
    ),
    ("failed", &["failed", "failure", "error", "errored"]),
    ("partial", &["partial", "partially_completed", "partial_success"]),
];

/// A field that may decide.
#[derive(Debug, Default)]
pub(super) struct Sign {
    /// Its name, at the top.
    pub(super) field: String,
    /// Does it stand in the text of a result, not in its structure?
    pub(super) in_text: bool,
    /// Its values by the list that they belong to, as TOML.
    pub(super) lists: BTreeMap<&'static str, BTreeSet<String>>,
    /// Values whose meaning nobody can know from outside.
    pub(super) unclear: BTreeSet<String>,
    /// Where it was seen.
    pub(super) seen: String,
}

/// The most telling field of a tool's results.
pub(super) fn deciding(tool: &Drafted) -> Option<Sign> {
    DECIDING.iter().find_map(|field| sign(tool, field))
}

fn sign(tool: &Drafted, field: &str) -> Option<Sign> {
    let promised = tool.promised.get(field).map(allowed).unwrap_or_default();
    let mut found = Vec::new();
    let (mut lines, mut in_text) = (Vec::new(), false);
    for (line, object, is_text) in tool.objects() {
        if let Some(value) = object
            .get(field)
            .filter(|value| value.is_boolean() || value.is_string())
        {
            found.push(value.clone());
            lines.push(line.to_string());
            in_text |= is_text;
        }
    }
    if promised.is_empty() && found.is_empty() {
        return None;
    }
    let seen = match (promised.is_empty(), lines.is_empty()) {
        (false, true) => "in its output schema".to_owned(),
        (true, _) => format!("in the samples at line {}", lines.join(", ")),
        (false, false) => format!(
            "in its output schema, and in the samples at line {}",
            lines.join(", ")
        ),
    };
    let mut sign = Sign {
        field: field.to_owned(),
        in_text,
        seen,
        ..Sign::default()
    };
    for value in promised.into_iter().chain(found) {
        match meaning(&value) {
            Some(list) => drop(sign.lists.entry(list).or_default().insert(value.to_string())),
            None => drop(sign.unclear.insert(value.to_string())),
        }
    }
    (!sign.lists.is_empty()).then_some(sign)
}

/// The values that a schema allows, where it names them.
fn allowed(schema: &Value) -> Vec<Value> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values
            .iter()
            .filter(|value| value.is_string() || value.is_boolean())
            .cloned()
            .collect();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => vec![Value::Bool(true), Value::Bool(false)],
        _ => Vec::new(),
    }
}

fn meaning(value: &Value) -> Option<&'static str> {
    let word = match value {
        Value::Bool(true) => return Some("completed"),
        Value::Bool(false) => return Some("failed"),
        Value::String(word) => word.to_lowercase().replace(['-', ' '], "_"),
        _ => return None,
    };
    let known = MEANINGS.iter().find(|(_, words)| words.contains(&word.as_str()));
    known.map(|(list, _)| *list)
}

/// Lines of samples whose object has a member `error` that says something, and whether it stands in a text.
pub(super) fn with_error(tool: &Drafted) -> Vec<(usize, bool)> {
    let says = |object: &Value| match object.get("error") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    tool.objects()
        .filter(|(_, object, _)| says(object))
        .map(|(line, _, in_text)| (line, in_text))
        .collect()
}

/// Beginnings of unflagged texts that may be sentences of a failure, as patterns.
pub(super) fn failing_texts(tool: &Drafted) -> BTreeMap<String, Vec<usize>> {
    let mut patterns: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for sample in tool.samples.iter().filter(|sample| !sample.flagged) {
        let Some(prose) = &sample.prose else { continue };
        let Some((beginning, _)) = prose.split_once(": ") else {
            continue;
        };
        let lower = beginning.to_lowercase();
        let is_short = beginning.split_whitespace().count() <= 6;
        if is_short
            && ["error", "failed", "failure", "cannot", "can't"]
                .iter()
                .any(|word| lower.contains(word))
        {
            let escaped = escaped(beginning);
            patterns
                .entry(format!("^{escaped}: "))
                .or_default()
                .push(sample.line);
        }
    }
    patterns
}

/// A text as a regular expression that fits it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for sign in text.chars() {
        if !sign.is_alphanumeric() && !sign.is_whitespace() {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}
