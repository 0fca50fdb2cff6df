//! Ids of every kind, ids that are open already, and answers that nobody asked for.

use candor_fixtures::script::Era;
use serde_json::json;

use super::{GOOD, HELD, script, told};
use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way},
};

#[test]
fn answers_for_nobody_reach_nobody_whatever_their_id_is() {
    let stray = |id: &str| {
        format!(
            r#"{{ "frame": {{ "jsonrpc": "2.0", "id": {id}, "result": {{ "content": [{{ "type": "text", "text": "stray" }}] }} }} }}"#
        )
    };
    let ids = [
        "\"nobody\"",
        "900719925474099",
        "-1",
        "1.5",
        "\"\"",
        "null",
        "true",
        "[1]",
        "{}",
    ];
    let strays: Vec<String> = ids.iter().map(|id| stray(id)).collect();
    let strays = strays.join(",");
    let steps = format!("{strays}, {}, {strays}", GOOD.1);
    // Before anything was asked too.
    let (scene, opening) = (
        Scene::written(&script(&strays, &[("odd", &steps), GOOD])),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    assert_eq!(told(&host.ask(&opening.call("1", "odd", &json!({})))), "well");
    assert_eq!(told(&host.ask(&opening.call("2", "good", &json!({})))), "well");
    let transcript = scene.end(Way::Through, host);
    assert!(
        transcript.server_sent.iter().any(|line| line.contains("stray")),
        "the server wrote strays"
    );
    assert!(
        transcript
            .host_received
            .iter()
            .all(|line| !line.contains("stray")),
        "{:#?}",
        transcript.host_received
    );
    assert_eq!(transcript.code, Some(0), "{}", transcript.errors);
}

#[test]
fn ids_of_every_kind_come_back_as_they_were_and_what_is_no_id_is_refused() {
    let (scene, opening) = (Scene::written(&script("", &[GOOD])), Opening::newest(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    for id in [
        "0",
        "-7",
        "1.50",
        "1e2",
        "12345678901234567890123",
        "\"\"",
        "\"0\"",
        "\"\\u00e9 \\/\"",
    ] {
        let call = host.ask(&opening.call(id, "good", &json!({})));
        assert_eq!(told(&call), "well", "{id}");
        // The id is free again once it is answered.
        host.send(&opening.request(id, "ping", json!({})));
        let pong = std::iter::repeat_with(|| host.next())
            .find(|line| frame::id(line) == Some(id) && !line.contains("well"))
            .unwrap();
        assert!(frame::raw_at(&pong, &["result"]).is_some(), "{id}: {pong}");
    }
    for id in ["null", "true", "[1]", "{\"a\":1}"] {
        host.send(&opening.call(id, "good", &json!({})));
        let refused = std::iter::repeat_with(|| host.next())
            .find(|line| line.contains("-32600"))
            .unwrap();
        assert!(refused.contains("null is no id in MCP"), "{id}: {refused}");
    }
    assert_eq!(
        scene.end(Way::Through, host).truth.len(),
        8,
        "what has no id is not sent"
    );
}

#[test]
fn an_id_that_is_open_is_refused_a_second_time_and_free_when_it_is_answered() {
    let steps = format!(r#"{HELD}, {{ "wait": "go" }}, {}"#, GOOD.1);
    let go = format!(r#"{{ "release": "go" }}, {}"#, GOOD.1);
    let (scene, opening) = (
        Scene::written(&script("", &[("held", &steps), ("go", &go)])),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.open(Way::Through, &opening);
    host.send(&opening.call("1", "held", &json!({})));
    let refused = host.ask(&opening.call("1", "held", &json!({ "second": true })));
    assert!(
        refused.contains("-32600") && refused.contains("id 1 is still open"),
        "{refused}"
    );
    host.message("notifications/message");
    // The same digits as a text are another id.
    assert_eq!(told(&host.ask(&opening.call("\"1\"", "go", &json!({})))), "well");
    let held = std::iter::repeat_with(|| host.next())
        .find(|line| frame::id(line) == Some("1") && line.contains("well"))
        .unwrap();
    assert_eq!(told(&held), "well");
    host.send(&opening.call("1", "go", &json!({ "third": true })));
    let again = std::iter::repeat_with(|| host.next())
        .find(|line| frame::id(line) == Some("1"))
        .unwrap();
    assert_eq!(told(&again), "well");
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.truth.len(), 3, "{:#?}", transcript.truth);
}
