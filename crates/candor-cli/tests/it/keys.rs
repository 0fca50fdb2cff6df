//! Idempotency keys, the rounds of one operation, and news, through the real program.

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::{DEADLINE, Host},
    scene::{Scene, Way},
};

/// Answers, is slow, is late, or does not answer.
const SERVER: &str = r#"{
  "about": "Does what it is asked, and is heard of or not.",
  "server": { "name": "desk", "version": "1.0.0" },
  "capabilities": { "tools": {} },
  "unknown": "echo",
  "tools": [
    { "definition": { "name": "book", "description": "Books.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "booked" }, { "result": { "odd":1.10, "content": [{ "type": "text", "text": "booked" }] } }] }] },
    { "definition": { "name": "slow", "description": "Takes a while.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "slow" }, { "after_ms": 400 }, { "result": { "content": [{ "type": "text", "text": "at last" }] } }] }] },
    { "definition": { "name": "mute", "description": "Does it and says nothing.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "muted" }, { "wait": "for ever" }] }] },
    { "definition": { "name": "late", "description": "Answers when it is let.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "late" }, { "wait": "go" }, { "result": { "content": [{ "type": "text", "text": "late" }] } }] }] },
    { "definition": { "name": "let", "description": "Lets the late one answer.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "it only lets" }, { "release": "go" }, { "after_ms": 200 }, { "result": { "content": [] } }] }] },
    { "definition": { "name": "ask", "description": "Asks twice.", "inputSchema": { "type": "object" } },
      "plays": [
        { "when": { "call": 1 }, "steps": [{ "undone": "not yet" }, { "result": { "resultType": "input_required", "requestState": "one", "inputRequests": {} } }] },
        { "when": { "call": 2 }, "steps": [{ "undone": "not yet" }, { "result": { "resultType": "input_required", "requestState": "two", "inputRequests": {} } }] },
        { "steps": [{ "done": "asked" }, { "result": { "content": [{ "type": "text", "text": "asked" }] } }] }
      ] }
  ]
}"#;

fn scene() -> (Scene, Opening) {
    (Scene::written(SERVER), Opening::newest(Era::Legacy))
}

fn hasty() -> (Scene, Opening) {
    let (scene, opening) = scene();
    (scene.option("--timeout").option("700ms"), opening)
}

fn call(opening: &Opening, id: &str, tool: &str, arguments: &Value, key: &str) -> String {
    let params = json!({
        "name": tool, "arguments": arguments, "_meta": { "candor/idempotencyKey": key },
    });
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

fn calls_of(lines: &[String]) -> usize {
    lines
        .iter()
        .filter(|line| frame::method(line).as_deref() == Some("tools/call"))
        .count()
}

fn sends(scene: &Scene, host: Host) -> usize {
    calls_of(&scene.end(Way::Through, host).server_received)
}

#[test]
fn the_same_call_again_gets_the_first_answer_byte_for_byte_and_is_not_sent() {
    let (scene, opening) = scene();
    let mut host = scene.open(Way::Through, &opening);
    let first = host.ask(&call(&opening, "2", "book", &json!({ "a": 1, "b": 2 }), "k"));
    let again = host.ask(&call(&opening, "3", "book", &json!({ "b": 2, "a": 1 }), "k"));
    let operation = read(&first)["result"]["_meta"]["candor/verdict"]["operationId"].clone();
    let said = format!(",\"candor/replayed\":{{\"operationId\":{operation}}}");
    assert!(again.contains(&said), "{again}");
    assert_eq!(frame::with_id(&again.replace(&said, ""), "2"), first);
    let other = read(&host.ask(&call(&opening, "4", "book", &json!({ "a": 2 }), "k")));
    assert!(text(&other).starts_with("NOT DONE: book was not sent"), "{other}");
    assert_eq!(verdict(&other)["error"]["code"], "CANDOR_KEY_CONFLICT");
    // Another tool, another key, no key: calls of their own.
    host.ask(&call(&opening, "5", "slow", &json!({ "a": 1, "b": 2 }), "k"));
    host.ask(&call(&opening, "6", "book", &json!({ "a": 1, "b": 2 }), "l"));
    host.ask(&opening.call("7", "book", &json!({ "a": 1, "b": 2 })));
    assert_eq!(sends(&scene, host), 4);
    // The key outlives the process that claimed it.
    let mut host = scene.open(Way::Through, &opening);
    let third = host.ask(&call(&opening, "9", "book", &json!({ "a": 1, "b": 2 }), "k"));
    assert_eq!(frame::with_id(&third.replace(&said, ""), "2"), first);
    assert_eq!(
        scene
            .truth(Way::Through)
            .iter()
            .filter(|truth| format!("{truth:?}").contains("booked"))
            .count(),
        3
    );
    assert_eq!(
        scene.calls().len(),
        5,
        "four that were sent and one that was refused"
    );
    host.close();
}

#[test]
fn of_two_programs_with_one_key_one_sends_and_both_tell_its_answer() {
    let (scene, opening) = scene();
    let mut hosts = [(); 2].map(|()| scene.open(Way::Through, &opening));
    for host in &mut hosts {
        host.send(&call(&opening, "2", "slow", &json!({}), "k"));
    }
    let answers = hosts.each_mut().map(|host| read(&host.response_to("2")));
    assert_eq!(answers.each_ref().map(text), ["at last"; 2]);
    assert_eq!(
        verdict(&answers[0])["operationId"],
        verdict(&answers[1])["operationId"]
    );
    let replays = answers
        .iter()
        .filter(|answer| answer["result"]["_meta"].get("candor/replayed").is_some());
    assert_eq!(replays.count(), 1);
    assert_eq!(scene.truth(Way::Through).len(), 1);
    for host in hosts {
        host.close();
    }
}

#[test]
fn what_nobody_knows_is_not_sent_again_until_a_late_answer_settles_it() {
    let (scene, opening) = hasty();
    let mut host = scene.open(Way::Through, &opening);
    let lost = read(&host.ask(&call(&opening, "2", "late", &json!({}), "k")));
    assert!(text(&lost).starts_with("UNKNOWN: late was sent once"), "{lost}");
    let again = read(&host.ask(&call(&opening, "3", "late", &json!({}), "k")));
    assert!(
        text(&again).starts_with("UNKNOWN: late was called before"),
        "{again}"
    );
    assert_eq!(verdict(&again)["error"]["code"], "CANDOR_KEY_UNKNOWN");
    assert_eq!(verdict(&again)["operationId"], verdict(&lost)["operationId"]);
    let let_go = read(&host.ask(&opening.call("4", "let", &json!({}))));
    assert_eq!(let_go["result"]["content"], json!([]));
    assert_eq!(
        let_go["result"]["_meta"]["candor/news"][0]["operationId"],
        verdict(&lost)["operationId"]
    );
    let settled = read(&host.ask(&call(&opening, "5", "late", &json!({}), "k")));
    assert_eq!(text(&settled), "late", "{settled}");
    assert_eq!(verdict(&settled)["operationId"], verdict(&lost)["operationId"]);
    // The news were in `_meta` already; a text still owes them, once.
    let next = read(&host.ask(&opening.call("6", "mute", &json!({}))));
    assert!(text(&next).contains("\nEarlier: late ("), "{next}");
    assert!(next["result"]["_meta"].get("candor/news").is_none());
    let last = read(&host.ask(&opening.call("7", "mute", &json!({}))));
    assert!(!text(&last).contains("Earlier"), "{last}");
    assert_eq!(sends(&scene, host), 4, "late, let, mute and mute");
}

#[test]
fn a_key_whose_program_was_killed_after_sending_is_unknown_for_the_next() {
    let (scene, opening) = scene();
    let mut host = scene.open(Way::Through, &opening);
    host.send(&call(&opening, "2", "mute", &json!({}), "k"));
    let begun = std::time::Instant::now();
    while scene.truth(Way::Through).is_empty() {
        assert!(begun.elapsed() < DEADLINE, "the server did not begin");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    host.kill();
    let mut host = scene.open(Way::Through, &opening);
    let told = read(&host.ask(&call(&opening, "2", "mute", &json!({}), "k")));
    assert!(
        text(&told).starts_with("UNKNOWN: mute was called before"),
        "{told}"
    );
    host.close();
    assert_eq!(scene.truth(Way::Through).len(), 1, "done once");
}

#[test]
fn a_key_under_which_nothing_was_sent_is_free() {
    let (scene, opening) = scene();
    let mut host = scene.open(Way::Through, &opening);
    // A key that is none, then arguments that are none, then the call as it is meant.
    let params = json!({ "name": "book", "arguments": {}, "_meta": { "candor/idempotencyKey": 7 } });
    let bad = read(&host.ask(&opening.request("2", "tools/call", params)));
    assert!(text(&bad).contains("a string of 1 to 255 bytes"), "{bad}");
    let good = read(&host.ask(&call(&opening, "3", "book", &json!({}), "7")));
    assert_eq!(text(&good), "booked");
    host.close();
    let bare = scene.option("--no-ledger");
    let mut host = bare.open(Way::Through, &opening);
    let refused = read(&host.ask(&call(&opening, "2", "book", &json!({}), "8")));
    assert!(
        text(&refused).starts_with("NOT DONE: book was not sent"),
        "{refused}"
    );
    let plain = read(&host.ask(&opening.call("3", "book", &json!({}))));
    assert_eq!(
        text(&plain),
        "booked",
        "a call without a key goes on without a record"
    );
    host.close();
}

#[test]
fn the_rounds_of_one_exchange_are_one_call_in_the_record() {
    let (scene, opening) = (Scene::written(SERVER), Opening::newest(Era::Modern));
    let mut host = scene.open(Way::Through, &opening);
    let mut round = |id: &str, state: Option<&str>| {
        let mut params = json!({ "name": "ask", "arguments": {} });
        if let Some(state) = state {
            params["requestState"] = state.into();
            params["inputResponses"] = json!({});
        }
        let answer = read(&host.ask(&opening.request(id, "tools/call", params)));
        let told = verdict(&answer);
        (
            told["operationId"].clone(),
            told["attempts"].clone(),
            told["outcome"].clone(),
        )
    };
    let (operation, attempts, outcome) = round("2", None);
    assert_eq!((&attempts, &outcome), (&json!(1), &json!("input_required")));
    let second = round("3", Some("one"));
    assert_eq!(second, (operation.clone(), json!(2), json!("input_required")));
    let third = round("4", Some("two"));
    assert_eq!(third, (operation.clone(), json!(3), json!("reported")));
    // What Candor never saw asked for is a call of its own.
    let (stranger, attempts, _) = round("5", Some("three"));
    assert_ne!(stranger, operation);
    assert_eq!(attempts, json!(1));
    host.close();
    assert_eq!(scene.calls().len(), 2);
}
