//! Values that are known to be secret: the wrapped server's environment, keys in the configuration.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::change::{Found, Redacted, RedactionKind, apply, mask_end};
use super::extra::Extra;
use super::names::is_secret_name;
use super::openings::Openings;
use super::scan::find;

/// Shortest value taken as a secret, in bytes; shorter ones stand in ordinary words.
const LEAST_KNOWN: usize = 8;

/// Shortest beginning of a secret that is masked where a text was cut, in bytes.
const LEAST_CUT: usize = 4;

/// Longest beginning of a secret that is looked for there, in bytes; texts of Candor's own are cut shorter.
const LONGEST_CUT: usize = 1_024;

/// Arguments above this many bytes are not searched for the values of added names.
const MOST_SEARCHED: usize = 1024 * 1024;

/// What stands where a text was cut.
const ELLIPSIS: &str = "…";

/// Shortest text that can hold a secret or the beginning of one, in bytes.
const SHORTEST_FIND: usize = LEAST_CUT + ELLIPSIS.len();

/// Variables of a shell whose names read like a secret's and are none: the present folder, and the one before.
const NO_SECRETS: &[&str] = &["PWD", "OLDPWD"];

/// Values that are masked wherever they stand. Cloning is cheap. Its `Debug` shows how many there are, never what they
/// are.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KnownSecrets {
    /// `None` where there are none.
    forms: Option<Arc<Forms>>,
    /// What an operator adds; `None` where it is nothing.
    extra: Option<Arc<Extra>>,
}

/// What is looked for.
#[derive(PartialEq, Eq)]
struct Forms {
    /// Each value as it is, as it reads inside a JSON string, and as it reads in a URL, where these differ.
    texts: Vec<String>,
    /// What these open with, and the ellipsis before which the beginning of one may stand.
    openings: Openings,
}

impl Forms {
    fn of(texts: Vec<String>) -> Self {
        let mut openings = Openings::of(&[ELLIPSIS]);
        // None is shorter: see `LEAST_KNOWN`.
        for opening in texts.iter().filter_map(|text| text.as_bytes().first_chunk()) {
            openings.add(opening);
        }
        Self { texts, openings }
    }

    /// Whether `input` may hold one of the texts, or an ellipsis. Most have neither, and are read once instead of once
    /// for each. Of a text only what the shortest has is compared, so that no text makes this slow.
    fn may_stand_in(&self, input: &str) -> bool {
        let may_open = |rest: &[u8]| {
            rest.starts_with(ELLIPSIS.as_bytes())
                || self.texts.iter().any(|text| {
                    let beginning = text.as_bytes().get(..LEAST_KNOWN).unwrap_or_default();
                    rest.starts_with(beginning)
                })
        };
        input.len() >= SHORTEST_FIND
            && (0..input.len())
                .filter_map(|at| input.as_bytes().get(at..))
                .any(|rest| self.openings.may_start(rest) && may_open(rest))
    }
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
        Self {
            forms: (!forms.is_empty()).then(|| Arc::new(Forms::of(forms))),
            extra: None,
        }
    }

    /// What a process that wraps another knows to be secret: values of variables with a secret's name, and credentials
    /// that stand in other variables (`DATABASE_URL`) or in the command line of the wrapped server (`--header`,
    /// `--api-key`, user info and secret parameters of a URL). A value that is one of `names` (a server's or program's
    /// own name) is none, however a variable calls it: a text without them says nothing.
    #[must_use]
    pub fn of_process(environment: &[(String, String)], command: &[String], names: &[&str]) -> Self {
        let mut values: Vec<&str> = Vec::new();
        for (name, value) in environment {
            if is_secret_name(name) && !NO_SECRETS.contains(&name.as_str()) {
                values.push(value);
            }
            values.extend(credentials_in(value));
        }
        for (at, word) in command.iter().enumerate() {
            values.extend(credentials_in(word));
            let (flag, attached) = word
                .split_once('=')
                .map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
            if flag.starts_with('-') && is_secret_name(flag) {
                let next = command.get(at.saturating_add(1)).map(String::as_str);
                values.extend(attached.or(next.filter(|next| !next.starts_with('-'))));
            }
        }
        Self::new(values.into_iter().filter(|value| !names.contains(&value.trim())))
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

    /// The same, with names and patterns that an operator adds.
    #[must_use]
    pub fn with_extra(mut self, extra: Extra) -> Self {
        self.extra = (!extra.is_empty()).then(|| Arc::new(extra));
        self
    }

    /// The same, with the values that `json` holds under an added name; `None` where it holds none, or is no JSON.
    #[must_use]
    pub fn with_named_in(&self, json: &str) -> Option<Self> {
        let extra = self.extra.as_ref()?;
        if extra.names().is_empty() || json.len() > MOST_SEARCHED {
            return None;
        }
        let values = extra.values_in(&serde_json::from_str(json).ok()?);
        let earlier = self.forms.iter().flat_map(|forms| forms.texts.iter().cloned());
        let all: Vec<String> = values.iter().cloned().chain(earlier).collect();
        (!values.is_empty()).then(|| Self {
            extra: self.extra.clone(),
            ..Self::new(all)
        })
    }

    /// Does an operator's list hold this name?
    pub(super) fn adds_name(&self, name: &str) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.names_secret(name))
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_none() && self.extra.is_none()
    }
}

/// The credentials in a text, and of a user with a password the password alone too.
fn credentials_in(text: &str) -> impl Iterator<Item = &str> {
    find(text).into_iter().flat_map(move |found| {
        let whole = text.get(found.span).unwrap_or_default();
        let password = (found.kind == RedactionKind::UrlCredentials)
            .then(|| whole.split_once(':').map(|(_, password)| password))
            .flatten();
        std::iter::once(whole).chain(password)
    })
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.forms.as_ref().map_or(0, |forms| forms.texts.len());
        f.debug_struct("KnownSecrets").field("forms", &count).finish()
    }
}

/// Masks known secrets wherever they stand in a text, also escaped as in JSON or in a URL, and the beginning of one
/// before an ellipsis; borrows where there are none.
///
/// Beside [`super::text`] use [`super::masked`], which does both: a known value inside a longer credential would leave
/// the rest of it standing. Time is linear in the text for each secret.
#[must_use]
pub fn known<'a>(input: &'a str, secrets: &KnownSecrets) -> Redacted<Cow<'a, str>> {
    let finds = find_known(input, secrets);
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

/// Known secrets in a text, in order; none overlap.
pub(super) fn find_known(input: &str, secrets: &KnownSecrets) -> Vec<Found> {
    let mut found = match &secrets.forms {
        Some(forms) if forms.may_stand_in(input) => spans(input, &forms.texts),
        _ => Vec::new(),
    };
    if let Some(extra) = &secrets.extra {
        found.extend(extra.spans(input));
        found = in_order(found);
    }
    let spans = found;
    let found = |span| Found {
        span,
        kind: RedactionKind::KnownSecret,
    };
    spans.into_iter().map(found).collect()
}

/// Where known secrets stand, in order, those that overlap merged.
fn spans(input: &str, forms: &[String]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = 0;
    for (opening, _) in input.match_indices('[') {
        if let Some(end) = mask_end(input, opening) {
            collect(input, start..opening, forms, &mut spans);
            start = end;
        }
    }
    collect(input, start..input.len(), forms, &mut spans);
    in_order(spans)
}

/// In order, those that overlap merged.
fn in_order(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
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
fn collect(input: &str, part: Range<usize>, forms: &[String], spans: &mut Vec<Range<usize>>) {
    let offset = part.start;
    let part = input.get(part).unwrap_or_default();
    for form in forms {
        spans.extend(
            part.match_indices(form.as_str())
                .map(|(at, found)| offset + at..offset + at + found.len()),
        );
    }
    // Where a text was cut, the beginning of a secret may stand.
    for (end, _) in part.match_indices(ELLIPSIS) {
        let before = part.get(..end).unwrap_or_default();
        let longest = forms.iter().filter_map(|form| cut_off(before, form)).max();
        spans.extend(longest.map(|length| offset + end - length..offset + end));
    }
}

/// How much of the beginning of `form` stands at the end of `text`, if it is enough to tell.
fn cut_off(text: &str, form: &str) -> Option<usize> {
    let longest = form.len().saturating_sub(1).min(text.len()).min(LONGEST_CUT);
    (LEAST_CUT..=longest).rev().find(|&length| {
        form.get(..length)
            .is_some_and(|beginning| text.ends_with(beginning))
    })
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
