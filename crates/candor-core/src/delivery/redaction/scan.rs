//! One pass over a text, word by word, asking each detector whether a credential starts here.
//!
//! Every detector looks forward from the start of a word and never behind it, so a text that was redacted once
//! reads the same the second time. What is not a match is passed by at least one word: the pass is linear. Every text
//! of every recorded call is read here, and most of it is just words: those are passed before any detector is asked.

use std::borrow::Cow;

use super::assignment;
use super::change::{Found, Redacted, apply, mask_end, tally};
use super::encoded;
use super::known::{KnownSecrets, find_known};
use super::names::UNSPACED_NOUNS;
use super::openings::Openings;
use super::pem;
use super::schemes;
use super::token;
use super::url;

/// What [`UNSPACED_NOUNS`] open with: few of the letters that are not ASCII.
static UNSPACED_OPENINGS: Openings = Openings::of(UNSPACED_NOUNS);

/// Masks the credentials in a text; borrows, and allocates nothing, where there are none.
///
/// Found are exact formats only: authorization and cookie headers, `Bearer` and `Basic` credentials, user info and
/// secret query parameters of URLs, connection strings, tokens with a vendor's prefix, JSON Web Tokens, private
/// keys in PEM, and values assigned to a secret's name (`password=…`, `"password": "…"`). Prose about passwords,
/// hashes, UUIDs, base64 and data URIs are left as they are.
#[must_use]
pub fn text(input: &str) -> Redacted<Cow<'_, str>> {
    let finds = find(input);
    if finds.is_empty() {
        return Redacted {
            value: Cow::Borrowed(input),
            changes: Vec::new(),
        };
    }
    let Redacted { value, changes } = apply(input, &finds);
    Redacted {
        value: Cow::Owned(value),
        changes,
    }
}

/// Masks the credentials in a text and the values that are known to be secret; borrows where there are none.
///
/// Where a known value is a part of a credential, or the other way round, both go: no half stays.
#[must_use]
pub fn masked<'a>(input: &'a str, secrets: &KnownSecrets) -> Redacted<Cow<'a, str>> {
    if secrets.is_empty() {
        return text(input);
    }
    let known = find_known(input, secrets);
    if known.is_empty() {
        return text(input);
    }
    let Redacted { value, mut changes } = apply(input, &merged(find(input), known));
    // What stood behind a known value may read differently now that it is a mask.
    let again = text(&value);
    for change in &again.changes {
        tally(&mut changes, change.kind, change.count);
    }
    Redacted {
        value: Cow::Owned(again.value.into_owned()),
        changes,
    }
}

/// Two lists of finds as one, those that overlap joined.
fn merged(mut finds: Vec<Found>, more: Vec<Found>) -> Vec<Found> {
    finds.extend(more);
    finds.sort_by_key(|found| (found.span.start, found.span.end));
    let mut merged: Vec<Found> = Vec::new();
    for found in finds {
        match merged.last_mut() {
            Some(last) if found.span.start < last.span.end => {
                last.span.end = last.span.end.max(found.span.end);
            }
            _ => merged.push(found),
        }
    }
    merged
}

/// What to do at one place of the text.
enum Step {
    /// Nothing here; go on at this byte.
    On(usize),
    /// Something that is never touched (a mask, a data URI) ends at this byte.
    Over(usize),
    /// A credential.
    Mask(Found),
}

/// All credentials of a text, in order.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut finds = Vec::new();
    let mut at = 0;
    // Nothing before this byte may be looked at: it is masked, or will read differently next time.
    let mut floor = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        at = match step(text, at, byte, floor) {
            Step::On(next) => next,
            Step::Over(next) => {
                floor = next;
                next
            }
            Step::Mask(found) => {
                floor = found.span.end;
                finds.push(found);
                floor
            }
        };
    }
    finds
}

fn step(text: &str, at: usize, byte: u8, floor: usize) -> Step {
    match byte {
        b'[' => mask_end(text, at).map_or(Step::On(at + 1), Step::Over),
        b':' => url::user_info_at(text, at, floor).map_or(Step::On(at + 1), Step::Mask),
        b'\\' | b'%' | 0x1b => Step::On(escape_end(text, at)),
        b'-' if pem::opens(text, at) => {
            pem::key_at(text, at).map_or(Step::On(at + pem::OPENS.len()), Step::Mask)
        }
        _ if is_word_byte(byte) => word_step(text, at, floor),
        0x80.. => unspaced_step(text, at),
        _ => Step::On(at + 1),
    }
}

/// A word starts at `at`: a name, a scheme, a token, or just a word.
fn word_step(text: &str, at: usize, floor: usize) -> Step {
    let end = word_end(text, at);
    if is_just_a_word(text, at, end) {
        return Step::On(end);
    }
    let word = text.get(at..end).unwrap_or_default();
    if let Some(after) = encoded::data_uri_end(text, word, end) {
        return Step::Over(after);
    }
    schemes::credentials_after(text, word, end)
        .or_else(|| token::token_at(text, at, end, floor))
        .or_else(|| assignment::value_after(text, at, end, floor))
        .map_or(Step::On(end), Step::Mask)
}

/// Whether no detector could find anything at a word: it opens no token, and nothing follows that follows a name, a
/// scheme or `data`. That tells nearly all words of a text, from a few bytes of each.
fn is_just_a_word(text: &str, at: usize, end: usize) -> bool {
    /// What `：` opens with, the only separator that is not ASCII.
    const FULL_WIDTH: u8 = 0xef;
    let bytes = text.as_bytes();
    if token::may_start(bytes.get(at..).unwrap_or_default()) {
        return false;
    }
    match bytes.get(end..).unwrap_or_default() {
        [b' ', b' ' | b'\t' | b'=' | b':' | FULL_WIDTH, ..] => false,
        // A flag (`--token …`) or a scheme (`Bearer …`, `Basic …`) speaks of what stands behind a gap.
        [b' ', ..] => !matches!(bytes.get(at), Some(b'-' | b'b' | b'B')),
        [b'\t' | b'=' | b':' | b'\\' | b'"' | b'\'' | b'`' | FULL_WIDTH, ..] => false,
        _ => true,
    }
}

/// Where the word that starts at `at` ends. Armour ends it too, though its dashes could belong to it.
fn word_end(text: &str, at: usize) -> usize {
    let mut end = at + 1;
    loop {
        end = run_end(text, end, |byte| byte != b'-' && is_word_byte(byte));
        if text.as_bytes().get(end) != Some(&b'-') || pem::opens(text, end) {
            return end;
        }
        end += 1;
    }
}

/// Names in scripts without gaps between words: `密码：…`.
fn unspaced_step(text: &str, at: usize) -> Step {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    if !UNSPACED_OPENINGS.may_start(rest) {
        return Step::On(at + 1);
    }
    match UNSPACED_NOUNS
        .iter()
        .find(|noun| rest.starts_with(noun.as_bytes()))
    {
        Some(noun) => {
            let end = at + noun.len();
            assignment::value_after(text, at, end, at).map_or(Step::On(end), Step::Mask)
        }
        None => Step::On(at + 1),
    }
}

/// Where an escape ends: `\n` of a JSON text, `%20` of a URL, a terminal's colour. Its letters are not part of
/// the word that follows.
fn escape_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\\'), Some(b'n' | b'r' | b't' | b'b' | b'f')) => at + 2,
        (Some(b'\\'), Some(b'u')) if is_hex(text, at + 2, 4) => at + 6,
        (Some(b'%'), _) if is_hex(text, at + 1, 2) => at + 3,
        (Some(0x1b), Some(b'[')) => {
            run_end(text, at + 2, |byte| byte.is_ascii_digit() || byte == b';').saturating_add(1)
        }
        _ => at + 1,
    }
}

fn is_hex(text: &str, from: usize, length: usize) -> bool {
    text.as_bytes()
        .get(from..from.saturating_add(length))
        .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Where the run of bytes that starts at `from` ends.
pub(super) fn run_end(text: &str, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
}

/// What names and tokens are made of.
pub(super) fn is_word_byte(byte: u8) -> bool {
    WORD_BYTES.get(usize::from(byte)).is_some_and(|is_one| *is_one)
}

/// [`is_word_byte`] of each byte, worked out beforehand: it is asked about every byte of a text.
static WORD_BYTES: [bool; 256] = word_bytes();

#[expect(
    clippy::indexing_slicing,
    reason = "a byte is below 256, and `get_mut` is not for constants"
)]
const fn word_bytes() -> [bool; 256] {
    let mut is_one = [false; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        is_one[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        byte += 1;
    }
    is_one
}
