//! Candor's own tools and resource: an agent sees for itself what is done and what is not, where the operator wants that.

use std::process::Command;

use candor_fixtures::script::Era;
use serde_json::{Value, json};

use crate::harness::{
    conversation::Opening,
    frame,
    host::Host,
    scene::{Scene, Way},
    spec::SpecCheck,
};

/// One call that is done, one that is lost; on two pages.
const SERVER: &str = r#"{
  "about": "Does one thing, and loses another.",
  "server": { "name": "rooms", "version": "1.0.0" },
  "page_size": 1,
  "tools": [
    { "definition": { "name": "book", "description": "Books.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "booked" }, { "result": { "content": [{ "type": "text", "text": "booked" }] } }] }] },
    { "definition": { "name": "LOSE", "description": "Loses the answer.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "done": "lost" }, { "frame": { "jsonrpc": "2.0", "id": "{{id}}", "result": 7 } }] }] }
  ]
}"#;

fn server(second: &str) -> String {
    SERVER.replace("LOSE", second)
}

/// Every tool's name, over all pages.
fn listed(host: &mut Host, opening: &Opening) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    for page in 1.. {
        let answer = host.ask(&opening.request(&format!("\"names {page}\""), "tools/list", params));
        let answer = frame::value(&answer);
        let tools = answer["result"]["tools"].as_array().unwrap();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        let Some(cursor) = answer["result"].get("nextCursor") else {
            break;
        };
        params = json!({ "cursor": cursor });
    }
    names
}

fn call(host: &mut Host, opening: &Opening, id: &str, tool: &str, arguments: &Value) -> Value {
    frame::value(&host.ask(&opening.call(id, tool, arguments)))
}

#[test]
fn an_agent_can_look_at_an_operation_and_at_what_is_not_settled() {
    for era in [Era::Legacy, Era::Modern] {
        let (scene, opening) = (
            Scene::written(&server("lose")).option("--own-tools"),
            Opening::newest(era),
        );
        let mut host = scene.start(Way::Through);
        opening.open(&mut host);
        let first = frame::value(&host.received[0]);
        assert_eq!(first["result"]["capabilities"]["resources"], json!({}), "{first}");
        assert_eq!(
            listed(&mut host, &opening),
            ["book", "lose", "candor_operation", "candor_unsettled"]
        );
        let nothing = call(&mut host, &opening, "4", "candor_unsettled", &json!({}));
        assert_eq!(nothing["result"]["structuredContent"]["count"], 0, "{nothing}");
        call(&mut host, &opening, "5", "book", &json!({}));
        let lost = call(&mut host, &opening, "6", "lose", &json!({}));
        let id = lost["result"]["_meta"]["candor/verdict"]["operationId"]
            .as_str()
            .unwrap()
            .to_owned();
        let open = call(&mut host, &opening, "7", "candor_unsettled", &json!({}));
        let told = &open["result"]["structuredContent"];
        assert_eq!(
            (&told["count"], &told["unsettled"][0]["operationId"]),
            (&json!(1), &json!(id))
        );
        let one = call(
            &mut host,
            &opening,
            "8",
            "candor_operation",
            &json!({ "id": id[id.len() - 8..] }),
        );
        let told = &one["result"]["structuredContent"];
        assert_eq!(
            (
                &told["operationId"],
                &told["settled"],
                &told["latest"]["verdict"]["outcome"]
            ),
            (&json!(id), &json!(false), &json!("unknown"))
        );
        assert!(
            one["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .starts_with("Not confirmed: lose on fixture")
        );
        let uri = format!("candor://operations/{id}");
        let resource =
            frame::value(&host.ask(&opening.request("9", "resources/read", json!({ "uri": uri }))));
        let text = resource["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(&frame::value(text), told, "the same by its address");
        let templates =
            frame::value(&host.ask(&opening.request("10", "resources/templates/list", json!({}))));
        assert_eq!(
            templates["result"]["resourceTemplates"][0]["uriTemplate"],
            "candor://operations/{id}"
        );
        let resources = frame::value(&host.ask(&opening.request("11", "resources/list", json!({}))));
        assert_eq!(resources["result"]["resources"], json!([]));
        for (id, wanted) in [("12", "ffff0000"), ("13", "no id"), ("14", "")] {
            let none = call(
                &mut host,
                &opening,
                id,
                "candor_operation",
                &json!({ "id": wanted }),
            );
            assert_eq!(none["result"]["isError"], true, "{none}");
        }
        let gone = json!({ "uri": "candor://operations/ffff0000" });
        let gone = frame::value(&host.ask(&opening.request("15", "resources/read", gone)));
        let code = if opening.is_modern() { -32602 } else { -32002 };
        assert_eq!(gone["error"]["code"], code, "{gone}");
        let transcript = scene.end(Way::Through, host);
        assert!(
            !transcript
                .server_received
                .iter()
                .any(|line| line.contains("candor_") || line.contains("candor://")),
            "the server hears nothing of it"
        );
        assert_eq!(scene.calls().len(), 2, "a look is no operation");
        if let Some(spec) = SpecCheck::of(opening.revision) {
            spec.check(&transcript);
        }
    }
}

#[test]
fn what_is_off_adds_nothing_and_passes() {
    let (scene, opening) = (Scene::written(&server("lose")), Opening::newest(Era::Legacy));
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    assert_eq!(listed(&mut host, &opening), ["book", "lose"]);
    let answer = frame::value(&host.ask(&opening.request(
        "5",
        "resources/read",
        json!({ "uri": "candor://operations/ffff0000" }),
    )));
    assert_eq!(
        answer["error"]["code"], -32601,
        "the server's own answer: {answer}"
    );
    let transcript = scene.end(Way::Through, host);
    assert!(
        transcript
            .server_received
            .iter()
            .any(|line| line.contains("candor://"))
    );
    let written: Vec<_> = transcript.written_to_host();
    assert!(written.is_empty(), "{written:?}");
}

#[test]
fn a_tool_of_the_servers_with_our_name_stays_the_servers() {
    let (scene, opening) = (
        Scene::written(&server("candor_unsettled")).config("own_tools = true\n"),
        Opening::newest(Era::Legacy),
    );
    let mut host = scene.start(Way::Through);
    opening.open(&mut host);
    assert_eq!(
        listed(&mut host, &opening),
        ["book", "candor_unsettled", "candor_operation"]
    );
    call(&mut host, &opening, "5", "candor_unsettled", &json!({}));
    let transcript = scene.end(Way::Through, host);
    assert_eq!(
        transcript.truth.len(),
        1,
        "it was the server's own that was called"
    );
    assert!(
        transcript.errors.contains("Candor's own is left out"),
        "{}",
        transcript.errors
    );
}

#[test]
fn another_servers_operations_do_not_exist_here() {
    let opening = Opening::newest(Era::Legacy);
    let scene = Scene::written(&server("lose"));
    let mut host = scene.open(Way::Through, &opening);
    let lost = call(&mut host, &opening, "5", "lose", &json!({}));
    let id = lost["result"]["_meta"]["candor/verdict"]["operationId"].clone();
    scene.end(Way::Through, host);
    let mut host = Host::start(renamed(&scene.command(Way::Through)));
    opening.open(&mut host);
    let none = call(&mut host, &opening, "6", "candor_operation", &json!({ "id": id }));
    assert_eq!(none["result"]["isError"], true, "{none}");
    let nothing = call(&mut host, &opening, "7", "candor_unsettled", &json!({}));
    assert_eq!(nothing["result"]["structuredContent"]["count"], 0);
    scene.end(Way::Through, host);
}

/// The same command for a server that the operator calls "other", with our tools.
fn renamed(command: &Command) -> Command {
    let mut renamed = Command::new(command.get_program());
    let mut before = "";
    for word in command.get_args().map(|word| word.to_str().unwrap()) {
        match before {
            "--name" => renamed.args(["other", "--own-tools"]),
            _ => renamed.arg(word),
        };
        before = word;
    }
    renamed.current_dir(command.get_current_dir().unwrap());
    renamed
}
