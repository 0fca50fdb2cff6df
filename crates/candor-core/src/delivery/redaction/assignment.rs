//! Values assigned to a secret's name: `password=…`, `"apiKey": "…"`, `X-Api-Key: …`, `?sig=…`, `--token …`.
//!
//! How much is asked of a value depends on how plainly the text says that it is one: a query parameter is masked
//! whatever it is, a word after a colon only if it can't be prose.

use super::change::{Found, RedactionKind};
use super::encoded::is_data_uri;
use super::extent::{Quote, Reach, bare_end, ends_line, line_end};
use super::names::{is_secret_name, is_token_name};
use super::pem;
use super::schemes::{is_challenge, token68_end};
use super::values;

/// Shortest value masked under a quoted name, in bytes; the measure for JSON members too.
pub(super) const LEAST_QUOTED: usize = 8;

/// Shortest value masked in `name=value`.
const LEAST_ATTACHED: usize = 4;

/// Shortest value masked in `name: value`, which prose uses as well.
const LEAST_AFTER_COLON: usize = 6;

/// Shortest value of a name that ends in `token`, which parsers say of anything.
const LEAST_TOKEN: usize = 8;

/// From here on a token needs no digit to be told from an identifier.
const LONGER_THAN_IDENTIFIERS: usize = 20;

/// How far into a header its first parameter is looked for, in bytes.
const LONGEST_FIRST_PARAMETER: usize = 128;

/// From here on what is attached to a secret's name is masked without asking whether it is code or a filler.
const LONGER_THAN_CODE: usize = 512;

/// White space looked over at either side of a separator.
const WIDEST_GAP: usize = 8;

/// What separates a name from its value in Chinese and Japanese.
const FULL_WIDTH_COLON: &[u8] = "：".as_bytes();

/// Names that are secrets only as query parameters of a URL.
const QUERY_NAMES: &[&str] = &[
    "sig",
    "signature",
    "x-amz-signature",
    "x-goog-signature",
    "x-oss-signature",
    "auth",
    "pass",
    "pw",
    "sid",
];

/// Query parameters that are secrets only if their value is long.
const LONG_QUERY_NAMES: &[&str] = &["key", "code"];

/// From here on the value of `?key=` or `?code=` is a key or a code, and no word or number.
const LEAST_QUERY_KEY: usize = 16;

/// Authorization schemes whose credentials are one token.
const TOKEN_SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "dpop",
    "negotiate",
    "key",
];

/// Authorization schemes whose credentials are a list of parameters.
const LIST_SCHEMES: &[&str] = &[
    "digest",
    "oauth",
    "aws4-hmac-sha256",
    "hawk",
    "signature",
    "sharedkey",
];

/// How a text says that a value belongs to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `?name=value` or `&name=value`.
    Query,
    /// `name=value`.
    Attached,
    /// `name: value`, `name = value`.
    Loose,
    /// `"name": "value"`, `'name' => 'value'`, and escaped inside other JSON.
    QuotedName,
    /// `name: "value"`, `name="value"`.
    QuotedValue,
    /// `--name value`.
    Flag,
}

impl Form {
    fn reach(self) -> Reach {
        match self {
            Self::Query => Reach::Parameter,
            Self::Attached | Self::QuotedName | Self::QuotedValue => Reach::Free,
            Self::Loose | Self::Flag => Reach::Bounded,
        }
    }
}

/// The secret assigned to the name that stands at `start..end`. `floor` is as for tokens.
pub(super) fn value_after(text: &str, start: usize, end: usize, floor: usize) -> Option<Found> {
    let name_quote = Quote::at(text, end);
    let after_name = name_quote.map_or(end, |quote| end + quote.length());
    let gap_end = gap_end(text, after_name);
    let name = text.get(start..end)?;
    let Some(separator_end) = separator_end(text, gap_end) else {
        let is_flag = name.starts_with("--") && name_quote.is_none() && gap_end == end + 1;
        return if is_flag && is_secret_name(name) {
            flag_value(text, name, gap_end)
        } else {
            None
        };
    };
    let is_query =
        gap_end == end && text.as_bytes().get(end) == Some(&b'=') && is_in_query(text, start, floor);
    if !is_secret_name(name) {
        return if is_query {
            query_value(text, name, separator_end)
        } else {
            None
        };
    }
    let value_start = self::gap_end(text, separator_end);
    if let Some(quote) = Quote::at(text, value_start) {
        let form = if name_quote.is_some() {
            Form::QuotedName
        } else {
            Form::QuotedValue
        };
        return quoted_value(text, name, form, value_start + quote.length(), quote);
    }
    if name_quote.is_some() {
        // In JSON what is not quoted is a number, a boolean or a structure: never masked.
        return None;
    }
    if is_authorization(name) {
        return authorization_value(text, value_start);
    }
    let is_attached =
        text.as_bytes().get(gap_end) == Some(&b'=') && gap_end == end && value_start == separator_end;
    let form = match (is_query, is_attached) {
        (true, _) => Form::Query,
        (false, true) => Form::Attached,
        (false, false) => Form::Loose,
    };
    if form == Form::Loose && is_cookie(name) {
        return cookie_value(text, value_start);
    }
    bare_value(text, name, form, value_start)
}

fn quoted_value(text: &str, name: &str, form: Form, start: usize, quote: Quote) -> Option<Found> {
    if pem::opens(text, start) {
        // The armour is masked as a whole, also over several lines.
        return None;
    }
    let end = quote.content_end(text, start);
    let value = text.get(start..end)?;
    if is_authorization(name)
        && let Some((kind, offset)) = after_scheme(value)
    {
        let credentials = value.get(offset..)?;
        return is_credential(name, credentials).then_some(Found {
            span: start + offset..end,
            kind,
        });
    }
    is_long_enough(name, value, form)
        .then_some(())
        .filter(|()| is_credential(name, value))
        .map(|()| Found {
            span: start..end,
            kind: kind_of(name),
        })
}

fn bare_value(text: &str, name: &str, form: Form, start: usize) -> Option<Found> {
    if pem::opens(text, start) {
        return None;
    }
    let end = bare_end(text, start, form.reach());
    let value = text.get(start..end)?;
    if form == Form::Loose && !ends_line(text, end) {
        return None;
    }
    let is_secret = match form {
        _ if value.len() > LONGER_THAN_CODE => !is_data_uri(value),
        Form::Query => !values::is_no_query_secret(value),
        _ => is_long_enough(name, value, form) && is_credential(name, value),
    };
    if !is_secret {
        return None;
    }
    let kind = if form == Form::Query {
        RedactionKind::QuerySecret
    } else {
        kind_of(name)
    };
    Some(Found {
        span: start..end,
        kind,
    })
}

fn flag_value(text: &str, name: &str, start: usize) -> Option<Found> {
    let is_another_flag = text.as_bytes().get(start) == Some(&b'-');
    if is_another_flag {
        return None;
    }
    if let Some(quote) = Quote::at(text, start) {
        return quoted_value(text, name, Form::QuotedValue, start + quote.length(), quote);
    }
    bare_value(text, name, Form::Flag, start)
}

/// A query parameter whose name is a secret's only in a URL.
fn query_value(text: &str, name: &str, start: usize) -> Option<Found> {
    let is_one_of = |list: &[&str]| list.iter().any(|entry| entry.eq_ignore_ascii_case(name));
    let span = start..bare_end(text, start, Reach::Parameter);
    let value = text.get(span.clone())?;
    let is_secret = is_one_of(QUERY_NAMES)
        || (is_one_of(LONG_QUERY_NAMES) && span.len() >= LEAST_QUERY_KEY && values::has_digit(value));
    (is_secret && !values::is_no_query_secret(value)).then_some(Found {
        span,
        kind: RedactionKind::QuerySecret,
    })
}

/// What follows `Authorization:` outside quotes: a scheme and its credentials.
fn authorization_value(text: &str, start: usize) -> Option<Found> {
    let opening = text.get(start..line_end(text, start, LONGEST_FIRST_PARAMETER))?;
    let Some((kind, offset)) = after_scheme(opening) else {
        return bare_value(text, "authorization", Form::Loose, start);
    };
    let from = start + offset;
    if opening.get(..offset).is_some_and(is_list_scheme) {
        let has_parameter = opening.get(offset..)?.contains('=');
        return has_parameter.then(|| Found {
            span: from..line_end(text, from, usize::MAX),
            kind,
        });
    }
    let end = token68_end(text, from);
    let credentials = text.get(from..end)?;
    let is_no_word = ends_line(text, end) || credentials.bytes().any(|byte| !byte.is_ascii_lowercase());
    (credentials.len() >= LEAST_TOKEN
        && is_no_word
        && !is_challenge(credentials)
        && is_credential("authorization", credentials))
    .then_some(Found {
        span: from..end,
        kind,
    })
}

/// What kind of credentials follow the scheme that a header's value opens with, and where they start.
pub(super) fn after_scheme(value: &str) -> Option<(RedactionKind, usize)> {
    let (scheme, rest) = value.split_once(' ')?;
    let is_one_of = |list: &[&str]| list.iter().any(|entry| entry.eq_ignore_ascii_case(scheme));
    if !is_one_of(TOKEN_SCHEMES) && !is_list_scheme(scheme) {
        return None;
    }
    let kind = if scheme.eq_ignore_ascii_case("bearer") {
        RedactionKind::BearerToken
    } else if scheme.eq_ignore_ascii_case("basic") {
        RedactionKind::BasicCredentials
    } else {
        RedactionKind::AuthorizationHeader
    };
    let credentials = rest.trim_start_matches(' ');
    (!credentials.is_empty()).then(|| (kind, value.len() - credentials.len()))
}

fn is_list_scheme(scheme: &str) -> bool {
    LIST_SCHEMES
        .iter()
        .any(|entry| entry.eq_ignore_ascii_case(scheme.trim_end()))
}

/// The cookies of a header line, all of them: which one holds the session can't be told.
fn cookie_value(text: &str, start: usize) -> Option<Found> {
    let opening = text.get(start..line_end(text, start, LONGEST_FIRST_PARAMETER))?;
    let first = opening.split([' ', ';']).next().unwrap_or_default();
    first.contains('=').then(|| Found {
        span: start..line_end(text, start, usize::MAX),
        kind: RedactionKind::Cookie,
    })
}

fn is_credential(name: &str, value: &str) -> bool {
    !value.is_empty() && !values::is_no_secret(name, value)
}

fn is_long_enough(name: &str, value: &str, form: Form) -> bool {
    let length = value.len();
    let is_token = is_token_name(name);
    let is_no_identifier = values::has_digit(value) || length >= LONGER_THAN_IDENTIFIERS;
    match form {
        Form::Query => length > 0,
        Form::QuotedName => length >= LEAST_QUOTED,
        Form::QuotedValue | Form::Attached if is_token => length >= LEAST_TOKEN && is_no_identifier,
        Form::QuotedValue | Form::Attached => length >= LEAST_ATTACHED,
        // A header of one's own is plain enough: prose has no names like `X-Api-Key`.
        Form::Loose if name.get(..2).is_some_and(|x| x.eq_ignore_ascii_case("x-")) => length >= LEAST_TOKEN,
        Form::Loose | Form::Flag => {
            let least = if is_token { LEAST_TOKEN } else { LEAST_AFTER_COLON };
            length >= least && values::has_digit(value)
        }
    }
}

fn kind_of(name: &str) -> RedactionKind {
    if is_authorization(name) {
        RedactionKind::AuthorizationHeader
    } else if is_cookie(name) {
        RedactionKind::Cookie
    } else {
        RedactionKind::NamedSecret
    }
}

pub(super) fn is_authorization(name: &str) -> bool {
    ends_with(name, "authorization")
}

fn is_cookie(name: &str) -> bool {
    ends_with(name, "cookie")
}

fn ends_with(name: &str, word: &str) -> bool {
    name.len()
        .checked_sub(word.len())
        .and_then(|at| name.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Whether the name at `start` is that of a query parameter.
fn is_in_query(text: &str, start: usize, floor: usize) -> bool {
    start > floor && matches!(text.as_bytes().get(start - 1), Some(b'?' | b'&'))
}

/// Where the separator at `at` ends: `=`, `:`, `=>`, `:=` or a full-width colon; none if it compares or qualifies.
fn separator_end(text: &str, at: usize) -> Option<usize> {
    let length = match text.as_bytes().get(at..)? {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => 2,
        [b'=' | b':', ..] => 1,
        rest if rest.starts_with(FULL_WIDTH_COLON) => FULL_WIDTH_COLON.len(),
        _ => return None,
    };
    Some(at + length)
}

fn gap_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let gap = rest
        .iter()
        .take(WIDEST_GAP)
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    at + gap.count()
}
