//! The specification's own example messages for 2026-07-28 pass Candor unchanged, in both directions.

use std::{collections::BTreeMap, path::Path};

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    scene::{Scene, Way},
    spec,
};

/// An example: the definition it is of, its file, and its text on one line.
struct Example {
    definition: String,
    file: String,
    line: String,
}

fn examples() -> Option<Vec<Example>> {
    let folder = spec::folder()?.join("examples-2026-07-28");
    let mut examples = Vec::new();
    for definition in sorted(&folder) {
        for file in sorted(&definition) {
            let text = std::fs::read_to_string(&file).unwrap();
            // One frame is one line: line breaks between members go, and nothing else does.
            let line: String = text.lines().map(str::trim).collect();
            assert_eq!(frame::value(&line), serde_json::from_str::<Value>(&text).unwrap());
            examples.push(Example {
                definition: name(&definition),
                file: name(&file),
                line,
            });
        }
    }
    assert!(examples.len() > 100, "only {} examples", examples.len());
    Some(examples)
}

fn sorted(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Every example, whatever it is of, as a parameter: there and back again.
#[test]
fn every_example_passes_as_a_parameter_and_comes_back() {
    let Some(examples) = examples() else { return };
    let (scene, opening) = (Scene::of("echo"), Opening::newest(Era::Modern));
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    for (id, example) in examples.iter().enumerate() {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"x-example","params":{{"example":{}}}}}"#,
            example.line
        );
        let answer = host.ask(&line);
        let back = frame::raw_at(&answer, &["result", "received", "example"]);
        assert_eq!(
            back,
            Some(example.line.as_str()),
            "{}/{}",
            example.definition,
            example.file
        );
    }
    scene.end(Way::Through, host);
}

/// Every example of a whole message that a host sends, as that message; the server answers with the example of the
/// response, where there is one.
#[test]
fn every_request_and_response_passes_as_itself() {
    let Some(examples) = examples() else { return };
    let is_request = |example: &&Example| {
        let method = frame::method(&example.line);
        frame::id(&example.line).is_some() && method.is_some_and(|method| method != "tools/call")
    };
    let requests: Vec<_> = examples.iter().filter(is_request).collect();
    assert!(requests.len() >= 8, "only {} requests", requests.len());
    for request in requests {
        let responses = examples.iter().filter(|example| {
            frame::id(&example.line) == frame::id(&request.line) && frame::method(&example.line).is_none()
        });
        let method = frame::method(&request.line).unwrap();
        let mut tried = 0;
        for response in responses {
            tried += 1;
            answered_by(&request.line, &method, &response.line);
        }
        if tried == 0 {
            let id = frame::id(&request.line).unwrap();
            answered_by(
                &request.line,
                &method,
                &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete"}}}}"#),
            );
        }
    }
}

/// Every example of an error response, in answer to a request that nobody judges.
#[test]
fn every_error_response_passes_as_itself() {
    let Some(examples) = examples() else { return };
    let is_error = |example: &&Example| frame::raw_at(&example.line, &["error"]).is_some();
    let mut tried = 0;
    for example in examples.iter().filter(is_error) {
        let Some(id) = frame::id(&example.line).filter(|id| *id != "null") else {
            continue;
        };
        tried += 1;
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x-example"}}"#);
        answered_by(&request, "x-example", &example.line);
    }
    assert!(tried >= 3, "only {tried} errors");
}

/// Every example of a notification, from the server to the host and from the host to the server.
#[test]
fn every_notification_passes_as_itself() {
    let Some(examples) = examples() else { return };
    let is_notification = |example: &&Example| {
        frame::id(&example.line).is_none()
            && frame::raw_at(&example.line, &["jsonrpc"]).is_some()
            && frame::method(&example.line).is_some()
    };
    let notifications: Vec<_> = examples
        .iter()
        .filter(is_notification)
        .map(|example| &example.line)
        .collect();
    assert!(
        notifications.len() >= 6,
        "only {} notifications",
        notifications.len()
    );
    let steps: Vec<Value> = notifications.iter().map(|line| json!({ "line": line })).collect();
    let script = json!({
        "about": "says every notification", "server": { "name": "examples", "version": "1" }, "unknown": "echo",
        "methods": { "x-say": steps },
    });
    let (scene, opening) = (Scene::written(&script.to_string()), Opening::newest(Era::Modern));
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    host.send(r#"{"jsonrpc":"2.0","id":1,"method":"x-say"}"#);
    for expected in &notifications {
        assert_eq!(&&host.message(&frame::method(expected).unwrap()), expected);
    }
    for line in &notifications {
        host.send(line);
    }
    host.ask(r#"{"jsonrpc":"2.0","id":2,"method":"x-after"}"#);
    let transcript = scene.end(Way::Through, host);
    for line in notifications {
        let blank = frame::without_ids(line);
        assert!(
            transcript
                .server_received
                .iter()
                .any(|received| frame::without_ids(received) == blank),
            "{line}"
        );
    }
}

/// Every example of a call's result keeps its bytes, but for the verdict.
#[test]
fn every_result_of_a_call_passes_but_for_the_verdict() {
    let Some(examples) = examples() else { return };
    let by_definition: BTreeMap<&str, Vec<&Example>> =
        examples.iter().fold(BTreeMap::new(), |mut all, example| {
            all.entry(example.definition.as_str()).or_default().push(example);
            all
        });
    let results = by_definition["CallToolResult"]
        .iter()
        .chain(&by_definition["InputRequiredResult"]);
    let opening = Opening::newest(Era::Modern);
    for example in results {
        // Some examples leave out what the schema asks for; the fixture then adds it, as it does for its own.
        let script = format!(
            r#"{{"about":"an example","server":{{"name":"examples","version":"1"}},"tools":[{{"definition":{{"name":"t","inputSchema":{{"type":"object"}}}},"plays":[{{"steps":[{{"done":"done"}},{{"result":{}}}]}}]}}]}}"#,
            example.line
        );
        let scene = Scene::written(&script);
        let mut host = scene.open(Way::Through, &opening);
        let answer = host.ask(&opening.call("1", "t", &json!({})));
        let transcript = scene.end(Way::Through, host);
        let written = transcript.server_sent.last().unwrap();
        let own = frame::with_id(written, "1");
        frame::assert_only_verdict_added(&own, &answer);
    }
}

/// The request reaches a server as it was, and the response comes back as it was.
fn answered_by(request: &str, method: &str, response: &str) {
    // A proxy may give the request another id: the server answers with the one it got.
    let template = frame::with_id(response, "\"{{id}}\"");
    let script = json!({
        "about": "answers with an example", "server": { "name": "examples", "version": "1" },
        "methods": { method: [{ "line": template }] },
    });
    let (scene, opening) = (Scene::written(&script.to_string()), Opening::newest(Era::Modern));
    let mut host = scene.start(Way::Through);
    if method != "server/discover" {
        opening.open(&mut host);
    }
    assert_eq!(host.ask(request), response);
    let transcript = scene.end(Way::Through, host);
    let blank = frame::without_ids(request);
    assert!(
        transcript
            .server_received
            .iter()
            .any(|line| frame::without_ids(line) == blank),
        "{request}"
    );
}
