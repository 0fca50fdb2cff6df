//! The members of a tool result that Candor reads, as raw JSON with their places.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::envelope::{present, text_of};
use crate::wire::members::{Opened, object};

/// A tool result (or what came in its place), member by member, raw. Unknown members stay in the bytes they came in.
#[derive(Debug, Default)]
pub struct Members<'a> {
    /// `content`
    pub content: Option<&'a str>,
    /// `structuredContent`
    pub structured: Option<&'a str>,
    /// `isError`
    pub is_error: Option<&'a str>,
    /// `resultType` (2026-07-28)
    pub result_type: Option<&'a str>,
    /// `_meta`
    pub meta: Option<&'a str>,
    /// `task` (2025-11-25)
    pub task: Option<&'a str>,
    /// `taskId` (the tasks extension of 2026-07-28)
    pub task_id: Option<&'a str>,
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
    /// Reads a result; `None` where it is no object, or names a member that Candor reads twice.
    pub fn of(result: &Opened<'a>) -> Option<Self> {
        if !result.is_object() {
            return None;
        }
        let mut members = Self::default();
        for (name, value) in result.members() {
            // A name that no text can hold is none of these.
            let place = match text_of(name).as_deref() {
                Ok("content") => &mut members.content,
                Ok("structuredContent") => &mut members.structured,
                Ok("isError") => &mut members.is_error,
                Ok("resultType") => &mut members.result_type,
                Ok("_meta") => &mut members.meta,
                Ok("task") => &mut members.task,
                Ok("taskId") => &mut members.task_id,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return None;
            }
        }
        Some(members)
    }

    /// The content blocks, raw; `None` where `content` is absent or no list.
    pub fn blocks(&self) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.content?).ok()
    }

    /// The raw texts of the text blocks, in order.
    pub fn raw_texts(&self) -> Vec<&'a RawValue> {
        let blocks = self.blocks().unwrap_or_default();
        let text = |raw: &&'a RawValue| {
            let block: Block<'a> = object(raw.get())?;
            if block.is_text() { block.text } else { None }
        };
        blocks.iter().filter_map(text).collect()
    }

    /// The texts of the text blocks, in order; those that no text can hold are left out.
    pub fn texts(&self) -> Vec<Cow<'a, str>> {
        self.raw_texts()
            .into_iter()
            .filter_map(|raw| text_of(raw.get()).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_a_result() {
        let read = |text: &str| Members::of(&Opened::whole(text)).is_some();
        assert!(read(r#"{"content":[]}"#));
        assert!(!read(r#"{"content":[],"cont\u0065nt":[]}"#), "a member twice");
        assert!(read(r#"{"content":[],"x":1,"x":2}"#), "one that nobody reads");
        assert!(
            !read(r#"[[],{"status":"booked"},true]"#),
            "a list of what the members would hold"
        );
        assert!(!read("null"));
    }
}
