//! The first two layers of success: what arrived, and what was done.

use std::io::{self, Write};

use candor_core::judgment::verdict::{Effect, Evidence, Kind, Outcome, Protocol, Repeat};
use serde_json::Value;

use super::Shown;
use crate::meanings;
use crate::record::{Body, Concluded, issues};
use crate::screen::line;

pub(super) fn print(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    let Some(concluded) = &shown.call.concluded else {
        heading(
            out,
            "Protocol",
            "did a well-formed response to this request arrive?",
        )?;
        fact(shown, out, "protocol", "–", "Not yet: the call is running.")?;
        heading(out, "Tool", "was it done, what changed, and how is that known?")?;
        return fact(shown, out, "outcome", "–", "Not known while the call is running.");
    };
    protocol(shown, out, &concluded.body)?;
    tool(shown, out, concluded)
}

fn heading(out: &mut dyn Write, layer: &str, question: &str) -> io::Result<()> {
    writeln!(out, "\n{layer}: {question}")
}

/// One fact: its name, the word, and what the word means.
fn fact(shown: &Shown, out: &mut dyn Write, name: &str, word: &str, meaning: &str) -> io::Result<()> {
    let word = line(word);
    let head = format!("  {name:<9} {word}");
    let meaning = line(meaning);
    if meaning.is_empty() {
        return writeln!(out, "{head}");
    }
    let room = shown.columns.saturating_sub(27).max(20);
    let mut parts = crate::screen::wrap(&meaning, room).into_iter();
    let pad = " ".repeat(27_usize.saturating_sub(crate::screen::width(&head)).max(2));
    writeln!(out, "{head}{pad}{}", parts.next().unwrap_or_default())?;
    parts.try_for_each(|part| writeln!(out, "{:27}{part}", ""))
}

fn protocol(shown: &Shown, out: &mut dyn Write, body: &Body) -> io::Result<()> {
    heading(
        out,
        "Protocol",
        "did a well-formed response to this request arrive?",
    )?;
    let word = body.text("/verdict/protocol").unwrap_or("–");
    let meaning = match body.text("/how") {
        Some("crashed") => "Nothing came back, and whether the request left is not known.",
        _ => Protocol::parse(word).map_or("The record does not say.", meanings::protocol),
    };
    fact(shown, out, "protocol", word, meaning)?;
    if let Some(attempts) = body.at("/verdict/attempts").and_then(Value::as_u64) {
        let how_often = match attempts {
            0 => "It was never sent.",
            1 if body.text("/how") == Some("crashed") => "It may have been sent once.",
            1 => "It was sent once.",
            _ => "It was sent so often.",
        };
        fact(shown, out, "attempts", &attempts.to_string(), how_often)?;
    }
    if let Some(how) = body.text("/how") {
        let meaning = crate::explain::decisions().and_then(|decisions| decisions.how(how).map(str::to_owned));
        fact(
            shown,
            out,
            "ended as",
            how,
            &meaning.map(|text| format!("{text}.")).unwrap_or_default(),
        )?;
    }
    Ok(())
}

fn tool(shown: &Shown, out: &mut dyn Write, concluded: &Concluded) -> io::Result<()> {
    heading(out, "Tool", "was it done, what changed, and how is that known?")?;
    let outcome = Outcome::parse(&concluded.outcome).map_or("", meanings::outcome);
    fact(shown, out, "outcome", &concluded.outcome, outcome)?;
    // A server's flag says nothing about what changed; a trusted read changes nothing, whatever its server asserts.
    let (effect, meaning) = match Effect::parse(&concluded.effect) {
        Some(Effect::Unknown) => (concluded.effect_shown(), meanings::effect(Effect::Unknown)),
        Some(effect) => (effect.as_str(), meanings::effect(effect)),
        None => (concluded.effect.as_str(), ""),
    };
    fact(shown, out, "effect", effect, meaning)?;
    let evidence = Evidence::parse(&concluded.evidence).map_or("", meanings::evidence);
    fact(shown, out, "evidence", &concluded.evidence, evidence)?;
    let body = &concluded.body;
    if let Some(error) = body.at("/verdict/error") {
        failure(shown, out, error)?;
    }
    if let Some(reference) = body.text("/verdict/reference") {
        fact(
            shown,
            out,
            "reference",
            reference,
            "Something to follow, as the server names it.",
        )?;
    }
    for part in body.list("/verdict/parts") {
        let word = |name: &str| part.get(name).and_then(Value::as_str).unwrap_or("–").to_owned();
        fact(
            shown,
            out,
            "part",
            &word("name"),
            &format!("{}, {}", word("outcome"), word("effect")),
        )?;
    }
    if let Some(told) = shown
        .told()
        .filter(|told| told.outcome != concluded.outcome || told.effect != concluded.effect)
    {
        let text = format!(
            "Amended since: the caller was told {}, effect {}.",
            line(&told.outcome),
            line(&told.effect)
        );
        shown.text(out, "  ", &text)?;
    }
    if shown.call.unsettled {
        let text = format!(
            "Unsettled: nobody knows yet what became of it; the present state of the target shows it. Who has looked says \
             so: candor settle {} --applied (or --not-applied) --because \"…\"",
            shown.call.operation.short()
        );
        shown.text(out, "  ", &text)?;
    }
    Ok(())
}

fn failure(shown: &Shown, out: &mut dyn Write, error: &Value) -> io::Result<()> {
    let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or("–");
    let code = word("code");
    let page = if code.starts_with("CANDOR_") {
        format!("candor explain {code}")
    } else {
        "The tool's own code.".into()
    };
    fact(shown, out, "code", code, &page)?;
    fact(
        shown,
        out,
        "kind",
        word("kind"),
        Kind::parse(word("kind")).map_or("", meanings::kind),
    )?;
    fact(
        shown,
        out,
        "repeat",
        word("repeat"),
        Repeat::parse(word("repeat")).map_or("", meanings::repeat),
    )?;
    if let Some(seconds) = error.get("retryAfter").and_then(Value::as_u64) {
        fact(
            shown,
            out,
            "wait",
            &format!("{seconds} s"),
            "So long before a repeat, as somebody said.",
        )?;
    }
    shown.text(out, "  message   ", &line(word("message")))?;
    for issue in issues(error.get("issues")) {
        let received = issue.received.unwrap_or_else(|| "nothing".to_owned());
        let hint = issue.hint.map_or_else(String::new, |hint| format!(" ({hint})"));
        let path = if issue.path.is_empty() {
            "the whole"
        } else {
            &issue.path
        };
        let text = format!(
            "{path}: expected {}, received {received}{hint} [rule {}]",
            issue.expected, issue.rule
        );
        shown.text(out, "  issue     ", &line(&text))?;
    }
    Ok(())
}
