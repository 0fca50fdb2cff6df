//! Lists of calls: what is in them, what a narrow terminal leaves out, what a program reads.

use clap::Parser;
use serde_json::json;

use super::*;
use crate::args::{Args, Command};
use crate::written::{BEGIN, Written, id};

/// A moment after everything that is written.
const NOW: i64 = BEGIN + 90_000;

fn args(words: &[&str]) -> CallsArgs {
    match Args::try_parse_from(["candor", "calls"].iter().chain(words))
        .unwrap()
        .command
    {
        Some(Command::Calls(args)) => args,
        other => panic!("{other:?}"),
    }
}

fn selected(written: &Written, words: &[&str]) -> (Vec<Call>, bool) {
    select(&written.reader(), &args(words), NOW).unwrap()
}

/// The numbers of the calls that are listed.
fn numbers(written: &Written, words: &[&str]) -> Vec<u128> {
    let number = |call: &Call| {
        (1..20)
            .find(|number| id(*number) == call.operation.uuid())
            .unwrap()
    };
    selected(written, words).0.iter().map(number).collect()
}

fn table(written: &Written, words: &[&str], width: Option<usize>) -> String {
    let (calls, more) = selected(written, words);
    let mut out = Vec::new();
    print_table(
        &mut out,
        &written.reader(),
        &calls,
        more,
        NOW,
        Screen { width, colour: false },
    )
    .unwrap();
    written.fixed(&String::from_utf8(out).unwrap())
}

#[test]
fn tables_show_what_is_known_and_no_more() {
    let mut written = Written::new();
    written.every_kind();
    insta::assert_snapshot!("while_running", table(&written, &[], None));
    written.end();
    insta::assert_snapshot!("after_the_end", table(&written, &[], None));
    insta::assert_snapshot!("eighty_columns", table(&written, &[], Some(80)));
    insta::assert_snapshot!("limited", table(&written, &["--limit", "2"], Some(60)));
    insta::assert_snapshot!("nothing", table(&written, &["--tool", "no_such"], None));
}

#[test]
fn filters_let_through_what_they_say() {
    let mut written = Written::new();
    written.every_kind();
    let cases: [(&[&str], &[u128]); 9] = [
        (&[], &[8, 7, 6, 5, 4, 3, 2, 1]),
        (&["--limit", "2"], &[8, 7]),
        (&["--outcome", "completed"], &[5, 2]),
        (&["--outcome", "unknown"], &[4]),
        (&["--unsettled"], &[4]),
        (&["--tool", "list_rooms"], &[8]),
        (&["--server", "other"], &[]),
        (&["--since", "87s"], &[8, 7, 6, 5, 4]),
        (&["--since", "2w"], &[8, 7, 6, 5, 4, 3, 2, 1]),
    ];
    for (words, expected) in cases {
        assert_eq!(numbers(&written, words), expected, "{words:?}, while two run");
    }
    written.end();
    // What was left open is unknown now; the read among it left nothing to settle.
    assert_eq!(numbers(&written, &["--outcome", "unknown"]), [8, 7, 4]);
    assert_eq!(numbers(&written, &["--unsettled"]), [7, 4]);
    assert_eq!(
        numbers(&written, &["--unsettled", "--limit", "1"]),
        [7],
        "a full list, though the first was left out"
    );
}

#[test]
fn a_program_reads_every_part_of_the_verdict() {
    let mut written = Written::new();
    written.every_kind();
    let lines = |written: &Written| -> Vec<Value> {
        selected(written, &[])
            .0
            .iter()
            .map(|call| serde_json::from_str(&as_line(call, None)).unwrap())
            .collect()
    };
    let running = lines(&written);
    let names: Vec<&str> = running[0]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let expected = [
        "operationId",
        "server",
        "tool",
        "startedAt",
        "durationMs",
        "protocol",
        "outcome",
        "effect",
        "evidence",
        "error",
        "reference",
        "parts",
        "attempts",
        "recorded",
        "unsettled",
        "findings",
        "how",
    ];
    assert_eq!(names, expected);
    for call in &running {
        assert_eq!(
            call.as_object().unwrap().len(),
            expected.len(),
            "every line has every member"
        );
    }
    for (index, part, value) in [
        (0, "outcome", json!(null)),
        (0, "durationMs", json!(null)),
        (
            0,
            "findings",
            json!([{ "code": "not_checked", "detail": "/items: more values than are checked" }]),
        ),
        (2, "tool", json!("x\u{1b}[2J\ny")),
        (3, "outcome", json!("completed")),
        (3, "durationMs", json!(55_000)),
        (4, "unsettled", json!(true)),
        (4, "how", json!("timeout")),
        (5, "effect", json!("not_applied")),
        (6, "startedAt", json!("2026-11-30T13:13:01.000Z")),
        (6, "error", json!(null)),
        (7, "effect", json!("unknown")),
        (7, "parts", json!([])),
        (7, "attempts", json!(1)),
    ] {
        assert_eq!(running[index][part], value, "{part} of {}", running[index]);
    }
    assert_eq!(running[5]["error"]["code"], "ROOM_UNAVAILABLE");
    written.end();
    let left = lines(&written);
    for (index, effect, unsettled) in [(0, "not_applied", false), (1, "unknown", true)] {
        let call = &left[index];
        let parts = [&call["outcome"], &call["effect"], &call["evidence"], &call["how"]];
        assert_eq!(parts, ["unknown", effect, "none", "crashed"]);
        assert_eq!(call["unsettled"], unsettled);
    }
}

#[test]
fn what_is_unsettled_is_told_with_its_age_and_what_settles_it() {
    let mut written = Written::new();
    written.every_kind();
    written.looked_at(9);
    written.end();
    let (calls, _) = selected(&written, &["--unsettled"]);
    let page = |width| {
        let mut out = Vec::new();
        open::print(
            &mut out,
            &calls,
            NOW + 3 * 3_600_000,
            Screen { width, colour: false },
        )
        .unwrap();
        written.fixed(&String::from_utf8(out).unwrap())
    };
    insta::assert_snapshot!("unsettled", page(None));
    insta::assert_snapshot!("unsettled_narrow", page(Some(60)));
    let line: Value = serde_json::from_str(&as_line(&calls[0], Some(NOW))).unwrap();
    assert_eq!(line["ageMs"], json!(NOW - BEGIN - 8_000));
    assert_eq!(line["settledBy"], json!(["read_back", "operator"]));
    let line: Value = serde_json::from_str(&as_line(&calls[1], Some(NOW))).unwrap();
    assert_eq!(
        line["settledBy"],
        json!(["operator"]),
        "nobody said how to look again"
    );
}

#[test]
fn a_newer_body_is_not_read() {
    let written = Written::new();
    let scene = written.intent(
        1,
        candor_core::contract::effect::EffectClass::Write,
        "book_room",
        0,
    );
    written.append(candor_ledger::Entry {
        operation: scene.operation.uuid(),
        phase: candor_ledger::Phase::Verdict,
        at_ms: BEGIN + 5,
        server: "rooms".into(),
        tool: "book_room".into(),
        outcome: Some("completed".into()),
        effect: Some("applied".into()),
        evidence: Some("declared".into()),
        unsettled: false,
        body: br#"{"v":9,"verdict":{"error":{"code":"MEANS_SOMETHING_ELSE"},"protocol":"delivered"}}"#
            .to_vec(),
    });
    let (calls, _) = selected(&written, &[]);
    let line = calls[0].to_json();
    assert_eq!((calls[0].newer(), calls[0].code()), (Some(9), None));
    assert_eq!(
        [&line["outcome"], &line["protocol"], &line["parts"]],
        [&json!("completed"), &json!(null), &json!(null)]
    );
}

#[test]
fn words_and_spans_that_are_none_are_refused_with_the_right_ones() {
    for (words, hint) in [
        (["--outcome", "rejekted"], "rejected"),
        (["--since", "soon"], "7d"),
        (["--limit", "0"], "1"),
    ] {
        let fault = Args::try_parse_from(["candor", "calls"].iter().chain(&words)).unwrap_err();
        assert!(fault.to_string().contains(hint), "{fault}");
        assert_eq!(fault.exit_code(), 2);
    }
}
