//! How a value that came is shown: cut, secrets masked, nothing invisible in it.

use serde_json::Value;

use crate::delivery::redaction::{self, escape_invisible, is_secret_name};

/// Longest form of a received value, in characters.
const MAX_CHARS: usize = 80;
/// A string under a secret's name is masked from this length on, in characters.
const MASKED_FROM: usize = 8;
/// How much of a string is searched for credentials, in bytes; far more than is shown.
const MAX_MASKED: usize = 64 * 1024;
/// What stands in the place of a secret.
const MASK: &str = "\"[masked]\"";

/// `value`, found at JSON Pointer `path`, as JSON text of at most about 80 characters.
pub(crate) fn received(value: &Value, path: &str) -> String {
    let mut out = Short {
        text: String::new(),
        left: MAX_CHARS,
        full: false,
    };
    out.value(value, is_secret_path(path));
    out.text
}

/// Whether a string at `path` must be masked.
pub(crate) fn is_masked(value: &Value, path: &str) -> bool {
    matches!(value, Value::String(text) if is_long(text)) && is_secret_path(path)
}

/// Any step that names a secret: what lies inside a `credentials` object is no less secret.
fn is_secret_path(path: &str) -> bool {
    path.split('/')
        .skip(1)
        .any(|step| is_secret_name(&step.replace("~1", "/").replace("~0", "~")))
}

fn is_long(text: &str) -> bool {
    text.chars().nth(MASKED_FROM - 1).is_some()
}

/// Text from a schema or a name from a call, for use inside a sentence: one line, at most `chars` characters.
pub(crate) fn plain(text: &str, chars: usize) -> String {
    let mut out = Short {
        text: String::new(),
        left: chars,
        full: false,
    };
    for letter in text.trim().chars() {
        let shown = if letter.is_whitespace() { ' ' } else { letter };
        if !out.letter(shown) {
            break;
        }
    }
    out.text
}

/// `path` for a sentence: what can't be seen is escaped, a long one is cut.
pub(crate) fn shown_path(path: &str) -> String {
    plain(if path.is_empty() { "(the whole)" } else { path }, 2 * MAX_CHARS)
}

/// The pointer of the object or array that holds `path`, and the last step unescaped.
pub(crate) fn parent(path: &str) -> Option<(&str, String)> {
    let (parent, step) = path.rsplit_once('/')?;
    Some((parent, step.replace("~1", "/").replace("~0", "~")))
}

/// Writes JSON text until its room is used up.
struct Short {
    text: String,
    left: usize,
    full: bool,
}

impl Short {
    /// Adds `text` whole, or an ellipsis and nothing from then on.
    fn push(&mut self, text: &str) -> bool {
        let length = text.chars().count();
        if self.full {
            return false;
        }
        if length > self.left {
            self.text.push('…');
            self.full = true;
            return false;
        }
        self.text.push_str(text);
        self.left -= length;
        true
    }

    fn letter(&mut self, letter: char) -> bool {
        self.push(&escape_invisible(letter.encode_utf8(&mut [0; 4])))
    }

    fn value(&mut self, value: &Value, secret: bool) -> bool {
        match value {
            Value::Null => self.push("null"),
            Value::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Value::Number(number) => self.number(number.as_str()),
            Value::String(text) if secret && is_long(text) => self.push(MASK),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.push("[")
                    && items
                        .iter()
                        .enumerate()
                        .all(|(index, item)| (index == 0 || self.push(",")) && self.value(item, secret))
                    && self.push("]")
            }
            Value::Object(members) => {
                self.push("{")
                    && members.iter().enumerate().all(|(index, (name, member))| {
                        (index == 0 || self.push(","))
                            && self.string(name)
                            && self.push(":")
                            && self.value(member, secret || is_secret_name(name))
                    })
                    && self.push("}")
            }
        }
    }

    /// A number is cut rather than dropped: its first digits tell which one it was.
    fn number(&mut self, text: &str) -> bool {
        text.chars().all(|letter| self.letter(letter))
    }

    fn string(&mut self, text: &str) -> bool {
        // Masked before it is cut: half a credential can't be told from other text.
        let masked = redaction::text(
            text.get(..text.floor_char_boundary(MAX_MASKED))
                .unwrap_or_default(),
        );
        self.push("\"")
            && masked.value.chars().all(|letter| match letter {
                '"' => self.push("\\\""),
                '\\' => self.push("\\\\"),
                '\n' => self.push("\\n"),
                '\t' => self.push("\\t"),
                '\r' => self.push("\\r"),
                other => self.letter(other),
            })
            && self.push("\"")
    }
}
