//! An answer to a look, by the contract of the tool that gave it. Every pair fires and stays quiet.

use serde_json::json;

use super::*;
use crate::contract::effect::Source;
use crate::contract::mapping::scalar::Scalar;
use crate::contract::mapping::{Document, Mapping, ValueList, Values};
use crate::contract::recovery::Lowered;
use crate::contract::rules::{Term, Zone};
use crate::contract::text::{TextClause, TextPattern};

fn term(source: &str) -> Term {
    Term::compile(source, &Zone::utc()).unwrap()
}

fn clause() -> ReadBack {
    ReadBack {
        tool: "list_bookings".to_owned(),
        arguments: Vec::new(),
        applied: term("text.contains('room 12')"),
        not_applied: Some(term("!text.contains('room 12')")),
        attempts: 1,
        wait: Duration::from_millis(1),
        window: Duration::from_secs(1),
        prove: false,
    }
}

fn look(terms: &ToolTerms, result: &Value) -> Result<Shown, String> {
    let reply = Reply::parse(json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()).unwrap();
    let sent = UnixMillis(0);
    let subject = Subject::of(json!({}), None, Revision::V2025_11_25, sent, true);
    let answer = LookAnswer::read(reply, Revision::V2025_11_25, terms)?;
    shown(
        &clause(),
        &subject,
        &json!({ "day": "today" }),
        &answer,
        UnixMillis(5_000),
    )
}

fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn sourced<T>(value: T) -> Sourced<T> {
    Sourced::new(value, Source::CommandLine)
}

#[test]
fn what_the_tools_own_text_clauses_call_a_failure_shows_nothing() {
    let terms = ToolTerms {
        text: vec![sourced(TextClause {
            pattern: TextPattern::compile("^Error: ").unwrap(),
            means: Lowered::Failed,
        })],
        ..ToolTerms::default()
    };
    let lies = said("Error: database is locked");
    assert!(
        look(&terms, &lies)
            .unwrap_err()
            .contains("calls its answer a failure")
    );
    assert_eq!(
        look(&ToolTerms::default(), &lies),
        Ok(Shown::NotApplied),
        "nobody said what such a text means"
    );
    assert_eq!(look(&terms, &said("room 12")), Ok(Shown::Applied));
    assert_eq!(look(&terms, &said("no bookings")), Ok(Shown::NotApplied));
}

#[test]
fn what_an_expression_of_its_own_calls_a_failure_shows_nothing_by_the_arguments_of_the_look() {
    let terms = |when: &str| ToolTerms {
        lower: vec![sourced(LowerClause {
            when: term(when),
            means: Lowered::Unknown,
        })],
        ..ToolTerms::default()
    };
    let lies = said("locked for today");
    assert!(look(&terms("text.contains(args.day)"), &lies).is_err());
    assert_eq!(
        look(&terms("text.contains('tomorrow')"), &lies),
        Ok(Shown::NotApplied)
    );
    assert_eq!(
        look(&terms("result.missing == 1"), &lies),
        Ok(Shown::NotApplied),
        "one that has no value does not hold"
    );
}

#[test]
fn what_its_own_mapping_does_not_read_as_a_success_shows_nothing() {
    let mut values = Values::default();
    for (list, value) in [
        (ValueList::Completed, "ok"),
        (ValueList::Accepted, "loading"),
        (ValueList::Failed, "broken"),
        (ValueList::Rejected, "forbidden"),
    ] {
        values.add(list, Scalar::of(&json!(value)).unwrap()).unwrap();
    }
    let mapping = Mapping {
        document: Document::Structured,
        pointer: Some("/status".parse().unwrap()),
        values,
        code: None,
        message: None,
        reference: None,
        suggestion: None,
        retry_after: None,
        parts: None,
        failed_where: Vec::new(),
        nothing_done: std::collections::BTreeSet::new(),
    };
    let terms = ToolTerms {
        mapping: Some(sourced(mapping)),
        ..ToolTerms::default()
    };
    let answer = |status: &str| json!({ "content": [], "structuredContent": { "status": status } });
    assert_eq!(look(&terms, &answer("ok")), Ok(Shown::NotApplied));
    for status in ["loading", "broken", "forbidden", "never heard of"] {
        let shown = look(&terms, &answer(status));
        assert!(
            shown
                .clone()
                .is_err_and(|why| why.contains("does not read its answer as a success")),
            "{status}: {shown:?}"
        );
        assert_eq!(
            look(&ToolTerms::default(), &answer(status)),
            Ok(Shown::NotApplied)
        );
    }
    assert!(look(&terms, &said("no structure at all")).is_err());
}
