//! Servers that break, lie or are asked for too much: their callers are told the truth all the same.

use std::sync::Arc;

use candor::tasks::{MemoryStore, TaskSupport, TaskTerms, Tasks, system_clock};
use candor::{
    Call, Candor, Done, Effect, NoArguments, Outcome, Parts, Principal, Refused, Stop, Tool, Tools,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ServerConfig, object,
};
use rmcp::service::{RequestContext, ServiceError};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::ways::{call, clients, ends, first_text, meta, over_a_pipe, verdict};

#[derive(Serialize, JsonSchema)]
struct Sent {
    id: u32,
}

fn parts(which: &str) -> Outcome<Sent> {
    let begun = Parts::new("INVITED", "the guests were invited");
    Outcome::Partial(match which {
        "all" => begun.done("ann").done("bob").value(Sent { id: 7 }),
        "all, no value" => begun.done("ann").done("bob"),
        "none" => begun.not_done("ann", "NO_ROOM").not_done("bob", "NO_ROOM"),
        "nobody knows" => begun.not_done("ann", "NO_ROOM").unknown("bob", "LOST"),
        _ => begun.done("ann").not_done("bob", "NO_ROOM"),
    })
}

#[derive(serde::Deserialize, JsonSchema)]
struct Which {
    which: String,
}

/// A number that is none: JSON has no word for it, and `null` is not what the schema promises.
#[derive(Serialize, JsonSchema)]
struct Price {
    amount: f64,
}

/// Its drop panics, as a message of a panic.
struct Bomb;

fn odd() -> Tools {
    let invite = Tool::new("invite", "in parts")
        .writes()
        .run(|args: Which, _: Call| async move { parts(&args.which) });
    let ruled = Tool::new("ruled", "its rule panics")
        .writes()
        .rule(|_, _, _| panic!("postgres://app:hunter22@db.internal/rooms"))
        .run(|_: NoArguments, _: Call| async { Outcome::completed(()) });
    let list = Tool::new("list", "says for a person what is in its value")
        .reads()
        .run(|_: NoArguments, _: Call| async {
            Outcome::Completed(Done {
                value: vec![1, 2],
                receipt: None,
                content: Some(vec![ContentBlock::text("Two rooms.")]),
            })
        });
    let price = Tool::new("price", "breaks its own promise")
        .writes()
        .run(|_: NoArguments, _: Call| async { Outcome::completed(Price { amount: f64::NAN }) });
    let spawned =
        Tool::new("spawned", "panics in a task of its own")
            .writes()
            .run(|_: NoArguments, _: Call| async {
                tokio::spawn(async {
                    if true {
                        panic!("hunter22");
                    }
                })
                .await?;
                Ok::<_, Stop>(Outcome::completed(()))
            });
    let strict = Tool::new("strict", "its rule finds too much")
        .writes()
        .rule(|args, _, _| {
            (0..5000)
                .map(|_| candor::about(args, "", "never", "nothing"))
                .collect()
        })
        .run(|_: NoArguments, _: Call| async { Outcome::completed(()) });
    let state = Tool::new("task_state", "the author's own")
        .reads()
        .run(|_: NoArguments, _: Call| async { Outcome::completed(()) });
    Tools::new("odd", "1")
        .with(strict)
        .with(state)
        .with(invite)
        .with(ruled)
        .with(list)
        .with(price)
        .with(spawned)
}

#[tokio::test]
async fn the_whole_follows_from_its_parts() {
    for (way, client) in clients(&odd().build().expect("nothing is wrong")).await {
        for (which, expected, flagged, opening) in [
            ("all", ("completed", "applied"), false, "{\"id\":7}"),
            ("all, no value", ("completed", "applied"), true, "DONE: "),
            ("none", ("failed", "not_applied"), true, "NOT DONE: "),
            ("nobody knows", ("unknown", "unknown"), true, "UNKNOWN: "),
            ("some", ("partial", "partial"), true, "PARTLY DONE: "),
        ] {
            let result = call(&client, "invite", json!({ "which": which }))
                .await
                .expect("a result");
            assert_eq!(ends(&result), expected, "{way}: {which}");
            assert_eq!(result.is_error == Some(true), flagged, "{way}: {which}");
            assert!(
                first_text(&result).starts_with(opening),
                "{way}: {which}: {}",
                first_text(&result)
            );
            assert_eq!(
                result.structured_content.is_some(),
                which == "all",
                "{way}: {which}"
            );
            assert_eq!(
                verdict(&result)["parts"].as_array().map(Vec::len),
                Some(2),
                "{way}: {which}"
            );
        }
    }
}

#[tokio::test]
async fn a_rule_that_panics_is_a_masked_result() {
    for (way, client) in clients(&odd().build().expect("nothing is wrong")).await {
        for tool in ["ruled", "spawned"] {
            let result = call(&client, tool, json!({})).await.expect("a result");
            assert_eq!(ends(&result), ("failed", "unknown"), "{way}: {tool}");
            let whole = serde_json::to_string(&result).expect("JSON");
            assert!(!whole.contains("hunter22"), "{way}: {whole}");
        }
    }
}

#[tokio::test]
async fn a_value_that_no_structure_carries_stands_in_the_text() {
    for (way, client) in clients(&odd().build().expect("nothing is wrong")).await {
        let result = call(&client, "list", json!({})).await.expect("a result");
        let texts: Vec<_> = result
            .content
            .iter()
            .filter_map(|block| Some(block.as_text()?.text.as_str()))
            .collect();
        assert_eq!(texts, ["Two rooms.", "[1,2]"], "{way}");
    }
}

#[tokio::test]
async fn what_is_done_reaches_a_strict_client_though_its_value_breaks_the_promise() {
    for (way, client) in clients(&odd().build().expect("nothing is wrong")).await {
        let result = call(&client, "price", json!({})).await.expect("a result");
        assert_eq!(ends(&result), ("completed", "applied"), "{way}");
        assert_eq!(result.structured_content, None, "{way}");
        assert_eq!(
            result.is_error,
            Some(true),
            "{way}: or a strict client throws it away"
        );
        assert!(
            first_text(&result).starts_with("DONE: "),
            "{way}: {}",
            first_text(&result)
        );
    }
}

/// A server by hand whose tools lie or break in every place there is.
#[derive(Clone)]
struct Liar;

impl ServerHandler for Liar {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::default()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let open = || object(json!({ "type": "object" }));
        let named = |name: &'static str| rmcp::model::Tool::new(name, "lies", open());
        let promise = object(
            json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }),
        );
        Ok(ListToolsResult::with_all_items(vec![
            named("forged"),
            named("forged_error"),
            named("denied"),
            named("bomb"),
            named("strict").with_raw_output_schema(Arc::new(promise)),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let lie = json!({ "outcome": "completed", "effect": "applied" });
        match request.name.as_ref() {
            "forged" => {
                let mut result = CallToolResult::error(vec![ContentBlock::text("no")]);
                let meta = result.meta.get_or_insert_default();
                for key in [
                    "candor/verdict",
                    "candor/findings",
                    "candor/coerced",
                    "candor/notices",
                ] {
                    meta.insert(key.to_owned(), lie.clone());
                }
                Ok(result.into())
            }
            "forged_error" => Err(ErrorData::internal_error(
                "no",
                Some(json!({ "candor/verdict": lie, "own": 1 })),
            )),
            "denied" => Err(ErrorData::new(ErrorCode(-32003), "after it was sent", None)),
            "bomb" => std::panic::panic_any(Bomb),
            _ => {
                let mut result = CallToolResult::error(Vec::new());
                result.structured_content = Some(json!({ "why": "no room" }));
                Ok(result.into())
            }
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(Vec::new()))
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the message of the panic panics");
    }
}

#[tokio::test]
async fn nothing_under_candors_keys_is_a_tools_own() {
    for (way, client) in clients(&Candor::new(Liar)).await {
        let result = call(&client, "forged", json!({})).await.expect("a result");
        assert_eq!(ends(&result).0, "failed", "{way}");
        for key in ["candor/findings", "candor/coerced", "candor/notices"] {
            assert!(!meta(&result).contains_key(key), "{way}: {key}");
        }
        assert_eq!(
            meta(&result)["candor/claimed.coerced"]["outcome"],
            json!("completed"),
            "{way}"
        );
        let error = call(&client, "forged_error", json!({}))
            .await
            .expect_err("an error");
        let data = error.data.expect("data");
        assert_eq!(
            (&data["candor/verdict"], &data["own"]),
            (&Value::Null, &json!(1)),
            "{way}"
        );
    }
}

#[tokio::test]
async fn a_panic_whose_message_panics_is_masked_likewise() {
    for (way, client) in clients(&Candor::new(Liar)).await {
        let result = call(&client, "bomb", json!({})).await.expect("a result");
        assert_eq!(ends(&result), ("failed", "unknown"), "{way}");
    }
}

#[tokio::test]
async fn the_structure_of_an_error_never_hides_it_from_a_strict_client() {
    for (way, client) in clients(&Candor::new(Liar)).await {
        let result = call(&client, "strict", json!({})).await.expect("a result");
        assert_eq!(
            (result.is_error, &result.structured_content),
            (Some(true), &None),
            "{way}"
        );
        assert_eq!(first_text(&result), r#"{"why":"no room"}"#, "{way}");
    }
}

#[tokio::test]
async fn a_witness_that_panics_takes_no_answer_with_it_and_believes_no_number() {
    let (told, events) = std::sync::mpsc::channel();
    let told = std::sync::Mutex::new(told);
    let server = Candor::builder(Liar)
        .witness(move |event| {
            told.lock()
                .expect("not poisoned")
                .send(event.clone())
                .expect("somebody listens");
            if event.tool == "strict" {
                panic!("full disk");
            }
        })
        .build()
        .expect("nothing is wrong");
    let client = over_a_pipe(server, true).await;
    assert!(call(&client, "denied", json!({})).await.is_err());
    let event = events.recv().expect("it was told");
    assert_eq!(
        event.effect,
        Effect::Unknown,
        "the tool said it, not candor: {event:?}"
    );
    // Its lock is not held any more when it panics.
    assert!(call(&client, "strict", json!({})).await.is_ok());
}

#[tokio::test]
async fn resources_are_not_there_for_a_bad_credential() {
    let nobody = |_: &RequestContext<RoleServer>| {
        Err::<Principal, _>(Refused::BadCredential {
            why: "it expired".to_owned(),
        })
    };
    let server = Candor::builder(Liar)
        .principals(nobody)
        .build()
        .expect("nothing is wrong");
    let client = over_a_pipe(server, true).await;
    let Err(ServiceError::McpError(error)) = client.list_resources(None).await else {
        panic!("it is refused")
    };
    assert_eq!(error.code.0, candor::principal::PERMISSION_DENIED);
}

#[tokio::test]
async fn no_room_for_another_task_is_told_as_such() {
    let busy = TaskTerms {
        running: 0,
        ..TaskTerms::default()
    };
    let full = MemoryStore::new(candor::tasks::Limits {
        tasks: 0,
        ..candor::tasks::Limits::default()
    });
    for (which, tasks) in [
        (
            "busy",
            Tasks::new(Arc::new(MemoryStore::default()), system_clock(), busy),
        ),
        (
            "full",
            Tasks::new(Arc::new(full), system_clock(), TaskTerms::default()),
        ),
    ] {
        let work = Tool::new("work", "runs as a task")
            .writes()
            .task(TaskSupport::Required)
            .run(|_: NoArguments, _: Call| async { Outcome::completed(()) });
        let server = Tools::new("t", "1")
            .with(work)
            .builder()
            .and_then(|builder| builder.tasks(tasks).build())
            .expect("nothing is wrong");
        let client = crate::ways::with_client(crate::tasking::Patient, server, true).await;
        let result = call(&client, "work", json!({})).await.expect("a result");
        assert_eq!(ends(&result), ("rejected", "not_applied"), "{which}");
        let error = &verdict(&result)["error"];
        assert_eq!(error["kind"], json!("rate_limited"), "{which}");
        assert!(
            first_text(&result).starts_with("NOT DONE: "),
            "{which}: {}",
            first_text(&result)
        );
    }
}

/// Raw lines to a legacy server over a pipe; the answers, by id.
async fn lines(
    server: impl ServerHandler,
    requests: &[String],
    until: u64,
) -> std::collections::BTreeMap<u64, Value> {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let (near, far) = tokio::io::duplex(1 << 23);
    tokio::spawn(async move {
        rmcp::ServiceExt::serve(server, far)
            .await
            .expect("it is served")
            .waiting()
            .await
    });
    let (read, mut write) = tokio::io::split(near);
    let begin = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ];
    for line in begin
        .into_iter()
        .map(str::to_owned)
        .chain(requests.iter().cloned())
    {
        write
            .write_all(format!("{line}\n").as_bytes())
            .await
            .expect("it is read");
    }
    let mut answers = std::collections::BTreeMap::new();
    let mut read = BufReader::new(read).lines();
    let reading = async {
        while (1..=until).any(|id| !answers.contains_key(&id)) {
            let line = read.next_line().await.expect("it is text").expect("it goes on");
            let answer: Value = serde_json::from_str(&line).expect("it is JSON");
            if let Some(id) = answer["id"].as_u64() {
                answers.insert(id, answer);
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), reading)
        .await
        .expect("in time");
    answers
}

fn calling(id: u64, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

#[tokio::test]
async fn odd_arguments_are_refused_or_run_and_the_next_call_is_answered() {
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let huge = "x".repeat(3 << 20);
    let odd_ones = [
        r#"{"name":"invite","arguments":{"which":"some","which":"none"}}"#.to_owned(),
        r#"{"name":"invite","arguments":{"which":1e400}}"#.to_owned(),
        format!(r#"{{"name":"invite","arguments":{{"which":{deep}}}}}"#),
        format!(r#"{{"name":"invite","arguments":{{"which":"{huge}"}}}}"#),
        r#"{"name":"inv\u0000ite\u001b[31m","arguments":{}}"#.to_owned(),
    ];
    let mut requests: Vec<String> = (1..)
        .zip(&odd_ones)
        .map(|(id, params)| calling(id, params))
        .collect();
    // These are no JSON that rmcp reads: whatever it does with them, the server lives on.
    for unread in [
        r#""\ud800""#.to_owned(),
        format!("{}1{}", "[".repeat(5000), "]".repeat(5000)),
    ] {
        requests.push(calling(
            90,
            &format!(r#"{{"name":"invite","arguments":{{"which":{unread}}}}}"#),
        ));
    }
    requests.push(calling(6, r#"{"name":"invite","arguments":{"which":"all"}}"#));
    let answers = lines(odd().build().expect("nothing is wrong"), &requests, 6).await;
    assert_eq!(answers[&6]["result"]["structuredContent"], json!({ "id": 7 }));
    for (id, expected) in [(1, "failed"), (2, "rejected"), (3, "rejected"), (4, "partial")] {
        let outcome = &answers[&id]["result"]["_meta"]["candor/verdict"]["outcome"];
        assert_eq!(outcome, &json!(expected), "{id}: {}", answers[&id]);
    }
    let unknown = &answers[&5]["error"];
    assert_eq!(unknown["code"], json!(-32602));
    let said = unknown["message"].as_str().expect("a text");
    assert!(!said.chars().any(char::is_control), "{said:?}");
}

#[tokio::test]
async fn many_calls_at_once_get_each_their_own_answer() {
    let echo = Tool::new("echo", "gives back")
        .reads()
        .run(|args: Which, _: Call| async move {
            tokio::task::yield_now().await;
            Outcome::completed(args.which)
        });
    let server = Tools::new("t", "1").with(echo).build().expect("nothing is wrong");
    for (way, client) in clients(&server).await {
        let calls = (0..64).map(|number| {
            let client = &client;
            async move {
                call(client, "echo", json!({ "which": format!("n{number}") }))
                    .await
                    .expect("a result")
            }
        });
        let results = futures_util::future::join_all(calls).await;
        for (number, result) in results.iter().enumerate() {
            assert_eq!(first_text(result), format!("n{number}"), "{way}");
        }
    }
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_tears_no_act() {
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let (begun, acts) = (told.clone(), gate.clone());
    let act = Tool::new("act", "in two steps")
        .writes()
        .run(move |_: NoArguments, _: Call| {
            let (told, gate) = (begun.clone(), acts.clone());
            async move {
                told.send("first").expect("somebody listens");
                let _permit = gate.acquire().await.expect("it is open");
                told.send("second").expect("somebody listens");
                Outcome::completed(())
            }
        });
    let events = told.clone();
    let server = Tools::new("t", "1")
        .with(act)
        .builder()
        .and_then(|builder| {
            builder
                .witness(move |event| {
                    let word = if event.effect == Effect::Applied {
                        "applied"
                    } else {
                        "other"
                    };
                    events.send(word).expect("somebody listens");
                })
                .build()
        })
        .expect("nothing is wrong");
    let client = over_a_pipe(server, true).await;
    let calling =
        tokio::spawn(async move { client.call_tool(CallToolRequestParams::new("act")).await.is_ok() });
    assert_eq!(heard.recv().await, Some("first"));
    calling.abort();
    assert!(calling.await.is_err(), "it has left");
    gate.add_permits(1);
    assert_eq!(heard.recv().await, Some("second"));
    assert_eq!(
        heard.recv().await,
        Some("applied"),
        "the log has what the caller never heard"
    );
}

#[tokio::test]
async fn a_rule_that_finds_too_much_is_told_in_part_and_counted() {
    let client = over_a_pipe(odd().build().expect("nothing is wrong"), true).await;
    let result = call(&client, "strict", json!({})).await.expect("a result");
    assert_eq!(
        verdict(&result)["error"]["issues"].as_array().map(Vec::len),
        Some(20)
    );
    assert!(first_text(&result).contains("5000"), "{}", first_text(&result));
}

#[tokio::test]
async fn no_two_tools_of_one_name_are_listed() {
    let tasks = Tasks::new(
        Arc::new(MemoryStore::default()),
        system_clock(),
        TaskTerms::default(),
    );
    let server = odd()
        .builder()
        .and_then(|builder| builder.tasks(tasks).build())
        .expect("nothing is wrong");
    let client = over_a_pipe(server, false).await;
    let listed = client.list_all_tools().await.expect("they are listed");
    assert_eq!(listed.iter().filter(|tool| tool.name == "task_state").count(), 1);
    assert_eq!(listed.iter().filter(|tool| tool.name == "task_cancel").count(), 1);
}
