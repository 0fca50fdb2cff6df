//! What of a config may be shown: its form and its names, never the values of variables, headers or anything secret.

use std::borrow::Cow;

use candor_core::delivery::redaction::{self, escape_invisible, is_secret_name};
use candor_core::wire::encode::Edits;
use similar::TextDiff;

use super::document::{Document, Node, Value};
use crate::screen;

/// What stands in the place of a value that is not shown.
const MASK: &str = "…";

/// Lines around each change of a diff.
const AROUND: usize = 3;

/// Members whose values are never shown, whatever they are called inside.
const HIDDEN: &[&str] = &["env", "headers", "http_headers", "requestInit", "env_file"];

/// A command on one line, as one would type it, without what is secret.
pub(crate) fn command(program: &str, args: &[&str]) -> String {
    let mut words = vec![quoted(program)];
    let mut before = "";
    for word in args {
        words.push(match masked_word(before, word) {
            Some(masked) => masked,
            None => quoted(word),
        });
        before = word;
    }
    screen::line(&redaction::text(&words.join(" ")).value)
}

/// A text of a config on one line, without credentials.
pub(crate) fn text(text: &str) -> String {
    screen::line(&redaction::text(text).value)
}

/// A unified diff of two versions of a config.
pub(super) fn diff(place: &str, old: &Document, new: &Document) -> String {
    let (before, after) = (masked(old), masked(new));
    let diff = TextDiff::from_lines(&before, &after);
    let shown = diff
        .unified_diff()
        .context_radius(AROUND)
        .header(place, place)
        .to_string();
    let mut out = String::with_capacity(shown.len());
    for line in shown.lines() {
        out.push_str(&escape_invisible(&redaction::text(line).value));
        out.push('\n');
    }
    out
}

/// The text with every hidden value masked.
fn masked(document: &Document) -> String {
    let mut edits = Edits::new();
    mask(&document.root, &mut edits);
    edits.apply(&document.text)
}

fn mask(node: &Node, edits: &mut Edits) {
    match &node.value {
        Value::Table(members) => {
            for member in members {
                if HIDDEN.contains(&member.key.as_str()) || is_secret_name(&member.key) {
                    hide(&member.value, edits);
                } else {
                    mask(&member.value, edits);
                }
            }
        }
        Value::List(items) => {
            let mut before = "";
            for item in items {
                match item.text() {
                    Some(word) => {
                        if let Some(masked) = masked_word(before, word) {
                            edits.replace(item.span.clone(), serde_json::Value::from(masked).to_string());
                        }
                        before = word;
                    }
                    None => mask(item, edits),
                }
            }
        }
        Value::Text(_) | Value::Flag(_) | Value::Other => {}
    }
}

/// Hides every value below; names stay.
fn hide(node: &Node, edits: &mut Edits) {
    match &node.value {
        Value::Table(members) => members.iter().for_each(|member| hide(&member.value, edits)),
        Value::List(items) => items.iter().for_each(|item| hide(item, edits)),
        Value::Text(_) | Value::Flag(_) | Value::Other => {
            edits.replace(node.span.clone(), format!("\"{MASK}\""));
        }
    }
}

/// How an argument is shown that is secret by the option before it (`--token x`) or by its own name (`TOKEN=x`,
/// `--token=x`); `None` for any other.
fn masked_word(before: &str, word: &str) -> Option<String> {
    let is_secret = |name: &str| is_secret_name(name.trim_start_matches('-'));
    if let Some((name, value)) = word.split_once('=')
        && !value.is_empty()
        && is_secret(name)
    {
        return Some(format!("{name}={MASK}"));
    }
    let follows = before.starts_with('-') && !before.contains('=') && !word.starts_with('-');
    (follows && is_secret(before)).then(|| MASK.to_owned())
}

/// A word as a shell would want it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./:@=,+%^$~".contains(letter);
    let word: Cow<'_, str> = if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''")).into()
    };
    word.into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::document::Syntax;
    use super::*;

    #[test]
    fn nothing_secret_is_shown_and_everything_else_is() {
        let document = |text: &str| Document::parse(text.to_owned(), Syntax::Json).unwrap();
        let before = document(
            r#"{
  "apiKey": "SENTINEL-1",
  "mcpServers": {
    "a": {
      "command": "npx",
      "args": ["-y", "--api-key", "SENTINEL-2", "DB_PASSWORD=SENTINEL-3", "--root", "src"],
      "headers": { "X": ["SENTINEL-4"] },
      "env": { "ANY": "SENTINEL-5", "N": 123454321, "TOKEN": "SENTINEL-6" }
    }
  }
}"#,
        );
        let after = document(&before.text.replace("[\"-y\"", "[\"--\", \"-y\""));
        let shown = diff("x.json", &before, &after);
        assert!(
            !shown.contains("SENTINEL") && !shown.contains("123454321"),
            "{shown}"
        );
        for kept in [
            "\"TOKEN\"",
            "\"ANY\"",
            "\"--root\", \"src\"",
            "DB_PASSWORD=…",
            "+      \"args\": [\"--\", \"-y\"",
        ] {
            assert!(shown.contains(kept), "{kept}: {shown}");
        }
    }

    #[test]
    fn a_command_is_shown_as_one_types_it() {
        assert_eq!(command("npx", &["-y", "a b", ""]), "npx -y 'a b' ''");
        assert_eq!(
            command("x", &["--token", "s3cret", "--max-tokens", "5"]),
            "x --token … --max-tokens 5"
        );
        assert_eq!(
            command("x", &["--token=s3cret", "-e", "GITHUB_TOKEN"]),
            "x --token=… -e GITHUB_TOKEN"
        );
        assert!(!command("x", &["a\u{1b}[2J\nb"]).contains(char::is_control));
    }
}
