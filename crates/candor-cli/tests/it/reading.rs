//! The commands that read: what they print of calls that really happened, and how they end.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Output, Stdio},
};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    scene::{Scene, Way, candor},
};

/// Runs Candor in a folder where nothing leads to a ledger by default.
fn run(scene: &Scene, arguments: &[impl AsRef<OsStr>]) -> Output {
    Command::new(candor())
        .args(arguments)
        .env_remove("CANDOR_LEDGER")
        .env("XDG_STATE_HOME", scene.path("state"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// As [`run`], with this scene's ledger.
fn read(scene: &Scene, arguments: &[&str]) -> Output {
    let mut all: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
    let ledger = scene.ledger();
    all.extend([OsStr::new("--ledger"), ledger.as_os_str()]);
    run(scene, &all)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// One good call and one that is refused, recorded.
fn two_calls() -> Scene {
    let (scene, opening) = (Scene::of("results"), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    host.ask(&opening.call("1", "ok", &json!({ "mark": "to be found in the file" })));
    host.ask(&opening.call("2", "no\u{1b}[2Jsuch", &json!({})));
    scene.end(Way::Through, host);
    scene
}

#[test]
fn what_was_called_is_listed_and_shown_whole() {
    let scene = two_calls();
    let list = read(&scene, &["calls"]);
    let text = String::from_utf8(list.stdout).unwrap();
    assert_eq!(list.status.code(), Some(0));
    assert!(text.starts_with("Ledger: "), "the place comes first: {text}");
    assert!(
        text.contains("reported") && text.contains("CANDOR_UNKNOWN_TOOL"),
        "{text}"
    );
    assert!(
        !text.contains('\u{1b}'),
        "a tool's name reached the terminal raw: {text:?}"
    );
    for call in scene.calls() {
        let id = call["operationId"].as_str().unwrap();
        let page = read(&scene, &["show", &id[id.len() - 8..]]);
        let text = String::from_utf8(page.stdout).unwrap();
        assert_eq!(page.status.code(), Some(0));
        for part in [
            "Protocol: ",
            "Tool: ",
            "User: ",
            "Timeline",
            "Contract",
            "Arguments",
            "Reply",
            id,
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        let json = read(&scene, &["show", id, "--json", "--lang", "zh"]);
        let json: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(json["operationId"], call["operationId"]);
        assert_eq!(json["records"].as_array().unwrap().len(), 2);
        assert!(!json["sentence"].as_str().unwrap().is_ascii());
    }
}

#[test]
fn unsettled_calls_end_with_1_and_settled_ones_with_0() {
    let settled = two_calls();
    assert_eq!(read(&settled, &["calls", "--unsettled"]).status.code(), Some(0));
    let (scene, opening) = (
        Scene::of("silence").option("--timeout").option("300ms"),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    host.ask(&opening.call("1", "never", &json!({})));
    scene.end(Way::Through, host);
    let open = read(&scene, &["calls", "--unsettled"]);
    assert_eq!(open.status.code(), Some(1), "{}", said(&open));
    assert!(said(&open).contains("CANDOR_NO_ANSWER"), "{}", said(&open));
    assert_eq!(
        read(&scene, &["calls"]).status.code(),
        Some(0),
        "a list by itself is no finding"
    );
}

#[test]
fn where_no_ledger_is_that_is_said() {
    let scene = Scene::of("results");
    let nowhere = scene.path("nowhere.sqlite");
    let named = |words: &[&str]| {
        let mut all: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        all.extend([OsStr::new("--ledger"), nowhere.as_os_str()]);
        run(&scene, &all)
    };
    for (words, by_default, by_name) in [
        (&["calls"][..], 0, 0),
        (&["calls", "--json"], 0, 0),
        (&["show", "8f2c1a90"], 1, 1),
        (&["ledger", "verify"], 0, 2),
    ] {
        for (output, code) in [(run(&scene, words), by_default), (named(words), by_name)] {
            assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
            assert!(
                said(&output).contains("no ledger yet at"),
                "{words:?}: {}",
                said(&output)
            );
        }
    }
    assert!(
        !nowhere.exists() && !scene.path("state").exists(),
        "reading makes nothing"
    );
}

#[test]
fn ids_that_lead_nowhere_or_to_several_calls_say_what_to_try() {
    let scene = two_calls();
    for (id, code, hint) in [
        ("ffffffffffffffff", 1, "candor calls"),
        ("12", 2, "at least 4"),
        ("not-an-id", 2, "at least 4"),
    ] {
        let output = read(&scene, &["show", id]);
        assert_eq!(output.status.code(), Some(code), "{id}: {}", said(&output));
        assert!(
            said(&output).contains(hint) && output.stdout.is_empty(),
            "{id}: {}",
            said(&output)
        );
    }
}

#[test]
fn an_edited_record_is_named_and_ends_with_1() {
    let scene = two_calls();
    let clean = read(&scene, &["ledger", "verify"]);
    assert_eq!(clean.status.code(), Some(0), "{}", said(&clean));
    assert!(
        said(&clean).contains("The chains have no key."),
        "{}",
        said(&clean)
    );
    let replaced = replace(
        &scene.ledger(),
        b"to be found in the file",
        b"to be found in the fire",
    );
    assert!(replaced > 0, "the record is in the file");
    let edited = read(&scene, &["ledger", "verify"]);
    assert_eq!(edited.status.code(), Some(1), "{}", said(&edited));
    assert!(
        said(&edited).contains("edited, it is not what was written"),
        "{}",
        said(&edited)
    );
    let json: Value = serde_json::from_slice(&read(&scene, &["ledger", "verify", "--json"]).stdout).unwrap();
    let call = scene
        .calls()
        .into_iter()
        .find(|call| call["tool"] == "ok")
        .unwrap();
    assert_eq!(json["clean"], false);
    assert_eq!(json["chains"][0]["faults"][0]["operationId"], call["operationId"]);
    assert_eq!(json["chains"][0]["faults"][0]["what"], "edited");
}

#[test]
fn a_file_that_is_a_ledger_no_more_is_a_finding() {
    let scene = two_calls();
    std::fs::write(
        scene.ledger(),
        "not a ledger at all, and long enough to have a header of a hundred bytes or more. ".repeat(4),
    )
    .unwrap();
    let output = read(&scene, &["ledger", "verify"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let json: Value = serde_json::from_slice(&read(&scene, &["ledger", "verify", "--json"]).stdout).unwrap();
    assert_eq!(json["clean"], false);
    assert_eq!(
        read(&scene, &["calls"]).status.code(),
        Some(2),
        "there is no list to give"
    );
}

/// Replaces bytes in a file, and says how often. SQLite keeps no sum of its pages.
fn replace(file: &Path, from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len());
    let mut bytes = std::fs::read(file).unwrap();
    let mut count = 0;
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + from.len()].copy_from_slice(to);
            count += 1;
        }
    }
    std::fs::write(file, bytes).unwrap();
    count
}

#[test]
fn explanations_are_found_or_near_names_are_given() {
    let scene = Scene::of("results");
    for words in [
        &["explain"][..],
        &["explain", "CANDOR_NO_ANSWER"],
        &["explain", "timeout"],
        &["explain", "not done"],
    ] {
        let output = run(&scene, words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{words:?}");
    }
    let json: Value = serde_json::from_slice(&run(&scene, &["explain", "timeout", "--json"]).stdout).unwrap();
    assert_eq!(json[0]["endings"][0]["rows"].as_array().unwrap().len(), 3);
    let unknown = run(&scene, &["explain", "tiemout"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        said(&unknown).contains("timeout") && unknown.stdout.is_empty(),
        "{}",
        said(&unknown)
    );
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let mut child = Command::new(candor())
        .args(["explain", "ok"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(output.stderr.is_empty(), "{}", said(&output));
}

#[test]
fn every_command_that_reads_has_examples_in_its_help() {
    let scene = Scene::of("results");
    for words in [
        &["calls"][..],
        &["show"],
        &["settle"],
        &["report"],
        &["ledger"],
        &["ledger", "verify"],
        &["explain"],
    ] {
        let mut all = words.to_vec();
        all.push("--help");
        let output = run(&scene, &all);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(
            text.contains("Example") && text.contains("candor "),
            "{words:?}: {text}"
        );
    }
}
