//! A slow plain tool, offered as a task to clients that take tasks: what became of it is asked for, also of the next process.

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::Host,
    scene::{Scene, Way},
    spec::SpecCheck,
};

/// `export` is done once `go` was called; `refuse` is refused by its schema; `fail` says that it failed.
const SERVER: &str = r#"{
  "about": "Takes its time.",
  "server": { "name": "exports", "version": "1.0.0" },
  "tools": [
    { "definition": { "name": "export", "description": "Exports.", "inputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } } },
      "plays": [{ "steps": [{ "wait": "go" }, { "done": "exported" }, { "result": { "content": [{ "type": "text", "text": "exported" }] } }] }] },
    { "definition": { "name": "fail", "description": "Fails.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "undone": "failed" }, { "result": { "content": [{ "type": "text", "text": "no" }], "isError": true } }] }] },
    { "definition": { "name": "go", "description": "Lets exports go on.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "release": "go" }, { "undone": "let go" }, { "result": { "content": [] } }] }] }
  ]
}"#;

const OFFERED: &str = "
[servers.fixture.tools.export]
task = true
[servers.fixture.tools.fail]
task = true
";

fn scene() -> Scene {
    Scene::written(SERVER).config(OFFERED)
}

fn opening(era: Era) -> Opening {
    let mut opening = Opening::newest(era);
    if era == Era::Modern {
        opening.capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    }
    opening
}

/// A call that may be a task.
fn call(opening: &Opening, id: &str, tool: &str, arguments: &Value) -> String {
    let mut params = json!({ "name": tool, "arguments": arguments });
    if !opening.is_modern() {
        params["task"] = json!({ "ttl": 60_000 });
    }
    opening.request(id, "tools/call", params)
}

fn ask(host: &mut Host, opening: &Opening, id: &str, method: &str, task: &str) -> Value {
    let request = opening.request(id, method, json!({ "taskId": task }));
    frame::value(&host.ask(&request))
}

/// Begins an export, and gives back the id of its task.
fn begin(host: &mut Host, opening: &Opening, id: &str) -> String {
    let created = frame::value(&host.ask(&call(opening, id, "export", &json!({ "n": 1 }))));
    let task = if opening.is_modern() {
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        &created["result"]
    } else {
        &created["result"]["task"]
    };
    assert_eq!(task["status"], "working", "{created}");
    task["taskId"].as_str().unwrap().to_owned()
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_client_that_takes_tasks_has_an_id_at_once_and_the_answer_when_it_asks() {
    for era in [Era::Legacy, Era::Modern] {
        let (scene, opening) = (scene(), opening(era));
        let mut host = scene.open(Way::Through, &opening);
        let task = begin(&mut host, &opening, "5");
        // Nobody is told of a task that is not on disk.
        let open = scene.calls();
        assert_eq!(open[0]["operationId"], *task, "{open:#?}");
        assert_eq!(
            ask(&mut host, &opening, "6", "tasks/get", &task)["result"]["status"],
            "working"
        );
        if era == Era::Legacy {
            host.send(&opening.request("7", "tasks/result", json!({ "taskId": task })));
        }
        host.ask(&opening.call("8", "go", &json!({})));
        let ended = if era == Era::Legacy {
            frame::value(&host.response_to("7"))["result"].clone()
        } else {
            let mut shown = ask(&mut host, &opening, "9", "tasks/get", &task);
            for again in 0..500 {
                if shown["result"]["status"] == "completed" {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
                shown = ask(
                    &mut host,
                    &opening,
                    &format!("\"again {again}\""),
                    "tasks/get",
                    &task,
                );
            }
            shown["result"]["result"].clone()
        };
        assert_eq!(text(&ended), "exported", "{ended}");
        assert_eq!(ended["_meta"]["candor/verdict"]["operationId"], *task, "{ended}");
        if era == Era::Legacy {
            assert_eq!(
                ended["_meta"]["io.modelcontextprotocol/related-task"]["taskId"],
                *task
            );
        }
        let shown = ask(&mut host, &opening, "10", "tasks/get", &task);
        assert_eq!(shown["result"]["status"], "completed", "{shown}");
        let transcript = scene.end(Way::Through, host);
        // To the server it is a call like any other.
        let received = transcript.server_received.join("\n");
        assert!(
            !received.contains("tasks/") && !received.contains("\"task\""),
            "{received}"
        );
        if let Some(check) = SpecCheck::of(opening.revision) {
            check.check(&transcript);
        }
    }
}

#[test]
fn it_is_announced_where_it_is_offered_and_can_be_kept() {
    for (scene, offered) in [
        (scene(), true),
        (scene().option("--no-ledger"), false),
        (Scene::written(SERVER), false),
    ] {
        let opening = Opening::newest(Era::Legacy);
        let mut host = scene.start(Way::Through);
        opening.open(&mut host);
        let first = frame::value(&host.received[0]);
        let tasks = &first["result"]["capabilities"]["tasks"];
        assert_eq!(tasks["requests"]["tools"]["call"].is_object(), offered, "{first}");
        let listed = frame::value(&host.ask(&opening.request("2", "tools/list", json!({}))));
        let support: Vec<bool> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["execution"]["taskSupport"] == "optional")
            .collect();
        assert_eq!(support, [offered, offered, false], "{listed}");
        host.close();
    }
}

#[test]
fn who_takes_no_tasks_and_what_is_quick_is_answered_in_the_same_call() {
    let (scene, plain) = (scene(), Opening::newest(Era::Modern));
    let mut host = scene.open(Way::Through, &plain);
    host.send(&plain.call("5", "export", &json!({})));
    host.ask(&plain.call("6", "go", &json!({})));
    assert_eq!(text(&frame::value(&host.response_to("5"))["result"]), "exported");
    host.close();
    let (scene, takes) = (self::scene(), opening(Era::Modern));
    let mut host = scene.open(Way::Through, &takes);
    let quick = frame::value(&host.ask(&call(&takes, "5", "fail", &json!({}))));
    assert_eq!(quick["result"]["isError"], true, "{quick}");
    let bad = frame::value(&host.ask(&call(&takes, "6", "export", &json!({ "n": "x" }))));
    assert_eq!(bad["result"]["isError"], true, "{bad}");
    host.close();
}

#[test]
fn who_asked_for_a_task_gets_one_also_where_nothing_was_sent() {
    let (scene, opening) = (scene(), opening(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    for (id, tool, arguments) in [("5", "export", json!({ "n": "x" })), ("6", "fail", json!({}))] {
        let created = frame::value(&host.ask(&call(&opening, id, tool, &arguments)));
        let task = created["result"]["task"]["taskId"].as_str().unwrap().to_owned();
        let result = ask(&mut host, &opening, &format!("\"{tool}\""), "tasks/result", &task);
        assert_eq!(result["result"]["isError"], true, "{result}");
        let shown = ask(&mut host, &opening, &format!("\"{tool} 2\""), "tasks/get", &task);
        assert_eq!(shown["result"]["status"], "failed", "{shown}");
    }
    scene.end(Way::Through, host);
}

#[test]
fn the_next_process_tells_what_became_of_it() {
    for era in [Era::Legacy, Era::Modern] {
        let (scene, opening) = (scene(), opening(era));
        let mut host = scene.open(Way::Through, &opening);
        let done = begin(&mut host, &opening, "5");
        host.ask(&opening.call("6", "go", &json!({})));
        // Its verdict is on disk before the answer to a call that came after it.
        host.ask(&opening.call("7", "fail", &json!({})));
        let lost = begin(&mut host, &opening, "8");
        host.kill();
        let mut host = scene.open(Way::Through, &opening);
        let shown = ask(&mut host, &opening, "5", "tasks/get", &done);
        assert_eq!(shown["result"]["status"], "completed", "{shown}");
        let kept = if era == Era::Legacy {
            ask(&mut host, &opening, "6", "tasks/result", &done)["result"].clone()
        } else {
            shown["result"]["result"].clone()
        };
        assert_eq!(text(&kept), "exported", "{kept}");
        let shown = ask(&mut host, &opening, "7", "tasks/get", &lost);
        let told = shown.to_string();
        assert!(!told.contains("working") && told.contains("known"), "{told}");
        let nobodys = ask(
            &mut host,
            &opening,
            "9",
            "tasks/get",
            "01890000-0000-7000-8000-000000000000",
        );
        assert_eq!(nobodys["error"]["code"], -32602, "{nobodys}");
        host.close();
    }
}

#[test]
fn who_waits_no_more_for_a_task_is_not_answered_and_the_task_goes_on() {
    let (scene, opening) = (scene(), opening(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    let task = begin(&mut host, &opening, "5");
    host.send(&opening.request("6", "tasks/result", json!({ "taskId": task })));
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#);
    host.ask(&opening.call("7", "go", &json!({})));
    let result = ask(&mut host, &opening, "8", "tasks/result", &task);
    assert_eq!(text(&result["result"]), "exported", "{result}");
    let transcript = scene.end(Way::Through, host);
    let answered = transcript
        .host_received
        .iter()
        .filter(|line| frame::id(line) == Some("6"));
    assert_eq!(answered.count(), 0);
}

#[test]
fn what_is_given_up_is_cancelled_once_and_an_end_is_final() {
    let (scene, opening) = (scene(), opening(Era::Legacy));
    let mut host = scene.open(Way::Through, &opening);
    let task = begin(&mut host, &opening, "5");
    let cancelled = ask(&mut host, &opening, "6", "tasks/cancel", &task);
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    let again = ask(&mut host, &opening, "7", "tasks/cancel", &task);
    assert_eq!(again["error"]["code"], -32602, "{again}");
    let shown = ask(&mut host, &opening, "8", "tasks/get", &task);
    assert_eq!(shown["result"]["status"], "cancelled", "{shown}");
    // The server had it. What is known is in the record, and stands for the answer.
    let result = ask(&mut host, &opening, "9", "tasks/result", &task);
    assert_eq!(
        result["result"]["_meta"]["candor/verdict"]["outcome"], "unknown",
        "{result}"
    );
    // An answer that comes after all gets into the record.
    host.ask(&opening.call("10", "go", &json!({})));
    let transcript = scene.end(Way::Through, host);
    assert!(
        transcript
            .server_received
            .iter()
            .any(|line| line.contains("notifications/cancelled"))
    );
}
