//! The example `incidents`, over HTTP: two tenants, scopes, an acceptance that is done later, and the log of all of it.

use std::collections::HashMap;
use std::sync::Arc;

use candor::principal::PERMISSION_DENIED;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceExt, model::CallToolResult};
use serde_json::{Value, json};

use crate::ways::{Client, call, ends, first_text, serve, verdict};

#[path = "../../examples/incidents/server/mod.rs"]
mod server;

use server::{Badges, Desk, Log};

/// The server, and a client of each who has a badge.
struct Stage {
    url: String,
    desk: Arc<Desk>,
    clients: HashMap<String, Client>,
}

async fn stage() -> Stage {
    let (desk, log) = (Arc::new(Desk::default()), Arc::new(Log::default()));
    let candor = server::server(&desk, &log).expect("it can start");
    let (badges, shown) = Badges::issue();
    let url = serve(candor, |routes| server::protected(routes, badges)).await;
    let mut clients = HashMap::new();
    for (who, badge) in shown {
        let config = StreamableHttpClientTransportConfig::with_uri(url.clone()).auth_header(badge);
        let transport = StreamableHttpClientTransport::from_config(config);
        clients.insert(who, ().serve(transport).await.expect("the client is let in"));
    }
    Stage { url, desk, clients }
}

impl Stage {
    async fn ask(&self, who: &str, tool: &str, arguments: Value) -> CallToolResult {
        call(&self.clients[who], tool, arguments).await.expect("it is answered with a result")
    }

    /// Ada reports an incident; its ticket.
    async fn reported(&self) -> String {
        let report = json!({ "title": "checkout is slow", "severity": "high", "service": "payments" });
        let result = self.ask("ada", "incident.report", report).await;
        assert_eq!(ends(&result), ("accepted", "unknown"));
        verdict(&result)["reference"].as_str().expect("a ticket").to_owned()
    }

    async fn state(&self, ticket: &str) -> Value {
        let result = self.ask("ada", "incident.state", json!({ "ticket": ticket })).await;
        result.structured_content.expect("a value")["state"].clone()
    }
}

#[tokio::test]
async fn who_has_no_badge_is_stopped_at_the_door() {
    let stage = stage().await;
    let answer = reqwest::Client::new().post(&stage.url).body("{}").send().await.expect("an answer");
    assert_eq!(answer.status(), 401);
    assert!(answer.headers().contains_key("www-authenticate"));
}

#[tokio::test]
async fn an_incident_is_accepted_and_only_later_there() {
    let stage = stage().await;
    let report = json!({ "title": "checkout is slow", "severity": "high" });
    let result = stage.ask("ada", "incident.report", report).await;
    assert_eq!(ends(&result), ("accepted", "unknown"));
    assert!(first_text(&result).starts_with("ACCEPTED, NOT YET DONE: "), "{}", first_text(&result));
    let structured = result.structured_content.as_ref().expect("an acceptance");
    assert_eq!(structured["outcome"], json!("accepted"));
    let ticket = structured["reference"].as_str().expect("a ticket");
    assert_eq!(stage.state(ticket).await, json!("queued"));
    stage.desk.open_oldest();
    assert_eq!(stage.state(ticket).await, json!("open"));
    // Too late to withdraw it.
    let result = stage.ask("ada", "incident.withdraw", json!({ "ticket": ticket })).await;
    assert_eq!(ends(&result), ("rejected", "not_applied"));
    assert_eq!(verdict(&result)["error"]["code"], json!("ALREADY_OPEN"));
}

#[tokio::test]
async fn what_nobody_has_opened_can_be_withdrawn_once() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    let result = stage.ask("ada", "incident.withdraw", json!({ "ticket": ticket })).await;
    assert_eq!(ends(&result), ("completed", "applied"));
    assert_eq!(stage.state(&ticket).await, json!("withdrawn"));
    let result = stage.ask("ada", "incident.withdraw", json!({ "ticket": ticket })).await;
    assert_eq!(verdict(&result)["error"]["code"], json!("ALREADY_WITHDRAWN"));
}

#[tokio::test]
async fn another_tenants_incident_is_as_one_that_never_was() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    let hers = json!({ "text": "checkout" });
    let found = |result: CallToolResult| result.structured_content.expect("a value")["count"].clone();
    assert_eq!(found(stage.ask("bob", "incident.search", hers.clone()).await), json!(1));
    assert_eq!(found(stage.ask("eve", "incident.search", hers).await), json!(0));
    let foreign = stage.ask("eve", "incident.state", json!({ "ticket": ticket })).await;
    let absent = stage.ask("eve", "incident.state", json!({ "ticket": "INC-9999" })).await;
    assert_eq!(first_text(&foreign), first_text(&absent), "the two can't be told apart");
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
    let error = call(&stage.clients["bob"], "incident.report", report).await.expect_err("bob only reads");
    assert_eq!(error.code.0, PERMISSION_DENIED);
    assert!(error.message.contains("incidents:write"), "{}", error.message);
}

#[tokio::test]
async fn the_log_has_the_refusals_too_and_only_ones_own() {
    let stage = stage().await;
    let ticket = stage.reported().await;
    stage.ask("ada", "incident.search", json!({})).await;
    let report = json!({ "title": "x", "severity": "low" });
    call(&stage.clients["bob"], "incident.report", report).await.expect_err("bob only reads");
    call(&stage.clients["bob"], "incident.close", json!({})).await.expect_err("there is no such tool");
    stage.ask("eve", "incident.state", json!({ "ticket": ticket })).await;
    let read = |result: CallToolResult| {
        let events = result.structured_content.expect("a value")["events"].clone();
        let events = events.as_array().expect("a list").iter();
        let told = events.map(|event| format!("{} {} {} {}", event["who"], event["tool"], event["outcome"], event["code"]));
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
