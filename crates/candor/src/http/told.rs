//! What is said about an answer: one sentence of ours, with the backend's words in quotes.

use ::http::StatusCode;
use candor_core::delivery::quote::{name, quote};
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::judgment::verdict::{Outcome as Word, Part};

use super::answered::Answered;
use super::decode::Media;
use super::exchange::{Loss, NoConnection};
use super::problem::{Problem, is_plain};
use super::status::Ruling;
use super::terms::{Credential, Terms};
use crate::outcome::{Outcome, Reason};

/// Headers in which backends say by what id they keep a request.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "x-correlation-id"];

/// The code of a status that no sign and no problem names better.
pub(super) fn code_of(status: StatusCode) -> String {
    format!("HTTP_{}", status.as_u16())
}

/// An outcome that is not a success, as the table rules it.
pub(super) fn not_done<T>(ruling: Ruling, reason: Reason) -> Outcome<T> {
    let reason = Reason {
        effect: Some(ruling.effect),
        kind: ruling.kind,
        repeat: ruling.repeat,
        ..reason
    };
    match ruling.outcome {
        Word::Rejected => Outcome::Rejected(reason),
        Word::Failed => Outcome::Failed(reason),
        // 303 without `Location`: taken on by nobody knows whom.
        _ => Outcome::Unknown(reason),
    }
}

/// As [`not_done`], where no answer came.
pub(super) fn unanswered<T>(ruling: Ruling, reason: Reason) -> Outcome<T> {
    not_done(ruling, reason)
}

pub(super) fn lost(terms: &Terms, how: Loss) -> Reason {
    let what = match how {
        Loss::Closed => "closed the connection without an answer",
        Loss::TimedOut => "did not answer in time",
        Loss::NotHttp => "answered with something that is not HTTP",
        Loss::Other => "was sent a request, and its answer was lost",
    };
    Reason::new("HTTP_LOST", sentence(terms, what))
}

pub(super) fn never_connected(terms: &Terms, why: NoConnection) -> Reason {
    let what = match why {
        NoConnection::NoAddress => "has no address, so nothing was sent",
        NoConnection::Refused => "can't be reached, so nothing was sent",
        NoConnection::TimedOut => "took no connection in time, so nothing was sent",
        NoConnection::Tls => "agreed on no secure connection, so nothing was sent",
        NoConnection::Other => "was sent nothing, for want of a connection",
    };
    Reason::new("HTTP_NEVER_CONNECTED", sentence(terms, what))
}

/// What the author says, with the backend's words.
pub(super) fn declared(answered: &Answered<'_>, reason: &Reason, problem: Option<&Problem>) -> Reason {
    let mut told = reason.clone();
    if let Some(problem) = problem {
        told.message.push_str(&words_of(answered, problem));
        told.issues.extend(problem.issues.iter().cloned());
    }
    told.message.push_str(&request_id(answered, problem));
    told
}

/// What the status says, with the backend's words unless they are about our own credential.
pub(super) fn refused(answered: &Answered<'_>, problem: Option<&Problem>) -> Reason {
    let own = answered.terms.credential == Credential::Ours;
    let credential = matches!(answered.status.as_u16(), 401 | 403) && own || answered.status.as_u16() == 407;
    if credential {
        let what = format!(
            "refused this server's own credential ({})",
            answered.status.as_u16()
        );
        let message = sentence(answered.terms, &what) + &request_id(answered, None);
        return Reason::new(code_of(answered.status), message);
    }
    with_problem(
        answered,
        &format!("answered {}", phrase(answered.status)),
        code_of(answered.status),
        problem,
    )
}

/// A success that is not what was promised.
pub(super) fn not_promised(answered: &Answered<'_>, what: &str, problem: Option<&Problem>) -> Reason {
    let what = format!("answered {} {what}", phrase(answered.status));
    with_problem(answered, &what, "HTTP_BODY_NOT_AS_PROMISED".to_owned(), problem)
}

fn with_problem(answered: &Answered<'_>, what: &str, code: String, problem: Option<&Problem>) -> Reason {
    let mut message = sentence(answered.terms, what);
    let Some(problem) = problem else {
        return Reason::new(code, message + &request_id(answered, None));
    };
    message.push_str(&words_of(answered, problem));
    message.push_str(&request_id(answered, Some(problem)));
    let own = problem.code.clone().filter(|code| is_code(code));
    Reason::new(own.unwrap_or(code), message).issues(problem.issues.clone())
}

/// What a backend's `code` has to look like to be ours too.
fn is_code(code: &str) -> bool {
    let letters = code
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_plain(code) && letters && code.starts_with(|first: char| first.is_ascii_uppercase())
}

pub(super) fn other_media(media: &Media, terms: &Terms) -> String {
    let came = match media {
        Media::Unsaid => "without a media type".to_owned(),
        Media::Problem => "with problem details".to_owned(),
        Media::Json => "with JSON".to_owned(),
        Media::Other(essence) => format!("with {}", name(essence, &KnownSecrets::default())),
    };
    format!("{came} where {} was promised", terms.media_type)
}

pub(super) fn misfit(place: &str) -> String {
    let place = name(place, &KnownSecrets::default());
    format!("with data that does not fit what was promised, first at {place}")
}

pub(super) fn without_data(answered: &Answered<'_>) -> String {
    sentence(
        answered.terms,
        &format!("answered {}, without data", phrase(answered.status)),
    )
}

pub(super) fn in_parts(answered: &Answered<'_>, parts: &[Part]) -> String {
    let done = parts
        .iter()
        .filter(|part| part.outcome == Word::Completed)
        .count();
    sentence(answered.terms, &format!("did {done} of {} parts", parts.len()))
}

fn words_of(answered: &Answered<'_>, problem: &Problem) -> String {
    // A title that is the status again (RFC 9457 section 4.2.1) was said already.
    let phrase = answered.status.canonical_reason();
    let title = problem
        .title
        .as_ref()
        .filter(|title| phrase != Some(title.as_str()));
    let words = match (title, &problem.detail) {
        (Some(title), Some(detail)) if title != detail => format!("{title}: {detail}"),
        (Some(words), _) => words.clone(),
        (None, Some(words)) => words.clone(),
        (None, None) => String::new(),
    };
    let none = KnownSecrets::default();
    let mut said = String::new();
    if !words.is_empty() {
        said = format!(", in its words: {}", quote(&words, &none));
    }
    if let Some(uri) = &problem.of_type {
        said.push_str(&format!("; problem type {}", name(uri, &none)));
    }
    said
}

fn request_id(answered: &Answered<'_>, problem: Option<&Problem>) -> String {
    let header = REQUEST_IDS
        .iter()
        .find_map(|header| answered.headers.get(*header)?.to_str().ok());
    let id = header.or_else(|| problem?.instance.as_deref());
    id.map(|id| format!("; its id of the request: {}", name(id, &KnownSecrets::default())))
        .unwrap_or_default()
}

fn phrase(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(phrase) => format!("{} {phrase}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

/// A sentence about the service, with its first letter large.
fn sentence(terms: &Terms, what: &str) -> String {
    let mut letters = terms.service.chars();
    let first = letters
        .next()
        .map(|first| first.to_uppercase().to_string())
        .unwrap_or_default();
    format!("{first}{} {what}", letters.as_str())
}
