//! A slow tool, offered as a task, to the official clients that take tasks.

use std::{path::Path, time::Duration};

use rmcp::{
    ClientHandler, ClientServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, GetTaskParams,
        Implementation, ProtocolVersion, TaskPayload,
    },
    service::ClientLifecycleMode,
    transport::TokioChildProcess,
};
use serde_json::{Value, json};

use crate::official;

/// No wait is longer than this: a client that hangs is a finding, not a hung test.
const DEADLINE: Duration = Duration::from_secs(20);

/// `export` is done once `go` was called.
const SERVER: &str = r#"{
  "about": "Takes its time.",
  "server": { "name": "exports", "version": "1.0.0" },
  "tools": [
    { "definition": { "name": "export", "description": "Exports.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "wait": "go" }, { "done": "exported" }, { "result": { "content": [{ "type": "text", "text": "exported" }] } }] }] },
    { "definition": { "name": "go", "description": "Lets exports go on.", "inputSchema": { "type": "object" } },
      "plays": [{ "steps": [{ "release": "go" }, { "undone": "let go" }, { "result": { "content": [] } }] }] }
  ]
}"#;

/// Candor before that server, with the contract that offers `export` as a task.
fn command(folder: &Path) -> Vec<String> {
    let written = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let script = written("server.json", SERVER);
    let config = written("candor.toml", "[servers.fixture.tools.export]\ntask = true\n");
    let ledger = folder.join("ledger.sqlite").display().to_string();
    let candor = env!("CARGO_BIN_EXE_candor");
    let words = [
        candor, "--name", "fixture", "--config", &config, "--ledger", &ledger, "--", candor, "fixture",
        "liar", "--script", &script,
    ];
    words.map(str::to_owned).to_vec()
}

#[test]
fn the_typescript_sdk_follows_a_slow_tool_as_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let command = json!(command(folder.path())).to_string();
    let Some(seen) = official::typescript_seen::<Value>("tasks.mjs", &command) else {
        return;
    };
    let kinds: Vec<&str> = seen.iter().filter_map(|seen| seen["type"].as_str()).collect();
    assert_eq!(kinds, ["taskCreated", "result", "kept", "result"], "{seen:#?}");
    assert_eq!(seen[2]["task"]["status"], "completed", "{seen:#?}");
    for at in [1, 3] {
        let result = &seen[at]["result"];
        assert_eq!(result["content"][0]["text"], "exported", "{seen:#?}");
        assert_eq!(
            result["_meta"]["candor/verdict"]["operationId"], seen[0]["task"]["taskId"],
            "{seen:#?}"
        );
    }
}

/// A client of 2026-07-28 that takes tasks.
struct Taker;

impl ClientHandler for Taker {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions
            .entry("io.modelcontextprotocol/tasks".to_owned())
            .or_default();
        ClientConfig::new(capabilities, Implementation::new("candor-tests-rmcp", "0.0.0"))
    }
}

#[tokio::test]
async fn the_rust_sdk_follows_a_slow_tool_as_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let words = command(folder.path());
    let mut command = tokio::process::Command::new(&words[0]);
    command.args(&words[1..]);
    let modern = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let opening = Taker.serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), modern);
    let client = tokio::time::timeout(DEADLINE, opening).await.unwrap().unwrap();
    let CallToolResponse::Task(created) = client
        .call_tool_once(CallToolRequestParams::new("export"))
        .await
        .unwrap()
    else {
        panic!("a slow call is a task");
    };
    let id = created.task.task_id;
    let go = client
        .call_tool_once(CallToolRequestParams::new("go"))
        .await
        .unwrap();
    assert!(matches!(go, CallToolResponse::Complete(_)), "{go:?}");
    let ended = async {
        loop {
            let task = client
                .get_task(GetTaskParams::new(id.clone()))
                .await
                .unwrap()
                .task;
            match task.payload {
                TaskPayload::Working => tokio::time::sleep(Duration::from_millis(20)).await,
                TaskPayload::Completed { result } => return Value::Object(result),
                other => panic!("{other:?}"),
            }
        }
    };
    let result = tokio::time::timeout(DEADLINE, ended).await.unwrap();
    assert_eq!(result["content"][0]["text"], "exported", "{result}");
    assert_eq!(result["_meta"]["candor/verdict"]["operationId"], id, "{result}");
    client.cancel().await.unwrap();
}
