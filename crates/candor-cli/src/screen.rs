//! What goes to stdout: how wide it may be, whether in colour, and nothing that a terminal would obey.

use std::env;
use std::fmt::Write as _;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write, stdout};

use candor_core::delivery::redaction::escape_invisible;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What is known of the place that a person reads at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Columns of a terminal; `None` where nothing has to fit (a file, a pipe).
    pub(crate) width: Option<usize>,
    /// May colours be used?
    pub(crate) colour: bool,
}

impl Screen {
    /// What stdout is: a terminal, or something that is read later.
    pub(crate) fn of_stdout() -> Self {
        if !stdout().is_terminal() {
            return Self {
                width: None,
                colour: false,
            };
        }
        let measured = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let said = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let width = said.or(measured).filter(|columns| *columns > 0);
        Self {
            width,
            colour: env::var_os("NO_COLOR").is_none(),
        }
    }
}

/// Writes to stdout, buffered. A reader that has gone (`| head`) is no fault.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => Err(fault.into()),
        _ => Ok(()),
    }
}

/// Says something beside the answer, on stderr.
#[expect(clippy::print_stderr, reason = "notes go beside the answer, never into it")]
pub(crate) fn note(text: &str) {
    eprintln!("{}", escape_invisible(text));
}

/// Foreign text as one line: nothing in it moves a cursor, hides, or opens a line of its own.
pub(crate) fn line(text: &str) -> String {
    escape_invisible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Foreign text as the lines it has, each without anything that a terminal would obey.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.split('\n')
        .map(|each| escape_invisible(each).replace('\t', "    "))
        .collect()
}

/// JSON on one line. Characters that a reader does not see are written as JSON's own escapes.
pub(crate) fn json(value: &Value) -> String {
    escaped(value.to_string())
}

/// JSON over several lines, in the same way.
pub(crate) fn pretty_json(value: &Value) -> String {
    escaped(serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()))
}

/// Outside its strings JSON has no character that needs this, so escaping the whole text stays JSON.
fn escaped(text: String) -> String {
    if matches!(escape_invisible(&text), std::borrow::Cow::Borrowed(_)) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut utf8, mut utf16) = ([0; 4], [0; 2]);
    for letter in text.chars() {
        if matches!(
            escape_invisible(letter.encode_utf8(&mut utf8)),
            std::borrow::Cow::Borrowed(_)
        ) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut utf16) {
            // Writing into a String can't fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// How many columns a text takes; East Asian characters take two.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text cut to so many columns, the cut shown.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let (mut out, mut taken) = (String::new(), 1);
    for letter in text.chars() {
        taken += letter.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        out.push(letter);
    }
    out.push('…');
    out
}

/// A text broken at spaces into lines of at most so many columns. A word that is longer stays whole: it may be a path
/// or an id that someone copies.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut current = String::new();
    for word in text.split(' ') {
        if !current.is_empty() && width(&current) + 1 + width(word) > columns {
            out.push(std::mem::take(&mut current));
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    out.push(current);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\re\nf\tg\u{7}";
        for shown in [
            line(hostile),
            lines(hostile).concat(),
            json(&json!({ "x": hostile })),
        ] {
            assert!(!shown.chars().any(char::is_control), "{shown:?}");
            assert!(!shown.contains('\u{202e}'), "{shown:?}");
        }
        assert_eq!(
            line("book_room 会议室 é"),
            "book_room 会议室 é",
            "what can be read stays"
        );
        assert_eq!(lines("a\nb"), ["a", "b"]);
    }

    #[test]
    fn escaped_json_is_the_same_value() {
        for value in [
            json!({ "a\u{9b}": ["\u{202e}x\u{e0041}\u{7f}", "plain 会"] }),
            json!({ "n": 12 }),
        ] {
            for text in [json(&value), pretty_json(&value)] {
                assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{text}");
            }
        }
    }

    #[test]
    fn texts_are_cut_and_broken_by_columns() {
        assert_eq!(cut("room", 4), "room");
        assert_eq!(cut("rooms", 4), "roo…");
        assert_eq!(cut("会议室", 4), "会…");
        assert_eq!(width(&cut("会议室", 5)), 5);
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("averylongword b", 4), ["averylongword", "b"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
