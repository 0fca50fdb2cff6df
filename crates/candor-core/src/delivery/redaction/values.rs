//! Whether what is assigned to a secret's name is the secret, or a mask, a placeholder, code or prose.
//!
//! A server's error text is what the model mends its call by: `"password": "must have 8 characters"` has to
//! reach it.

use super::change::holds_mask;
use super::encoded::is_data_uri;

/// Words that stand in the place of a secret and are none.
const LITERALS: &[&str] = &[
    "true",
    "false",
    "null",
    "none",
    "nil",
    "undefined",
    "unset",
    "empty",
    "default",
    "string",
    "str",
    "number",
    "integer",
    "int",
    "boolean",
    "bool",
    "object",
    "array",
    "any",
    "unknown",
    "required",
    "optional",
    "missing",
    "invalid",
    "incorrect",
    "expired",
    "revoked",
    "expected",
    "received",
    "denied",
    "forbidden",
    "unauthorized",
    "redacted",
    "hidden",
    "masked",
    "filtered",
    "removed",
    "protected",
];

/// Words by which a sentence about a secret is told from a passphrase.
const SENTENCE_WORDS: &[&str] = &[
    "is",
    "are",
    "was",
    "has",
    "does",
    "must",
    "should",
    "may",
    "can",
    "cannot",
    "can't",
    "isn't",
    "doesn't",
    "not",
    "too",
    "required",
    "missing",
    "invalid",
    "incorrect",
    "wrong",
    "blank",
    "empty",
    "expired",
    "expected",
    "field",
    "least",
    "characters",
    "denied",
    "failed",
    "mismatch",
    "match",
    "please",
    "of",
    "for",
    "to",
    "the",
];

/// Letters of scripts without gaps between words from which on a value is prose.
const LEAST_IDEOGRAPHS: usize = 4;

/// Whether a value assigned to `name` in a text stands for a secret instead of being one.
pub(super) fn is_no_secret(name: &str, value: &str) -> bool {
    is_masked(value)
        || holds_mask(value)
        || is_placeholder(value)
        || is_one_of(value, LITERALS)
        || is_reference(name, value)
        || is_sentence(value)
        || is_data_uri(value)
}

/// Whether the value of a query parameter stands for a secret. A URL has neither prose nor code.
pub(super) fn is_no_query_secret(value: &str) -> bool {
    value.is_empty() || is_masked(value) || holds_mask(value) || is_placeholder(value)
}

/// The most letters that a mask leaves of a secret; where more stand beside the stars, the secret does too.
const MOST_SHOWN: usize = 8;

/// Whether somebody masked the value already: `********`, `[REDACTED]`, `<hidden>`, `abc***`.
pub(super) fn is_masked(value: &str) -> bool {
    const FILLERS: &[char] = &['*', '•', '●', '█', 'x', 'X', '.', '…', '#', '-', '_'];
    let shown = value.chars().filter(|letter| !FILLERS.contains(letter)).count();
    let is_filler = !value.is_empty() && shown == 0;
    let is_cut = (value.contains("***") || value.contains("•••")) && shown <= MOST_SHOWN;
    is_filler || is_cut || is_bracketed_word(value)
}

/// `[REDACTED]`, `<your token>`, `(hidden)`: words in brackets.
fn is_bracketed_word(value: &str) -> bool {
    let inner = [('[', ']'), ('<', '>'), ('(', ')')]
        .into_iter()
        .find_map(|(open, close)| value.strip_prefix(open)?.strip_suffix(close));
    inner.is_some_and(|inner| {
        inner
            .chars()
            .all(|letter| letter.is_alphabetic() || matches!(letter, ' ' | '_' | '-' | ':'))
    })
}

/// Whether the value is filled in elsewhere: `${TOKEN}`, `$TOKEN`, `{{ token }}`, `%s`, `<token>`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let is_variable = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let is_wrapped = |open: &str, close: &str| {
        value
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_some_and(|name| {
                name.chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '.' | '-' | ':'))
            })
    };
    value.strip_prefix('$').is_some_and(is_variable)
        || is_wrapped("${", "}")
        || is_wrapped("{", "}")
        || is_wrapped("{{", "}}")
        || is_wrapped("<", ">")
        || value
            .strip_prefix('%')
            .and_then(|rest| rest.strip_suffix('%'))
            .is_some_and(is_variable)
        || matches!(value, "%s" | "%v" | "?" | "$1" | "...")
}

/// Whether the value is code that names the secret: `password=self.password`, `token=next_token()`.
fn is_reference(name: &str, value: &str) -> bool {
    let value = value.trim_end_matches([';', ',']);
    let last = value.rsplit(['.', ':', '$']).next().unwrap_or(value);
    let word_end = value
        .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':')))
        .unwrap_or(value.len());
    let is_call = value.split_at_checked(word_end).is_some_and(|(word, rest)| {
        !word.is_empty() && (rest == "(" || rest == "[" || is_wrapped_call(rest))
    });
    last.eq_ignore_ascii_case(name) || is_call
}

fn is_wrapped_call(rest: &str) -> bool {
    (rest.starts_with('(') && rest.ends_with(')')) || (rest.starts_with('[') && rest.ends_with(']'))
}

/// Whether the value talks about a secret: several words, one of them of the kind that complaints are made of,
/// and none that mixes letters and digits.
pub(super) fn is_sentence(value: &str) -> bool {
    let mut words = 0_usize;
    let mut complains = false;
    for word in value.split_whitespace() {
        let bare = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
        let has_digit = bare.bytes().any(|byte| byte.is_ascii_digit());
        if has_digit && bare.len() > 3 && bare.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return false;
        }
        words += 1;
        complains |= is_one_of(bare, SENTENCE_WORDS);
    }
    (words >= 2 && complains) || is_unspaced_prose(value)
}

fn is_unspaced_prose(value: &str) -> bool {
    let is_ideograph = |letter: &char| matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
    value.chars().filter(is_ideograph).count() >= LEAST_IDEOGRAPHS
        && !value
            .as_bytes()
            .windows(6)
            .any(|window| window.iter().all(u8::is_ascii_graphic))
}

/// Whether a value has a digit: the least that tells a token from an identifier.
pub(super) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| entry.eq_ignore_ascii_case(word))
}
