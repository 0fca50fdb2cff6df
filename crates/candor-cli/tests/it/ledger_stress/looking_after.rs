//! `candor ledger export` and `candor ledger prune` on calls that really happened.

use std::fs;

use serde_json::Value;

use super::stage::{READ, Stage, UNCLASSIFIED, WRITE, lines_of_json, said};

/// Three calls that came back, and one that never did.
fn four_calls() -> Stage {
    let stage = Stage::playing("silence");
    let mut session = stage.start(&["--timeout", "300ms"]);
    for tool in ["never", "release", "release", "release"] {
        session.ask(tool);
    }
    session.close();
    assert_eq!(stage.calls().len(), 4);
    stage
}

#[test]
fn an_export_has_every_record_and_a_manifest() {
    let stage = Stage::new();
    let mut session = stage.start(&[]);
    for tool in [WRITE, UNCLASSIFIED, READ] {
        session.ask(tool).assert_recorded();
    }
    session.close();
    let output = stage.look(&["ledger", "export"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let lines = lines_of_json(&output.stdout);
    let (manifest, records) = lines.split_last().unwrap();
    assert_eq!(records.len(), 6);
    assert_eq!(
        (&manifest["type"], &manifest["records"], &manifest["clean"]),
        (&"manifest".into(), &6.into(), &true.into())
    );
    assert_eq!(manifest["chains"][0]["last"]["digest"], records[5]["digest"]);
    assert!(manifest["format"].is_string() && manifest["program"].as_str().unwrap().starts_with("candor "));
    let verdict = records
        .iter()
        .find(|record| record["phase"] == "verdict" && record["tool"] == WRITE)
        .unwrap();
    assert_eq!(verdict["body"]["v"], 1);

    // To a file: the same lines but for the time, for its owner alone, and never over another.
    let out = stage.file("calls.jsonl");
    let export = |more: &[&str]| {
        let mut words = vec!["ledger", "export", "--out", out.to_str().unwrap()];
        words.extend(more);
        stage.look(&words)
    };
    let output = export(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(output.stdout.is_empty());
    let written = lines_of_json(&fs::read(&out).unwrap());
    assert_eq!(written.split_last().unwrap().1, records);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = export(&["--tool", READ]);
    assert_eq!(again.status.code(), Some(2), "{}", said(&again));
    assert!(said(&again).contains("--force"), "{}", said(&again));
    assert_eq!(lines_of_json(&fs::read(&out).unwrap()), written);
    let forced = export(&["--tool", READ, "--force"]);
    assert_eq!(forced.status.code(), Some(0), "{}", said(&forced));
    assert_eq!(lines_of_json(&fs::read(&out).unwrap()).len(), 3);
}

#[test]
fn an_export_of_a_changed_record_is_written_and_says_so() {
    let stage = Stage::new();
    let mut session = stage.start(&[]);
    session.ask_with(WRITE, &serde_json::json!({ "mark": "to be found in the file" }));
    session.close();
    let bytes = fs::read(stage.ledger()).unwrap();
    let mark = b"to be found in the file";
    let at = bytes
        .windows(mark.len())
        .position(|window| window == mark)
        .expect("the record is in the file");
    let mut changed = bytes.clone();
    changed[at + 20] = b'r';
    fs::write(stage.ledger(), changed).unwrap();
    let out = stage.file("calls.jsonl");
    let output = stage.look(&["ledger", "export", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("DAMAGED"), "{}", said(&output));
    let lines = lines_of_json(&fs::read(&out).unwrap());
    let manifest = lines.last().unwrap();
    assert_eq!((lines.len(), &manifest["clean"]), (3, &false.into()));
    assert_eq!(manifest["chains"][0]["inLedger"]["faults"][0]["what"], "edited");
}

#[test]
fn where_no_ledger_is_nothing_is_written() {
    let stage = Stage::new();
    let out = stage.file("calls.jsonl");
    for words in [
        &["ledger", "export", "--out", out.to_str().unwrap()][..],
        &["ledger", "prune"],
        &["ledger", "prune", "--apply"],
    ] {
        let output = stage.look(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        assert!(said(&output).contains("no ledger yet at"), "{}", said(&output));
    }
    assert!(!out.exists() && !stage.ledger().exists());
}

#[test]
fn a_plan_changes_nothing_and_applied_it_leaves_what_nobody_settled() {
    let stage = four_calls();
    let before = fs::read(stage.ledger()).unwrap();
    let plan = stage.look(&["ledger", "prune", "--older-than", "0s"]);
    assert_eq!(plan.status.code(), Some(0), "{}", said(&plan));
    for part in [
        "To go: 6 records",
        "never",
        "unsettled",
        "Nothing was changed",
        "--apply",
    ] {
        assert!(said(&plan).contains(part), "no {part}: {}", said(&plan));
    }
    assert_eq!(fs::read(stage.ledger()).unwrap(), before);

    let young = stage.look(&["ledger", "prune", "--apply"]);
    assert_eq!(young.status.code(), Some(0), "{}", said(&young));
    assert!(said(&young).contains("Nothing is to go."), "{}", said(&young));
    assert_eq!(stage.calls().len(), 4);

    let done = stage.look(&["ledger", "prune", "--older-than", "0s", "--apply", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done["applied"]["records"], 6, "{done:#}");
    assert_eq!(done["applied"]["clean"], true, "{done:#}");
    assert_eq!(done["held"][0]["because"], "unsettled", "{done:#}");
    stage.assert_verifies();
    let calls = stage.calls();
    assert_eq!((calls.len(), &calls[0]["tool"]), (1, &"never".into()));

    // It goes on where it was.
    let mut session = stage.start(&[]);
    session.ask("release").assert_recorded();
    session.close();
    assert_eq!(stage.calls().len(), 2);
    stage.assert_verifies();
}

#[test]
fn beyond_the_size_the_oldest_go() {
    let stage = four_calls();
    let plan = stage.look(&["ledger", "prune", "--max-size", "0B", "--json"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(plan["records"], 6, "{plan:#}");
    let plan = stage.look(&["ledger", "prune", "--max-size", "1GiB", "--json"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(
        (&plan["records"], &plan["applied"]),
        (&0.into(), &Value::Null),
        "{plan:#}"
    );
}

#[test]
fn both_have_examples_in_their_help() {
    let stage = Stage::new();
    for words in [["ledger", "export", "--help"], ["ledger", "prune", "--help"]] {
        let output = stage.run(&words);
        assert_eq!(output.status.code(), Some(0));
        assert!(said(&output).contains("Examples:"), "{}", said(&output));
        assert!(said(&output).contains("Exit codes:"), "{}", said(&output));
    }
}
