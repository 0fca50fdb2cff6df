//! Values that are known to be secret: the wrapped server's environment, keys in the configuration.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::change::{CredentialKind, Found, Redacted, apply, mask_end};
use super::names::is_secret_name;

/// Shortest value taken as a secret, in bytes; shorter ones stand in ordinary words.
const LEAST_KNOWN: usize = 8;

/// Values that are masked wherever they stand. Its `Debug` shows how many there are, never what they are.
#[derive(Clone, Default)]
pub struct KnownSecrets {
    /// Each value as it is, as it reads inside a JSON string, and as it reads in a URL, where these differ.
    forms: Vec<String>,
}

impl KnownSecrets {
    /// Takes these values as secrets, but for those under 8 bytes.
    #[must_use]
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut forms = Vec::new();
        for value in values {
            let value = value.as_ref().trim();
            if value.len() < LEAST_KNOWN {
                continue;
            }
            forms.extend([value.to_owned(), in_json(value), in_url(value)]);
        }
        forms.sort_unstable();
        forms.dedup();
        Self { forms }
    }

    /// Takes as secrets the values of those pairs whose name is a secret's, as of an environment.
    #[must_use]
    pub fn from_named<N: AsRef<str>, S: AsRef<str>>(pairs: impl IntoIterator<Item = (N, S)>) -> Self {
        Self::new(
            pairs
                .into_iter()
                .filter(|(name, _)| is_secret_name(name.as_ref()))
                .map(|(_, value)| value),
        )
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets")
            .field("forms", &self.forms.len())
            .finish()
    }
}

/// Masks known secrets wherever they stand in a text, also escaped as in JSON or in a URL; borrows where there are
/// none.
///
/// Apply it after [`super::text`]: a known value inside a longer credential would leave the rest of it standing.
/// Time is linear in the text for each secret.
#[must_use]
pub fn known<'a>(input: &'a str, secrets: &KnownSecrets) -> Redacted<Cow<'a, str>> {
    let finds: Vec<Found> = spans(input, secrets)
        .into_iter()
        .map(|span| Found {
            span,
            kind: CredentialKind::KnownSecret,
        })
        .collect();
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

/// Where known secrets stand, in order, those that overlap merged.
fn spans(input: &str, secrets: &KnownSecrets) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    for (opening, _) in input.match_indices('[') {
        if let Some(end) = mask_end(input, opening) {
            collect(input, start..opening, secrets, &mut spans);
            start = end;
        }
    }
    collect(input, start..input.len(), secrets, &mut spans);
    spans.sort_unstable_by_key(|span: &Range<usize>| (span.start, span.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// The known secrets between two masks; masks themselves are never looked into.
fn collect(input: &str, part: Range<usize>, secrets: &KnownSecrets, spans: &mut Vec<Range<usize>>) {
    let offset = part.start;
    let part = input.get(part).unwrap_or_default();
    for form in &secrets.forms {
        spans.extend(
            part.match_indices(form)
                .map(|(at, found)| offset + at..offset + at + found.len()),
        );
    }
}

fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(value)
        .to_owned()
}

/// Percent-encoding as `encodeURIComponent` does it.
fn in_url(value: &str) -> String {
    let mut encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            for nibble in [byte >> 4, byte & 15] {
                let digit = char::from_digit(u32::from(nibble), 16).unwrap_or('0');
                encoded.push(digit.to_ascii_uppercase());
            }
        }
    }
    encoded
}
