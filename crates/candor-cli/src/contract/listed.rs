//! What a draft knows of a tool: its definition, and what recorded results of it hold.

use std::collections::BTreeMap;

use candor_core::contract::effect::{EffectClass, class_from_annotations};
use candor_core::contract::tool::Listed;
use candor_core::wire::members::object;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::nouns::{changes_nothing, words};
use super::recorded::{Answer, Recorded};

/// One tool of a draft.
#[derive(Debug)]
pub(super) struct Drafted {
    /// Its name.
    pub(super) name: String,
    /// The effect that its own annotations claim.
    pub(super) claimed: Option<EffectClass>,
    /// The words of its name.
    pub(super) words: Vec<String>,
    /// Does it need no argument?
    pub(super) needs_nothing: bool,
    /// The top members of its output schema.
    pub(super) promised: BTreeMap<String, Value>,
    /// Recorded results.
    pub(super) samples: Vec<Sample>,
}

/// A recorded result, as far as a draft looks at it.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// The line of the record.
    pub(super) line: usize,
    /// Is it flagged?
    pub(super) flagged: bool,
    /// The object in `structuredContent`.
    pub(super) structured: Option<Value>,
    /// The object that the first text block is, where there is no structure.
    pub(super) from_text: Option<Value>,
    /// The beginning of the first text block that is no object.
    pub(super) prose: Option<String>,
}

#[derive(Deserialize)]
struct Schemas {
    #[serde(default, rename = "outputSchema")]
    output: Option<Value>,
    #[serde(default, rename = "inputSchema")]
    input: Option<Value>,
}

#[derive(Deserialize)]
struct CallResult {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default, rename = "structuredContent")]
    structured: Option<Value>,
    #[serde(default, rename = "isError")]
    is_error: Option<Value>,
}

impl Drafted {
    /// Reads a definition; none where it has no name.
    pub(super) fn of(definition: &RawValue, recorded: &Recorded) -> Option<Self> {
        let listed = Listed::read(definition)?;
        let name = listed.name.as_str().to_owned();
        let schemas: Option<Schemas> = serde_json::from_str(definition.get()).ok();
        let (output, input) = schemas.map_or((None, None), |schemas| (schemas.output, schemas.input));
        let promised = output
            .as_ref()
            .and_then(|schema| schema.get("properties")?.as_object())
            .map(|members| {
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect()
            });
        let required = input
            .as_ref()
            .and_then(|schema| schema.get("required")?.as_array());
        let samples = recorded.calls.iter().filter(|call| call.tool == name);
        Some(Self {
            claimed: listed.annotations.as_ref().and_then(class_from_annotations),
            words: words(&name),
            needs_nothing: required.is_none_or(Vec::is_empty),
            promised: promised.unwrap_or_default(),
            samples: samples
                .filter_map(|call| Sample::of(call.line, &call.answer))
                .collect(),
            name,
        })
    }

    /// Does it look as if it changes nothing? Its own word first, then its name.
    pub(super) fn seems_to_read(&self) -> bool {
        match self.claimed {
            Some(class) => class == EffectClass::Read,
            None => changes_nothing(&self.words),
        }
    }

    /// The objects that its recorded results hold, and whether they stand in a text.
    pub(super) fn objects(&self) -> impl Iterator<Item = (usize, &Value, bool)> {
        self.samples.iter().filter_map(|sample| {
            let structured = sample
                .structured
                .as_ref()
                .map(|value| (sample.line, value, false));
            structured.or_else(|| sample.from_text.as_ref().map(|value| (sample.line, value, true)))
        })
    }
}

impl Sample {
    fn of(line: usize, answer: &Answer) -> Option<Self> {
        let Answer::Result(raw) = answer else { return None };
        let result: CallResult = object(raw.get())?;
        let first = result
            .content
            .iter()
            .find_map(|block| block.get("text")?.as_str());
        let from_text = first
            .and_then(|text| serde_json::from_str::<Value>(text).ok())
            .filter(Value::is_object);
        Some(Self {
            line,
            flagged: result.is_error.as_ref().and_then(Value::as_bool) == Some(true),
            structured: result.structured.filter(Value::is_object),
            prose: first.filter(|_| from_text.is_none()).map(|text| {
                text.lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .take(200)
                    .collect()
            }),
            from_text,
        })
    }
}
