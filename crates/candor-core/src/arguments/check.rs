//! Checking arguments against a tool's schema: all issues of a call at once.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::arguments::coerce::{self, Attempt, Change, Coerced};
use crate::arguments::issue::Issue;
use crate::arguments::names;
use crate::contract::schema::{Examined, NotChecked, Schema, is_masked, shown_path};

pub use crate::arguments::lines::lines;

/// Most issues put in words; more are counted.
const MAX_ISSUES: usize = 20;
/// Most notices of one kind.
const MAX_NOTICES: usize = 20;
/// Most texts `"null"` that are tried as null.
const MAX_NULL_TEXTS: usize = 5;

/// What Candor does about arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Nothing is checked.
    Off,
    /// Checked and told; nothing is refused.
    Warn,
    /// Checked; what breaks the schema is refused.
    Enforce,
    /// As `Enforce`, but what can be unwrapped without loss is, and disclosed.
    #[default]
    Coerce,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Enforce => "enforce",
            Self::Coerce => "coerce",
        })
    }
}

/// A name that is no [`Mode`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no mode for arguments; the modes are off, warn, enforce, coerce")]
pub struct UnknownMode {
    /// The name as given.
    pub given: String,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(given: &str) -> Result<Self, UnknownMode> {
        [Self::Off, Self::Warn, Self::Enforce, Self::Coerce]
            .into_iter()
            .find(|mode| mode.to_string() == given)
            .ok_or_else(|| UnknownMode {
                given: given.to_owned(),
            })
    }
}

/// By what terms one call's arguments are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terms {
    /// What is done about them.
    pub mode: Mode,
    /// Every name the schema does not list is refused, unless the schema settles such names itself.
    pub strict_names: bool,
    /// A null where none is admitted is dropped if the argument is optional. For trusted reads only: in a write it may
    /// mean "clear this".
    pub drop_nulls: bool,
}

/// What a check of arguments came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// What is wrong, the first of it. The mode decides what is done about it.
    pub issues: Vec<Issue>,
    /// How much was found wrong, before the cut.
    pub total: usize,
    /// Present if the arguments fit only after coercion; then nothing is wrong.
    pub coerced: Option<Coerced>,
    /// What is worth telling and refuses nothing.
    pub notices: Vec<Notice>,
    /// What could not be judged, and is not called wrong.
    pub not_checked: Vec<NotChecked>,
}

/// Something worth telling about one argument that refuses nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// JSON Pointer into the arguments.
    pub path: String,
    /// In words.
    pub text: String,
}

/// Checks `arguments` (`{}` where a call has none) against `schema`, by `terms`. Total: there is always an answer.
pub fn check(schema: &Schema, arguments: &Value, terms: &Terms) -> Checked {
    if terms.mode == Mode::Off {
        return Checked::default();
    }
    let first = schema.examine(arguments, MAX_ISSUES);
    if first.total == 0 {
        return judged(schema, arguments, first, None, terms);
    }
    let drop_nulls = terms.drop_nulls && terms.mode == Mode::Coerce;
    let attempt = coerce::attempt(schema, arguments, &first, drop_nulls, MAX_ISSUES);
    let mut unwrapped = None;
    if terms.mode == Mode::Coerce
        && let Some(attempt) = &attempt
        && attempt.fits()
    {
        let coerced = Coerced {
            arguments: attempt.document.clone(),
            changes: attempt.changes.clone(),
        };
        let examined = schema.examine(&attempt.document, MAX_ISSUES);
        let checked = judged(schema, &attempt.document, examined, Some(coerced), terms);
        if checked.total == 0 {
            return checked;
        }
        unwrapped = Some(checked);
    }
    let refused = refused(schema, arguments, first, attempt.as_ref(), terms);
    match unwrapped {
        // The names that are wrong stand inside a text: only what it was unwrapped to shows them.
        Some(unwrapped) if refused.total == 0 => unwrapped,
        _ => refused,
    }
}

/// The answer where the schema itself has no complaint of `document`: only names are left to judge.
fn judged(
    schema: &Schema,
    document: &Value,
    mut examined: Examined,
    coerced: Option<Coerced>,
    terms: &Terms,
) -> Checked {
    let names = names::judge(schema, document, &mut [], terms.strict_names);
    let notices = notices(schema, document, &mut examined, &names.passed);
    let total = names.issues.len();
    Checked {
        issues: names.issues.into_iter().take(MAX_ISSUES).collect(),
        total,
        coerced: coerced.filter(|_| total == 0),
        notices,
        not_checked: examined.not_checked,
    }
}

/// The answer where something stays wrong: the arguments as they came, less what coercion would have settled.
fn refused(
    schema: &Schema,
    arguments: &Value,
    first: Examined,
    attempt: Option<&Attempt>,
    terms: &Terms,
) -> Checked {
    let settled = attempt.map(Attempt::settled).unwrap_or_default();
    let forgiven = |path: &str| terms.mode == Mode::Coerce && settled.contains_key(path);
    let total =
        first.found.iter().filter(|found| !forgiven(&found.path)).count() + (first.total - first.found.len());
    let mut examined = if first.total > MAX_ISSUES && total < first.total {
        schema.examine_except(arguments, MAX_ISSUES, &forgiven)
    } else {
        first
    };
    let mut issues: Vec<Issue> = examined
        .found
        .iter_mut()
        .filter(|found| !forgiven(&found.path))
        .filter_map(|found| found.issue.take())
        .collect();
    issues.truncate(MAX_ISSUES);
    let mut total = total;
    if let Some(attempt) = attempt {
        total += add_revealed(&mut issues, attempt, &examined);
        explain_failed(&mut issues, attempt);
    }
    propose(schema, arguments, &examined, &settled, &mut issues);
    let names = names::judge(schema, arguments, &mut issues, terms.strict_names);
    total += names.issues.len();
    issues.extend(names.issues);
    issues.truncate(MAX_ISSUES);
    let notices = notices(schema, arguments, &mut examined, &names.passed);
    Checked {
        issues,
        total,
        coerced: None,
        notices,
        not_checked: examined.not_checked,
    }
}

/// Adds what is wrong only once coercible values are unwrapped, such as a condition that then applies. Returns how many.
fn add_revealed(issues: &mut Vec<Issue>, attempt: &Attempt, first: &Examined) -> usize {
    let changed = attempt.changed();
    let within_a_change = |path: &str| coerce::holders_of(path).any(|holder| changed.contains(holder));
    let known: HashSet<&str> = first.found.iter().map(|found| found.path.as_str()).collect();
    let mut revealed = attempt
        .last
        .found
        .iter()
        .filter(|found| !within_a_change(&found.path) && !known.contains(found.path.as_str()));
    let mut count = 0;
    for found in &mut revealed {
        count += 1;
        issues.extend(found.issue.clone());
    }
    count
}

/// Says why a text that could be unwrapped was no good: what it breaks once unwrapped.
fn explain_failed(issues: &mut [Issue], attempt: &Attempt) {
    for issue in issues
        .iter_mut()
        .filter(|issue| issue.hint.is_none() && is_text(issue))
    {
        let Some(change) = attempt.changes.iter().find(|change| change.path == issue.path) else {
            continue;
        };
        let broken = attempt
            .last
            .found
            .iter()
            .find(|found| coerce::is_within(&found.path, &issue.path));
        let Some(broken) = broken.and_then(|found| found.issue.as_ref()) else {
            continue;
        };
        let at = shown_path(&broken.path);
        issue.hint = Some(match &broken.received {
            _ if broken.path == issue.path => {
                format!("taken as {} it is not {} either", change.to, broken.expected)
            }
            Some(received) => format!("read as JSON, {at} should be {}, not {received}", broken.expected),
            None => format!("read as JSON, {at} is missing"),
        });
    }
}

fn is_text(issue: &Issue) -> bool {
    issue
        .received
        .as_deref()
        .is_some_and(|received| received.starts_with('"'))
}

/// Names the value that would fit, where there is one.
fn propose(
    schema: &Schema,
    arguments: &Value,
    examined: &Examined,
    settled: &HashMap<&str, &Change>,
    issues: &mut [Issue],
) {
    let nulls = issues
        .iter()
        .any(|issue| issue.received.as_deref() == Some("null"));
    let without = nulls
        .then(|| coerce::attempt(schema, arguments, examined, true, 0))
        .flatten();
    let without = without.as_ref().map(Attempt::settled).unwrap_or_default();
    for issue in issues.iter_mut().filter(|issue| issue.hint.is_none()) {
        let Some(value) = arguments.pointer(&issue.path) else {
            continue;
        };
        if value.is_null() {
            let optional = without.contains_key(issue.path.as_str());
            issue.hint = optional.then(|| "it is optional and may be left out".to_owned());
        } else if is_masked(value, &issue.path) {
            // The value that would fit is the secret itself.
        } else if let Some(change) = settled.get(issue.path.as_str()) {
            issue.hint = Some(format!("{} itself, not as text, would fit", change.to));
        } else if value.is_string()
            && matches!(issue.rule.as_str(), "type")
            && wants_structure(&issue.expected)
        {
            issue.hint = Some("a text came, not the value itself".to_owned());
        }
    }
}

fn wants_structure(expected: &str) -> bool {
    expected.starts_with("an object") || expected.starts_with("an array")
}

/// What passes and is worth telling.
fn notices(schema: &Schema, document: &Value, examined: &mut Examined, passed: &[String]) -> Vec<Notice> {
    let formats = std::mem::take(&mut examined.format_doubts)
        .into_iter()
        .map(|issue| Notice {
            text: format!(
                "does not look like {}; passed as it is, the schema's format only describes",
                issue.expected
            ),
            path: issue.path,
        });
    let names = passed.iter().take(MAX_NOTICES).map(|path| Notice {
        path: path.clone(),
        text: "the schema lists no such name; passed as it is".to_owned(),
    });
    names.chain(formats).chain(null_texts(schema, document)).collect()
}

/// Texts `"null"` at places that admit null itself. The text is legal; hosts send it by mistake.
fn null_texts(schema: &Schema, document: &Value) -> Vec<Notice> {
    // Their paths are made only where there are any.
    if !holds_null_text(document) {
        return Vec::new();
    }
    let mut paths = Vec::new();
    collect_null_texts(document, String::new(), &mut paths);
    let admits_null = |path: &String| {
        let mut changed = document.clone();
        let place = changed.pointer_mut(path).map(std::mem::take);
        place.is_some() && schema.accepts(&changed)
    };
    paths.retain(admits_null);
    let text = "is the text \"null\"; null itself is admitted here too, and may have been meant";
    paths
        .into_iter()
        .map(|path| Notice {
            path,
            text: text.to_owned(),
        })
        .collect()
}

fn holds_null_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text == "null",
        Value::Array(items) => items.iter().any(holds_null_text),
        Value::Object(members) => members.values().any(holds_null_text),
        _ => false,
    }
}

fn collect_null_texts(value: &Value, path: String, paths: &mut Vec<String>) {
    if paths.len() >= MAX_NULL_TEXTS {
        return;
    }
    match value {
        Value::String(text) if text == "null" => paths.push(path),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_null_texts(item, format!("{path}/{index}"), paths);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                collect_null_texts(member, crate::contract::schema::child_pointer(&path, name), paths);
            }
        }
        _ => {}
    }
}
