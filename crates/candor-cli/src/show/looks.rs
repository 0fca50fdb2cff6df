//! What Candor saw when it looked again at what a call left behind.

use std::io::{self, Write};

use candor_ledger::{Phase, StoredEntry};
use serde_json::Value;

use super::sections::kept;
use super::{Shown, phase};
use crate::record::Body;
use crate::screen::line;
use crate::times;

/// One look as a line: which tool, how often, when, and what it shows. `None` where a record stands on no look.
pub(super) fn told(record: &StoredEntry) -> Option<String> {
    let body = Body::read(&record.entry.body);
    let look = body.at("/readBack")?;
    let number = |name: &str| look.get(name).and_then(Value::as_u64);
    let tool = look
        .get("tool")
        .and_then(Value::as_str)
        .map_or_else(|| "–".to_owned(), line);
    let often = match number("looks") {
        Some(0) | None => String::new(),
        Some(1) => " (asked once)".to_owned(),
        Some(times) => format!(" (asked {times} times)"),
    };
    let since = number("sinceSentMs").map_or_else(String::new, |ms| {
        format!(", {} after the call was last sent", times::span(ms))
    });
    let shows = match look.get("shows").and_then(Value::as_str) {
        Some("applied") => "shows that it was done",
        Some("not_applied") => "shows that nothing changed",
        _ => "shows nothing either way",
    };
    let why = look
        .get("why")
        .and_then(Value::as_str)
        .map_or_else(String::new, |why| format!(": {}", line(why)));
    Some(format!("{tool}{often} {shows}{since}{why}"))
}

/// What was asked and what was answered, of every look that a record stands on.
pub(super) fn print(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    for record in shown
        .records
        .iter()
        .filter(|record| record.entry.phase != Phase::Intent)
    {
        let Some(told) = told(record) else { continue };
        let body = Body::read(&record.entry.body);
        writeln!(
            out,
            "\nRead-back ({} of {}; credentials masked)",
            phase(record.entry.phase),
            times::stamp(record.entry.at_ms)
        )?;
        shown.text(out, "  ", &told)?;
        if let Some(arguments) = body.at("/readBack/arguments") {
            writeln!(out, "  asked with")?;
            kept(shown, out, Some(arguments), None, "")?;
        }
        writeln!(out, "  answered")?;
        kept(
            shown,
            out,
            body.at("/readBack/answer"),
            body.text("/readBack/answerDigest"),
            "Nothing that was kept.",
        )?;
    }
    Ok(())
}
