//! What a server's stdout carries besides messages: told apart by its first bytes, logged once per kind, counted.

use std::collections::BTreeMap;
use std::fmt;

use crate::frame::Frame;

/// How many characters [`preview`] shows.
const PREVIEW: usize = 120;

/// A kind of line that is no message. What a message is, is not decided here: ask only about the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Noise {
    /// White space only.
    Blank,
    /// Plain words: a banner, a log line, a stray `print`.
    Text,
    /// Text with terminal escapes: colours, cursor moves, spinners.
    Ansi,
    /// It begins like JSON. A log line in JSON, or a message that is malformed or addressed to nobody.
    Json,
    /// A `Content-Length:` header: the server frames its messages as language servers do, not as MCP does.
    HeaderFraming,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A line over the limit.
    Oversized,
}

impl Noise {
    /// The kind of a line.
    pub fn of(line: &[u8]) -> Self {
        let body = line.trim_ascii_start();
        match body.first() {
            None => Self::Blank,
            Some(b'{' | b'[') if opens_json(body) => Self::Json,
            _ if std::str::from_utf8(line).is_err() => Self::InvalidUtf8,
            _ if line.contains(&0x1b) => Self::Ansi,
            _ if starts_like(body, b"content-length:") => Self::HeaderFraming,
            _ => Self::Text,
        }
    }

    /// The kind of a frame. An oversized one is [`Noise::Oversized`] whatever it begins with.
    pub fn of_frame(frame: &Frame) -> Self {
        match frame {
            Frame::Line(line) | Frame::Unterminated(line) => Self::of(line),
            Frame::Blank => Self::Blank,
            Frame::Oversized { .. } => Self::Oversized,
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blank => "a blank line",
            Self::Text => "plain text",
            Self::Ansi => "text with terminal escapes",
            Self::Json => "JSON that is no message",
            Self::HeaderFraming => {
                "a Content-Length header (MCP over stdio has none: one message is one line)"
            }
            Self::InvalidUtf8 => "bytes that are not UTF-8",
            Self::Oversized => "a line over the size limit",
        })
    }
}

/// Counts noise, and says which is the first of its kind and so worth a line in the log.
#[derive(Debug, Default)]
pub struct NoiseLog {
    counts: BTreeMap<Noise, u64>,
}

impl NoiseLog {
    /// Nothing heard yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one, and returns whether it is the first of its kind.
    pub fn note(&mut self, noise: Noise) -> bool {
        let count = self.counts.entry(noise).or_default();
        *count = count.saturating_add(1);
        *count == 1
    }

    /// How many of this kind were noted.
    pub fn count(&self, noise: Noise) -> u64 {
        self.counts.get(&noise).copied().unwrap_or_default()
    }

    /// Every kind that was noted, with its count.
    pub fn counts(&self) -> impl Iterator<Item = (Noise, u64)> + '_ {
        self.counts.iter().map(|(noise, count)| (*noise, *count))
    }
}

/// The beginning of a line, safe to print: escapes and control characters are spelled out, bytes that are not
/// UTF-8 become `\u{fffd}`, and a cut is shown as `…`. Credentials are not masked here.
pub fn preview(line: &[u8]) -> String {
    // Four bytes a character at most, so this is always enough, and a long line is not decoded to its end.
    let head = line.get(..PREVIEW * 4).unwrap_or(line);
    let text = String::from_utf8_lossy(head);
    let mut shown = String::new();
    let mut characters = text.chars();
    for character in characters.by_ref().take(PREVIEW) {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if characters.next().is_some() || head.len() < line.len() {
        shown.push('…');
    }
    shown
}

/// An object, or a list of objects: `[INFO]` is how log lines begin.
fn opens_json(body: &[u8]) -> bool {
    let inner = body.strip_prefix(b"[").unwrap_or(body).trim_ascii_start();
    matches!(inner.first(), Some(b'{' | b']'))
}

fn starts_like(line: &[u8], lower: &[u8]) -> bool {
    line.get(..lower.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(lower))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn each_kind_is_known_by_its_first_bytes() {
        let cases: &[(&[u8], Noise)] = &[
            (b"", Noise::Blank),
            (b" \t\r", Noise::Blank),
            (b"Server started v1.2", Noise::Text),
            ("Sunucu başladı".as_bytes(), Noise::Text),
            (b"content-type: x", Noise::Text),
            (b"12", Noise::Text),
            (b"\x1b[32mready\x1b[0m", Noise::Ansi),
            (b"ready \x1b[0m", Noise::Ansi),
            (b"[\x1b[32minfo\x1b[0m] ready", Noise::Ansi),
            (br#"{"level":"info","msg":"x"}"#, Noise::Json),
            (br#"  [{"jsonrpc":"2.0"}]"#, Noise::Json),
            (b"[ ]", Noise::Json),
            (b"[INFO] ready", Noise::Text),
            (b"[12:01] ready", Noise::Text),
            (b"Content-Length: 52", Noise::HeaderFraming),
            (b"content-length:52", Noise::HeaderFraming),
            (b"caf\xe9", Noise::InvalidUtf8),
        ];
        for (line, expected) in cases {
            assert_eq!(Noise::of(line), *expected, "{}", preview(line));
        }
    }

    #[test]
    fn each_frame_has_a_kind() {
        let text = Bytes::from_static(b"hello");
        assert_eq!(Noise::of_frame(&Frame::Line(text.clone())), Noise::Text);
        assert_eq!(Noise::of_frame(&Frame::Unterminated(text)), Noise::Text);
        assert_eq!(Noise::of_frame(&Frame::Blank), Noise::Blank);
        let head = Bytes::from_static(b"{");
        assert_eq!(
            Noise::of_frame(&Frame::Oversized { head, length: 9 }),
            Noise::Oversized
        );
    }

    #[test]
    fn a_kind_is_first_once_and_counted_always() {
        let mut log = NoiseLog::new();
        let heard = [Noise::Text, Noise::Text, Noise::Blank, Noise::Text];
        assert_eq!(heard.map(|noise| log.note(noise)), [true, false, true, false]);
        assert_eq!(
            (
                log.count(Noise::Text),
                log.count(Noise::Blank),
                log.count(Noise::Ansi)
            ),
            (3, 1, 0)
        );
        assert_eq!(
            log.counts().collect::<Vec<_>>(),
            [(Noise::Blank, 1), (Noise::Text, 3)]
        );
    }

    #[test]
    fn a_preview_can_not_drive_a_terminal_nor_fill_a_log() {
        assert_eq!(preview(b"ready"), "ready");
        assert_eq!(preview(b"\x1b[2J\r\x07"), "\\u{1b}[2J\\r\\u{7}");
        assert_eq!(preview(b"caf\xe9"), "caf\u{fffd}");
        assert_eq!(
            preview("é".repeat(PREVIEW).as_bytes()),
            "é".repeat(PREVIEW),
            "whole, so no mark of a cut"
        );
        assert_eq!(
            preview("é".repeat(1 << 20).as_bytes()),
            format!("{}…", "é".repeat(PREVIEW))
        );
    }
}
