//! Calls that run as tasks, through the whole wrapper, by a client of 2026-07-28.

use std::sync::Arc;
use std::time::Duration;

use candor::asking::Text;
use candor::tasks::{MemoryStore, TaskSupport, TaskTerms, Tasks, system_clock};
use candor::{Call, Candor, Form, NoArguments, Outcome, Stop, Tool, Tools};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, GetTaskParams, Implementation,
    TaskPayload,
};
use serde_json::{Value, json};

use crate::ways::{call, ends, first_text, over_a_pipe, with_client};

/// A client that takes tasks.
pub(crate) struct Patient;

impl ClientHandler for Patient {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_tasks().build();
        ClientConfig::new(capabilities, Implementation::new("patient", "1.0.0"))
    }
}

fn server() -> Candor<Tools> {
    let done = |text: &str| Outcome::completed(text.to_owned());
    let diagnose = Tool::new("diagnose", "takes its time")
        .reads()
        .task(TaskSupport::Optional)
        .run(move |_: NoArguments, _: Call| async move { done("diagnosed") });
    let restart = Tool::new("restart", "becomes a task on its way")
        .writes()
        .task_where_it_says()
        .run(move |_: NoArguments, call: Call| async move {
            call.as_task().await?;
            call.effect_begins();
            Ok::<_, Stop>(done("restarted"))
        });
    let crash = Tool::new("crash", "breaks down in its task")
        .writes()
        .task(TaskSupport::Required)
        .run(|_: NoArguments, _: Call| async move {
            tokio::task::yield_now().await;
            if true {
                panic!("postgres://app:hunter22@db.internal/rooms");
            }
            Outcome::completed(())
        });
    let tasks = Tasks::new(
        Arc::new(MemoryStore::default()),
        system_clock(),
        TaskTerms::default(),
    );
    let greet = Tool::new("greet", "asks for a name")
        .writes()
        .run(|_: NoArguments, call: Call| async move {
            let form = Form::new("For whom?").required("name", Text::new());
            match call.ask("who", &form).await?.or_reason() {
                Ok(answer) => Ok::<_, Stop>(Outcome::completed(format!(
                    "hello {}",
                    answer["name"].as_str().unwrap_or("?")
                ))),
                Err(reason) => Ok(Outcome::Rejected(reason)),
            }
        });
    let tools = Tools::new("t", "1")
        .with(greet)
        .with(diagnose)
        .with(restart)
        .with(crash);
    tools
        .builder()
        .and_then(|builder| builder.tasks(tasks).build())
        .expect("nothing is wrong with it")
}

/// Calls a tool that becomes a task, and waits for its end.
async fn ended(tool: &'static str) -> Value {
    let client = with_client(Patient, server(), true).await;
    let begun = client
        .call_tool_once(CallToolRequestParams::new(tool))
        .await
        .expect("an answer");
    let CallToolResponse::Task(created) = begun else {
        panic!("{tool} did not become a task: {begun:?}")
    };
    let id = created.task.task_id.clone();
    for _ in 0..1000 {
        let task = client
            .get_task(GetTaskParams::new(id.clone()))
            .await
            .expect("it is there")
            .task;
        if let TaskPayload::Completed { result } = task.payload {
            return Value::Object(result);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{tool} never ended")
}

#[tokio::test]
async fn a_task_ends_with_the_result_that_a_call_would_have_had() {
    for (tool, effect, text) in [
        ("diagnose", "not_applied", "diagnosed"),
        ("restart", "applied", "restarted"),
    ] {
        let result = ended(tool).await;
        assert_eq!(result["content"][0]["text"], json!(text));
        assert_eq!(
            result["_meta"]["candor/verdict"]["outcome"],
            json!("completed"),
            "{tool}"
        );
        assert_eq!(
            result["_meta"]["candor/verdict"]["effect"],
            json!(effect),
            "{tool}"
        );
    }
}

#[tokio::test]
async fn a_panic_in_a_task_is_masked_and_known_as_one() {
    let result = ended("crash").await;
    assert!(!result.to_string().contains("hunter22"), "{result}");
    assert_eq!(result["isError"], json!(true));
    assert_eq!(result["_meta"]["candor/verdict"]["effect"], json!("unknown"));
}

#[tokio::test]
async fn a_caller_without_tasks_has_the_tool_directly_or_is_told() {
    for modern in [false, true] {
        let client = over_a_pipe(server(), modern).await;
        for (tool, text) in [("diagnose", "diagnosed"), ("restart", "restarted")] {
            let result = call(&client, tool, json!({})).await.expect("a result");
            assert_eq!(first_text(&result), text, "modern: {modern}");
            assert_eq!(ends(&result).0, "completed", "modern: {modern}");
        }
        let error = call(&client, "crash", json!({}))
            .await
            .expect_err("it runs as a task only");
        assert_eq!(error.code.0, if modern { -32021 } else { -32601 });
    }
}

#[tokio::test]
async fn a_task_that_is_not_there_is_refused() {
    let client = with_client(Patient, server(), true).await;
    let error = client
        .get_task(GetTaskParams::new("t-1"))
        .await
        .expect_err("there is none")
        .to_string();
    assert!(error.contains("-32602"), "{error}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_waits_and_plain_tools_answer_it() {
    for modern in [false, true] {
        let client = over_a_pipe(server(), modern).await;
        let listed = client.list_all_tools().await.expect("they are listed");
        assert!(
            listed.iter().any(|tool| tool.name == "task_answer"),
            "modern: {modern}"
        );
        let waits = call(&client, "greet", json!({})).await.expect("a result");
        assert_eq!(
            ends(&waits),
            ("input_required", "not_applied"),
            "modern: {modern}"
        );
        assert!(
            first_text(&waits).starts_with("NEEDS INPUT:"),
            "{}",
            first_text(&waits)
        );
        assert!(first_text(&waits).contains("For whom?"), "{}", first_text(&waits));
        let task = crate::ways::verdict(&waits)["reference"].clone();
        let wrong = call(&client, "task_answer", json!({ "task": task }))
            .await
            .expect("a result");
        assert_eq!(
            ends(&wrong),
            ("rejected", "not_applied"),
            "its arguments are checked as any tool's"
        );
        let answers = json!({ "who": { "action": "accept", "content": { "name": "Ann" } } });
        call(
            &client,
            "task_answer",
            json!({ "task": task, "answers": answers }),
        )
        .await
        .expect("a result");
        let mut told = String::new();
        for _ in 0..1000 {
            let state = call(&client, "task_state", json!({ "task": task }))
                .await
                .expect("a result");
            told = serde_json::to_string(&state).expect("JSON");
            if told.contains("hello Ann") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(told.contains("hello Ann"), "modern: {modern}: {told}");
    }
}

#[tokio::test]
async fn a_caller_that_takes_tasks_is_shown_no_tools_for_them() {
    let client = with_client(Patient, server(), true).await;
    let listed = client.list_all_tools().await.expect("they are listed");
    assert!(
        listed.iter().all(|tool| !tool.name.starts_with("task_")),
        "{listed:?}"
    );
}

/// A server whose `move` asks before it acts; `price` is what it will cost, which another process may know otherwise.
fn moving(store: Arc<dyn candor::tasks::TaskStore>, price: u32) -> Candor<Tools> {
    let moves = Tool::new("move", "moves a meeting")
        .writes()
        .task(TaskSupport::Required)
        .resumes()
        .run(move |args: Meeting, call: Call| async move {
            for (key, what) in [
                ("room", format!("Room 14 for {price}?")),
                ("guests", "Tell them?".to_owned()),
            ] {
                match call
                    .ask(key, &Form::new(what).required("note", Text::new()))
                    .await?
                    .or_reason()
                {
                    Ok(_) => {}
                    Err(reason) => return Ok::<_, Stop>(Outcome::Rejected(reason)),
                }
            }
            call.effect_begins();
            Ok(Outcome::completed(format!("moved {} for {price}", args.id)))
        });
    let tools = Tools::new("t", "1").with(moves);
    let tasks = Tasks::new(store, system_clock(), TaskTerms::default());
    tools
        .builder()
        .and_then(|builder| builder.tasks(tasks).build())
        .expect("nothing is wrong with it")
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Meeting {
    id: u32,
}

type Taken = rmcp::service::RunningService<rmcp::RoleClient, Patient>;

/// Waits until the task wants this key, or has ended.
async fn until(client: &Taken, id: &str, key: &str) -> TaskPayload {
    for _ in 0..1000 {
        let payload = client
            .get_task(GetTaskParams::new(id))
            .await
            .expect("it is there")
            .task
            .payload;
        match &payload {
            TaskPayload::Working => {}
            TaskPayload::InputRequired { input_requests } if !input_requests.contains_key(key) => {}
            _ => return payload,
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never wants {key}")
}

async fn agree(client: &Taken, id: &str, key: &str) {
    let yes = json!({ "action": "accept", "content": { "note": "yes" } });
    let answers = rmcp::model::InputResponses::from([(key.to_owned(), yes)]);
    client
        .update_task(rmcp::model::UpdateTaskParams::new(id, answers))
        .await
        .expect("it is taken");
}

/// Runs until `move` waits for its second answer in a process that ends then; gives the task's id.
async fn left_waiting(open: impl Fn() -> Arc<candor::tasks::SqliteStore>) -> String {
    let process = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let store = open();
    let begun = process.spawn(async move {
        let client = with_client(Patient, moving(store, 10), true).await;
        let arguments = json!({ "id": "7" }).as_object().cloned().unwrap_or_default();
        let begun = client
            .call_tool_once(CallToolRequestParams::new("move").with_arguments(arguments))
            .await;
        let Ok(CallToolResponse::Task(created)) = begun else {
            panic!("it becomes a task: {begun:?}")
        };
        let id = created.task.task_id;
        until(&client, &id, "room").await;
        agree(&client, &id, "room").await;
        until(&client, &id, "guests").await;
        id
    });
    let id = begun.await.expect("it ran");
    tokio::task::spawn_blocking(move || process.shutdown_timeout(Duration::from_secs(20)))
        .await
        .expect("it ended");
    id
}

#[tokio::test]
async fn a_task_that_waited_goes_on_after_a_restart_by_the_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tasks.db");
    let open = || {
        Arc::new(candor::tasks::SqliteStore::open(&file, candor::tasks::Limits::default()).expect("it opens"))
    };
    let id = left_waiting(open).await;
    let client = with_client(Patient, moving(open(), 10), true).await;
    agree(&client, &id, "guests").await;
    let TaskPayload::Completed { result } = until(&client, &id, "none").await else {
        panic!("it goes on to its end")
    };
    assert_eq!(result["content"][0]["text"], json!("moved 7 for 10"));
    assert_eq!(result["_meta"]["candor/verdict"]["effect"], json!("applied"));
    assert_eq!(
        result["_meta"]["candor/coerced"][0]["path"],
        json!("/id"),
        "as in the first run"
    );
}

#[tokio::test]
async fn an_answer_to_another_question_is_no_answer_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tasks.db");
    let open = || {
        Arc::new(candor::tasks::SqliteStore::open(&file, candor::tasks::Limits::default()).expect("it opens"))
    };
    let id = left_waiting(open).await;
    let client = with_client(Patient, moving(open(), 1000), true).await;
    agree(&client, &id, "guests").await;
    let TaskPayload::InputRequired { input_requests } = until(&client, &id, "room-2").await else {
        panic!("the user never agreed to 1000")
    };
    assert!(input_requests.contains_key("room-2"));
}

#[tokio::test]
async fn what_was_coerced_for_a_tool_of_candors_own_is_disclosed() {
    let client = over_a_pipe(server(), false).await;
    let arguments = json!({ "task": "none", "answers": "{}" });
    let wrong = call(&client, "task_answer", arguments).await.expect("a result");
    assert!(
        crate::ways::meta(&wrong).contains_key("candor/coerced"),
        "{wrong:?}"
    );
}

/// A client of 2025-11-25 whose user agrees to everything.
struct Agrees;

impl ClientHandler for Agrees {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("agrees", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        _: rmcp::model::ElicitRequestParams,
        _: rmcp::service::RequestContext<rmcp::RoleClient>,
    ) -> Result<rmcp::model::ElicitResult, rmcp::ErrorData> {
        let accept = rmcp::model::ElicitationAction::Accept;
        Ok(rmcp::model::ElicitResult::new(accept).with_content(json!({ "note": "yes" })))
    }
}

#[tokio::test]
async fn a_client_of_2025_11_25_takes_a_task_up_while_it_waits_for_the_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tasks.db");
    let open = || {
        Arc::new(candor::tasks::SqliteStore::open(&file, candor::tasks::Limits::default()).expect("it opens"))
    };
    let id = left_waiting(open).await;
    let starting = rmcp::ServiceExt::serve(Agrees, crate::tasks::pipe(moving(open(), 10)));
    let client = starting.await.expect("it connects");
    let asking = crate::tasks::raw(&client, "tasks/result", json!({ "taskId": id }));
    let result = tokio::time::timeout(Duration::from_secs(20), asking)
        .await
        .expect("in time")
        .expect("a result");
    assert_eq!(result["content"][0]["text"], json!("moved 7 for 10"));
}
