//! A server's words inside Candor's: masked, escaped, cut, and always in quotes.

use super::redaction::{KnownSecrets, escape_invisible, least, masked};

/// How many characters of a server's words a text shows.
const SHOWN: usize = 300;

/// How many characters of a tool's own words a text of its own server shows.
const SHOWN_OWN: usize = 1_000;

/// How many characters of a name a text shows.
const SHOWN_NAME: usize = 80;

/// Quotes foreign text: frames of stacks and parts of URLs left out, credentials and known secrets masked, control and
/// invisible characters escaped so that it can't forge a line of ours, cut at 300 characters, inner quotes escaped.
pub fn quote(text: &str, secrets: &KnownSecrets) -> String {
    quoted(text, secrets, SHOWN)
}

/// As [`quote`], for the words of a tool in a text of its own server: cut at 1000 characters.
pub fn quote_long(text: &str, secrets: &KnownSecrets) -> String {
    quoted(text, secrets, SHOWN_OWN)
}

/// A text of several lines as it was, without what can't be seen, cut at this many characters.
pub fn escaped(text: &str, shown: usize) -> String {
    let mut out: String = text.chars().take(shown).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    escape_invisible(&out).into_owned()
}

fn quoted(text: &str, secrets: &KnownSecrets, shown: usize) -> String {
    let least = least(text.trim(), secrets).value;
    let mut out = String::with_capacity(least.len().min(shown) + 2);
    out.push('"');
    let mut characters = least.chars();
    for character in characters.by_ref().take(shown) {
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
    escape_invisible(&out).into_owned()
}

/// A name that came from outside (a tool, a server) inside our text: short, unable to forge a line, and without what
/// [`least`] leaves out: names are made of URLs too.
pub fn name(text: &str, secrets: &KnownSecrets) -> String {
    short(&least(text, secrets).value)
}

/// Something to follow, inside our text: as a name, but a URL keeps its query, without which it leads nowhere.
pub fn reference(text: &str, secrets: &KnownSecrets) -> String {
    short(&masked(text, secrets).value)
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_NAME).collect();
    let cut = if cut.len() < text.len() {
        format!("{cut}…")
    } else {
        cut
    };
    escape_invisible(&cut.replace(['\n', '\r', '\t'], " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_words_can_forge_no_line_and_no_end_of_quote() {
        let none = KnownSecrets::default();
        assert_eq!(
            quote("a\nNOT DONE: \"x\"\u{202e}", &none),
            r#""a\nNOT DONE: \"x\"\u{202e}""#
        );
        assert_eq!(quote(" plain words ", &none), "\"plain words\"");
        assert_eq!(quote(&"y".repeat(400), &none).chars().count(), 303);
        assert_eq!(name("tool\nNOT DONE", &none), "tool NOT DONE");
        assert_eq!(name("book_room", &none), "book_room");
    }
}
