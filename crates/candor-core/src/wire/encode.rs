//! Changing a few members of a message and nothing else.
//!
//! Every change is an edit of the original text at a known place. What is not edited leaves byte for byte.

use std::ops::Range;

/// A set of edits to one text.
#[derive(Debug, Default)]
pub struct Edits {
    edits: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// No edits yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts `with` in the place of `span`.
    pub fn replace(&mut self, span: Range<usize>, with: impl Into<String>) {
        self.edits.push((span, with.into()));
    }

    /// Puts `what` before the byte at `at`.
    pub fn insert(&mut self, at: usize, what: impl Into<String>) {
        self.replace(at..at, what);
    }

    /// Is there nothing to change?
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The text with all edits done. Edits at the same place come out in the order they were made; of edits that
    /// overlap, the later ones are dropped (callers edit disjoint members).
    pub fn apply(mut self, text: &str) -> String {
        self.edits.sort_by_key(|(span, _)| span.start);
        let grown: usize = self.edits.iter().map(|(_, with)| with.len()).sum();
        let mut out = String::with_capacity(text.len() + grown);
        let mut done = 0;
        for (span, with) in self.edits {
            let Some(kept) = text.get(done..span.start) else {
                continue;
            };
            out.push_str(kept);
            out.push_str(&with);
            done = span.end;
        }
        out.push_str(text.get(done..).unwrap_or(""));
        out
    }
}

/// Where `part` stands in `whole`; `None` unless it really borrows from it.
pub fn span(whole: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// An edit that adds members to a JSON object given by its span, as the last ones: `members` is `"a":1,"b":2`.
/// Returns where and what to insert; `None` where the span holds no object.
pub fn add_members(text: &str, object: &Range<usize>, members: &str) -> Option<(usize, String)> {
    let close = object.end.checked_sub(1)?;
    let inside = text.get(object.start.checked_add(1)?..close)?;
    if text.get(object.start..=object.start)? != "{" || text.get(close..object.end)? != "}" {
        return None;
    }
    let comma = if inside.trim_ascii().is_empty() { "" } else { "," };
    Some((close, format!("{comma}{members}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_touch_only_their_spans() {
        let text = r#"{ "id" : 7, "result":{"a" : 1.10 } }"#;
        let mut edits = Edits::new();
        let object = text.find(r#"{"a""#).unwrap()..text.rfind(" }").unwrap();
        let (at, what) = add_members(text, &object, r#""_meta":{}"#).unwrap();
        edits.insert(at, what);
        edits.replace(9..10, "\"host\"");
        assert_eq!(
            edits.apply(text),
            r#"{ "id" : "host", "result":{"a" : 1.10 ,"_meta":{}} }"#
        );
    }

    #[test]
    fn members_join_an_empty_object_without_a_comma() {
        assert_eq!(add_members("{ }", &(0..3), "\"a\":1").unwrap().1, "\"a\":1");
        assert!(add_members("[]", &(0..2), "\"a\":1").is_none());
    }

    #[test]
    fn a_part_of_another_text_has_no_span() {
        let whole = String::from("abcdef");
        assert_eq!(span(&whole, &whole[2..4]), Some(2..4));
        assert_eq!(span(&whole[..3], &whole[2..4]), None);
    }
}
