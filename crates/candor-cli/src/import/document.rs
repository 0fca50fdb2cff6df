//! A host's config as a tree that knows where each value stands in the text.

use std::ops::Range;

use super::{jsonc, toml_spans};

/// How deep a config may nest.
pub(super) const DEEPEST: usize = 128;

/// How a config is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, with comments and trailing commas where the host allows them.
    Json,
    /// TOML.
    Toml,
}

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Where it stands, in bytes.
    pub(crate) span: Range<usize>,
    /// What it is.
    pub(crate) value: Value,
}

/// What a value is, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A string, unescaped.
    Text(String),
    /// true or false.
    Flag(bool),
    /// A number, a date or null.
    Other,
    /// An array.
    List(Vec<Node>),
    /// An object or table: its members in the order of the text.
    Table(Vec<Member>),
}

/// A member of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name, unescaped.
    pub(crate) key: String,
    /// Where the name stands, in bytes.
    pub(crate) key_span: Range<usize>,
    /// Its value.
    pub(crate) value: Node,
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxFault {
    /// The byte.
    pub(super) at: usize,
    /// What is there and what was expected.
    pub(super) problem: String,
}

/// A text and its tree.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The text as it is in the file.
    pub(crate) text: String,
    /// How it is written.
    pub(crate) syntax: Syntax,
    /// What it says.
    pub(crate) root: Node,
}

impl Document {
    /// Reads a text.
    pub(super) fn parse(text: String, syntax: Syntax) -> Result<Self, SyntaxFault> {
        let root = match syntax {
            Syntax::Json => jsonc::parse(&text)?,
            Syntax::Toml => toml_spans::parse(&text)?,
        };
        Ok(Self { text, syntax, root })
    }

    /// The text at a place.
    pub(super) fn slice(&self, span: Range<usize>) -> &str {
        self.text.get(span).unwrap_or_default()
    }
}

impl Node {
    /// The string, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub(crate) fn items(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if it is a table.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Table(members) => Some(members),
            _ => None,
        }
    }

    /// The member of this name. Of several the last counts, as for the readers of the hosts.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().rev().find(|member| member.key == key)
    }

    /// The value of the member of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.member(key).map(|member| &member.value)
    }

    /// A name that stands here more than once.
    pub(crate) fn repeated(&self) -> Option<&str> {
        let members = self.members()?;
        let again = members
            .iter()
            .enumerate()
            .find(|(index, member)| members.iter().take(*index).any(|before| before.key == member.key))?;
        Some(&again.1.key)
    }

    /// Does it say the same, wherever it stands?
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::List(ours), Value::List(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.says_the_same(b))
            }
            (Value::Table(ours), Value::Table(theirs)) => {
                ours.len() == theirs.len()
                    && ours
                        .iter()
                        .zip(theirs)
                        .all(|(a, b)| a.key == b.key && a.value.says_the_same(&b.value))
            }
            (ours, theirs) => ours == theirs,
        }
    }
}

/// The 1-based line and column (in characters) of a byte.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.get(line_start..).unwrap_or_default().chars().count();
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_lines_and_characters() {
        let text = "{\n \"é\": x";
        let at = text.find('x').unwrap();
        assert_eq!(line_and_column(text, at), (2, 7));
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 900), (2, 8));
    }

    #[test]
    fn two_texts_of_one_meaning_are_told_from_two_meanings() {
        let parse = |text: &str| Document::parse(text.to_owned(), Syntax::Json).unwrap().root;
        let one = parse(r#"{"a":[1,"x"],"b":true}"#);
        assert!(one.says_the_same(&parse("{ \"a\" : [ 1, \"x\", ], /* c */ \"b\": true }")));
        assert!(!one.says_the_same(&parse(r#"{"a":[1,"y"],"b":true}"#)));
        assert!(!one.says_the_same(&parse(r#"{"a":[1,"x"]}"#)));
        assert_eq!(parse(r#"{"a":1,"b":2,"a":3}"#).repeated(), Some("a"));
        assert_eq!(one.repeated(), None);
    }
}
