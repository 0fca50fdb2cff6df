//! Many calls at once, and many calls.

use std::collections::BTreeSet;

use candor_fixtures::script::Era;
use serde_json::json;

use super::{GOOD, HELD, script, told};
use crate::harness::{
    conversation::Opening,
    frame,
    host::Host,
    scene::{Scene, Way},
};

/// How many calls are open at once under load.
const WINDOW: usize = 64;

#[test]
fn cancelling_one_call_leaves_another_in_flight_alone() {
    let held = format!(r#"{HELD}, {{ "wait": "go" }}, {}"#, GOOD.1);
    let go = format!(r#"{{ "release": "go" }}, {}"#, GOOD.1);
    let scene = Scene::written(&script("", &[("held", &held), ("kept", &held), ("go", &go)]))
        .option("--timeout")
        .option("2s");
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    host.send(&opening.call("1", "held", &json!({})));
    host.message("notifications/message");
    host.send(&opening.call("2", "kept", &json!({})));
    host.message("notifications/message");
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    host.ask(&opening.call("3", "go", &json!({})));
    assert_eq!(told(&host.response_to("2")), "well");
    let transcript = scene.end(Way::Through, host);
    assert!(
        transcript
            .host_received
            .iter()
            .all(|line| frame::id(line) != Some("1")),
        "nobody waits for what was cancelled"
    );
    let cancelled = transcript
        .server_received
        .iter()
        .filter(|line| frame::method(line).as_deref() == Some("notifications/cancelled"))
        .count();
    assert_eq!(cancelled, 1, "only that one was cancelled");
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}

#[test]
fn sixty_four_calls_in_flight_each_get_their_own_answer() {
    let held = format!(
        r#"{HELD}, {{ "wait": "go" }},
            {{ "result": {{ "content": [{{ "type": "text", "text": "well" }}], "structuredContent": "{{{{arguments}}}}" }} }}"#
    );
    let go = format!(r#"{{ "release": "go" }}, {}"#, GOOD.1);
    let (scene, opening) = (
        Scene::written(&script("", &[("held", &held), ("go", &go)])),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    for id in 0..WINDOW {
        host.send(&opening.call(&id.to_string(), "held", &json!({ "id": id })));
    }
    for _ in 0..WINDOW {
        host.message("notifications/message");
    }
    assert!(
        host.received.iter().all(|line| !line.contains("well")),
        "all are held at once"
    );
    host.ask(&opening.call("\"go\"", "go", &json!({})));
    for id in 0..WINDOW {
        let answer = frame::value(&host.response_to(&id.to_string()));
        assert_eq!(answer["result"]["structuredContent"], json!({ "id": id }));
    }
    assert_eq!(scene.end(Way::Through, host).truth.len(), WINDOW + 1);
}

#[test]
fn ten_thousand_quick_calls_are_answered_once_each() {
    const CALLS: usize = 10_000;
    let opening = Opening::newest(Era::Legacy);
    let scene = Scene::of("echo").option("--no-ledger");
    let mut host = scene.open(Way::Through, &opening);
    let send =
        |host: &mut Host, id: usize| host.send(&opening.call(&id.to_string(), "say", &json!({ "id": id })));
    (0..WINDOW).for_each(|id| send(&mut host, id));
    let mut answered = BTreeSet::new();
    let mut sent = WINDOW;
    while answered.len() < CALLS {
        let line = host.next();
        let Some(id) = frame::id(&line).and_then(|id| id.parse::<usize>().ok()) else {
            continue;
        };
        assert_eq!(
            frame::raw_at(&line, &["result", "structuredContent"]),
            Some(format!("{{\"id\":{id}}}").as_str())
        );
        assert!(answered.insert(id), "{id} was answered twice");
        if sent < CALLS {
            send(&mut host, sent);
            sent += 1;
        }
    }
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.truth.len(), CALLS);
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}
