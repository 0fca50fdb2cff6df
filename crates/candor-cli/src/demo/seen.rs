//! What the model would see of an answer: the flag, the text, the structure; and beside it what a program can read.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::host::{Called, Reply};

/// What came back, as a host would give it to its model.
#[derive(Debug)]
pub(super) enum Seen {
    /// A result.
    Result(Box<ResultSeen>),
    /// A JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// A line that is no response; the line.
    Unreadable(String),
    /// Nothing, in the time that the host can wait.
    NoAnswer(Duration),
    /// Nothing: the pipe closed.
    Closed {
        /// How the process ended.
        how: String,
    },
}

/// The parts of a result.
#[derive(Debug)]
pub(super) struct ResultSeen {
    /// `isError`.
    pub(super) flag: Flag,
    /// The text blocks, in order; of another block its type, in brackets.
    pub(super) texts: Vec<String>,
    /// `structuredContent`.
    pub(super) structure: Structure,
    /// Candor's verdict in `_meta`.
    pub(super) verdict: Option<VerdictSeen>,
}

/// `isError`, and whether it is there at all.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub(super) enum Flag {
    /// Not there, which reads as false.
    #[default]
    Absent,
    /// `false`.
    False,
    /// `true`.
    True,
}

impl From<bool> for Flag {
    fn from(flag: bool) -> Self {
        if flag { Self::True } else { Self::False }
    }
}

/// `structuredContent`, and whether it says more than what stands beside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// There is none.
    Absent,
    /// What a text block says already.
    AsText,
    /// What the verdict says already.
    AsVerdict,
    /// This, as it came.
    Own(String),
}

/// The parts of a verdict that the page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VerdictSeen {
    /// The outcome's word.
    pub(super) outcome: String,
    /// The effect's word.
    pub(super) effect: String,
    /// The evidence's word.
    pub(super) evidence: String,
    /// The operation's id.
    pub(super) operation_id: String,
    /// The error, where there is one.
    #[serde(default)]
    pub(super) error: Option<ErrorSeen>,
}

/// The part of a verdict's error that the page shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ErrorSeen {
    /// The stable code.
    pub(super) code: String,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    result: Option<CallResult>,
    #[serde(default)]
    error: Option<RpcError>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    #[serde(default)]
    content: Vec<Block>,
    #[serde(default)]
    is_error: Flag,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
    #[serde(default, rename = "_meta")]
    meta: Meta,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(default, rename = "candor/verdict")]
    verdict: Option<Box<RawValue>>,
}

impl Seen {
    /// What came of a call.
    pub(super) fn of(called: &Called) -> Self {
        match &called.reply {
            Reply::Line(line) => Self::line(line),
            Reply::NoAnswer(waited) => Self::NoAnswer(*waited),
            Reply::Closed => Self::Closed {
                how: called.ended.how.clone(),
            },
        }
    }

    /// What a response says.
    pub(super) fn line(line: &[u8]) -> Self {
        match serde_json::from_slice(line) {
            Ok(Response {
                result: Some(result), ..
            }) => Self::Result(Box::new(ResultSeen::of(result))),
            Ok(Response {
                error: Some(RpcError { code, message }),
                ..
            }) => Self::Error { code, message },
            Ok(_) | Err(_) => Self::Unreadable(String::from_utf8_lossy(line).into_owned()),
        }
    }

    /// The verdict, where one came along.
    pub(super) fn verdict(&self) -> Option<&VerdictSeen> {
        match self {
            Self::Result(result) => result.verdict.as_ref(),
            _ => None,
        }
    }
}

impl ResultSeen {
    fn of(result: CallResult) -> Self {
        let texts: Vec<String> = result
            .content
            .into_iter()
            .map(|block| block.text.unwrap_or_else(|| format!("[{}]", block.kind)))
            .collect();
        let verdict = result.meta.verdict.as_deref().map(RawValue::get);
        let structure = result
            .structured_content
            .as_deref()
            .map_or(Structure::Absent, |raw| {
                let value = parse(raw.get());
                if texts.iter().any(|text| parse(text) == value) {
                    Structure::AsText
                } else if verdict.is_some_and(|verdict| parse(verdict) == value) {
                    Structure::AsVerdict
                } else {
                    Structure::Own(raw.get().to_owned())
                }
            });
        let verdict = verdict.and_then(|verdict| serde_json::from_str(verdict).ok());
        Self {
            flag: result.is_error,
            texts,
            structure,
            verdict,
        }
    }
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(line: &str) -> ResultSeen {
        match Seen::line(line.as_bytes()) {
            Seen::Result(result) => *result,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_flag_has_three_forms() {
        for (member, expected) in [
            ("", Flag::Absent),
            (r#","isError":false"#, Flag::False),
            (r#","isError":true"#, Flag::True),
        ] {
            let line = format!(r#"{{"id":3,"result":{{"content":[]{member}}}}}"#);
            assert_eq!(result(&line).flag, expected);
        }
    }

    #[test]
    fn a_structure_is_shown_only_where_it_says_more() {
        let of = |structure: &str, text: &str, verdict: &str| {
            let text = serde_json::to_string(text).unwrap();
            result(&format!(
                r#"{{"result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structure},"_meta":{{"candor/verdict":{verdict}}}}}}}"#
            ))
            .structure
        };
        assert_eq!(of(r#"{ "a": 1 }"#, r#"{"a":1}"#, "{}"), Structure::AsText);
        assert_eq!(of(r#"{"a":1}"#, "a is 1", r#"{ "a": 1 }"#), Structure::AsVerdict);
        assert_eq!(
            of(r#"{ "a": 2 }"#, r#"{"a":1}"#, "{}"),
            Structure::Own(r#"{ "a": 2 }"#.to_owned())
        );
        assert_eq!(
            result(r#"{"result":{"content":[]}}"#).structure,
            Structure::Absent
        );
    }

    #[test]
    fn what_is_no_result_is_not_taken_for_one() {
        assert!(matches!(
            Seen::line(br#"{"id":3,"error":{"code":-1,"message":"m"}}"#),
            Seen::Error { code: -1, .. }
        ));
        for line in ["{}", "[]", "noise", r#"{"result":{"content":1}}"#] {
            assert!(matches!(Seen::line(line.as_bytes()), Seen::Unreadable(text) if text == line));
        }
    }
}
