//! The members of a tool result that Candor reads, as raw JSON with their places.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::envelope::{present, text_of};
use crate::wire::members::object;

/// A tool result (or what came in its place), member by member. Unknown members stay in the bytes they came in.
#[derive(Debug, Default, Deserialize)]
pub struct Members<'a> {
    /// `content`
    #[serde(borrow, default, deserialize_with = "present")]
    pub content: Option<&'a RawValue>,
    /// `structuredContent`
    #[serde(borrow, default, rename = "structuredContent", deserialize_with = "present")]
    pub structured: Option<&'a RawValue>,
    /// `isError`
    #[serde(borrow, default, rename = "isError", deserialize_with = "present")]
    pub is_error: Option<&'a RawValue>,
    /// `resultType` (2026-07-28)
    #[serde(borrow, default, rename = "resultType", deserialize_with = "present")]
    pub result_type: Option<&'a RawValue>,
    /// `_meta`
    #[serde(borrow, default, rename = "_meta", deserialize_with = "present")]
    pub meta: Option<&'a RawValue>,
    /// `task` (2025-11-25)
    #[serde(borrow, default, deserialize_with = "present")]
    pub task: Option<&'a RawValue>,
    /// `taskId` (the tasks extension of 2026-07-28)
    #[serde(borrow, default, rename = "taskId", deserialize_with = "present")]
    pub task_id: Option<&'a RawValue>,
}

/// A content block, as far as Candor reads it.
#[derive(Debug, Deserialize)]
pub struct Block<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "present")]
    kind: Option<&'a RawValue>,
    /// `text` of a text block, as it was written.
    #[serde(borrow, default, deserialize_with = "present")]
    pub text: Option<&'a RawValue>,
}

impl Block<'_> {
    /// Is it a text block?
    pub fn is_text(&self) -> bool {
        self.kind.is_some_and(|kind| kind.get() == "\"text\"")
    }
}

impl<'a> Members<'a> {
    /// Reads a result; `None` where it is no object, or names a member twice.
    pub fn read(raw: &'a RawValue) -> Option<Self> {
        object(raw)
    }

    /// The content blocks, raw; `None` where `content` is absent or no list.
    pub fn blocks(&self) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.content?.get()).ok()
    }

    /// The raw texts of the text blocks, in order.
    pub fn raw_texts(&self) -> Vec<&'a RawValue> {
        let blocks = self.blocks().unwrap_or_default();
        let text = |raw: &&'a RawValue| {
            let block: Block<'a> = object(raw)?;
            if block.is_text() { block.text } else { None }
        };
        blocks.iter().filter_map(text).collect()
    }

    /// The texts of the text blocks, in order; those that no text can hold are left out.
    pub fn texts(&self) -> Vec<Cow<'a, str>> {
        self.raw_texts()
            .into_iter()
            .filter_map(|raw| text_of(raw).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_a_result() {
        let read = |text: &str| {
            let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
            Members::read(&raw).is_some()
        };
        assert!(read(r#" {"content":[]}"#));
        assert!(
            !read(r#"[[],{"status":"booked"},true]"#),
            "a list of what the members would hold"
        );
        assert!(!read("null"));
    }
}
