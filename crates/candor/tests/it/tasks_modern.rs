//! Tasks of the 2026-07-28 extension over an rmcp client.

use std::sync::Arc;

use candor::Principal;
use candor::tasks::{Begin, End, Given, Limits, SqliteStore, TaskId};
use candor_core::names::OperationId;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelTaskRequest, ClientCapabilities,
    ClientConfig, ClientRequest, GetTaskParams, GetTaskRequest, Implementation, InputResponses,
    ProtocolVersion, ServerResult, TaskPayload, TaskStatus, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{ClientLifecycleMode, ServiceError, serve_client_with_lifecycle};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::tasks::{Client, PATIENCE, Server, first, pipe, plain, question, server, server_in};

#[derive(Clone)]
struct User {
    tasks: bool,
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_elicitation().build();
        if self.tasks {
            capabilities = ClientCapabilities::builder()
                .enable_elicitation()
                .enable_tasks()
                .build();
        }
        ClientConfig::new(capabilities, Implementation::new("user", "1"))
    }
}

async fn connect(server: &Server, tasks: bool) -> Client<User> {
    let mode = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let starting = serve_client_with_lifecycle(User { tasks }, pipe(server.clone()), mode);
    tokio::time::timeout(PATIENCE, starting)
        .await
        .expect("in time")
        .expect("it connects")
}

async fn begin(client: &Client<User>, tool: &'static str) -> String {
    match client
        .call_tool_once(CallToolRequestParams::new(tool))
        .await
        .expect("an answer")
    {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("a task was expected: {other:?}"),
    }
}

async fn get(client: &Client<User>, id: &str) -> Result<TaskPayload, ServiceError> {
    let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(id)));
    match client.send_request(request).await? {
        ServerResult::GetTaskResult(result) => Ok(result.task.payload),
        other => panic!("a task was expected: {other:?}"),
    }
}

/// Polls until the task has another status than `working`.
async fn settled(client: &Client<User>, id: &str) -> TaskPayload {
    let polling = async {
        loop {
            let payload = get(client, id).await.expect("it is there");
            if payload.status() != TaskStatus::Working {
                return payload;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, polling)
        .await
        .expect("it settles in time")
}

async fn update(client: &Client<User>, id: &str, key: &str, answer: Value) -> Result<(), ServiceError> {
    let answers = InputResponses::from([(key.to_owned(), answer)]);
    let request =
        ClientRequest::UpdateTaskRequest(UpdateTaskRequest::new(UpdateTaskParams::new(id, answers)));
    client.send_request(request).await.map(|_| ())
}

async fn cancel(client: &Client<User>, id: &str) -> Result<(), ServiceError> {
    let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(CancelTaskParams::new(id)));
    client.send_request(request).await.map(|_| ())
}

fn result_text(payload: TaskPayload) -> String {
    let TaskPayload::Completed { result } = payload else {
        panic!("completed was expected: {payload:?}")
    };
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

fn error(answer: Result<(), ServiceError>) -> rmcp::ErrorData {
    match answer {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("an error was expected: {other:?}"),
    }
}

#[tokio::test]
async fn a_tool_runs_as_a_task_where_the_caller_can_take_one_and_directly_where_not() {
    let server = server();
    let able = connect(&server, true).await;
    let id = begin(&able, "slow").await;
    assert_eq!(
        get(&able, &id).await.expect("it is there"),
        TaskPayload::Working,
        "known at once"
    );
    server.gate.add_permits(1);
    assert_eq!(result_text(settled(&able, &id).await), "done as a task");
    let unable = connect(&server, false).await;
    assert_eq!(first(&plain(&unable, "slow", json!({})).await), "done directly");
    assert_eq!(first(&plain(&able, "quick", json!({})).await), "done directly");
    let refused = unable.call_tool_once(CallToolRequestParams::new("only")).await;
    let Err(ServiceError::McpError(refused)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refused.code.0, -32021);
}

#[tokio::test]
async fn ends_are_told_apart_and_a_panic_is_masked() {
    let client = connect(&server(), true).await;
    let id = begin(&client, "refuse").await;
    let TaskPayload::Completed { result } = settled(&client, &id).await else {
        panic!("a refusal is an end")
    };
    assert_eq!(result["isError"], true);
    let id = begin(&client, "broken").await;
    let TaskPayload::Failed { error } = settled(&client, &id).await else {
        panic!("it failed")
    };
    assert_eq!(error["message"], "no way");
    let id = begin(&client, "panic").await;
    let TaskPayload::Failed { error } = settled(&client, &id).await else {
        panic!("it failed")
    };
    let said = error["message"].as_str().expect("a text");
    assert!(
        said.starts_with("FAILED, EFFECT UNKNOWN: panic broke down") && !said.contains("hunter2"),
        "{said}"
    );
    assert_eq!(error["data"]["candor/verdict"]["effect"], "unknown");
}

#[tokio::test]
async fn wrong_answers_are_refused_with_issues_and_the_same_task_goes_on() {
    let client = connect(&server(), true).await;
    let id = begin(&client, "ask").await;
    let TaskPayload::InputRequired { input_requests } = settled(&client, &id).await else {
        panic!("it asks")
    };
    assert_eq!(input_requests.keys().collect::<Vec<_>>(), ["service"]);
    let wrong = error(
        update(
            &client,
            &id,
            "service",
            json!({ "action": "accept", "content": { "service": "mail" } }),
        )
        .await,
    );
    assert_eq!(wrong.code.0, -32602);
    assert_eq!(
        wrong.data.expect("issues")["issues"][0]["path"],
        "/service/content/service"
    );
    for empty in [
        json!({ "action": "accept" }),
        json!({ "action": "yes" }),
        json!("db"),
    ] {
        assert_eq!(error(update(&client, &id, "service", empty).await).code.0, -32602);
    }
    update(&client, &id, "nobody asked", json!({ "action": "accept" }))
        .await
        .expect("unknown keys are passed over");
    assert_eq!(
        settled(&client, &id).await.status(),
        TaskStatus::InputRequired,
        "it still waits"
    );
    let right = json!({ "action": "accept", "content": { "service": "db" } });
    update(&client, &id, "service", right.clone())
        .await
        .expect("it fits");
    assert!(result_text(settled(&client, &id).await).contains("\"db\""));
    let late = error(update(&client, &id, "service", right).await);
    assert!(late.message.contains("completed"), "the state is named: {late:?}");
    assert_eq!(late.data.expect("the state")["status"], "completed");
}

#[tokio::test]
async fn content_is_not_looked_at_when_the_user_declines_or_cancels() {
    for action in ["decline", "cancel"] {
        let client = connect(&server(), true).await;
        let id = begin(&client, "ask").await;
        settled(&client, &id).await;
        update(
            &client,
            &id,
            "service",
            json!({ "action": action, "content": { "service": 7 } }),
        )
        .await
        .expect("taken");
        assert!(result_text(settled(&client, &id).await).contains(action));
    }
}

#[tokio::test]
async fn a_cancel_is_heard_and_no_end_is_overwritten() {
    let server = server();
    let client = connect(&server, true).await;
    let id = begin(&client, "slow").await;
    cancel(&client, &id).await.expect("told");
    assert_eq!(settled(&client, &id).await, TaskPayload::Cancelled);
    // A tool that doesn't look ends as it ends.
    let id = begin(&client, "deaf").await;
    cancel(&client, &id).await.expect("told");
    assert_eq!(
        get(&client, &id).await.expect("there"),
        TaskPayload::Working,
        "telling is not stopping"
    );
    server.gate.add_permits(1);
    assert_eq!(result_text(settled(&client, &id).await), "done as a task");
    cancel(&client, &id).await.expect("acknowledged");
    assert_eq!(
        settled(&client, &id).await.status(),
        TaskStatus::Completed,
        "an end is final"
    );
    // One that waits for its user hears it at once.
    let id = begin(&client, "ask").await;
    settled(&client, &id).await;
    cancel(&client, &id).await.expect("told");
    assert_eq!(
        result_text(settled(&client, &id).await),
        format!("not answered: {:?}", Given::Stopped)
    );
}

#[tokio::test]
async fn somebody_elses_task_is_answered_like_one_that_never_was() {
    let alices = server();
    let bobs = Server {
        who: Principal::new("bob"),
        ..alices.clone()
    };
    let (alice, bob) = (connect(&alices, true).await, connect(&bobs, true).await);
    let id = begin(&alice, "ask").await;
    settled(&alice, &id).await;
    let never = TaskId::random().expect("random").to_string();
    let answer = json!({ "action": "accept", "content": { "service": "db" } });
    let mut told = Vec::new();
    for id in [id.as_str(), never.as_str(), "not an id"] {
        told.push(error(get(&bob, id).await.map(|_| ())));
        told.push(error(update(&bob, id, "service", answer.clone()).await));
        told.push(error(cancel(&bob, id).await));
    }
    assert!(told.iter().all(|error| error == &told[0]), "{told:?}");
    assert_eq!(told[0].message, "There is no such task.");
    for tool in ["task_state", "task_cancel"] {
        let (foreign, unknown) = (
            plain(&bob, tool, json!({ "task": id })).await,
            plain(&bob, tool, json!({ "task": never })).await,
        );
        assert_eq!(first(&foreign), first(&unknown));
    }
    assert_eq!(
        settled(&alice, &id).await.status(),
        TaskStatus::InputRequired,
        "and nothing came of it"
    );
}

#[tokio::test]
async fn the_plain_tools_follow_a_task_for_a_host_without_tasks() {
    let server = server();
    let host = connect(&server, false).await;
    let accepted = first(&plain(&host, "ask", json!({ "accept": true })).await);
    let id = accepted.rsplit(' ').next().expect("a reference").to_owned();
    let waiting = async {
        loop {
            let shown = plain(&host, "task_state", json!({ "task": id })).await;
            if first(&shown).starts_with("NEEDS INPUT: ask waits for its user: service.") {
                return shown;
            }
        }
    };
    let shown = tokio::time::timeout(PATIENCE, waiting).await.expect("it asks");
    let wanted = &shown.structured_content.expect("a state")["wanted"]["service"];
    assert_eq!(
        wanted["params"]["requestedSchema"]["required"],
        json!(["service"])
    );
    let answer = |content: Value| json!({ "task": id, "answers": { "service": { "action": "accept", "content": content } } });
    let wrong = plain(&host, "task_answer", answer(json!({ "service": "mail" }))).await;
    assert_eq!(wrong.is_error, Some(true));
    assert!(
        first(&wrong).starts_with("NOT DONE: The answer breaks its form"),
        "{}",
        first(&wrong)
    );
    let right = plain(&host, "task_answer", answer(json!({ "service": "db" }))).await;
    assert_eq!(
        (first(&right).as_str(), right.is_error),
        ("The answer was taken, and ask goes on.", Some(false))
    );
    let task = server
        .tasks
        .ended(&server.who, &TaskId::given(id.as_str()), PATIENCE)
        .await
        .expect("there");
    assert!(task.status().is_final());
    assert!(first(&plain(&host, "task_state", json!({ "task": id })).await).starts_with("asked: "));
    let late = plain(&host, "task_cancel", json!({ "task": id })).await;
    assert_eq!(
        first(&late),
        "NOT DONE: The task is completed already; nothing changed. Nothing changed."
    );
}

#[tokio::test]
async fn a_task_that_waited_goes_on_after_a_restart_and_one_that_worked_is_unknown() {
    let folder = tempfile::tempdir().expect("a folder");
    let open =
        || Arc::new(SqliteStore::open(folder.path().join("tasks.db"), Limits::default()).expect("it opens"));
    let (asking, working) = {
        let process = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let store = open();
        let ids = process.spawn(async move {
            let client = connect(&server_in(store), true).await;
            let (asking, working) = (begin(&client, "ask").await, begin(&client, "deaf").await);
            settled(&client, &asking).await;
            (asking, working)
        });
        let ids = ids.await.expect("it ran");
        // The process ends in the middle: its tasks are dropped where they stand, its lock is let go.
        tokio::task::spawn_blocking(move || process.shutdown_timeout(PATIENCE))
            .await
            .expect("it ended");
        ids
    };
    let client = connect(&server_in(open()), true).await;
    let TaskPayload::Failed { error } = get(&client, &working).await.expect("there") else {
        panic!("it is lost")
    };
    assert_eq!(error["data"]["candor/verdict"]["outcome"], "unknown");
    assert_eq!(
        get(&client, &asking).await.expect("there").status(),
        TaskStatus::InputRequired
    );
    let wrong = update(
        &client,
        &asking,
        "service",
        json!({ "action": "accept", "content": {} }),
    )
    .await;
    assert_eq!(crate::tasks_modern::error(wrong).code.0, -32602);
    update(
        &client,
        &asking,
        "service",
        json!({ "action": "accept", "content": { "service": "web" } }),
    )
    .await
    .expect("taken");
    assert!(
        result_text(settled(&client, &asking).await).contains("\"web\""),
        "the same task goes on"
    );
}

#[tokio::test]
async fn two_things_wanted_at_once_are_answered_one_by_one() {
    let server = server();
    let begin = Begin {
        tool: "both".to_owned(),
        operation: OperationId::new(Uuid::now_v7()),
        arguments: None,
        ttl: None,
    };
    let run = |inside: candor::tasks::InTask| async move {
        let (one, other) = (question(), question());
        let (one, other) = tokio::join!(
            inside.input("one", &one, None, PATIENCE),
            inside.input("other", &other, None, PATIENCE)
        );
        let again = inside.input("one", &question(), None, PATIENCE).await;
        let result = crate::tasks::text(&format!("{one:?} {other:?} {again:?}"));
        End::of(Ok(result.into()), false)
    };
    let id = server
        .tasks
        .start(&server.who, begin, run)
        .await
        .expect("it runs")
        .id
        .to_string();
    let client = connect(&server, true).await;
    let yes = json!({ "action": "decline" });
    let wanted = async |many: &[&str]| {
        let looking = async {
            loop {
                if let TaskPayload::InputRequired { input_requests } = settled(&client, &id).await
                    && input_requests.keys().eq(many.iter())
                {
                    return;
                }
            }
        };
        tokio::time::timeout(PATIENCE, looking)
            .await
            .expect("it wants them");
    };
    wanted(&["one", "other"]).await;
    update(&client, &id, "one", yes.clone()).await.expect("taken");
    wanted(&["other"]).await;
    update(&client, &id, "other", yes.clone()).await.expect("taken");
    wanted(&["one-2"]).await;
    update(&client, &id, "one-2", yes).await.expect("taken");
    assert_eq!(
        result_text(settled(&client, &id).await)
            .matches("decline")
            .count(),
        3
    );
}
