//! Credentials after the name of an HTTP authentication scheme, wherever it stands: `Bearer …`, `Basic …`.

use super::change::{Found, RedactionKind};
use super::encoded::is_user_and_password;
use super::scan::run_end;

/// Shortest bearer token outside an `Authorization` header. Shorter ones can't be told from words.
const LEAST_BEARER: usize = 16;

/// From here on even letters alone are no word.
const LONGER_THAN_WORDS: usize = 32;

/// Parameters of a challenge (`WWW-Authenticate: Bearer realm="…"`), which a caller must be able to read.
const CHALLENGE_PARAMETERS: &[&str] = &[
    "realm",
    "scope",
    "error",
    "error_description",
    "error_uri",
    "resource_metadata",
    "resource",
    "resource_id",
    "charset",
    "authorization_uri",
    "client_id",
    "trusted_issuers",
    "claims",
];

/// The credentials that follow `word`, which ends at `end`, if it names a scheme. The scheme itself stays.
pub(super) fn credentials_after(text: &str, word: &str, end: usize) -> Option<Found> {
    let is_bearer = word.eq_ignore_ascii_case("bearer");
    if !is_bearer && !word.eq_ignore_ascii_case("basic") {
        return None;
    }
    let start = run_end(text, end, |byte| byte == b' ');
    if start == end {
        return None;
    }
    let credentials = text.get(start..token68_end(text, start))?;
    let span = start..start + credentials.len();
    if is_bearer {
        (credentials.len() >= LEAST_BEARER && !is_challenge(credentials) && is_no_word(credentials))
            .then_some(Found {
                span,
                kind: RedactionKind::BearerToken,
            })
    } else {
        is_user_and_password(credentials).then_some(Found {
            span,
            kind: RedactionKind::BasicCredentials,
        })
    }
}

/// Where the token68 (RFC 9110, section 11.2) that starts at `start` ends.
pub(super) fn token68_end(text: &str, start: usize) -> usize {
    let base = run_end(text, start, |byte| {
        byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte)
    });
    run_end(text, base, |byte| byte == b'=')
}

/// Whether what follows a scheme is the parameter of a challenge and not a credential.
pub(super) fn is_challenge(credentials: &str) -> bool {
    credentials.strip_suffix('=').is_some_and(|name| {
        CHALLENGE_PARAMETERS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    })
}

fn is_no_word(credentials: &str) -> bool {
    credentials.len() >= LONGER_THAN_WORDS
        || credentials
            .bytes()
            .any(|byte| byte.is_ascii_digit() || byte == b'_')
}
