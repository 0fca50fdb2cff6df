//! A call that nobody knows the end of, from its loss to a person's word, as a script would drive it.

use std::process::{Command, Output, Stdio};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    host::Host,
    scene::{Scene, Way, candor},
};
use crate::ledger::wait_for_truth;

fn run(scene: &Scene, arguments: &[&str]) -> Output {
    Command::new(candor())
        .args(arguments)
        .arg("--ledger")
        .arg(scene.ledger())
        .env("USER", "ada")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn code(scene: &Scene, arguments: &[&str]) -> i32 {
    run(scene, arguments).status.code().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn json_of(scene: &Scene, arguments: &[&str]) -> Value {
    let output = run(scene, arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|fault| panic!("{fault}: {}", said(&output)))
}

/// A write whose answer never comes; the host stays.
fn lost() -> (Scene, Host, Opening) {
    let (scene, opening) = (
        Scene::of("silence").option("--timeout").option("300ms"),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    host.ask(&opening.call("1", "never", &json!({})));
    (scene, host, opening)
}

fn id_of(call: &Value) -> String {
    let id = call["operationId"].as_str().unwrap();
    id[id.len() - 8..].to_owned()
}

#[test]
fn a_persons_word_settles_a_lost_answer_while_candor_still_runs() {
    let (scene, host, _) = lost();
    let listed = run(&scene, &["calls", "--unsettled", "--json"]);
    assert_eq!(listed.status.code(), Some(1));
    let call: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(
        call["ageMs"].as_u64().is_some() && call["settledBy"] == json!(["operator"]),
        "{call}"
    );
    assert_eq!(
        code(&scene, &["report", "--session", "last"]),
        1,
        "a job that runs an agent fails"
    );

    let id = id_of(&call);
    let settled = json_of(
        &scene,
        &[
            "settle",
            &id,
            "--not-applied",
            "--because",
            "the list does not have it",
            "--json",
        ],
    );
    assert_eq!(
        [
            &settled["outcome"],
            &settled["effect"],
            &settled["evidence"],
            &settled["was"]["outcome"]
        ],
        ["failed", "not_applied", "operator", "unknown"]
    );
    assert_eq!(
        (&settled["by"], &settled["unsettled"]),
        (&json!("ada"), &json!(false))
    );
    assert_eq!(code(&scene, &["calls", "--unsettled"]), 0);
    assert_eq!(code(&scene, &["report", "--session", "last"]), 0);
    let page = said(&run(&scene, &["show", &id]));
    for part in [
        "the word of ada",
        "the list does not have it",
        "verdict recorded: unknown",
        "outcome unknown → failed",
    ] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }

    let again = run(
        &scene,
        &["settle", &id, "--applied", "--because", "it came after all"],
    );
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    assert!(
        said(&again).contains("--anyway") && again.stdout.is_empty(),
        "{}",
        said(&again)
    );
    assert_eq!(
        code(
            &scene,
            &[
                "settle",
                &id,
                "--applied",
                "--because",
                "it came after all",
                "--anyway"
            ]
        ),
        0
    );
    scene.end(Way::Through, host);
    let calls = scene.calls();
    assert_eq!(
        [&calls[0]["outcome"], &calls[0]["evidence"]],
        ["completed", "operator"],
        "the end of the session changes nothing of it"
    );
    assert_eq!(code(&scene, &["ledger", "verify"]), 0);
    // A later start finds nothing to judge anew.
    scene.end(Way::Through, scene.start(Way::Through));
    assert_eq!(scene.calls(), calls);
}

#[test]
fn an_answer_that_comes_later_displaces_no_persons_word() {
    let (scene, opening) = (
        Scene::of("silence").option("--timeout").option("300ms"),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    host.ask(&opening.call("1", "late", &json!({})));
    host.ask(&opening.call("2", "never", &json!({})));
    let calls = scene.calls();
    let of = |tool: &str| calls.iter().find(|call| call["tool"] == tool).unwrap();
    let (id, other) = (id_of(of("late")), id_of(of("never")));
    for id in [&id, &other] {
        let word = [
            "settle",
            id,
            "--not-applied",
            "--because",
            "the list does not have it",
        ];
        assert_eq!(code(&scene, &word), 0);
    }
    // Its answer comes now, and says that it was done.
    host.ask(&opening.call("3", "release", &json!({})));
    scene.end(Way::Through, host);
    for call in scene.calls().iter().filter(|call| call["tool"] != "release") {
        assert_eq!(
            [&call["outcome"], &call["effect"], &call["evidence"]],
            ["failed", "not_applied", "operator"],
            "{call}"
        );
    }
    assert_eq!(code(&scene, &["ledger", "verify"]), 0);
}

#[test]
fn a_call_that_is_open_in_a_living_candor_is_not_settled() {
    let (scene, opening) = (Scene::of("silence"), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    host.send(&opening.call("1", "late", &json!({})));
    wait_for_truth(&scene, 1);
    let id = id_of(&scene.calls()[0]);
    let refused = run(
        &scene,
        &["settle", &id, "--applied", "--because", "I looked", "--anyway"],
    );
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("still open"), "{}", said(&refused));
    let report = json_of(&scene, &["report", "--json"]);
    assert_eq!((&report["running"], &report["open"]), (&json!(1), &json!(true)));
    host.kill();
    assert_eq!(
        code(&scene, &["settle", &id, "--applied", "--because", "I looked"]),
        0
    );
    scene.end(Way::Through, scene.start(Way::Through));
    let call = &scene.calls()[0];
    assert_eq!([&call["outcome"], &call["evidence"]], ["completed", "operator"]);
    assert_eq!(code(&scene, &["ledger", "verify"]), 0);
}

#[test]
fn a_report_is_of_one_session_or_of_all() {
    let (scene, host, _) = lost();
    scene.end(Way::Through, host);
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    host.ask(&opening.call("1", "no_such_tool", &json!({})));
    scene.end(Way::Through, host);
    let last = json_of(&scene, &["report", "--session", "last", "--json"]);
    assert_eq!((&last["calls"], &last["unsettled"]), (&json!(1), &json!(0)));
    assert_eq!(last["reasons"][0]["code"], "CANDOR_UNKNOWN_TOOL");
    assert_eq!(code(&scene, &["report", "--session", "last"]), 0);
    let session = last["span"]["session"].as_str().unwrap();
    assert_eq!(
        json_of(&scene, &["report", "--session", &session[20..], "--json"])["calls"],
        1
    );
    // A word is a chain of its own, and no session.
    let id = id_of(
        scene
            .calls()
            .iter()
            .find(|call| call["unsettled"] == true)
            .unwrap(),
    );
    assert_eq!(code(&scene, &["report"]), 1);
    assert_eq!(
        code(&scene, &["settle", &id, "--applied", "--because", "I looked"]),
        0
    );
    let all = json_of(&scene, &["report", "--json"]);
    assert_eq!((&all["calls"], &all["open"]), (&json!(2), &json!(false)));
    assert_eq!(all["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(all["sessions"][0]["session"], session);
    assert_eq!(all["evidence"]["operator"]["done"], 1);
    assert_eq!(
        json_of(&scene, &["report", "--session", "last", "--json"])["span"]["session"],
        session
    );

    let page = scene.path("report.html");
    let out = run(&scene, &["report", "--out", page.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert!(out.stdout.is_empty());
    assert!(std::fs::read_to_string(page).unwrap().ends_with("</html>\n"));
}

#[test]
fn where_there_is_nothing_to_report_on_that_is_2() {
    let scene = Scene::of("results");
    for words in [
        &["report"][..],
        &["report", "--session", "last"],
        &["report", "--since", "1h", "--json"],
    ] {
        let output = run(&scene, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        assert!(
            output.stdout.is_empty() && said(&output).contains("no ledger yet"),
            "{}",
            said(&output)
        );
    }
    let settle = run(
        &scene,
        &["settle", "8f2c1a90", "--applied", "--because", "I looked"],
    );
    assert_eq!(settle.status.code(), Some(1), "{}", said(&settle));
    assert!(!scene.ledger().exists(), "no word makes a record of its own");
}
