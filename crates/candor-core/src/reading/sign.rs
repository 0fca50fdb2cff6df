//! Structured signs of failure in a result that is not flagged and that no contract reads. They are told as findings, so
//! that an operator can write the clause; they never move an outcome.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::members::Members;
use crate::contract::mapping::Document;
use crate::wire::envelope::present;
use crate::wire::members::object;

/// Structure and content above this size are not looked into for signs.
const LOOKED_INTO: usize = 64 * 1024;
/// How much of a value is kept, in characters.
const KEPT: usize = 80;

/// A member that would mean failure if a contract read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// Where it stands.
    pub document: Document,
    /// Its name.
    pub member: &'static str,
    /// Its value in short, as JSON text.
    pub value: String,
}

#[derive(Deserialize)]
struct Signs<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    success: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    ok: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// The first sign at the top of the structure, or else of a text block that is a JSON object.
pub(super) fn look(members: &Members<'_>, structured: Option<&str>) -> Option<Sign> {
    let in_structure = structured
        .filter(|raw| raw.len() <= LOOKED_INTO && may_hold_one(raw))
        .and_then(|raw| of_object(raw, Document::Structured));
    in_structure.or_else(|| {
        members
            .content
            .filter(|raw| raw.len() <= LOOKED_INTO && may_hold_one(raw))?;
        members
            .texts()
            .iter()
            .filter(|text| text.trim_start().starts_with('{'))
            .find_map(|text| of_object(text.trim(), Document::Text))
    })
}

/// Most results hold none of the names, and are not taken apart for it. A name ends at its quote, which inside a text is
/// escaped.
fn may_hold_one(raw: &str) -> bool {
    static NAMES: LazyLock<[Finder<'static>; 3]> =
        LazyLock::new(|| ["success", "ok", "error"].map(Finder::new));
    let raw = raw.as_bytes();
    NAMES.iter().any(|name| {
        name.find_iter(raw).any(|at| {
            let after = raw.get(at + name.needle().len()..).unwrap_or_default();
            after.starts_with(b"\"") || after.starts_with(b"\\\"")
        })
    })
}

fn of_object(raw: &str, document: Document) -> Option<Sign> {
    let signs: Signs<'_> = object(raw)?;
    let sign = |member, value: &RawValue| Sign {
        document,
        member,
        value: value.get().chars().take(KEPT).collect(),
    };
    let is_false = |value: &Option<&RawValue>| value.is_some_and(|value| value.get() == "false");
    if let (Some(value), true) = (signs.success, is_false(&signs.success)) {
        return Some(sign("success", value));
    }
    if let (Some(value), true) = (signs.ok, is_false(&signs.ok)) {
        return Some(sign("ok", value));
    }
    let value = signs.error?;
    let parsed: Value = serde_json::from_str(value.get()).ok()?;
    says_something(&parsed).then(|| sign("error", value))
}

/// Does a member that stands for trouble say that there is some? Null, false and empty ones say that there is none.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Number(number) => number.as_i64() != Some(0),
        Value::Bool(true) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::members::Opened;

    fn sign(result: &str) -> Option<(Document, &'static str, String)> {
        let opened = Opened::whole(result);
        let members = Members::of(&opened).unwrap();
        let structured = members.structured;
        look(&members, structured).map(|sign| (sign.document, sign.member, sign.value))
    }

    fn structured(structure: &str) -> Option<(Document, &'static str, String)> {
        sign(&format!(r#"{{"content":[],"structuredContent":{structure}}}"#))
    }

    #[test]
    fn what_says_failure_at_the_top_is_seen() {
        for (structure, member) in [
            (r#"{"success":false}"#, "success"),
            (r#"{"ok":false,"data":[]}"#, "ok"),
            (r#"{"error":"rate limit"}"#, "error"),
            (r#"{"error":{"code":5}}"#, "error"),
            (r#"{"error":true}"#, "error"),
            (r#"{"error":"x","success":false}"#, "success"),
        ] {
            assert_eq!(
                structured(structure).map(|sign| sign.1),
                Some(member),
                "{structure}"
            );
        }
        let text =
            r#"{"content":[{"type":"text","text":"{\"success\":false,\"error_code\":\"SQL_ERROR\"}"}]}"#;
        assert_eq!(sign(text), Some((Document::Text, "success", "false".to_owned())));
    }

    #[test]
    fn fair_answers_raise_no_alarm() {
        for fair in [
            r#"{"exists":false}"#,
            r#"{"status":"failed"}"#,
            r#"{"error":null}"#,
            r#"{"error":false}"#,
            r#"{"error":""}"#,
            r#"{"error":{}}"#,
            r#"{"errors":[]}"#,
            r#"{"errors":["line 3: syntax error"]}"#,
            r#"{"error":0}"#,
            r#"{"success":true,"ok":true}"#,
            r#"{"success":"false"}"#,
            r#"{"results":[{"success":false,"error":"x"}]}"#,
            r#"[{"success":false}]"#,
            r#""error""#,
            "null",
        ] {
            assert_eq!(structured(fair), None, "{fair}");
        }
        for text in [
            "Error: Operation failed",
            "No matches found",
            r#"the page says {\"success\":false}"#,
            r#"{\"hits\":[{\"error\":\"x\"}]}"#,
        ] {
            let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
            assert_eq!(sign(&result), None, "{text}");
        }
    }
}
