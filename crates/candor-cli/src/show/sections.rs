//! How one call went, and by what: timeline, contract, arguments, findings, reply.

use std::io::{self, Write};

use candor_ledger::{Phase, StoredEntry};
use serde_json::Value;

use super::{Shown, looks, phase, short};
use crate::record::{Body, Concluded};
use crate::screen::{self, line};
use crate::times;

pub(super) fn print(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    timeline(shown, out)?;
    if let Some(intent) = shown.intent() {
        request(shown, out, &intent)?;
        contract(shown, out, &intent)?;
        arguments(shown, out, &intent)?;
    }
    findings(shown, out)?;
    looks::print(shown, out)?;
    replies(shown, out)
}

fn timeline(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nTimeline (UTC)")?;
    let mut before: Option<Concluded> = None;
    for record in &shown.records {
        let since = record.entry.at_ms.saturating_sub(shown.call.started_ms);
        let since =
            u64::try_from(since).map_or_else(|_| "earlier".to_owned(), |ms| format!("+{}", times::span(ms)));
        let what = match record.entry.phase {
            Phase::Intent => sending(shown, record),
            Phase::Verdict => format!("verdict recorded: {}", concluded(record)),
            Phase::Amendment => format!("amended: {}", changes(before.as_ref(), record)),
        };
        let place = format!(
            "record {} of instance {}",
            record.sequence,
            short(record.instance)
        );
        writeln!(
            out,
            "  {}  {since:>9}  {what} ({place})",
            times::stamp(record.entry.at_ms)
        )?;
        settled(shown, out, record)?;
        if let Some(asked) = Body::read(&record.entry.body).text("/followedBy") {
            shown.text(
                out,
                &format!("  {:26}followed: ", ""),
                &format!("{} was asked", line(asked)),
            )?;
        }
        if let Some(look) = looks::told(record) {
            shown.text(out, &format!("  {:26}looked: ", ""), &look)?;
        }
        if record.entry.phase != Phase::Intent {
            before = Some(Concluded::of(record));
        }
    }
    if shown.call.running {
        writeln!(
            out,
            "  running: the instance that sent it lives, and no verdict is recorded yet"
        )?;
    } else if shown
        .records
        .last()
        .is_some_and(|record| record.entry.phase == Phase::Intent)
    {
        writeln!(
            out,
            "  no verdict: the instance that sent it has ended. The next start writes down what is said above"
        )?;
    }
    Ok(())
}

/// Which sending an intent stands before: the first, a further try, or the next round of one exchange.
fn sending(shown: &Shown, record: &StoredEntry) -> String {
    let is_first = shown
        .records
        .iter()
        .find(|other| other.entry.phase == Phase::Intent)
        .is_some_and(|first| first.sequence == record.sequence && first.instance == record.instance);
    let attempt = Body::read(&record.entry.body)
        .at("/attempt")
        .and_then(Value::as_u64);
    match attempt {
        Some(number) => format!("attempt {number} recorded, before it was sent again"),
        None if is_first => "intent recorded, before anything was sent".to_owned(),
        None => "intent of the next round recorded, before it was sent".to_owned(),
    }
}

/// Whose word an amendment is, and why they gave it.
fn settled(shown: &Shown, out: &mut dyn Write, record: &StoredEntry) -> io::Result<()> {
    let body = Body::read(&record.entry.body);
    let (Some(by), Some(because)) = (body.text("/settled/by"), body.text("/settled/because")) else {
        return Ok(());
    };
    let label = format!("  {:26}the word of ", "");
    shown.text(out, &label, &format!("{}: {}", line(by), line(because)))
}

fn concluded(record: &StoredEntry) -> String {
    let is = Concluded::of(record);
    let code = is
        .body
        .text("/verdict/error/code")
        .map_or_else(String::new, |code| format!(", {}", line(code)));
    format!(
        "{}, effect {}, evidence {}{code}",
        line(&is.outcome),
        line(&is.effect),
        line(&is.evidence)
    )
}

/// What an amendment says otherwise than the verdict before it.
fn changes(before: Option<&Concluded>, record: &StoredEntry) -> String {
    let Some(before) = before else {
        return concluded(record);
    };
    let after = Concluded::of(record);
    let of = |is: &Concluded, pointer: &str| is.body.text(pointer).unwrap_or("–").to_owned();
    let pairs = [
        (
            "protocol",
            of(before, "/verdict/protocol"),
            of(&after, "/verdict/protocol"),
        ),
        ("outcome", before.outcome.clone(), after.outcome.clone()),
        ("effect", before.effect.clone(), after.effect.clone()),
        ("evidence", before.evidence.clone(), after.evidence.clone()),
        (
            "code",
            of(before, "/verdict/error/code"),
            of(&after, "/verdict/error/code"),
        ),
        (
            "reference",
            of(before, "/verdict/reference"),
            of(&after, "/verdict/reference"),
        ),
    ];
    let changed: Vec<String> = pairs
        .iter()
        .filter(|(_, was, is)| was != is)
        .map(|(name, was, is)| format!("{name} {} → {}", line(was), line(is)))
        .collect();
    let changed = if changed.is_empty() {
        "it says the same again".to_owned()
    } else {
        changed.join(", ")
    };
    let open = if record.entry.unsettled {
        "still unsettled"
    } else {
        "settled"
    };
    format!("{changed}; {open}")
}

fn request(shown: &Shown, out: &mut dyn Write, intent: &Body) -> io::Result<()> {
    writeln!(out, "\nRequest")?;
    let mut facts = Vec::new();
    facts.push((
        "host",
        intent.text("/host").map_or_else(|| "unnamed".to_owned(), line),
    ));
    if let Some(principal) = intent.text("/principal") {
        facts.push(("principal", line(principal)));
    }
    facts.push((
        "revision",
        intent.text("/revision").map_or_else(|| "–".to_owned(), line),
    ));
    facts.push((
        "request id",
        intent.text("/requestId").map_or_else(|| "–".to_owned(), line),
    ));
    if let Some(ms) = intent
        .at("/deadlineMs")
        .and_then(Value::as_u64)
        .filter(|ms| *ms > 0)
    {
        facts.push(("deadline", times::span(ms)));
    }
    if let Some(hex) = intent.text("/idempotencyKeyDigest") {
        facts.push(("key", format!("sha-256 {}", line(hex))));
    }
    let schema = intent
        .text("/schemaDigest")
        .map_or_else(|| "none known".to_owned(), |hex| format!("sha-256 {}", line(hex)));
    facts.push(("schema", schema));
    for (name, text) in facts {
        shown.text(out, &format!("  {name:<11}"), &text)?;
    }
    Ok(())
}

fn contract(shown: &Shown, out: &mut dyn Write, intent: &Body) -> io::Result<()> {
    writeln!(out, "\nContract")?;
    let class = intent.text("/effectClass");
    let clauses = intent.list("/contract");
    // An expression may be written over several lines.
    let text = |clause: &Value, name: &str| {
        let text = clause.get(name).and_then(Value::as_str).unwrap_or("–");
        line(&text.replace('\n', " "))
    };
    let widest = clauses
        .iter()
        .map(|clause| screen::width(&text(clause, "clause")))
        .max()
        .unwrap_or(0)
        .min(48);
    for clause in clauses {
        let what = text(clause, "clause");
        let source = text(clause, "source");
        if screen::width(&what) > widest {
            shown.text(out, "  ", &format!("{what}, from {source}"))?;
            continue;
        }
        let pad = " ".repeat(widest.saturating_sub(screen::width(&what)));
        writeln!(out, "  {what}{pad}  from {source}")?;
    }
    match (clauses.is_empty(), class) {
        (true, _) => shown.text(
            out,
            "  ",
            "Nobody stated a clause: Candor's defaults hold, and the tool counts as a write.",
        ),
        (false, None) => shown.text(out, "  ", "Nobody classified the tool: it counts as a write."),
        (false, Some(_)) => Ok(()),
    }
}

fn arguments(shown: &Shown, out: &mut dyn Write, intent: &Body) -> io::Result<()> {
    writeln!(out, "\nArguments (as sent or refused; credentials masked)")?;
    kept(
        shown,
        out,
        intent.at("/arguments"),
        intent.text("/argumentsDigest"),
        "The call had none.",
    )?;
    for change in intent.list("/disclosed/coerced") {
        let part = |name: &str| change.get(name).map_or_else(|| "–".to_owned(), screen::json);
        let path = change.get("path").and_then(Value::as_str).unwrap_or("–");
        shown.text(
            out,
            "  changed   ",
            &format!("{}: {} became {}", line(path), part("from"), part("to")),
        )?;
    }
    for notice in intent.list("/disclosed/notices").iter().filter_map(Value::as_str) {
        shown.text(out, "  notice    ", &line(notice))?;
    }
    if let Some(asked) = intent.at("/disclosed/confirmation/asked").and_then(Value::as_str) {
        let end = intent.text("/disclosed/confirmation/end").unwrap_or("–");
        shown.text(
            out,
            "  consent   ",
            &format!("{}: the user was asked: {}", line(end), line(asked)),
        )?;
    }
    Ok(())
}

/// A value as it is kept: whole, or the beginning of its text where it was longer than is kept.
pub(super) fn kept(
    shown: &Shown,
    out: &mut dyn Write,
    value: Option<&Value>,
    digest: Option<&str>,
    none: &str,
) -> io::Result<()> {
    match value {
        None => shown.text(out, "  ", none)?,
        Some(value) => match (
            value.get("cut").and_then(Value::as_str),
            value.get("bytes").and_then(Value::as_u64),
        ) {
            (Some(text), Some(bytes)) => {
                for each in screen::lines(text) {
                    writeln!(out, "  {each}")?;
                }
                writeln!(out, "  (cut; the whole was {bytes} bytes)")?;
            }
            _ => {
                for each in screen::pretty_json(value).lines() {
                    writeln!(out, "  {each}")?;
                }
            }
        },
    }
    match digest {
        Some(digest) => writeln!(out, "  sha-256 of the raw bytes: {}", line(digest)),
        None => Ok(()),
    }
}

fn findings(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let findings = shown.call.findings();
    writeln!(out, "\nFindings")?;
    if findings.is_empty() {
        return writeln!(out, "  None.");
    }
    for finding in findings {
        let text = |name: &str| {
            finding
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or("–")
                .to_owned()
        };
        shown.text(
            out,
            "  ",
            &format!(
                "{}: {} (candor explain {})",
                line(&text("code")),
                line(&text("detail")),
                line(&text("code"))
            ),
        )?;
    }
    Ok(())
}

/// Every answer that came, the late ones too.
fn replies(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    for record in shown
        .records
        .iter()
        .filter(|record| record.entry.phase != Phase::Intent)
    {
        let body = Body::read(&record.entry.body);
        if body.closed().is_some() {
            continue;
        }
        writeln!(
            out,
            "\nReply ({} of {}; credentials masked)",
            phase(record.entry.phase),
            times::stamp(record.entry.at_ms)
        )?;
        kept(
            shown,
            out,
            body.at("/reply"),
            body.text("/replyDigest"),
            "None was recorded.",
        )?;
    }
    Ok(())
}
