//! Accepted work is followed to its end in the background, across restarts, and its caller waits for nothing of it.

use std::time::{Duration, Instant};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::{DEADLINE, Host},
    scene::{Scene, Way, candor},
    spec::SpecCheck,
};

/// A server with a task whose state is always `STATUS`, and with jobs that a tool shows.
const SERVER: &str = r#"{
  "about": "Takes work on.",
  "server": { "name": "reports", "version": "1.0.0" },
  "capabilities": { "tools": {}, "tasks": { "requests": { "tools": { "call": {} } }, "cancel": {} } },
  "methods": {
    "tasks/get": [STATE],
    "tasks/cancel": [{ "result": { "taskId": "t-1", "status": "cancelled", "createdAt": "2027-03-01T10:30:00Z", "lastUpdatedAt": "2027-03-01T10:31:00Z", "ttl": 60000 } }]
  },
  "tools": [
    { "definition": { "name": "send_report", "description": "Sends a report.", "inputSchema": { "type": "object" }, "execution": { "taskSupport": "optional" } },
      "plays": [
        { "when": { "era": "modern" }, "steps": [{ "undone": "taken on" }, { "result": { "resultType": "task", "taskId": "t-1", "status": "working", "createdAt": "2027-03-01T10:30:00Z", "lastUpdatedAt": "2027-03-01T10:30:00Z", "ttlMs": 60000, "pollIntervalMs": 200 } }] },
        { "steps": [{ "undone": "taken on" }, { "result": { "task": { "taskId": "t-1", "status": "working", "createdAt": "2027-03-01T10:30:00Z", "lastUpdatedAt": "2027-03-01T10:30:00Z", "ttl": 60000, "pollInterval": 200 } } }] }
      ] },
    { "definition": { "name": "start_job", "description": "Starts a job.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "queued" }, { "result": { "content": [], "structuredContent": { "state": "queued", "id": 4711 } } }] }] },
    { "definition": { "name": "get_job", "description": "Shows a job.", "inputSchema": { "type": "object", "properties": { "id": { "type": "integer" } } } },
      "plays": [{ "when": { "arguments": { "/id": 4711 } }, "steps": [{ "undone": "shown" }, { "result": { "content": [], "structuredContent": { "state": "done" } } }] }] }
  ]
}"#;

const JOBS: &str = r#"
[servers.fixture.tools.start_job]
effect = "write"
[servers.fixture.tools.start_job.outcome]
pointer = "/state"
completed = ["done"]
accepted = ["queued"]
reference = "/id"
reference_name = "job"
state_tool = "get_job"
state_argument = "id"
"#;

const SHOWS: &str = r#"
[servers.fixture.tools.get_job]
effect = "read"
[servers.fixture.tools.get_job.outcome]
pointer = "/state"
completed = ["done"]
accepted = ["queued"]
"#;

fn server(state: &str) -> String {
    SERVER.replace("STATE", state)
}

fn status(status: &str) -> String {
    format!(
        r#"{{ "result": {{ "taskId": "t-1", "status": "{status}", "createdAt": "2027-03-01T10:30:00Z", "lastUpdatedAt": "2027-03-01T10:31:00Z", "ttl": 60000, "pollInterval": 200 }} }}"#
    )
}

fn send_report(opening: &Opening, id: &str) -> String {
    let params = if opening.is_modern() {
        json!({ "name": "send_report", "arguments": {} })
    } else {
        json!({ "name": "send_report", "arguments": {}, "task": { "ttl": 60_000 } })
    };
    opening.request(id, "tools/call", params)
}

/// Waits until the record of this tool's one call has this outcome.
fn wait_for(scene: &Scene, tool: &str, outcome: &str) -> Value {
    let start = Instant::now();
    loop {
        let calls = scene.calls();
        let call = calls.iter().find(|call| call["tool"] == tool);
        if let Some(call) = call.filter(|call| call["outcome"] == outcome) {
            return call.clone();
        }
        assert!(
            start.elapsed() < DEADLINE,
            "waited for {tool} to be {outcome}: {calls:#?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `candor show` prints.
fn shown(scene: &Scene, id: &str) -> String {
    let mut command = std::process::Command::new(candor());
    command.args(["show", id, "--ledger"]).arg(scene.ledger());
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn asked(lines: &[String], method: &str) -> usize {
    let of_method = |line: &&String| frame::method(line).as_deref() == Some(method);
    lines.iter().filter(of_method).count()
}

fn opening(era: Era) -> Opening {
    let mut opening = Opening::newest(era);
    if era == Era::Modern {
        opening.capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    }
    opening
}

#[test]
fn a_task_is_settled_by_its_declared_end_which_is_final() {
    for era in [Era::Legacy, Era::Modern] {
        let (scene, opening) = (Scene::written(&server(&status("completed"))), opening(era));
        let mut host = scene.open(Way::Through, &opening);
        let accepted = frame::value(&host.ask(&send_report(&opening, "5")));
        let verdict = &accepted["result"]["_meta"]["candor/verdict"];
        assert_eq!(
            (&verdict["outcome"], &verdict["reference"]),
            (&json!("accepted"), &json!("t-1"))
        );
        let call = wait_for(&scene, "send_report", "completed");
        assert_eq!(
            (&call["effect"], &call["evidence"]),
            (&json!("applied"), &json!("declared"))
        );
        // What a cancellation says of work that is done changes nothing any more.
        host.ask(&opening.request("6", "tasks/cancel", json!({ "taskId": "t-1" })));
        host.ask(&opening.call("7", "get_job", &json!({ "id": 4711 })));
        let transcript = scene.end(Way::Through, host);
        assert_eq!(
            asked(&transcript.server_received, "tasks/get"),
            1,
            "an end is asked for once"
        );
        let received = transcript.host_received.len();
        assert_eq!(asked(&transcript.host_received, "tasks/get"), 0);
        assert_eq!(
            received,
            transcript
                .host_sent
                .iter()
                .filter(|line| frame::id(line).is_some())
                .count(),
            "the host hears nothing of it"
        );
        wait_for(&scene, "send_report", "completed");
        if let Some(spec) = SpecCheck::of(opening.revision) {
            spec.check(&transcript);
        }
    }
}

#[test]
fn a_task_that_failed_or_is_gone_is_no_success() {
    for (state, outcome) in [
        (status("failed"), "failed"),
        (status("cancelled"), "failed"),
        (
            r#"{ "error": { "code": -32602, "message": "Unknown task" } }"#.to_owned(),
            "unknown",
        ),
    ] {
        let (scene, opening) = (Scene::written(&server(&state)), opening(Era::Legacy));
        let mut host = scene.open(Way::Through, &opening);
        host.ask(&send_report(&opening, "5"));
        let call = wait_for(&scene, "send_report", outcome);
        assert_eq!(
            (&call["effect"], &call["unsettled"]),
            (&json!("unknown"), &json!(true)),
            "{state}"
        );
        scene.end(Way::Through, host);
    }
}

fn killed_after_acceptance(scene: &Scene, opening: &Opening) {
    let mut host: Host = scene.open(Way::Through, opening);
    host.ask(&send_report(opening, "5"));
    host.kill();
    let calls = scene.calls();
    assert_eq!(
        (&calls[0]["outcome"], &calls[0]["reference"]),
        (&json!("accepted"), &json!("t-1")),
        "the task's id is on disk before its caller is answered: {calls:?}"
    );
}

#[test]
fn the_next_run_takes_up_what_was_left_accepted() {
    for era in [Era::Legacy, Era::Modern] {
        let (scene, opening) = (Scene::written(&server(&status("working"))), opening(era));
        killed_after_acceptance(&scene, &opening);
        std::fs::write(scene.path("script.json"), server(&status("completed"))).unwrap();
        let host = scene.open(Way::Through, &opening);
        let call = wait_for(&scene, "send_report", "completed");
        assert_eq!(call["effect"], "applied");
        scene.end(Way::Through, host);
    }
}

#[test]
fn a_job_is_followed_by_the_tool_that_shows_its_state_if_that_only_reads() {
    for (contract, followed) in [(format!("{JOBS}{SHOWS}"), true), (JOBS.to_owned(), false)] {
        let (scene, opening) = (
            Scene::written(&server(&status("completed")).replace(", \"pollInterval\": 200", ""))
                .config(&contract),
            opening(Era::Legacy),
        );
        let mut host = scene.open(Way::Through, &opening);
        let accepted = frame::value(&host.ask(&opening.call("5", "start_job", &json!({}))));
        assert!(
            accepted["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("ACCEPTED, NOT YET DONE"),
            "{accepted}"
        );
        if followed {
            let call = wait_for(&scene, "start_job", "completed");
            let id = call["operationId"].as_str().unwrap();
            let page = shown(&scene, id);
            assert!(page.contains("followed: get_job was asked"), "{page}");
            assert_eq!(
                (&call["effect"], &call["evidence"]),
                (&json!("applied"), &json!("declared"))
            );
        } else {
            // Accepted later and looked at after the same wait: once it has ended, the job's turn has been.
            host.ask(&send_report(&opening, "6"));
            wait_for(&scene, "send_report", "completed");
        }
        let transcript = scene.end(Way::Through, host);
        let looks = transcript
            .truth
            .iter()
            .filter(|truth| truth.tool == "get_job")
            .count();
        assert_eq!(looks, usize::from(followed), "{}", transcript.errors);
        let says_why = transcript.errors.contains("is not declared to change nothing");
        assert_eq!(says_why, !followed, "{}", transcript.errors);
    }
}

/// A job that shows its end at the third look.
const SLOW: &str = r#"{
  "about": "Takes work on.",
  "server": { "name": "reports", "version": "1.0.0" },
  "tools": [
    { "definition": { "name": "start_job", "description": "Starts a job.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "queued" }, { "result": { "content": [{ "type": "text", "text": "queued" }], "structuredContent": { "state": "queued", "id": 4711 } } }] }] },
    { "definition": { "name": "get_job", "description": "Shows a job.", "inputSchema": { "type": "object", "properties": { "id": { "type": "integer" } } } },
      "plays": [
        { "when": { "call": 3 }, "steps": [{ "undone": "shown" }, { "result": { "content": [{ "type": "text", "text": "12 pages" }], "structuredContent": { "state": "END" } } }] },
        { "steps": [{ "undone": "shown" }, { "result": { "content": [], "structuredContent": { "state": "queued" } } }] }
      ] }
  ]
}"#;

fn shown_job(contract: &str, end: &str) -> (Value, Value) {
    let contract = format!("{contract}failed = [\"broken\"]\n");
    let opening = opening(Era::Legacy);
    let scene = Scene::written(&SLOW.replace("END", end)).config(&contract);
    let mut host = scene.open(Way::Through, &opening);
    let told = frame::value(&host.ask(&opening.call("5", "start_job", &json!({}))));
    let outcome = if end == "done" { "completed" } else { "failed" };
    let call = wait_for(&scene, "start_job", outcome);
    let calls = scene.calls();
    let of_job = calls.iter().filter(|call| call["tool"] == "start_job").count();
    assert_eq!(of_job, 1, "{calls:#?}");
    let page = shown(&scene, call["operationId"].as_str().unwrap());
    assert!(
        page.contains("accepted") && page.contains("followed: get_job was asked"),
        "{page}"
    );
    scene.end(Way::Through, host);
    (told["result"].clone(), call)
}

#[test]
fn a_caller_that_is_kept_gets_the_end_in_the_same_call() {
    let kept = format!("{JOBS}wait = \"60s\"\n{SHOWS}");
    let (told, _) = shown_job(&kept, "done");
    let verdict = &told["_meta"]["candor/verdict"];
    assert_eq!(
        (
            &verdict["outcome"],
            &verdict["effect"],
            &verdict["evidence"],
            &verdict["reference"]
        ),
        (
            &json!("completed"),
            &json!("applied"),
            &json!("declared"),
            &json!("4711")
        )
    );
    assert_eq!(
        told["content"][0]["text"],
        "DONE: server \"fixture\" reports that start_job was done: \"done\".\nIt was taken on first; get_job showed its end. \
         get_job, in its words: \"12 pages\".\nA second identical call may do it twice.\nThe server's first answer, from \
         when it took the call on, follows."
    );
    assert_eq!(
        told["content"][1]["text"], "queued",
        "the server's own answer is there too"
    );
    assert_ne!(told["isError"], true);
    let (told, _) = shown_job(&kept, "broken");
    assert_eq!(
        (&told["_meta"]["candor/verdict"]["outcome"], &told["isError"]),
        (&json!("failed"), &json!(true))
    );
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("FAILED, EFFECT UNKNOWN: "), "{text}");
}

#[test]
fn a_caller_that_is_not_kept_or_not_long_enough_is_told_of_the_acceptance() {
    for wait in ["", "wait = \"100ms\"\n"] {
        let (told, call) = shown_job(&format!("{JOBS}{wait}{SHOWS}"), "done");
        assert_eq!(told["_meta"]["candor/verdict"]["outcome"], "accepted", "{wait}");
        let text = told["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("ACCEPTED, NOT YET DONE"), "{text}");
        assert_eq!(call["outcome"], "completed", "followed on");
    }
}

#[test]
fn a_call_with_an_idempotency_key_is_followed_like_any_other() {
    let opening = opening(Era::Legacy);
    let scene = Scene::written(&SLOW.replace("END", "done")).config(&format!("{JOBS}{SHOWS}"));
    let mut host = scene.open(Way::Through, &opening);
    let params = json!({ "name": "start_job", "arguments": {}, "_meta": { "candor/idempotencyKey": "k" } });
    host.ask(&opening.request("5", "tools/call", params));
    wait_for(&scene, "start_job", "completed");
    scene.end(Way::Through, host);
}
