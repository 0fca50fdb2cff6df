//! Tasks of 2025-11-25 over an rmcp client that speaks them raw: rmcp itself has dropped them.

use candor::Principal;
use candor::tasks::TaskId;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    PaginatedRequestParams,
};
use rmcp::service::{RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData, ServiceExt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::tasks::{Client, Lines, PATIENCE, Server, error_of, first, pipe, plain, raw, server};

/// Answers the first question wrongly and the next rightly.
#[derive(Clone, Default)]
struct User {
    asked: Arc<AtomicUsize>,
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("user", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        assert!(
            context.meta.contains_key("io.modelcontextprotocol/related-task"),
            "it says for which task"
        );
        let times = self.asked.fetch_add(1, Ordering::SeqCst);
        let service = if times == 0 { "mail" } else { "db" };
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "service": service })))
    }
}

async fn connect(server: &Server) -> Client<User> {
    let starting = User::default().serve(pipe(server.clone()));
    tokio::time::timeout(PATIENCE, starting)
        .await
        .expect("in time")
        .expect("it connects")
}

async fn begin(client: &Client<User>, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": {}, "task": { "ttl": 60_000 } });
    raw(client, "tools/call", params).await.expect("an answer")["task"].clone()
}

fn id(task: &Value) -> Value {
    json!({ "taskId": task["taskId"] })
}

#[tokio::test]
async fn a_tool_becomes_a_task_only_if_the_caller_wants_one() {
    let server = server();
    let (mut client, _) = Lines::connect(server.clone()).await;
    let wish = json!({ "name": "slow", "arguments": {}, "task": { "ttl": 60_000 } });
    let task = client.ask("tools/call", wish).await["task"].clone();
    assert_eq!(
        (&task["status"], &task["ttl"], &task["pollInterval"]),
        (&json!("working"), &json!(60_000), &json!(20))
    );
    assert_eq!(client.ask("tasks/get", id(&task)).await, task);
    server.gate.add_permits(1);
    let result = client.ask("tasks/result", id(&task)).await;
    assert_eq!(result["content"][0]["text"], "done as a task");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], id(&task));
    assert_eq!(client.ask("tasks/get", id(&task)).await["status"], "completed");
    let direct = client
        .ask("tools/call", json!({ "name": "slow", "arguments": {} }))
        .await;
    assert_eq!(direct["content"][0]["text"], "done directly");
    let listed = client.ask("tasks/list", json!({})).await;
    assert_eq!(listed["tasks"].as_array().expect("tasks").len(), 1);
}

#[tokio::test]
async fn tools_and_server_say_that_they_have_tasks() {
    let (mut client, hello) = Lines::connect(server()).await;
    let tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } }, "list": {} });
    assert_eq!(hello["capabilities"]["tasks"], tasks);
    assert!(hello["capabilities"].get("experimental").is_none());
    let listed = client.ask("tools/list", json!({})).await;
    let support = |name: &str| {
        let tools = listed["tools"].as_array().expect("tools");
        let tool = tools.iter().find(|tool| tool["name"] == name).expect("listed");
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(
        (support("slow"), support("only"), support("quick")),
        (json!("optional"), json!("required"), Value::Null)
    );
}

#[tokio::test]
async fn a_tool_called_against_its_kind_is_refused() {
    let client = connect(&server()).await;
    for (tool, mut params) in [("quick", json!({ "task": {} })), ("only", json!({}))] {
        params["name"] = json!(tool);
        assert_eq!(
            error_of(raw(&client, "tools/call", params).await).code.0,
            -32601,
            "{tool}"
        );
    }
}

#[tokio::test]
async fn without_the_rewriting_nothing_is_promised() {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let server = server();
    tokio::spawn(async move {
        server
            .serve(ours)
            .await
            .expect("it starts")
            .waiting()
            .await
            .expect("it ends")
    });
    let client = User::default().serve(theirs).await.expect("it connects");
    let experimental = client
        .peer_info()
        .expect("known")
        .capabilities
        .experimental
        .clone();
    assert_eq!(experimental, None);
    let tools = client
        .list_tools(Some(PaginatedRequestParams::default()))
        .await
        .expect("a list")
        .tools;
    assert!(tools.iter().all(|tool| tool.meta.is_none()), "{tools:?}");
    assert_eq!(first(&plain(&client, "slow", json!({})).await), "done directly");
}

#[tokio::test]
async fn a_waiting_result_asks_the_user_and_asks_again_after_a_wrong_answer() {
    let server = server();
    let client = connect(&server).await;
    let task = begin(&client, "ask").await;
    let result = raw(&client, "tasks/result", id(&task)).await.expect("a result");
    assert!(
        result["content"][0]["text"]
            .as_str()
            .expect("a text")
            .contains("\"db\""),
        "{result}"
    );
    assert_eq!(client.service().asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_cancel_names_the_state_of_what_has_ended() {
    let server = server();
    let client = connect(&server).await;
    let task = begin(&client, "slow").await;
    let cancelled = raw(&client, "tasks/cancel", id(&task)).await.expect("cancelled");
    assert_eq!(cancelled["status"], "cancelled");
    let result = raw(&client, "tasks/result", id(&task))
        .await
        .expect("its own words");
    assert_eq!(result["content"][0]["text"], "NOT DONE: stopped");
    let again = error_of(raw(&client, "tasks/cancel", id(&task)).await);
    assert_eq!(
        (again.code.0, again.message.as_ref()),
        (-32602, "The task is cancelled already; nothing changed.")
    );

    server.gate.add_permits(1);
    let done = begin(&client, "slow").await;
    raw(&client, "tasks/result", id(&done)).await.expect("a result");
    let late = error_of(raw(&client, "tasks/cancel", id(&done)).await);
    assert_eq!(late.message, "The task is completed already; nothing changed.");
    assert_eq!(late.data.expect("the state")["status"], "completed");
    let result = raw(&client, "tasks/result", id(&done))
        .await
        .expect("still its result");
    assert_eq!(result["content"][0]["text"], "done as a task");
}

#[tokio::test]
async fn a_tool_that_does_not_stop_is_called_unknown() {
    let server = server();
    let client = connect(&server).await;
    let task = begin(&client, "deaf").await;
    let cancelled = raw(&client, "tasks/cancel", id(&task)).await.expect("cancelled");
    assert_eq!(cancelled["status"], "cancelled");
    assert!(
        cancelled["statusMessage"]
            .as_str()
            .expect("said")
            .contains("has not stopped yet"),
        "{cancelled}"
    );
    let result = raw(&client, "tasks/result", id(&task))
        .await
        .expect("what is known");
    assert_eq!(
        (&result["isError"], &result["_meta"]["candor/verdict"]["effect"]),
        (&json!(true), &json!("unknown"))
    );
    server.gate.add_permits(1);
    // Its tool ends now; the end stays what it was.
    let id = TaskId::given(task["taskId"].as_str().expect("an id"));
    let ended = server
        .tasks
        .ended(&server.who, &id, PATIENCE)
        .await
        .expect("there");
    assert_eq!(ended.status().as_str(), "cancelled");
}

#[tokio::test]
async fn a_failed_task_gives_its_error_as_its_result() {
    let client = connect(&server()).await;
    let task = begin(&client, "panic").await;
    let error = error_of(raw(&client, "tasks/result", id(&task)).await);
    assert!(error.message.starts_with("FAILED, EFFECT UNKNOWN"), "{error:?}");
    assert!(!error.message.contains("hunter2"));
}

#[tokio::test]
async fn somebody_elses_task_is_not_there() {
    let alices = server();
    let bobs = Server {
        who: Principal::new("bob"),
        ..alices.clone()
    };
    let (alice, bob) = (connect(&alices).await, connect(&bobs).await);
    let task = begin(&alice, "slow").await;
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let foreign = error_of(raw(&bob, method, id(&task)).await);
        let unknown = error_of(raw(&bob, method, json!({ "taskId": "0".repeat(32) })).await);
        let none = error_of(raw(&bob, method, json!({})).await);
        assert_eq!((&foreign, &foreign), (&unknown, &none), "{method}");
        assert_eq!(foreign.message, "There is no such task.");
    }
    assert_eq!(
        raw(&bob, "tasks/list", json!({})).await.expect("a list")["tasks"],
        json!([])
    );
    assert_eq!(
        raw(&alice, "tasks/get", id(&task)).await.expect("there")["status"],
        "working"
    );
}
