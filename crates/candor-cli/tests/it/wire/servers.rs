//! Servers that do not read any more, and servers that do not end.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use super::told;
use crate::harness::{
    conversation::Opening,
    host::DEADLINE,
    scene::{Scene, Way},
};

/// A server that shakes hands, lists one tool, and then does as `then` says, in the words of a shell.
fn shell(then: &str) -> Vec<OsString> {
    let start = r#"
answer() { read -r line; id=${line#*\"id\":}; id=${id%%[,\}]*}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}'
read -r line
answer '{"tools":[{"name":"act","inputSchema":{"type":"object"}}]}'
"#;
    ["sh".into(), "-c".into(), format!("{start}{then}").into()].into()
}

#[test]
fn a_server_that_stops_reading_costs_no_more_than_its_deadline() {
    // A host that nobody reads from is held for ever while it writes, so that its deadline must be watched from outside.
    let (sender, receiver) = channel();
    let played = thread::spawn(move || {
        write_to_one_that_does_not_read();
        sender.send(()).unwrap();
    });
    match receiver.recv_timeout(DEADLINE * 2) {
        Err(RecvTimeoutError::Timeout) => panic!("the host could not write, or was not answered"),
        _ => played.join().unwrap(),
    }
}

fn write_to_one_that_does_not_read() {
    let scene = Scene::with_server(&shell("exec sleep 600"))
        .option("--timeout")
        .option("2s");
    let opening = Opening::newest(Era::Legacy);
    let mut host = scene.open(Way::Through, &opening);
    let filling = "x".repeat(20_000);
    // More than the pipes on the way hold.
    for id in 0..40 {
        host.send(&opening.call(&id.to_string(), "act", &json!({ "filling": filling })));
    }
    let mut openings = BTreeMap::new();
    for id in 0..40 {
        let answer = told(&host.response_to(&id.to_string()));
        let opening = answer.split(':').next().unwrap().to_owned();
        *openings.entry(opening).or_insert(0) += 1;
    }
    // What went into the pipe may be read yet; what never left was not done.
    assert_eq!(openings.keys().collect::<Vec<_>>(), ["NOT DONE", "UNKNOWN"]);
    assert!(openings["NOT DONE"] > 20, "{openings:?}");
    // And the end of the host's input is heard: closing returns within the harness's deadline.
    let transcript = scene.end(Way::Through, host);
    assert_eq!(transcript.host_received.len(), 42, "one answer each");
}

#[test]
fn a_server_that_ignores_the_end_and_sigterm_is_ended_and_its_answers_are_kept() {
    let stubborn = r#"
echo $$ > pid
trap '' TERM HUP INT
answer '{"content":[{"type":"text","text":"well"}]}'
while :; do sleep 1; done"#;
    for (then, gone_by_itself) in [(stubborn, false), (stubborn.split("while").next().unwrap(), true)] {
        let scene = Scene::with_server(&shell(then));
        let opening = Opening::newest(Era::Legacy);
        let mut host = scene.open(Way::Through, &opening);
        assert_eq!(told(&host.ask(&opening.call("1", "act", &json!({})))), "well");
        let pid = std::fs::read_to_string(scene.path("pid")).unwrap();
        // Closing returns within the harness's deadline.
        let transcript = scene.end(Way::Through, host);
        assert_eq!(
            transcript.code == Some(0),
            gone_by_itself,
            "{:?}",
            transcript.code
        );
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let state = stat.rsplit_once(") ").map_or("X", |(_, rest)| rest);
        assert!(state.starts_with(['X', 'Z']), "the server is still there: {stat}");
        let outcomes: Vec<Value> = scene.calls().iter().map(|call| call["outcome"].clone()).collect();
        assert_eq!(outcomes, ["reported"]);
    }
}
