//! What is done after a verdict, through the real program: sending again under one key, leaving a server alone, and news of
//! what a look at an earlier run's call found.

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::DEADLINE,
    scene::{Scene, Way},
};

/// Dies before the first answer, refuses, or does it and is not heard of until it is let.
const SERVER: &str = r#"{
  "about": "Fails in ways that are not the same.",
  "server": { "name": "desk", "version": "1.0.0" },
  "capabilities": { "tools": {} },
  "tools": [
    { "definition": { "name": "save", "description": "Saves, and dies of it once.", "inputSchema": { "type": "object" } },
      "plays": [
        { "when": { "before": "done" }, "steps": [{ "undone": "saved before" }, { "result": { "content": [{ "type": "text", "text": "saved" }] } }] },
        { "steps": [{ "done": "saved" }, { "die": { "exit": 9 } }] }
      ] },
    { "definition": { "name": "refuse", "description": "Refuses.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "refused" }, { "result": { "isError": true, "content": [{ "type": "text", "text": "connection refused by upstream" }] } }] }] },
    { "definition": { "name": "die", "description": "Dies.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "dead" }, { "die": { "exit": 9 } }] }] },
    { "definition": { "name": "book", "description": "Books.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "booked" }, { "result": { "content": [{ "type": "text", "text": "booked" }] } }] }] },
    { "definition": { "name": "mute", "description": "Does it and says nothing.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "muted" }, { "wait": "for ever" }] }] },
    { "definition": { "name": "look", "description": "Shows it when it is let.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "looking" }, { "wait": "go" }, { "result": { "content": [], "structuredContent": { "muted": true } } }] }] },
    { "definition": { "name": "let", "description": "Lets the look be answered.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "it only lets" }, { "release": "go" }, { "after_ms": 200 }, { "result": { "content": [] } }] }] }
  ]
}"#;

fn scene(contract: &str) -> (Scene, Opening) {
    (
        Scene::written(SERVER).config(contract),
        Opening::newest(Era::Legacy),
    )
}

fn keyed(opening: &Opening, id: &str, tool: &str) -> String {
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "candor/idempotencyKey": "order-1" } });
    opening.request(id, "tools/call", params)
}

fn read(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

fn verdict(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["candor/verdict"]
}

fn wait_until(scene: &Scene, tool: &str) {
    let begun = std::time::Instant::now();
    while !scene.truth(Way::Through).iter().any(|truth| truth.tool == tool) {
        assert!(begun.elapsed() < DEADLINE, "{tool} was not called");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn all_attempts_at_one_deed_carry_one_key_and_without_a_contract_there_is_one_attempt() {
    let again = "[servers.fixture.tools.save]\neffect = \"idempotent\"\nidempotency_key = { argument = \"request_id\" }\n\
                 retry = { attempts = 3, within = \"20s\", wait = \"50ms\" }\n";
    for (contract, attempts) in [(again, 2), ("", 1)] {
        let (scene, opening) = scene(contract);
        let mut host = scene.open(Way::Through, &opening);
        let told = read(&host.ask(&keyed(&opening, "2", "save")));
        assert_eq!(verdict(&told)["attempts"], attempts, "{told}");
        let received = scene.end(Way::Through, host).server_received;
        let sent: Vec<Value> = received
            .iter()
            .filter(|line| frame::method(line).as_deref() == Some("tools/call"))
            .map(|line| read(line)["params"].clone())
            .collect();
        assert_eq!(sent.len(), attempts, "{sent:?}");
        if attempts == 2 {
            assert_eq!(text(&told), "saved");
            assert_eq!(sent[0]["arguments"], json!({ "request_id": "order-1" }));
            assert_eq!(sent[0]["arguments"], sent[1]["arguments"]);
        } else {
            assert!(text(&told).starts_with("UNKNOWN"), "{told}");
        }
    }
}

#[test]
fn a_server_is_left_alone_after_deaths_and_never_after_errors_of_its_tools() {
    let (scene, opening) = scene("[servers.fixture]\nbreaker = { failures = 2, pause = \"15m\" }\n");
    let mut host = scene.open(Way::Through, &opening);
    for id in ["2", "3", "4"] {
        let refused = read(&host.ask(&opening.call(id, "refuse", &json!({ "id": id }))));
        assert_eq!(text(&refused), "connection refused by upstream", "{refused}");
    }
    let booked = read(&host.ask(&opening.call("5", "book", &json!({}))));
    assert_eq!(
        text(&booked),
        "booked",
        "three errors are no failure of the server"
    );
    for id in ["6", "7"] {
        let lost = read(&host.ask(&opening.call(id, "die", &json!({}))));
        assert!(text(&lost).starts_with("UNKNOWN"), "{lost}");
    }
    let alone = read(&host.ask(&opening.call("8", "book", &json!({}))));
    assert!(
        text(&alone).starts_with("NOT DONE: book was not sent: server \"fixture\" failed 2 times in a row"),
        "{alone}"
    );
    assert_eq!(verdict(&alone)["error"]["code"], "CANDOR_SERVER_RESTING");
    host.close();
    let booked = scene.truth(Way::Through);
    let booked = booked.iter().filter(|truth| truth.tool == "book").count();
    assert_eq!(booked, 1);
}

#[test]
fn a_caller_who_was_told_unknown_of_an_earlier_runs_call_hears_what_a_look_found() {
    let looked = "[servers.fixture.tools.look]\neffect = \"read\"\n[servers.fixture.tools.mute]\neffect = \"write\"\n\
                  [servers.fixture.tools.mute.read_back]\ntool = \"look\"\napplied = \"answer.muted\"\n";
    for (contract, is_news) in [(looked, true), ("", false)] {
        let (scene, opening) = scene(contract);
        let mut host = scene.open(Way::Through, &opening);
        host.send(&keyed(&opening, "2", "mute"));
        wait_until(&scene, "mute");
        host.kill();
        let mut host = scene.open(Way::Through, &opening);
        let told = read(&host.ask(&keyed(&opening, "2", "mute")));
        assert!(
            text(&told).starts_with("UNKNOWN: mute was called before"),
            "{told}"
        );
        if is_news {
            wait_until(&scene, "look");
        }
        // The ledger is asked once a second at most: what this very process wrote is known before that.
        let next = read(&host.ask(&opening.call("3", "let", &json!({}))));
        let news = &next["result"]["_meta"]["candor/news"][0];
        if is_news {
            assert_eq!(news["operationId"], verdict(&told)["operationId"], "{next}");
            assert_eq!(
                (&news["outcome"], &news["evidence"]),
                (&json!("completed"), &json!("read_back"))
            );
        } else {
            assert_eq!(news, &Value::Null, "{next}");
        }
        host.close();
    }
}
