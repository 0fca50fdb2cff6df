//! An answer as it is kept: its bytes, and where in them everything stands that Candor reads.

use std::ops::Range;

use bytestring::ByteString;

use super::encode::span;
use super::envelope::{Body, Message, Response, read};
use super::members::{Opened, Places};

/// The answer to a request, read once. Cloning it copies no bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    frame: ByteString,
    id: Range<usize>,
    body: Kept,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kept {
    Result(Places),
    Error(Range<usize>),
    Both,
    Neither,
}

/// What an answer carries, in the text it was read from.
#[derive(Debug, Clone)]
pub enum Carried<'a> {
    /// A result.
    Result(Opened<'a>),
    /// An error, raw.
    Error(&'a str),
    /// Both, which says nothing.
    Both,
    /// Neither, which says nothing either.
    Neither,
}

impl Reply {
    /// Keeps an answer that was read from `frame`; `None` where it was read from another text.
    pub fn keep(frame: &ByteString, response: &Response<'_>) -> Option<Self> {
        Some(Self {
            id: span(frame, response.id.get())?,
            body: match &response.body {
                Body::Result(result) => Kept::Result(result.places(frame)?),
                Body::Error(raw) => Kept::Error(span(frame, raw.get())?),
                Body::Both => Kept::Both,
                Body::Neither => Kept::Neither,
            },
            frame: frame.clone(),
        })
    }

    /// Reads a frame that must be an answer; for replays and tests.
    pub fn parse(frame: impl Into<ByteString>) -> Option<Self> {
        let frame = frame.into();
        match read(&frame) {
            Ok(Message::Response(response)) => Self::keep(&frame, &response),
            _ => None,
        }
    }

    /// The whole frame.
    pub fn frame(&self) -> &ByteString {
        &self.frame
    }

    /// Where the id stands in the frame.
    pub fn id(&self) -> Range<usize> {
        self.id.clone()
    }

    /// What it carries.
    pub fn carried(&self) -> Carried<'_> {
        match &self.body {
            Kept::Result(places) => Carried::Result(places.open(&self.frame)),
            Kept::Error(place) => Carried::Error(self.frame.get(place.clone()).unwrap_or_default()),
            Kept::Both => Carried::Both,
            Kept::Neither => Carried::Neither,
        }
    }

    /// Its result or its error, raw: for the record.
    pub fn said(&self) -> Option<&str> {
        match &self.body {
            Kept::Result(places) => Some(places.open(&self.frame).raw()),
            Kept::Error(place) => self.frame.get(place.clone()),
            Kept::Both | Kept::Neither => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_read() {
        for (frame, said) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1],"b":{}}}"#,
                Some(r#"{"a":[1],"b":{}}"#),
            ),
            (
                r#" { "id" : "x" , "result" : { "a" : 1.10 } , "jsonrpc" : "2.0" } "#,
                Some(r#"{ "a" : 1.10 }"#),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{ }}"#, Some("{ }")),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":[{"a":1}]}"#,
                Some(r#"[{"a":1}]"#),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":5}"#, Some("5")),
            (r#"{"jsonrpc":"2.0","id":1,"result":"}"}"#, Some(r#""}""#)),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"\ud800":1},"error":null}"#,
                Some(r#"{"\ud800":1}"#),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
                Some(r#"{"code":1}"#),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":{}}"#, None),
        ] {
            let reply = Reply::parse(frame).unwrap();
            assert_eq!(reply.said(), said, "{frame}");
        }
        assert!(Reply::parse(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#).is_none());
    }

    #[test]
    fn members_of_a_result_stand_where_they_stood() {
        let reply =
            Reply::parse(r#"{"jsonrpc":"2.0","id":1,"result":{ "a" : {"b":"}"} ,"\u0061":2 } }"#).unwrap();
        let Carried::Result(result) = reply.carried() else {
            panic!("it carries a result")
        };
        assert_eq!(
            result.members(),
            [(r#""a""#, r#"{"b":"}"}"#), (r#""\u0061""#, "2")]
        );
    }
}
