//! Private keys in PEM armour (RFC 7468), whole or cut off.

use super::change::{Found, RedactionKind};

/// What opens armour of any kind.
pub(super) const OPENS: &str = "-----BEGIN";

const DASHES: &str = "-----";

/// Longest label looked at, in bytes: `RSA PRIVATE KEY`, `PGP PRIVATE KEY BLOCK`.
const LONGEST_LABEL: usize = 64;

/// Fewest letters of base64 that make armour hold a key; less is a mention or a placeholder.
const LEAST_BODY: usize = 32;

/// Whether armour opens at `at`.
pub(super) fn opens(text: &str, at: usize) -> bool {
    text.as_bytes()
        .get(at..)
        .is_some_and(|rest| rest.starts_with(OPENS.as_bytes()))
}

/// The private key whose armour opens at `at`. One without an end (a cut text) is masked as far as it reads like
/// a key.
pub(super) fn key_at(text: &str, at: usize) -> Option<Found> {
    let label_start = at + OPENS.len();
    let rest = text.get(label_start..)?;
    let label_end = label_length(rest)?;
    if !rest.get(..label_end)?.contains("PRIVATE KEY") {
        return None;
    }
    let body_start = label_start + label_end + DASHES.len();
    let body = text.get(body_start..)?;
    let span_end = match armoured_length(body) {
        Some((body_length, whole)) => {
            (letters(body.get(..body_length)?) >= LEAST_BODY).then_some(body_start + whole)?
        }
        None => {
            let length = cut_length(body);
            (letters(body.get(..length)?) >= LEAST_BODY).then_some(body_start + length)?
        }
    };
    Some(Found {
        span: at..span_end,
        kind: RedactionKind::PrivateKey,
    })
}

/// Length of the body, and of body and closing line, if the armour is closed before other armour opens.
fn armoured_length(body: &str) -> Option<(usize, usize)> {
    let body_length = body.find(DASHES)?;
    let closing = body.get(body_length..)?.strip_prefix("-----END")?;
    let label_length = label_length(closing)?;
    Some((
        body_length,
        body_length + "-----END".len() + label_length + DASHES.len(),
    ))
}

/// Length of the label that `text` starts with. No label has a bracket: a mask in one would make it short enough to be a
/// label, and a text that was redacted once must read the same the second time.
fn label_length(text: &str) -> Option<usize> {
    let windows = text.as_bytes().windows(DASHES.len());
    let length = windows
        .take(LONGEST_LABEL)
        .position(|window| window == DASHES.as_bytes())?;
    (!text.get(..length)?.contains('[')).then_some(length)
}

/// How far a body without an end reads like a key: base64, line breaks (also escaped ones) and indentation.
fn cut_length(body: &str) -> usize {
    let mut at_line_start = true;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'\n' | b'\r' => at_line_start = true,
            b' ' | b'\t' if at_line_start => {}
            b'\\' => {}
            b'+' | b'/' | b'=' => at_line_start = false,
            _ if byte.is_ascii_alphanumeric() => at_line_start = false,
            _ => return at,
        }
    }
    body.len()
}

fn letters(body: &str) -> usize {
    body.bytes().filter(u8::is_ascii_alphanumeric).count()
}
