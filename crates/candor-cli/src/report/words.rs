//! The sentences of a report.

use super::section::Section;
use super::span::Span;
use super::summary::Summary;
use crate::times;

/// `1 call`, `2 calls`.
pub(super) fn calls(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        _ => format!("{} calls", grouped(count)),
    }
}

/// `100,000`: a number that a person can read.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What a report is about, in words.
pub(super) fn about(span: &Span, summary: &Summary) -> String {
    let first = summary.moments.first().map(|(ms, _)| times::moment(*ms));
    let last = summary.moments.last().map(|(ms, _)| times::moment(*ms));
    let began = match (first, last) {
        (Some(first), Some(last)) if first == last => format!(", begun {first}"),
        (Some(first), Some(last)) => format!(", begun {first} to {last}"),
        _ => String::new(),
    };
    let of = match (span.session, span.from_ms, span.to_ms) {
        (Some(session), ..) => format!("session {session}"),
        (None, None, None) => "the whole record".to_owned(),
        (None, Some(from), None) => format!("since {}", times::moment(from)),
        (None, None, Some(to)) => format!("before {}", times::moment(to)),
        (None, Some(from), Some(to)) => format!("{} to {}", times::moment(from), times::moment(to)),
    };
    format!("{}: {of}{began}", calls(summary.calls))
}

/// The answer in a few sentences: is anything open, and is what is not open known?
pub(super) fn headline(summary: &Summary) -> String {
    if summary.calls == 0 {
        return "No calls: nothing was done through Candor in this span.".to_owned();
    }
    let mut out = Vec::new();
    if summary.unsettled > 0 {
        let them = if summary.unsettled == 1 { "it" } else { "them" };
        out.push(format!(
            "{} unsettled: nobody knows yet what became of {them}.",
            are(summary.unsettled)
        ));
    }
    if summary.running > 0 {
        out.push(format!("{} still running.", are(summary.running)));
    }
    if out.is_empty() {
        out.push(match summary.cut {
            None => "Nothing is open.".to_owned(),
            Some(_) => "Nothing that was read is open.".to_owned(),
        });
    }
    match summary.count(Section::Reported) {
        0 => {}
        reported => out.push(format!(
            "{} only reported: the server told of no error, and nobody looked.",
            are(reported)
        )),
    }
    if let Some(cut) = &summary.cut {
        out.push(format!(
            "Only the newest {} are read; of those that began before {} {} open. A shorter span reads all of its calls.",
            calls(summary.calls),
            times::moment(cut.before_ms),
            if cut.open { "something is" } else { "nothing is" }
        ));
    }
    out.join(" ")
}

fn are(count: u64) -> String {
    match count {
        1 => "1 call is".to_owned(),
        _ => format!("{} calls are", grouped(count)),
    }
}

/// What a report says of the requests that left.
pub(super) fn attempts(summary: &Summary) -> String {
    let sent = &summary.attempts;
    format!(
        "Requests sent: {}. Calls that never left: {}. Calls that were sent more than once: {}.",
        grouped(sent.sent),
        grouped(sent.never_sent),
        grouped(sent.more_than_once)
    )
}
