//! JSON Pointers (RFC 6901), checked when they are written and not when they are used.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

/// A JSON Pointer whose syntax has been checked. `""` points at the whole document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pointer(String);

/// Why a text is no JSON Pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PointerFault {
    /// RFC 6901: a pointer is empty or starts with a slash.
    #[error("a JSON Pointer starts with \"/\", as in \"/status\"")]
    NoLeadingSlash,
    /// RFC 6901: `~` is written `~0`, `/` inside a name is written `~1`, and `~` stands before nothing else.
    #[error("in a JSON Pointer \"~\" is written \"~0\" and a \"/\" inside a name is written \"~1\"")]
    BadEscape,
    /// A fragment (`#/status`) is how a URI carries a pointer, not a pointer.
    #[error("a JSON Pointer has no leading \"#\": \"/status\", not \"#/status\"")]
    Fragment,
}

impl Pointer {
    /// The pointer at the whole document.
    pub const fn whole() -> Self {
        Self(String::new())
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the pointer points at in `document`, if there is something.
    pub fn find<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        document.pointer(&self.0)
    }
}

impl FromStr for Pointer {
    type Err = PointerFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with('#') {
            return Err(PointerFault::Fragment);
        }
        if !text.is_empty() && !text.starts_with('/') {
            return Err(PointerFault::NoLeadingSlash);
        }
        let mut after_tilde = text.split('~').skip(1);
        if after_tilde.any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(PointerFault::BadEscape);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_rfc_6901_allows_is_read() {
        let document = json!({"a/b": 1, "m~n": 2, "list": [10, 20], "": 3, " ": 4});
        let cases = [
            ("/a~1b", Some(json!(1))),
            ("/m~0n", Some(json!(2))),
            ("/list/1", Some(json!(20))),
            ("/list/01", None),
            ("/list/-", None),
            ("/list/2", None),
            ("/", Some(json!(3))),
            ("/ ", Some(json!(4))),
            ("/absent", None),
        ];
        for (text, expected) in cases {
            let pointer: Pointer = text.parse().unwrap();
            assert_eq!(pointer.find(&document).cloned(), expected, "{text}");
        }
        let whole: Pointer = "".parse().unwrap();
        assert_eq!(whole.find(&document), Some(&document));
    }

    #[test]
    fn what_it_does_not_is_refused_with_a_reason() {
        let cases = [
            ("status", PointerFault::NoLeadingSlash),
            ("$.status", PointerFault::NoLeadingSlash),
            ("#/status", PointerFault::Fragment),
            ("/a~", PointerFault::BadEscape),
            ("/a~2b", PointerFault::BadEscape),
            ("/~~0", PointerFault::BadEscape),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Pointer>(), Err(expected), "{text}");
        }
    }
}
