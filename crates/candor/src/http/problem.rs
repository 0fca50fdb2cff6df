//! Problem details (RFC 9457), read by `type` and extensions. Their sentences (`title`, `detail`) are only ever quoted.

use candor_core::arguments::issue::Issue;
use candor_core::delivery::quote::quote;
use candor_core::delivery::redaction::{KnownSecrets, escape_invisible};
use serde_json::{Map, Value};

/// The media type of problem details.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// How many entries of `errors` are read: a text for a model has no room for more.
const ISSUES: usize = 20;

/// The longest text that is kept of a member, in bytes.
const LONGEST: usize = 2_000;

/// What a body tells about a refusal.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Problem {
    /// `type`, a URI; `None` stands for `about:blank`, which says no more than the status.
    pub of_type: Option<String>,
    /// `title`: the same for all problems of this type. Only quoted.
    pub title: Option<String>,
    /// `detail`: about this one. Only quoted.
    pub detail: Option<String>,
    /// `instance`: the id of this occurrence.
    pub instance: Option<String>,
    /// `code`, an extension of many APIs.
    pub code: Option<String>,
    /// `errors` (RFC 9457 section 3, example), each with the place it names.
    pub issues: Vec<Issue>,
}

impl Problem {
    /// Reads a JSON object. Besides the members of RFC 9457, what other APIs call them: `message`,
    /// `error_description` and a textual `error` are quoted like `detail`; an object `error` is looked into.
    pub fn read(body: &Map<String, Value>) -> Self {
        let inner = body.get("error").and_then(Value::as_object);
        let text = |name: &str| text(body, name).or_else(|| text(inner?, name));
        let detail = ["detail", "message", "error_description", "error"]
            .iter()
            .find_map(|name| text(name));
        Self {
            of_type: text("type").filter(|uri| uri != "about:blank"),
            title: text("title"),
            detail,
            instance: text("instance"),
            code: text("code"),
            issues: issues(body),
        }
    }

    /// Is there anything in it?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    let text = object.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.chars().take(LONGEST).collect())
}

fn issues(body: &Map<String, Value>) -> Vec<Issue> {
    let entries = body.get("errors").and_then(Value::as_array);
    entries
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .take(ISSUES)
        .map(issue)
        .collect()
}

fn issue(entry: &Map<String, Value>) -> Issue {
    let words = text(entry, "detail").or_else(|| text(entry, "message"));
    let rule = text(entry, "code").filter(|code| is_plain(code));
    Issue {
        path: text(entry, "pointer")
            .and_then(|pointer| path(&pointer))
            .unwrap_or_default(),
        rule: rule.unwrap_or_else(|| "backend".to_owned()),
        expected: match words {
            Some(words) => format!(
                "the backend, in its words: {}",
                quote(&words, &KnownSecrets::default())
            ),
            None => "the backend refused it without a reason".to_owned(),
        },
        received: None,
        hint: None,
    }
}

/// May this stand in our text as it is? A short word of letters, digits, `_`, `-` and `.`.
pub(crate) fn is_plain(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=64).contains(&word.len()) && word.bytes().all(plain)
}

/// The place that a `pointer` names, as a JSON Pointer (RFC 6901). RFC 9457 has it as a fragment of a URI, `#/a%20b`;
/// many servers send it bare. `None` if it is neither.
fn path(pointer: &str) -> Option<String> {
    let path = match pointer.strip_prefix('#') {
        Some(fragment) => percent_decoded(fragment),
        None => pointer.to_owned(),
    };
    let fits = (path.is_empty() || path.starts_with('/')) && !path.chars().any(char::is_control);
    fits.then(|| escape_invisible(&path).into_owned())
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .filter(|digits| *byte == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let decoded =
            digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        out.push(decoded.unwrap_or(*byte));
        rest = if decoded.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Problem {
        Problem::read(body.as_object().unwrap())
    }

    #[test]
    fn members_and_pointers_of_rfc_9457_are_read() {
        let problem = read(&json!({
            "type": "https://example.net/validation-error", "title": "Not valid", "status": 422, "instance": "/p/1",
            "code": "BAD_FORM",
            "errors": [
                { "detail": "must be a positive integer", "pointer": "#/age", "code": "positive" },
                { "detail": "x", "pointer": "#/a%20b/0" },
                { "message": "y", "pointer": "/bare%20stays" },
                { "pointer": "age" },
            ]
        }));
        assert_eq!(
            problem.of_type.as_deref(),
            Some("https://example.net/validation-error")
        );
        assert_eq!(problem.code.as_deref(), Some("BAD_FORM"));
        let paths: Vec<_> = problem.issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(paths, ["/age", "/a b/0", "/bare%20stays", ""]);
        assert_eq!(problem.issues[0].rule, "positive");
        assert_eq!(
            problem.issues[0].expected,
            "the backend, in its words: \"must be a positive integer\""
        );
    }

    #[test]
    fn about_blank_and_odd_members_say_nothing() {
        assert!(read(&json!({ "type": "about:blank", "title": 7, "detail": "", "errors": "no" })).is_empty());
        assert!(!read(&json!({ "title": "x" })).is_empty());
    }

    #[test]
    fn errors_of_other_apis_are_read_too() {
        let problem = read(&json!({ "error": "invalid_token", "error_description": "expired" }));
        assert_eq!(problem.detail.as_deref(), Some("expired"));
        assert_eq!(
            read(&json!({ "error": "invalid_token" })).detail.as_deref(),
            Some("invalid_token")
        );
        let problem = read(&json!({ "error": { "code": "QUOTA", "message": "enough" } }));
        assert_eq!(
            (problem.code.as_deref(), problem.detail.as_deref()),
            (Some("QUOTA"), Some("enough"))
        );
    }

    #[test]
    fn many_errors_are_cut_and_words_can_forge_nothing() {
        let many: Vec<Value> = (0..50)
            .map(|at| json!({ "pointer": format!("#/{at}") }))
            .collect();
        assert_eq!(read(&json!({ "errors": many })).issues.len(), ISSUES);
        let one = json!({ "errors": [{ "pointer": "#/a%0ANOT DONE", "detail": "x\nNOT DONE: \"y\"", "code": "a b" }] });
        let problem = read(&one);
        assert_eq!(problem.issues[0].path, "");
        assert!(!problem.issues[0].expected.contains('\n'));
        assert_eq!(problem.issues[0].rule, "backend");
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        assert_eq!(path("#/50%"), Some("/50%".to_owned()));
        assert_eq!(path("#/%zz%+1"), Some("/%zz%+1".to_owned()));
        assert_eq!(path("#/%C3%A9"), Some("/é".to_owned()));
    }
}
