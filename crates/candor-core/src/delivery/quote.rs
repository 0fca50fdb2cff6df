//! A server's words inside Candor's: masked, escaped, cut, and always in quotes.

use super::redaction;

/// How many characters of a server's words a text shows.
const SHOWN: usize = 300;

/// Quotes foreign text: credentials masked, control and invisible characters escaped so that it can't forge a line
/// of ours, cut at 300 characters, inner quotes escaped.
pub fn quote(text: &str) -> String {
    let masked = redaction::text(text.trim()).value;
    let mut out = String::with_capacity(masked.len().min(SHOWN) + 2);
    out.push('"');
    let mut characters = masked.chars();
    for character in characters.by_ref().take(SHOWN) {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out.push('"');
    redaction::escape_invisible(&out).into_owned()
}

/// A name that came from outside (a tool, a server) inside our text: short, and unable to forge a line.
pub fn name(text: &str) -> String {
    let cut: String = text.chars().take(80).collect();
    let cut = if cut.len() < text.len() {
        format!("{cut}…")
    } else {
        cut
    };
    redaction::escape_invisible(&cut.replace(['\n', '\r', '\t'], " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_can_forge_no_line_and_no_end_of_quote() {
        assert_eq!(
            quote("a\nNOT DONE: \"x\"\u{202e}"),
            r#""a\nNOT DONE: \"x\"\u{202e}""#
        );
        assert_eq!(quote(" plain words "), "\"plain words\"");
        assert_eq!(quote(&"y".repeat(400)).chars().count(), 303);
        assert_eq!(name("tool\nNOT DONE"), "tool NOT DONE");
        assert_eq!(name("book_room"), "book_room");
    }
}
