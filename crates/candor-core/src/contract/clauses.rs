//! The clauses that hold for one call, in words, each with where it came from: for the record.

use super::effect::{Source, Sourced};
use super::mapping::Mapping;
use super::recovery::{Confirm, KeyPlace, Lowered, ReadBack, Retry};
use super::terms::{Refusal, ShapeMode, ToolTerms};

/// Every clause that somebody stated, and its source. Defaults are left out: they are the program's own.
pub fn clauses(terms: &ToolTerms) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut add = |text: String, source: &Source| {
        if *source != Source::Default {
            out.push((text, source.to_string()));
        }
    };
    if let Some(Sourced { value, source }) = &terms.class {
        add(format!("effect = {value}"), source);
    }
    add(
        format!("arguments = {}", terms.arguments.value),
        &terms.arguments.source,
    );
    add(
        format!("strict_names = {}", terms.strict_names.value),
        &terms.strict_names.source,
    );
    let shape = match terms.output.value {
        ShapeMode::Warn => "warn",
        ShapeMode::Strict => "strict",
    };
    add(format!("output = {shape}"), &terms.output.source);
    if let Some(Sourced { value, source }) = &terms.mapping {
        of_mapping(value, source, &mut add);
    }
    for Sourced { value, source } in &terms.text {
        let means = lowered(value.means);
        add(format!("text that fits {} means {means}", value.pattern), source);
    }
    for Sourced { value, source } in &terms.lower {
        let means = lowered(value.means);
        add(
            format!("a result of which {} holds means {means}", value.when),
            source,
        );
    }
    for Sourced { value, source } in &terms.rules {
        add(format!("rule {}", value.name()), source);
    }
    if let Some(Sourced { value, source }) = &terms.deadline {
        add(format!("deadline = {} ms", value.as_millis()), source);
    }
    add(format!("task = {}", terms.task.value), &terms.task.source);
    add(
        format!("trust_annotations = {}", terms.trust_annotations.value),
        &terms.trust_annotations.source,
    );
    add(
        format!("trust_verdicts = {}", terms.trust_verdicts.value),
        &terms.trust_verdicts.source,
    );
    for (refusal, source) in &terms.nothing_done_on {
        let what = match refusal {
            Refusal::JsonRpc(code) => format!("nothing done on {code}"),
            Refusal::Http(status) => format!("nothing done on HTTP {status}"),
            Refusal::Code(code) => format!("nothing done on the code {code:?}"),
        };
        add(what, source);
    }
    of_recovery(terms, &mut add);
    if let Some(Sourced { value, source }) = &terms.redact {
        for name in value.names() {
            add(format!("redact values named {name}"), source);
        }
        for pattern in value.patterns() {
            add(format!("redact what fits {pattern}"), source);
        }
    }
    out
}

const fn lowered(means: Lowered) -> &'static str {
    match means {
        Lowered::Failed => "failed",
        Lowered::Rejected => "rejected",
        Lowered::Unknown => "unknown",
    }
}

fn of_mapping(mapping: &Mapping, source: &Source, add: &mut impl FnMut(String, &Source)) {
    if let Some(pointer) = &mapping.pointer {
        add(format!("outcome read from {pointer}"), source);
    }
    if let Some(parts) = &mapping.parts {
        let (items, pointer) = (&parts.items, &parts.pointer);
        add(
            format!("parts read from \"{items}\", each by \"{pointer}\""),
            source,
        );
    }
    if let Some(pointer) = &mapping.retry_after {
        add(format!("wait before a repeat read from {pointer}"), source);
    }
    let state = mapping
        .reference
        .as_ref()
        .and_then(|reference| reference.state.as_ref());
    if let Some(state) = state {
        let wait = state.wait.map_or_else(String::new, |wait| {
            format!(", its caller is kept {} ms for the end", wait.as_millis())
        });
        add(
            format!("what is accepted is followed by {}{wait}", state.tool),
            source,
        );
    }
    for pointer in &mapping.failed_where {
        add(format!("failed where {pointer} says something"), source);
    }
}

fn of_recovery(terms: &ToolTerms, add: &mut impl FnMut(String, &Source)) {
    if let Some(Sourced { value, source }) = &terms.read_back {
        add(read_back(value), source);
    }
    if let Some(Sourced { value, source }) = &terms.retry {
        let Retry {
            attempts,
            within,
            wait,
        } = value;
        let (within, wait) = (within.as_millis(), wait.as_millis());
        add(
            format!("retry: at most {attempts} sends within {within} ms, first wait {wait} ms"),
            source,
        );
    }
    if let Some(Sourced { value, source }) = &terms.breaker {
        let (failures, pause) = (value.failures, value.pause.as_millis());
        add(
            format!("breaker: {failures} failures in a row, pause {pause} ms"),
            source,
        );
    }
    if let Some(Sourced { value, source }) = &terms.key_place {
        let what = match value {
            KeyPlace::Argument(name) => format!("idempotency key as argument {name}"),
            KeyPlace::Meta(name) => format!("idempotency key as _meta {name}"),
        };
        add(what, source);
    }
    if let Some(Sourced { value, source }) = &terms.confirm {
        let what = match value {
            Confirm { message: None } => "confirm: a person agrees first".to_owned(),
            Confirm {
                message: Some(message),
            } => format!("confirm: a person agrees first, asked {message:?}"),
        };
        add(what, source);
    }
}

/// A look again, with everything that decides what it can show.
fn read_back(clause: &ReadBack) -> String {
    let mut text = format!("read_back by {}: applied if {}", clause.tool, clause.applied);
    if let Some(not_applied) = &clause.not_applied {
        text.push_str(&format!(", not applied if {not_applied}"));
    }
    text.push_str(&format!(
        ", at most {} looks, {} ms between",
        clause.attempts,
        clause.wait.as_millis()
    ));
    if !clause.window.is_zero() {
        text.push_str(&format!(
            ", \"not applied\" only after {} ms",
            clause.window.as_millis()
        ));
    }
    if clause.prove {
        text.push_str(", successes too");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::recovery::Breaker;
    use super::super::rules::{Term, Zone};
    use super::*;

    #[test]
    fn what_somebody_stated_is_told_with_its_line_and_defaults_are_not() {
        assert_eq!(clauses(&ToolTerms::default()), []);
        let source = Source::Config {
            file: "candor.toml".to_owned(),
            line: 3,
        };
        let told = clauses(&ToolTerms {
            strict_names: Sourced::new(true, source.clone()),
            output: Sourced::new(ShapeMode::Strict, source.clone()),
            ..ToolTerms::default()
        });
        let clause = |text: &str| (text.to_owned(), source.to_string());
        assert_eq!(told, [clause("strict_names = true"), clause("output = strict")]);
    }

    #[test]
    fn every_clause_of_recovery_is_told_with_what_it_decides() {
        let term = |text: &str| Term::compile(text, &Zone::utc()).unwrap();
        let second = Duration::from_secs(1);
        let said = |terms: ToolTerms| {
            let told = clauses(&terms);
            assert!(
                told.iter().all(|(_, source)| source == "command line"),
                "{told:?}"
            );
            told.into_iter().map(|(text, _)| text).collect::<Vec<_>>()
        };
        let told = said(ToolTerms {
            read_back: Some(Sourced::new(
                ReadBack {
                    tool: "list_bookings".to_owned(),
                    arguments: vec![("room".to_owned(), term("args.room"))],
                    applied: term("answer.n == 1"),
                    not_applied: Some(term("answer.n == 0")),
                    attempts: 3,
                    wait: second,
                    window: second,
                    prove: true,
                },
                Source::CommandLine,
            )),
            retry: Some(Sourced::new(
                Retry {
                    attempts: 2,
                    within: second,
                    wait: second,
                },
                Source::CommandLine,
            )),
            breaker: Some(Sourced::new(
                Breaker {
                    failures: 5,
                    pause: second,
                },
                Source::CommandLine,
            )),
            key_place: Some(Sourced::new(
                KeyPlace::Argument("request_id".to_owned()),
                Source::CommandLine,
            )),
            confirm: Some(Sourced::new(
                Confirm {
                    message: Some("Book it?".to_owned()),
                },
                Source::CommandLine,
            )),
            ..ToolTerms::default()
        });
        assert_eq!(
            told,
            [
                "read_back by list_bookings: applied if answer.n == 1, not applied if answer.n == 0, at most 3 looks, \
                 1000 ms between, \"not applied\" only after 1000 ms, successes too",
                "retry: at most 2 sends within 1000 ms, first wait 1000 ms",
                "breaker: 5 failures in a row, pause 1000 ms",
                "idempotency key as argument request_id",
                "confirm: a person agrees first, asked \"Book it?\"",
            ]
        );
    }
}
