//! A server reached in every way there is: over a pipe and over HTTP, by a client of each era.

use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData, JsonObject, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, RunningService, ServiceError, serve_client_with_lifecycle};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpClientTransport, StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ClientHandler, RoleClient, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

pub(crate) type Client = RunningService<RoleClient, ()>;

/// Clients of this server, with the name of the way that each goes.
pub(crate) async fn clients<S: ServerHandler + Clone>(server: &S) -> Vec<(String, Client)> {
    let mut out = Vec::new();
    for modern in [false, true] {
        let era = if modern { "modern" } else { "legacy" };
        out.push((format!("pipe, {era}"), over_a_pipe(server.clone(), modern).await));
        out.push((format!("http, {era}"), over_http(server.clone(), modern).await));
    }
    out
}

fn lifecycle(modern: bool) -> ClientLifecycleMode {
    if modern {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        }
    } else {
        ClientLifecycleMode::Initialize
    }
}

pub(crate) async fn over_a_pipe(server: impl ServerHandler, modern: bool) -> Client {
    with_client((), server, modern).await
}

/// Over a pipe, by a client that can do more than call.
pub(crate) async fn with_client<H: ClientHandler>(
    client: H,
    server: impl ServerHandler,
    modern: bool,
) -> RunningService<RoleClient, H> {
    let (near, far) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move { server.serve(far).await.expect("it is served").waiting().await });
    serve_client_with_lifecycle(client, near, lifecycle(modern))
        .await
        .expect("the client is let in")
}

pub(crate) async fn over_http(server: impl ServerHandler + Clone, modern: bool) -> Client {
    let transport = StreamableHttpClientTransport::from_uri(serve(server, |router| router).await);
    serve_client_with_lifecycle((), transport, lifecycle(modern))
        .await
        .expect("the client is let in")
}

/// Serves over HTTP on a free port; gives the URL.
pub(crate) async fn serve(
    server: impl ServerHandler + Clone,
    layers: impl FnOnce(axum::Router) -> axum::Router,
) -> String {
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let app = layers(axum::Router::new().nest_service("/mcp", service));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Calls a tool.
pub(crate) async fn call<H: ClientHandler>(
    client: &RunningService<RoleClient, H>,
    tool: &str,
    arguments: Value,
) -> Result<CallToolResult, ErrorData> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    match client.call_tool(params).await {
        Ok(result) => Ok(result),
        Err(ServiceError::McpError(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

/// The first text block.
pub(crate) fn first_text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().expect("a text comes first").text
}

pub(crate) fn meta(result: &CallToolResult) -> &JsonObject {
    &result.meta.as_ref().expect("there is _meta").0
}

/// The verdict in `_meta`.
pub(crate) fn verdict(result: &CallToolResult) -> &Value {
    &meta(result)["candor/verdict"]
}

/// Outcome and effect.
pub(crate) fn ends(result: &CallToolResult) -> (&str, &str) {
    let verdict = verdict(result);
    (
        verdict["outcome"].as_str().expect("a word"),
        verdict["effect"].as_str().expect("a word"),
    )
}

/// One request as raw JSON over a pipe, to a legacy server; its answer.
pub(crate) async fn raw(server: impl ServerHandler, params: Value) -> Value {
    let (near, far) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move { server.serve(far).await.expect("it is served").waiting().await });
    let (read, mut write) = tokio::io::split(near);
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    for message in [initialize, initialized, request] {
        write
            .write_all(format!("{message}\n").as_bytes())
            .await
            .expect("it is read");
    }
    let mut lines = BufReader::new(read).lines();
    loop {
        let line = lines
            .next_line()
            .await
            .expect("it is text")
            .expect("an answer comes");
        let answer: Value = serde_json::from_str(&line).expect("it is JSON");
        if answer["id"] == json!(1) {
            return answer;
        }
    }
}
