//! The keys about results: parts, fields that speak of a failure, codes, texts.

use candor_core::contract::mapping::{MappedReading, Reading};
use candor_core::contract::recovery::Lowered;
use candor_core::judgment::verdict::{Effect, Outcome};
use serde_json::{Value, json};

use super::*;

const FILES: &str = r#"
[servers.files.tools.delete_files]
nothing_done_on = ["IN_USE", -32602]

[servers.files.tools.delete_files.outcome]
parts = { items = "/results", name = "/path", pointer = "/status", completed = ["deleted"], rejected = ["refused"], failed = ["error"], accepted = ["queued"], code = "/error/code" }

[servers.files.tools.move_file]
nothing_done_on = ["IN_USE", "7"]
outcome = { pointer = "/ok", completed = [true], failed = [false], failed_where = ["/readback/error", "/error"], code = "/code", retry_after = "/retry" }

[servers.files.tools.search.outcome]
failed_where = ["/error"]

[[servers.files.tools.write_query.text]]
matches = "^Database error: "
means = "failed"

[[servers.files.tools.write_query.text]]
matches = '^Not allowed\b'
means = "rejected"
"#;

fn terms(tool: &str) -> ToolTerms {
    let config = parse(FILES).unwrap_or_else(|faults| panic!("{}", shown(FILES, &faults)));
    config.for_tool("files", tool, &CommandLine::default())
}

fn read(tool: &str, structured: &Value) -> Option<MappedReading> {
    terms(tool).mapping.unwrap().value.read(Some(structured), &[])
}

fn reading(tool: &str, structured: &Value) -> Option<Reading> {
    read(tool, structured).map(|read| read.reading)
}

#[test]
fn a_wait_is_read_from_the_field_that_is_named_and_only_of_a_failure() {
    let asked = |tool: &str, of: Value| read(tool, &of).and_then(|read| read.asked_wait());
    assert_eq!(
        asked("move_file", json!({ "ok": false, "retry": "30" })),
        Some(30)
    );
    assert_eq!(asked("move_file", json!({ "ok": true, "retry": "30" })), None);
    assert_eq!(asked("search", json!({ "error": "busy", "retry": "30" })), None);
}

#[test]
fn each_item_has_an_end_of_its_own_and_the_whole_follows() {
    let read = read(
        "delete_files",
        &json!({ "results": [
            { "path": "a", "status": "deleted" },
            { "path": "b", "status": "error", "error": { "code": "IN_USE" } },
            { "path": "c", "status": "error", "error": { "code": "EIO" } },
            { "path": "d", "status": "refused" },
            { "path": "e", "status": "queued" },
            { "status": "sideways" },
        ]}),
    )
    .unwrap();
    assert_eq!(read.reading, Reading::Partial);
    let told: Vec<_> = read
        .parts
        .iter()
        .map(|part| {
            (
                part.name.as_str(),
                part.outcome,
                part.effect,
                part.code.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", Outcome::Completed, Effect::Applied, None),
            ("b", Outcome::Failed, Effect::NotApplied, Some("IN_USE")),
            ("c", Outcome::Failed, Effect::Unknown, Some("EIO")),
            ("d", Outcome::Rejected, Effect::NotApplied, None),
            ("e", Outcome::Accepted, Effect::Unknown, None),
            ("item 6", Outcome::Unknown, Effect::Unknown, None),
        ]
    );
}

#[test]
fn a_whole_claims_no_more_than_its_parts() {
    let of = |states: &[&str]| {
        let items: Vec<Value> = states
            .iter()
            .map(|state| json!({ "path": "p", "status": state }))
            .collect();
        reading("delete_files", &json!({ "results": items }))
    };
    for (states, expected) in [
        (&["deleted", "deleted"][..], Reading::Completed),
        (&["deleted", "sideways"], Reading::Partial),
        (&["refused", "refused"], Reading::Rejected),
        (&["error", "error"], Reading::Failed),
        (&["queued", "queued"], Reading::Accepted),
        (&["queued", "sideways"], Reading::Unknown),
        (&["sideways"], Reading::Unknown),
        (&[], Reading::Missing),
    ] {
        assert_eq!(of(states), Some(expected), "{states:?}");
    }
    assert_eq!(
        reading("delete_files", &json!({ "results": 3 })),
        Some(Reading::Missing)
    );
    assert_eq!(reading("delete_files", &json!({})), Some(Reading::Missing));
}

#[test]
fn the_keys_of_an_object_name_its_items_and_many_items_are_bounded() {
    let named = read(
        "delete_files",
        &json!({ "results": { "x": { "status": "deleted" }, "y": { "status": "error" } } }),
    );
    let names: Vec<String> = named.unwrap().parts.into_iter().map(|part| part.name).collect();
    assert_eq!(names, ["x", "y"]);
    let mut many = vec![json!({ "path": "p", "status": "deleted" }); 500];
    many.push(json!({ "path": "last", "status": "error" }));
    let read = read("delete_files", &json!({ "results": many })).unwrap();
    assert_eq!((read.reading, read.parts.len()), (Reading::Partial, 200));
    let rest = read.parts.last().unwrap();
    assert_eq!(
        (rest.name.as_str(), rest.outcome),
        ("the other 302", Outcome::Partial)
    );
}

#[test]
fn a_code_by_which_nothing_was_done_is_compared_exactly() {
    let of = |code: Value| reading("move_file", &json!({ "ok": false, "code": code }));
    assert_eq!(of(json!("IN_USE")), Some(Reading::FailedUnapplied));
    assert_eq!(of(json!(7)), Some(Reading::FailedUnapplied));
    assert_eq!(of(json!("in_use")), Some(Reading::Failed));
    assert_eq!(of(json!(null)), Some(Reading::Failed));
    let done = json!({ "ok": true, "code": "IN_USE" });
    assert_eq!(reading("move_file", &done), Some(Reading::Completed));
}

#[test]
fn a_field_that_speaks_of_a_failure_only_lowers() {
    let of = |structured: Value| reading("move_file", &structured);
    assert_eq!(
        of(json!({ "ok": true, "readback": { "error": "timed out" } })),
        Some(Reading::Failed)
    );
    assert_eq!(of(json!({ "error": "no such file" })), Some(Reading::Failed));
    for nothing in [
        json!(null),
        json!(false),
        json!(""),
        json!([]),
        json!({}),
        json!(0),
    ] {
        assert_eq!(
            of(json!({ "ok": true, "error": nothing })),
            Some(Reading::Completed)
        );
        assert_eq!(reading("search", &json!({ "error": nothing })), None);
    }
    assert_eq!(
        reading("search", &json!({ "error": "rate limit" })),
        Some(Reading::Failed)
    );
    assert_eq!(reading("search", &json!({ "hits": ["error"] })), None);
}

#[test]
fn texts_are_read_in_the_order_of_the_file_and_know_their_line() {
    let texts: Vec<_> = terms("write_query")
        .text
        .into_iter()
        .map(|clause| {
            (
                clause.value.pattern.as_str().to_owned(),
                clause.value.means,
                clause.source.to_string(),
            )
        })
        .collect();
    assert_eq!(
        texts,
        [
            (
                "^Database error: ".to_owned(),
                Lowered::Failed,
                "candor.toml:15".to_owned()
            ),
            (
                r"^Not allowed\b".to_owned(),
                Lowered::Rejected,
                "candor.toml:19".to_owned()
            ),
        ]
    );
}

#[test]
fn every_slip_in_these_keys_is_found() {
    let source = r#"
[servers.files.tools.delete_files]
nothing_done_on = ["IN_USE", "-32602", "", 7]

[servers.files.tools.delete_files.outcome]
completed = ["x"]
parts = { name = "path", completed = ["a"], rejected = ["a"], faild = ["b"] }
failed_where = "/error"

[servers.files.tools.move_file.outcome]
parts = { items = "/results", pointer = "" }

[[servers.files.tools.write_query.text]]
matches = "Database error: "
means = "completed"

[[servers.files.tools.write_query.text]]
matches = "^.*"
means = "failed"

[[servers.files.tools.write_query.text]]
mtches = "^a"
means = "failed"
"#;
    insta::assert_snapshot!(shown(source, &parse(source).unwrap_err()));
    let many = "[[servers.a.tools.b.text]]\nmatches = \"^a\"\nmeans = \"failed\"\n".repeat(33);
    let faults = parse(&many).unwrap_err();
    assert_eq!(faults[0].kind, FaultKind::TooManyTexts { limit: 32 });
}
