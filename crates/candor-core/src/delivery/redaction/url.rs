//! User info of URLs and connection strings: `https://user:password@host`, `postgres://…`, `redis://:…@…`.

use super::change::{Found, RedactionKind, holds_mask};
use super::values;

/// Schemes where a name alone before the `@` is a credential too: people put tokens there, and nothing is lost.
const WEB_SCHEMES: &[&str] = &["http", "https", "ws", "wss"];

/// How far a password with an unescaped slash is followed, in bytes.
const LONGEST_PASSWORD: usize = 256;

/// How the authority of a URL is opened, also as some encoders write it in JSON.
const OPENS: &[&str] = &["://", ":\\/\\/"];

/// Longest of [`WEB_SCHEMES`], in bytes.
const LONGEST_WEB_SCHEME: usize = 5;

/// The user info of the URL whose scheme ends at `at`. `floor` is as for tokens.
pub(super) fn user_info_at(text: &str, at: usize, floor: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    let opening = OPENS.iter().find(|opening| rest.starts_with(**opening))?;
    let start = at + opening.len();
    let rest = text.get(start..)?;
    let is_web = is_web(text.get(floor..at)?);
    let authority = rest.get(..rest.find(ends_authority).unwrap_or(rest.len()))?;
    let user_info = match authority.rfind('@') {
        Some(at) => authority.get(..at)?,
        None if is_web => return None,
        None => user_info_with_slash(rest, authority)?,
    };
    let password = user_info.split_once(':').map(|(_, password)| password);
    let is_credential = match password {
        Some(password) => (is_web || !password.is_empty()) && !values::is_placeholder(password),
        None => is_web && !user_info.is_empty(),
    };
    if !is_credential || holds_mask(user_info) {
        return None;
    }
    Some(Found {
        span: start..start + user_info.len(),
        kind: RedactionKind::UrlCredentials,
    })
}

/// Whether the text ends with the name of a web scheme, and not only with its letters.
fn is_web(before: &str) -> bool {
    let letters = before
        .bytes()
        .rev()
        .take(LONGEST_WEB_SCHEME + 1)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    before
        .get(before.len() - letters..)
        .is_some_and(|scheme| WEB_SCHEMES.iter().any(|web| web.eq_ignore_ascii_case(scheme)))
}

fn ends_authority(letter: char) -> bool {
    matches!(letter, '/' | '?' | '#') || ends_url(letter)
}

fn ends_url(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control() || matches!(letter, '"' | '\'' | '`' | '<' | '>' | '\\')
}

/// A password with an unescaped `/`, `?` or `#`, as drivers of databases accept it: what stands behind the colon
/// is no port, and an `@` follows.
fn user_info_with_slash<'a>(rest: &'a str, authority: &str) -> Option<&'a str> {
    let (_, port) = authority.rsplit_once(':')?;
    if port.bytes().all(|byte| byte.is_ascii_digit()) || authority.starts_with('[') {
        return None;
    }
    let (at, _) = rest
        .char_indices()
        .take_while(|&(at, letter)| at < LONGEST_PASSWORD && !ends_url(letter))
        .find(|&(_, letter)| letter == '@')?;
    rest.get(..at)
}
