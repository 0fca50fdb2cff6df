//! The example `incidents`, over HTTP: two tenants, scopes, an acceptance that is done later, and the log of all of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use candor::principal::PERMISSION_DENIED;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities,
    ClientConfig, DetailedTask, ElicitationCapability, FormElicitationCapability, GetTaskParams,
    Implementation, ProtocolVersion, TaskPayload, UpdateTaskParams,
};
use rmcp::service::{ClientLifecycleMode, RunningService, serve_client_with_lifecycle};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::ways::{Client, call, ends, first_text, serve, verdict};

#[path = "../../examples/incidents/server/mod.rs"]
mod server;

use server::{Badges, Desk, Log};

/// The server, and a client of each who has a badge.
struct Stage {
    url: String,
    badges: HashMap<String, String>,
    desk: Arc<Desk>,
    clients: HashMap<String, Client>,
}

async fn stage() -> Stage {
    stage_with(Duration::ZERO).await
}

async fn stage_with(step: Duration) -> Stage {
    let (desk, log) = (Arc::new(Desk::default()), Arc::new(Log::default()));
    let candor = server::server(&desk, &log, step).expect("it can start");
    let (badges, shown) = Badges::issue();
    let url = serve(candor, |routes| server::protected(routes, badges)).await;
    let mut clients = HashMap::new();
    for (who, badge) in &shown {
        let client = ().serve(carrying(&url, badge)).await.expect("the client is let in");
        clients.insert(who.clone(), client);
    }
    Stage {
        url,
        badges: shown.into_iter().collect(),
        desk,
        clients,
    }
}

fn carrying(url: &str, badge: &str) -> StreamableHttpClientTransport<reqwest::Client> {
    let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned()).auth_header(badge.to_owned());
    StreamableHttpClientTransport::from_config(config)
}

/// A modern client that takes tasks.
#[derive(Clone)]
struct Follower;

impl ClientHandler for Follower {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::builder().enable_tasks().build();
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(FormElicitationCapability::default());
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("follower", "1.0.0"))
    }
}

impl Stage {
    async fn follower(&self, who: &str) -> RunningService<RoleClient, Follower> {
        let modern = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        };
        let transport = carrying(&self.url, &self.badges[who]);
        serve_client_with_lifecycle(Follower, transport, modern)
            .await
            .expect("the client is let in")
    }

    async fn ask(&self, who: &str, tool: &str, arguments: Value) -> CallToolResult {
        call(&self.clients[who], tool, arguments)
            .await
            .expect("it is answered with a result")
    }

    /// Ada reports an incident; its ticket.
    async fn reported(&self) -> String {
        let report = json!({ "title": "checkout is slow", "severity": "high", "service": "payments" });
        let result = self.ask("ada", "incident.report", report).await;
        assert_eq!(ends(&result), ("accepted", "unknown"));
        verdict(&result)["reference"]
            .as_str()
            .expect("a ticket")
            .to_owned()
    }

    async fn state(&self, ticket: &str) -> Value {
        let result = self
            .ask("ada", "incident.state", json!({ "ticket": ticket }))
            .await;
        result.structured_content.expect("a value")["state"].clone()
    }
}

#[tokio::test]
async fn who_has_no_badge_is_stopped_at_the_door() {
    let stage = stage().await;
    let answer = reqwest::Client::new()
        .post(&stage.url)
        .body("{}")
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 401);
    assert!(answer.headers().contains_key("www-authenticate"));
}

#[tokio::test]
async fn an_incident_is_accepted_and_only_later_there() {
    let stage = stage().await;
    let report = json!({ "title": "checkout is slow", "severity": "high" });
    let result = stage.ask("ada", "incident.report", report).await;
    assert_eq!(ends(&result), ("accepted", "unknown"));
    assert!(
        first_text(&result).starts_with("ACCEPTED, NOT YET DONE: "),
        "{}",
        first_text(&result)
    );
    let structured = result.structured_content.as_ref().expect("an acceptance");
    assert_eq!(structured["outcome"], json!("accepted"));
    let ticket = structured["reference"].as_str().expect("a ticket");
    assert_eq!(stage.state(ticket).await, json!("queued"));
    stage.desk.open_oldest();
    assert_eq!(stage.state(ticket).await, json!("open"));
    // Too late to withdraw it.
    let result = stage
        .ask("ada", "incident.withdraw", json!({ "ticket": ticket }))
        .await;
    assert_eq!(ends(&result), ("rejected", "not_applied"));
    assert_eq!(verdict(&result)["error"]["code"], json!("ALREADY_OPEN"));
}

#[tokio::test]
async fn what_nobody_has_opened_can_be_withdrawn_once() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    let result = stage
        .ask("ada", "incident.withdraw", json!({ "ticket": ticket }))
        .await;
    assert_eq!(ends(&result), ("completed", "applied"));
    assert_eq!(stage.state(&ticket).await, json!("withdrawn"));
    let result = stage
        .ask("ada", "incident.withdraw", json!({ "ticket": ticket }))
        .await;
    assert_eq!(verdict(&result)["error"]["code"], json!("ALREADY_WITHDRAWN"));
}

#[tokio::test]
async fn another_tenants_incident_is_as_one_that_never_was() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    let hers = json!({ "text": "checkout" });
    let found = |result: CallToolResult| result.structured_content.expect("a value")["count"].clone();
    assert_eq!(
        found(stage.ask("bob", "incident.search", hers.clone()).await),
        json!(1)
    );
    assert_eq!(found(stage.ask("eve", "incident.search", hers).await), json!(0));
    let foreign = stage
        .ask("eve", "incident.state", json!({ "ticket": ticket }))
        .await;
    let absent = stage
        .ask("eve", "incident.state", json!({ "ticket": "INC-9999" }))
        .await;
    assert_eq!(
        first_text(&foreign),
        first_text(&absent),
        "the two can't be told apart"
    );
    assert_eq!(verdict(&foreign)["error"], verdict(&absent)["error"]);
}

#[tokio::test]
async fn a_missing_field_is_a_result_and_a_missing_scope_is_not() {
    let stage = stage().await;
    let result = stage.ask("ada", "incident.search", json!({})).await;
    assert_eq!(result.is_error, Some(true));
    let issues = &verdict(&result)["error"]["issues"];
    assert_eq!(issues[0]["path"], json!("/text"));
    assert_eq!(issues[0]["rule"], json!("required"));
    let report = json!({ "title": "x", "severity": "low" });
    let error = call(&stage.clients["bob"], "incident.report", report)
        .await
        .expect_err("bob only reads");
    assert_eq!(error.code.0, PERMISSION_DENIED);
    assert!(error.message.contains("incidents:write"), "{}", error.message);
}

#[tokio::test]
async fn the_log_has_the_refusals_too_and_only_ones_own() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    stage.ask("ada", "incident.search", json!({})).await;
    let report = json!({ "title": "x", "severity": "low" });
    call(&stage.clients["bob"], "incident.report", report)
        .await
        .expect_err("bob only reads");
    call(&stage.clients["bob"], "incident.close", json!({}))
        .await
        .expect_err("there is no such tool");
    stage
        .ask("eve", "incident.state", json!({ "ticket": ticket }))
        .await;
    let read = |result: CallToolResult| {
        let events = result.structured_content.expect("a value")["events"].clone();
        let events = events.as_array().expect("a list").iter();
        let told = events.map(|event| {
            format!(
                "{} {} {} {}",
                event["who"], event["tool"], event["outcome"], event["code"]
            )
        });
        told.map(|line| line.replace('"', "")).collect::<Vec<_>>()
    };
    assert_eq!(
        read(stage.ask("ada", "incident.events", json!({})).await),
        [
            "ada incident.report accepted null",
            "ada incident.search rejected CANDOR_INVALID_INPUT",
            "bob incident.report rejected CANDOR_PERMISSION_DENIED",
            "bob incident.close rejected CANDOR_UNKNOWN_TOOL",
        ]
    );
    assert_eq!(
        read(stage.ask("eve", "incident.events", json!({})).await),
        ["eve incident.state rejected NO_SUCH_TICKET"]
    );
}

/// Longer than anything here takes; reached only by a test that fails.
const PATIENCE: Duration = Duration::from_secs(20);

type Followed = RunningService<RoleClient, Follower>;

/// Begins a diagnosis; the task's id.
async fn begun(client: &Followed, ticket: &str) -> String {
    let arguments = json!({ "ticket": ticket })
        .as_object()
        .cloned()
        .expect("an object");
    let params = CallToolRequestParams::new("incident.diagnose").with_arguments(arguments);
    match client.call_tool_once(params).await.expect("it is taken on") {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("no task: {other:?}"),
    }
}

/// Waits until the task is as wanted.
async fn until(client: &Followed, id: &str, wanted: impl Fn(&TaskPayload) -> bool) -> TaskPayload {
    let waiting = async {
        loop {
            let task: DetailedTask = client
                .get_task(GetTaskParams::new(id))
                .await
                .expect("it is there")
                .task;
            if wanted(&task.payload) {
                return task.payload;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .expect("it comes to that")
}

#[tokio::test]
async fn a_diagnosis_waits_for_the_service_and_goes_on() {
    let stage = stage().await;
    let report = json!({ "title": "all is slow", "severity": "critical" });
    let taken = stage.ask("ada", "incident.report", report).await;
    let ticket = verdict(&taken)["reference"]
        .as_str()
        .expect("a ticket")
        .to_owned();
    let client = stage.follower("ada").await;
    let id = begun(&client, &ticket).await;
    until(&client, &id, |payload| {
        matches!(payload, TaskPayload::InputRequired { .. })
    })
    .await;
    let answer = |service: &str| {
        let answer = json!({ "action": "accept", "content": { "service": service } });
        UpdateTaskParams::new(id.clone(), [("service".into(), answer)].into())
    };
    // A service that there is not: refused, and the same task still waits.
    client
        .update_task(answer("coffee"))
        .await
        .expect_err("there is no such service");
    until(&client, &id, |payload| {
        matches!(payload, TaskPayload::InputRequired { .. })
    })
    .await;
    // For eve there is no such task.
    let eve = stage.follower("eve").await;
    eve.get_task(GetTaskParams::new(id.clone()))
        .await
        .expect_err("it is not hers");
    client.update_task(answer("search")).await.expect("it is taken");
    let ended = until(&client, &id, |payload| {
        matches!(payload, TaskPayload::Completed { .. })
    })
    .await;
    let TaskPayload::Completed { result } = ended else {
        panic!("it is done")
    };
    assert_eq!(result["structuredContent"]["service"], json!("search"));
    assert_eq!(result["_meta"]["candor/verdict"]["outcome"], json!("completed"));
}

#[tokio::test]
async fn a_diagnosis_can_be_stopped() {
    let stage = stage_with(10 * PATIENCE).await;
    let ticket = stage.reported().await;
    let client = stage.follower("ada").await;
    let id = begun(&client, &ticket).await;
    until(&client, &id, |payload| matches!(payload, TaskPayload::Working)).await;
    client
        .cancel_task(CancelTaskParams::new(id.clone()))
        .await
        .expect("it is heard");
    until(&client, &id, |payload| matches!(payload, TaskPayload::Cancelled)).await;
}

#[tokio::test]
async fn who_takes_no_tasks_gets_the_diagnosis_at_once() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    let result = stage
        .ask("bob", "incident.diagnose", json!({ "ticket": ticket }))
        .await;
    assert_eq!(ends(&result), ("completed", "not_applied"));
    assert_eq!(
        result.structured_content.expect("a value")["service"],
        json!("payments")
    );
}
