//! A server that died is started anew by the next call, and told what it must know.

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::Host,
    scene::{Scene, Way},
    spec::SpecCheck,
};

/// Answers everything, and dies when it is told to, after the work.
const MORTAL: &str = r#"{
  "about": "Dies in the middle of a call.",
  "server": { "name": "mortal", "version": "1.0.0" },
  "capabilities": { "tools": {}, "logging": {}, "resources": { "subscribe": true } },
  "unknown": "echo",
  "tools": [
    { "definition": { "name": "die", "description": "Dies after the work.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "died" }, { "die": { "exit": 9 } }] }] },
    { "definition": { "name": "live", "description": "Goes on.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "lived" }, { "result": { "content": [{ "type": "text", "text": "alive" }] } }] }] }
  ]
}"#;

fn text_of(answer: &str) -> String {
    let value: Value = serde_json::from_str(answer).unwrap();
    value["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn methods(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| frame::method(line)).collect()
}

fn die(opening: &Opening, host: &mut Host, id: &str) -> String {
    text_of(&host.ask(&opening.call(id, "die", &json!({}))))
}

#[test]
fn the_next_call_starts_a_dead_server_anew_and_is_all_that_is_sent_again() {
    let (scene, opening) = (Scene::written(MORTAL), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    host.ask(&opening.request("2", "logging/setLevel", json!({ "level": "error" })));
    for (id, method, uri) in [
        ("3", "resources/subscribe", "file:///kept"),
        ("4", "resources/subscribe", "file:///dropped"),
        ("5", "resources/unsubscribe", "file:///dropped"),
    ] {
        host.ask(&opening.request(id, method, json!({ "uri": uri })));
    }
    let told = die(&opening, &mut host, "6");
    assert!(
        told.starts_with("UNKNOWN: server \"fixture\" ended (exit 9)"),
        "{told}"
    );
    assert!(
        told.contains("The next call starts the server anew; what it held only in memory is lost."),
        "{told}"
    );
    let alive = host.ask(&opening.call("7", "live", &json!({})));
    assert_eq!(text_of(&alive), "alive");
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
    let methods = methods(&transcript.server_received);
    let second = methods.iter().rposition(|method| method == "initialize").unwrap();
    assert_eq!(
        methods[second..],
        [
            "initialize",
            "notifications/initialized",
            "logging/setLevel",
            "resources/subscribe",
            "tools/call"
        ],
        "told again what it must know, and the new call"
    );
    assert!(
        transcript
            .server_received
            .iter()
            .filter(|line| line.contains("file:///kept"))
            .count()
            == 2
    );
    let died: Vec<_> = transcript
        .truth
        .iter()
        .filter(|truth| truth.tool == "die")
        .collect();
    assert_eq!(died.len(), 1, "what was open is never sent again");
    if let Some(spec) = SpecCheck::of(opening.revision) {
        spec.check(&transcript);
    }
}

#[test]
fn a_modern_server_needs_no_handshake_to_be_started_anew() {
    let (scene, opening) = (Scene::written(MORTAL), Opening::newest(Era::Modern));
    let mut host = scene.open(Way::Through, &opening);
    die(&opening, &mut host, "2");
    assert_eq!(
        text_of(&host.ask(&opening.call("3", "live", &json!({})))),
        "alive"
    );
    let transcript = scene.end(Way::Through, host);
    let methods = methods(&transcript.server_received);
    assert!(!methods.contains(&"initialize".to_owned()), "{methods:?}");
}

#[test]
fn a_request_that_is_no_call_starts_it_anew_too() {
    let (scene, opening) = (Scene::written(MORTAL), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    die(&opening, &mut host, "2");
    let answer = host.ask(&opening.request("3", "ping", json!({})));
    assert!(answer.contains("\"result\""), "{answer}");
    scene.end(Way::Through, host);
}

#[test]
fn the_third_death_in_a_minute_ends_candor_with_the_servers_code() {
    let (scene, opening) = (Scene::written(MORTAL), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    for id in ["2", "3"] {
        let told = die(&opening, &mut host, id);
        assert!(told.contains("The next call starts the server anew"), "{told}");
    }
    let told = die(&opening, &mut host, "4");
    assert!(told.contains("The server is gone for this session."), "{told}");
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.code, Some(9), "{}", transcript.errors);
    let outcomes: Vec<Value> = scene.calls().iter().map(|call| call["outcome"].clone()).collect();
    assert_eq!(outcomes, ["unknown", "unknown", "unknown"]);
}

#[test]
fn without_restart_later_calls_are_told_that_the_server_is_gone() {
    let scene = Scene::written(MORTAL).option("--no-restart");
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    let told = die(&opening, &mut host, "2");
    assert!(told.contains("The server is gone for this session."), "{told}");
    let gone = text_of(&host.ask(&opening.call("3", "live", &json!({}))));
    assert!(
        gone.starts_with("NOT DONE: live was not sent: server \"fixture\" is gone"),
        "{gone}"
    );
    assert!(gone.contains("until the host starts the server again"), "{gone}");
    let error = host.ask(&opening.request("4", "ping", json!({})));
    assert!(error.contains("-32603") && error.contains("is gone"), "{error}");
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.code, Some(9), "{}", transcript.errors);
}
