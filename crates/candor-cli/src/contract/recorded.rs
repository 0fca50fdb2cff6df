//! Recorded calls, one JSON object a line: the tools as they were listed, and calls with their answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::{Context as _, bail};
use candor_core::contract::tool::Listed;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The largest file, in bytes.
const LIMIT: u64 = 64 * 1024 * 1024;

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The tools' definitions, by name.
    pub(crate) tools: BTreeMap<String, Box<RawValue>>,
    /// The calls, in their order.
    pub(crate) calls: Vec<RecordedCall>,
}

/// One call and how it was answered.
#[derive(Debug, Clone)]
pub(crate) struct RecordedCall {
    /// The line of the file, counted from 1.
    pub(crate) line: usize,
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Map<String, Value>,
    /// What came back.
    pub(crate) answer: Answer,
    /// What later looks by other tools were answered with, each by its tool.
    pub(crate) looks: Vec<Look>,
    /// What the verdict must be, as far as it is said.
    pub(crate) expect: Option<Expected>,
}

/// What came back for a call.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A result, raw.
    Result(Box<RawValue>),
    /// A JSON-RPC error, raw.
    Error(Box<RawValue>),
    /// Nothing: it was lost.
    Lost,
}

/// A later look.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Look {
    /// The tool that was asked.
    pub(crate) tool: String,
    /// Its result, raw.
    pub(crate) result: Box<RawValue>,
}

/// What is expected of a verdict. What is not named may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The outcome.
    #[serde(default)]
    pub(crate) outcome: Option<String>,
    /// The effect.
    #[serde(default)]
    pub(crate) effect: Option<String>,
    /// The evidence.
    #[serde(default)]
    pub(crate) evidence: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
    #[serde(default)]
    lost: bool,
    #[serde(default)]
    looks: Vec<Look>,
    #[serde(default)]
    expect: Option<Expected>,
}

impl Recorded {
    /// Reads a file.
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let file = File::open(path).with_context(|| format!("{name} can't be read"))?;
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        if size > LIMIT {
            bail!("{name} is larger than {LIMIT} bytes");
        }
        let mut recorded = Self::default();
        for (at, line) in BufReader::new(file.take(LIMIT)).lines().enumerate() {
            let line = line.with_context(|| format!("{name} can't be read"))?;
            recorded
                .take_line(at + 1, &line)
                .with_context(|| format!("{name}:{}", at + 1))?;
        }
        Ok(recorded)
    }

    /// Takes in one line. Empty ones and those that begin with `#` say nothing.
    pub(crate) fn take_line(&mut self, number: usize, text: &str) -> anyhow::Result<()> {
        if text.trim().is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let line: Line = serde_json::from_str(text)?;
        for definition in line.tools {
            let Some(listed) = Listed::read(&definition) else {
                bail!("one of \"tools\" has no name; definitions are expected as tools/list gives them");
            };
            let name = listed.name.as_str().to_owned();
            self.tools.insert(name, definition);
        }
        let Some(tool) = line.tool else { return Ok(()) };
        let answer = match (line.result, line.error, line.lost) {
            (Some(result), None, false) => Answer::Result(result),
            (None, Some(error), false) => Answer::Error(error),
            (None, None, true) => Answer::Lost,
            _ => bail!("a call has one of \"result\", \"error\" and \"lost\": true"),
        };
        self.calls.push(RecordedCall {
            line: number,
            tool,
            arguments: line.arguments,
            answer,
            looks: line.looks,
            expect: line.expect,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_list_of_tools_or_a_call_with_one_answer() {
        let mut recorded = Recorded::default();
        let lines = [
            "# played once",
            "",
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}"#,
            r#"{"tool":"a","arguments":{"x":1},"result":{"content":[]},"expect":{"outcome":"reported"}}"#,
            r#"{"tool":"a","lost":true,"looks":[{"tool":"b","result":{"content":[]}}]}"#,
        ];
        for (at, line) in lines.iter().enumerate() {
            recorded.take_line(at + 1, line).unwrap();
        }
        assert!(recorded.tools.contains_key("a"));
        let [first, second] = &recorded.calls[..] else {
            panic!("two calls: {:?}", recorded.calls)
        };
        assert!(first.line == 4 && matches!(first.answer, Answer::Result(_)) && first.expect.is_some());
        assert!(matches!(second.answer, Answer::Lost) && second.looks.len() == 1);
        for bad in [
            r#"{"tool":"a"}"#,
            r#"{"tool":"a","result":{},"error":{}}"#,
            r#"{"tool":"a","result":{},"expected":{}}"#,
            r#"{"tools":[{"title":"no name"}]}"#,
            "{",
        ] {
            assert!(recorded.take_line(9, bad).is_err(), "{bad}");
        }
    }
}
