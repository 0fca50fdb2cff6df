//! Changing a few members of a message and nothing else.
//!
//! Every change is an edit of the original text at a known place. What is not edited leaves byte for byte.

use std::ops::Range;

use bytestring::ByteString;

/// Texts from this size on are edited without a copy; below it, a copy costs less than the pieces.
const SHARED: usize = 64 * 1024;

/// A message to be sent, in pieces that share the bytes of what they were taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces(Vec<ByteString>);

impl Pieces {
    /// All of it as one text.
    pub fn into_text(self) -> String {
        self.0.iter().map(|piece| &**piece).collect()
    }
}

impl IntoIterator for Pieces {
    type Item = ByteString;
    type IntoIter = std::vec::IntoIter<ByteString>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<String> for Pieces {
    fn from(text: String) -> Self {
        Self(vec![text.into()])
    }
}

/// A set of edits to one text.
#[derive(Debug, Default, Clone)]
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

    /// As [`Edits::apply`], without a copy of what is not edited where that is large.
    pub fn share(self, text: &ByteString) -> Pieces {
        if text.len() < SHARED {
            return self.apply(text).into();
        }
        let mut pieces = Vec::with_capacity(2 * self.edits.len() + 1);
        self.walk(text, |part| match part {
            Part::Kept(place) => pieces.push(text.slice_ref(text.get(place).unwrap_or_default())),
            Part::New(new) => pieces.push(new.into()),
        });
        Pieces(pieces)
    }

    /// The text with all edits done. Edits at the same place come out in the order they were made; of edits that
    /// overlap, the later ones are dropped (callers edit disjoint members).
    pub fn apply(self, text: &str) -> String {
        let grown: usize = self.edits.iter().map(|(_, with)| with.len()).sum();
        let mut out = String::with_capacity(text.len() + grown);
        self.walk(text, |part| match part {
            Part::Kept(place) => out.push_str(text.get(place).unwrap_or_default()),
            Part::New(new) => out.push_str(&new),
        });
        out
    }

    fn walk(mut self, text: &str, mut take: impl FnMut(Part)) {
        self.edits.sort_by_key(|(span, _)| span.start);
        let mut done = 0;
        for (span, with) in self.edits {
            if text.get(done..span.start).is_none() {
                continue;
            }
            take(Part::Kept(done..span.start));
            take(Part::New(with));
            done = span.end;
        }
        take(Part::Kept(done..text.len()));
    }
}

/// A part of an edited text.
enum Part {
    /// It stays: where it stands.
    Kept(Range<usize>),
    /// It is new.
    New(String),
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
    fn a_large_text_is_edited_to_the_same_as_a_small_one() {
        let large = ByteString::from(format!("{{\"id\":7,\"text\":\"{}\"}}", "ü".repeat(SHARED)));
        let edits = || {
            let mut edits = Edits::new();
            edits.insert(large.len() - 1, ",\"_meta\":{}");
            edits.replace(6..7, "\"host\"");
            edits.replace(0..7, "dropped");
            edits
        };
        let pieces = edits().share(&large);
        assert!(pieces.0.len() > 1, "it is shared");
        assert_eq!(pieces.into_text(), edits().apply(&large));
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
