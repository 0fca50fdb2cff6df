//! Where a value ends that is quoted, runs to the end of its line, or stands bare among punctuation.

use super::change::mask_end;
use super::scan::{is_word_byte, run_end};

/// How far a bounded value is followed, in bytes.
const LONGEST_LOOSE: usize = 1024;

/// Deepest JSON inside JSON whose quotation marks are followed, in backslashes.
const DEEPEST_QUOTE: usize = 15;

/// How far a bare value may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// As far as a parameter of a URL does.
    Parameter,
    /// As far as it goes.
    Free,
    /// Not much farther than a secret is long: the value may turn out to be none, and is then read again.
    Bounded,
}

/// A quotation mark, and how many backslashes stand before it (JSON inside JSON).
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    mark: u8,
    backslashes: usize,
}

impl Quote {
    pub(super) fn at(text: &str, at: usize) -> Option<Self> {
        let mark_at = run_end(text, at, |byte| byte == b'\\');
        if mark_at - at > DEEPEST_QUOTE {
            return None;
        }
        let mark = *text.as_bytes().get(mark_at)?;
        matches!(mark, b'"' | b'\'' | b'`').then_some(Self {
            mark,
            backslashes: mark_at - at,
        })
    }

    pub(super) fn length(self) -> usize {
        self.backslashes + 1
    }

    /// Where what this mark opened before `from` ends: at its match, or at the end of the line if that was cut off.
    pub(super) fn content_end(self, text: &str, from: usize) -> usize {
        let mut backslashes = 0;
        for (offset, byte) in text.as_bytes().get(from..).unwrap_or_default().iter().enumerate() {
            if *byte == b'\\' {
                backslashes += 1;
                continue;
            }
            if *byte == b'\n' {
                return from + offset;
            }
            let closes = if self.backslashes == 0 {
                backslashes % 2 == 0
            } else {
                backslashes <= self.backslashes
            };
            if *byte == self.mark && closes {
                return from + offset - if self.backslashes == 0 { 0 } else { backslashes };
            }
            backslashes = 0;
        }
        text.len()
    }
}

/// Whether nothing but punctuation follows on the line.
pub(super) fn ends_line(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let after = rest.trim_start_matches([',', ';', ')', '}', ']', '.', ' ', '\r']);
    after.is_empty()
        || after.starts_with(['\n', '"', '\'', '`', '，', '。', '；'])
        || after.starts_with("\\n")
}

/// Where the line, or the quotation or JSON string that it stands in, ends; looks `most` bytes far, and a little
/// further to the end of a character.
pub(super) fn line_end(text: &str, start: usize, most: usize) -> usize {
    let mut at = start;
    while let Some(byte) = text.as_bytes().get(at) {
        if at - start >= most && text.is_char_boundary(at) {
            break;
        }
        if matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`')
            || is_escape(text, at)
            || mask_end(text, at).is_some()
        {
            break;
        }
        at += 1;
    }
    at
}

/// A backslash that stands for a line break, a tab or a quotation mark.
fn is_escape(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    bytes.get(at) == Some(&b'\\')
        && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\'))
}

/// Where a value outside quotes ends. Punctuation ends it only where it looks like the text's own.
pub(super) fn bare_end(text: &str, start: usize, reach: Reach) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let mut open = OpenBrackets::default();
    for (offset, letter) in rest.char_indices() {
        let at = start + offset;
        open.open(letter);
        let ends = match letter {
            '"' | '\'' | '`' | '<' | '>' | '，' | '。' | '；' | '、' | '）' | '】' | '」' | '”' | '’' => {
                true
            }
            '\\' => is_escape(text, at),
            '[' => mask_end(text, at).is_some(),
            '&' | '#' if reach == Reach::Parameter => true,
            _ if offset > LONGEST_LOOSE && reach == Reach::Bounded => true,
            '&' | ',' | ';' => starts_member(text, at + 1),
            ')' | ']' | '}' => !open.close(letter) && ends_here(text, at + 1),
            _ => letter.is_whitespace() || letter.is_control(),
        };
        if ends {
            return at;
        }
    }
    text.len()
}

/// Brackets that a value itself has opened: `${TOKEN}` ends with its own, `{password=x}` with the text's.
#[derive(Default)]
struct OpenBrackets {
    round: usize,
    square: usize,
    curly: usize,
}

impl OpenBrackets {
    fn open(&mut self, letter: char) {
        match letter {
            '(' => self.round += 1,
            '[' => self.square += 1,
            '{' => self.curly += 1,
            _ => {}
        }
    }

    /// Whether the closing bracket belongs to one that the value opened.
    fn close(&mut self, letter: char) -> bool {
        let count = match letter {
            ')' => &mut self.round,
            ']' => &mut self.square,
            _ => &mut self.curly,
        };
        let is_own = *count > 0;
        *count = count.saturating_sub(1);
        is_own
    }
}

/// Whether the text goes on with a gap, a quotation mark, or another `name=`.
fn starts_member(text: &str, at: usize) -> bool {
    let name_end = run_end(text, at, |byte| is_word_byte(byte) || byte == b'.');
    ends_here(text, at) || (name_end > at && matches!(text.as_bytes().get(name_end), Some(b'=' | b':')))
}

fn ends_here(text: &str, at: usize) -> bool {
    match text.as_bytes().get(at) {
        None => true,
        Some(byte) => byte.is_ascii_whitespace() || b"\"'`,;:.)]}>\\".contains(byte),
    }
}
