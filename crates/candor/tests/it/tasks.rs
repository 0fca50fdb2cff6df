//! The server under test for tasks, and clients of both eras for it. It holds nothing but the tasks: how a tool's answer
//! is made honest is tested elsewhere.

use std::sync::Arc;
use std::time::Duration;

use candor::Principal;
use candor::carry::over;
use candor::tasks::{
    Begin, End, Given, InTask, MemoryStore, Task, TaskStore, TaskSupport, TaskTerms, Tasks, Way, extension,
    legacy, system_clock, tools,
};
use candor_core::names::OperationId;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientRequest, ContentBlock,
    CustomRequest, CustomResult, ElicitRequest, ErrorCode, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, InputRequest, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, ServerResult, Tool, UpdateTaskParams, object,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RunningService, ServiceError};
use rmcp::{ClientHandler, ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Longer than anything here takes; reached only by a test that fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server whose tools run as tasks. Its principal is that of its one connection.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) tasks: Tasks,
    pub(crate) who: Principal,
    /// `slow` goes on when it gets a permit.
    pub(crate) gate: Arc<Semaphore>,
}

pub(crate) fn terms() -> TaskTerms {
    TaskTerms {
        poll: Duration::from_millis(20),
        stopping: Duration::from_millis(200),
        ..TaskTerms::default()
    }
}

pub(crate) fn server_in(store: Arc<dyn TaskStore>) -> Server {
    let tasks = Tasks::new(store, system_clock(), terms());
    Server {
        tasks,
        who: Principal::new("alice"),
        gate: Arc::new(Semaphore::new(0)),
    }
}

pub(crate) fn server() -> Server {
    server_in(Arc::new(MemoryStore::default()))
}

fn support(tool: &str) -> TaskSupport {
    match tool {
        "quick" => TaskSupport::Never,
        "only" => TaskSupport::Required,
        _ => TaskSupport::Optional,
    }
}

pub(crate) fn question() -> InputRequest {
    let form = json!({ "mode": "form", "message": "Which service?", "requestedSchema": {
        "type": "object", "properties": { "service": { "type": "string", "enum": ["db", "web"] } }, "required": ["service"] } });
    InputRequest::Elicitation(ElicitRequest::new(serde_json::from_value(form).expect("a form")))
}

pub(crate) fn text(said: &str) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(said)])
}

impl Server {
    async fn body(self, tool: String, inside: Option<InTask>) -> Result<CallToolResponse, ErrorData> {
        let Some(inside) = inside else {
            return Ok(text("done directly").into());
        };
        match tool.as_str() {
            "panic" => panic!("the password is hunter2"),
            "broken" => Err(ErrorData::internal_error("no way", None)),
            "refuse" => Ok(CallToolResult::error(vec![ContentBlock::text("NOT DONE: full")]).into()),
            "ask" => match inside.input("service", &question(), None, PATIENCE).await {
                Given::Answer(answer) => Ok(text(&format!("asked: {answer}")).into()),
                other => Ok(text(&format!("not answered: {other:?}")).into()),
            },
            "deaf" => {
                let _permit = self.gate.acquire().await.expect("the gate is open");
                Ok(text("done as a task").into())
            }
            _ => tokio::select! {
                _ = self.gate.acquire() => Ok(text("done as a task").into()),
                () = inside.stopped() => {
                    let mut stopped = CallToolResult::error(vec![ContentBlock::text("NOT DONE: stopped")]);
                    stopped.meta.get_or_insert_default().insert(
                        "candor/verdict".to_owned(),
                        json!({ "outcome": "rejected", "effect": "not_applied", "error": { "kind": "cancelled" } }),
                    );
                    Ok(stopped.into())
                }
            },
        }
    }

    fn resume(&self) -> Option<extension::Resume> {
        let server = self.clone();
        Some(Box::new(move |task: Task, inside| {
            Box::pin(async move {
                assert!(task.arguments.is_some(), "it may be run again");
                End::of(server.body(task.tool, Some(inside)).await, false)
            })
        }))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        extension::announce(&mut capabilities);
        ServerConfig::new(capabilities)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        context.peer.set_peer_info(request);
        legacy::announce(&mut result, &self.who, &context);
        Ok(result)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = [
            "slow", "ask", "panic", "broken", "refuse", "deaf", "quick", "only",
        ];
        let mut all: Vec<Tool> = names
            .iter()
            .map(|name| Tool::new(*name, *name, object(json!({ "type": "object" }))))
            .collect();
        for tool in &mut all {
            legacy::announce_tool(tool, support(&tool.name.clone()), &context);
        }
        all.extend(tools::tools());
        Ok(ListToolsResult::with_all_items(all))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.to_string();
        let arguments = request.arguments.unwrap_or_default();
        if let Some(result) = tools::call(&self.tasks, &self.who, &tool, &arguments, self.resume()).await {
            return Ok(result.into());
        }
        let way = support(&tool).way(&context)?;
        if way == Way::Directly && !arguments.contains_key("accept") {
            return self.clone().body(tool, None).await;
        }
        let begin = Begin {
            tool: tool.clone(),
            operation: OperationId::new(Uuid::now_v7()),
            arguments: Some(Value::Object(arguments)),
            ttl: if let Way::Legacy(wished) = way {
                wished.ttl
            } else {
                None
            },
        };
        let server = self.clone();
        let run = |inside: InTask| async move {
            let answer = server.body(tool, Some(inside.clone())).await;
            End::of(answer, inside.is_stopped())
        };
        let task = self
            .tasks
            .start(&self.who, begin, run)
            .await
            .map_err(|refused| candor::tasks::refusal(&refused))?;
        Ok(match way {
            Way::Directly => text(&format!("ACCEPTED, NOT YET DONE: {}", task.id)).into(),
            Way::Extension => extension::created(&self.tasks, &task).into(),
            Way::Legacy(_) => legacy::created(&self.tasks, &task).into(),
        })
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        extension::get_task(&self.tasks, &self.who, &request).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        extension::update_task(&self.tasks, &self.who, &request, self.resume()).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        extension::cancel_task(&self.tasks, &self.who, &request).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        legacy::on_custom_request(&self.tasks, &self.who, &request, &context, None)
            .await
            .unwrap_or_else(|| Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)))
    }
}

/// Serves over a pipe that carries 2025-11-25 tasks, as `stdio()` does.
pub(crate) fn pipe(server: impl ServerHandler) -> tokio::io::DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(ours);
    tokio::spawn(async move {
        let running = server.serve(over(read, write)).await.expect("it starts");
        running.waiting().await.expect("it ends");
    });
    theirs
}

pub(crate) type Client<H> = RunningService<RoleClient, H>;

/// Sends any request as it stands, and gives the result as it stands.
pub(crate) async fn raw(peer: &Peer<RoleClient>, method: &str, params: Value) -> Result<Value, ServiceError> {
    let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    let answer = tokio::time::timeout(PATIENCE, peer.send_request(request))
        .await
        .expect("an answer in time")?;
    Ok(match answer {
        ServerResult::CustomResult(result) => result.0,
        other => serde_json::to_value(&other).expect("a result is JSON"),
    })
}

/// A client that types nothing: what rmcp's own client would read as something else is seen as it is on the wire.
pub(crate) struct Lines {
    stream: BufReader<tokio::io::DuplexStream>,
    asked: u32,
}

impl Lines {
    /// Connects as a client of 2025-11-25, and gives the server's answer.
    pub(crate) async fn connect(server: Server) -> (Self, Value) {
        let mut lines = Self {
            stream: BufReader::new(pipe(server)),
            asked: 0,
        };
        let user = json!({ "name": "user", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": user });
        let answer = lines.ask("initialize", hello).await;
        lines
            .write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        (lines, answer)
    }

    async fn write(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.stream.write_all(line.as_bytes()).await.expect("written");
    }

    /// Sends a request and gives its result.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        self.write(json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }))
            .await;
        let mut line = String::new();
        let reading = tokio::time::timeout(PATIENCE, self.stream.read_line(&mut line));
        reading.await.expect("in time").expect("read");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer["result"].clone()
    }
}

/// The words of a protocol error.
pub(crate) fn error_of(answer: Result<Value, ServiceError>) -> ErrorData {
    match answer {
        Err(ServiceError::McpError(error)) => error,
        other => panic!("an error was expected: {other:?}"),
    }
}

/// Calls a plain tool of any client.
pub(crate) async fn plain<H: ClientHandler>(
    client: &Client<H>,
    tool: &'static str,
    arguments: Value,
) -> CallToolResult {
    let params = CallToolRequestParams::new(tool).with_arguments(object(arguments));
    match tokio::time::timeout(PATIENCE, client.call_tool_once(params))
        .await
        .expect("in time")
    {
        Ok(CallToolResponse::Complete(result)) => result,
        other => panic!("a result was expected: {other:?}"),
    }
}

/// The first block's text.
pub(crate) fn first(result: &CallToolResult) -> String {
    let text = result
        .content
        .first()
        .and_then(|block| block.as_text())
        .map(|text| text.text.clone());
    text.expect("a text comes first")
}
