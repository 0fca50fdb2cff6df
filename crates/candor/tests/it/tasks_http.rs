//! The rewriting around rmcp's HTTP service: 2025-11-25 tasks over streamable HTTP, and what it leaves alone.

use candor::Principal;
use candor::carry::CarryLayer;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::{Value, json};

use crate::tasks::{PATIENCE, Server, server};

async fn serve(server: Server, json_response: bool) -> String {
    let config = StreamableHttpServerConfig::default().with_json_response(json_response);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        config,
    );
    let layer = CarryLayer::default().largest_request(100_000);
    let app = axum::Router::new().nest_service("/mcp", service).layer(layer);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/mcp")
}

struct Client {
    http: reqwest::Client,
    url: String,
    session: Option<String>,
}

impl Client {
    async fn post(&self, message: &Value) -> reqwest::Response {
        let mut request = self
            .http
            .post(&self.url)
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request
                .header("mcp-session-id", session)
                .header("mcp-protocol-version", "2025-11-25");
        }
        request
            .timeout(PATIENCE)
            .json(message)
            .send()
            .await
            .expect("an answer")
    }

    async fn connect(url: String) -> (Self, Value) {
        let mut client = Self {
            http: reqwest::Client::new(),
            url,
            session: None,
        };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tasks": {} },
            "clientInfo": { "name": "user", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = client.post(&message).await;
        client.session = answer
            .headers()
            .get("mcp-session-id")
            .map(|session| session.to_str().expect("a text").to_owned());
        let hello = message_in(answer).await["result"].clone();
        client
            .post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        (client, hello)
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        message_in(self.post(&message).await).await["result"].clone()
    }
}

/// The one message of an answer, whichever of the two forms it has.
async fn message_in(answer: reqwest::Response) -> Value {
    let body = answer.text().await.expect("a whole body");
    let data = body
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(str::trim)
        .rfind(|data| !data.is_empty());
    serde_json::from_str(data.unwrap_or(&body)).unwrap_or_else(|error| panic!("{error} in {body}"))
}

#[tokio::test]
async fn tasks_are_carried_over_http() {
    let server = server();
    let (client, hello) = Client::connect(serve(server.clone(), false).await).await;
    assert!(hello["capabilities"]["tasks"]["list"].is_object(), "{hello}");
    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["execution"]["taskSupport"], "optional");
    let wish = json!({ "name": "slow", "arguments": {}, "task": { "ttl": 60_000 } });
    let task = client.ask("tools/call", wish).await["task"].clone();
    assert_eq!(task["status"], "working", "{task}");
    let id = json!({ "taskId": task["taskId"] });
    assert_eq!(client.ask("tasks/get", id.clone()).await["status"], "working");
    server.gate.add_permits(1);
    assert_eq!(
        client.ask("tasks/result", id).await["content"][0]["text"],
        "done as a task"
    );
}

#[tokio::test]
async fn without_authentication_nobody_is_shown_a_list() {
    let server = Server {
        who: Principal::local(),
        ..server()
    };
    let (client, hello) = Client::connect(serve(server, false).await).await;
    assert_eq!(
        hello["capabilities"]["tasks"],
        json!({ "cancel": {}, "requests": { "tools": { "call": {} } } })
    );
    assert_eq!(client.ask("tasks/list", json!({})).await, Value::Null);
}

#[tokio::test]
async fn a_modern_request_is_answered_as_without_the_layer() {
    let url = serve(server(), true).await;
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { "name": "u", "version": "1" } });
    let params = json!({ "name": "slow", "arguments": {}, "task": { "ttl": 1 }, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = reqwest::Client::new()
        .post(url)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "slow")
        .timeout(PATIENCE)
        .json(&message)
        .send()
        .await
        .expect("an answer");
    let answer = message_in(answer).await;
    assert_eq!(
        answer["result"]["content"][0]["text"], "done directly",
        "{answer}"
    );
}

#[tokio::test]
async fn a_request_above_the_bound_is_refused() {
    let (client, _) = Client::connect(serve(server(), false).await).await;
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "x".repeat(100_001) } });
    assert_eq!(client.post(&large).await.status(), 413);
    assert!(
        client.ask("tools/list", json!({})).await["tools"].is_array(),
        "and the next is served"
    );
}
