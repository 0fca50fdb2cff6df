//! Seen, not assumed: an intent is on disk before its request leaves, a verdict before its answer arrives, and a process
//! that is killed leaves nothing open.

use std::{
    io::{Read, Write},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    host::DEADLINE,
    scene::{Scene, Way, candor},
};

#[test]
fn a_server_finds_the_intent_of_its_own_call_in_the_ledger() {
    for era in [Era::Legacy, Era::Modern] {
        let (scene, opening) = (Scene::of("look"), Opening::newest(era));
        let mut host = scene.start(Way::Through);
        opening.open(&mut host);
        let answer = host.ask(&opening.call("1", "look_in_ledger", &json!({})));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let found = &answer["result"]["structuredContent"]["found"];
        let own = found
            .as_array()
            .unwrap_or_else(|| panic!("the fixture could not look: {found}"));
        assert_eq!(own.len(), 1, "{found}");
        assert!(
            own[0].get("outcome").is_none_or(Value::is_null),
            "the call was open then: {found}"
        );
        scene.end(Way::Through, host);
        let calls = scene.calls();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0]["operationId"], own[0]["operationId"]);
        assert_eq!(calls[0]["outcome"], "reported");
    }
}

/// Reads one line a byte at a time, so that nothing behind it is taken.
fn line(from: &mut impl Read) {
    let mut byte = [0];
    while from.read_exact(&mut byte).is_ok() && byte != *b"\n" {}
}

#[test]
fn who_has_the_first_byte_of_an_answer_has_its_verdict_on_disk() {
    const TIMES: usize = 200;
    let (scene, opening) = (Scene::of("results"), Opening::newest(Era::Modern));
    for _ in 0..TIMES {
        let mut command = scene.command(Way::Through);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        writeln!(input, "{}", opening.request("1", "tools/list", json!({}))).unwrap();
        line(&mut output);
        writeln!(input, "{}", opening.call("2", "ok", &json!({}))).unwrap();
        output.read_exact(&mut [0]).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Another start settles what the last one left open, as it settled all before.
    scene.end(Way::Through, scene.start(Way::Through));
    let calls = scene.calls();
    assert_eq!(calls.len(), TIMES, "every call is in the ledger");
    let wrong: Vec<_> = calls
        .iter()
        .filter(|call| call["outcome"] != "reported")
        .collect();
    assert!(
        wrong.is_empty(),
        "answers that came without a verdict on disk: {wrong:#?}"
    );
    assert_eq!(verify(&scene), Some(0));
}

fn verify(scene: &Scene) -> Option<i32> {
    Command::new(candor())
        .args(["ledger", "verify", "--ledger"])
        .arg(scene.ledger())
        .output()
        .unwrap()
        .status
        .code()
}

/// Waits until the fixture has said the truth of a call: the request has arrived and the action is done.
pub(crate) fn wait_for_truth(scene: &Scene, count: usize) {
    let start = Instant::now();
    while scene.truth(Way::Through).len() < count {
        assert!(start.elapsed() < DEADLINE, "waited for the server to act");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_call_that_was_open_when_candor_was_killed_is_unknown_after_the_next_start() {
    let (scene, opening) = (Scene::of("silence"), Opening::newest(Era::Legacy));
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    host.send(&opening.call("1", "never", &json!({})));
    wait_for_truth(&scene, 1);
    host.kill();
    scene.end(Way::Through, scene.start(Way::Through));
    let calls = scene.calls();
    assert_eq!(calls.len(), 1);
    for (part, expected) in [
        ("outcome", "unknown"),
        ("effect", "unknown"),
        ("evidence", "none"),
    ] {
        assert_eq!(calls[0][part], expected, "{}", calls[0]);
    }
    assert_eq!(verify(&scene), Some(0));
}

#[test]
fn a_living_siblings_open_call_is_left_alone() {
    let (scene, opening) = (Scene::of("silence"), Opening::newest(Era::Legacy));
    let mut living = scene.start(Way::Through);
    opening.open(&mut living);
    living.send(&opening.call("1", "late", &json!({})));
    wait_for_truth(&scene, 1);
    let mut sibling = scene.start(Way::Through);
    opening.open(&mut sibling);
    sibling.close();
    let calls = scene.calls();
    assert!(
        calls[0].get("outcome").is_none_or(Value::is_null),
        "a living call was settled: {}",
        calls[0]
    );
    living.ask(&opening.call("2", "release", &json!({})));
    living.response_to("1");
    living.close();
    assert!(scene.calls().iter().all(|call| call["outcome"] == "reported"));
}
