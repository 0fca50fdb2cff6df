//! An rmcp client whose user does what a test says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability,
    Implementation, InputRequiredResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, RequestContext, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};

use super::wrapper::{Server, locked};

/// What the user does with one question.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Accept(Value),
    Decline,
    /// Closes it, with this in the form.
    Cancel(Value),
    /// Answers after that long.
    After(Duration, Value),
    Never,
    /// The client can't, whatever it said.
    NoSuchMethod,
}

#[derive(Clone)]
pub(super) struct User {
    config: ClientConfig,
    acts: Arc<Mutex<VecDeque<Act>>>,
    /// Everything the client was sent, in order.
    pub(super) seen: Arc<Mutex<Vec<Value>>>,
}

/// The two eras.
pub(super) const ERAS: [bool; 2] = [false, true];

pub(super) fn forms() -> ClientCapabilities {
    let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
    ClientCapabilities::builder()
        .enable_elicitation_with(forms)
        .build()
}

pub(super) fn pages() -> ClientCapabilities {
    let both = ElicitationCapability::new()
        .with_form(FormElicitationCapability::new())
        .with_url(UrlElicitationCapability::new());
    ClientCapabilities::builder()
        .enable_elicitation_with(both)
        .build()
}

impl User {
    pub(super) fn new(capabilities: ClientCapabilities, acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            config: ClientConfig::new(capabilities, Implementation::new("user", "1")),
            acts: Arc::new(Mutex::new(acts.into_iter().collect())),
            seen: Arc::default(),
        }
    }

    pub(super) fn of_revision(mut self, revision: ProtocolVersion) -> Self {
        self.config.protocol_version = revision;
        self
    }

    pub(super) fn seen(&self) -> Vec<Value> {
        locked(&self.seen).clone()
    }

    fn see(&self, what: impl serde::Serialize) {
        locked(&self.seen).push(serde_json::to_value(what).expect("JSON"));
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.see(&request);
        // More questions than the test knows: an answer that it will see, since a panic here would leave the call open.
        let Some(act) = locked(&self.acts).pop_front() else {
            return Err(ErrorData::internal_error("the test knows no such question", None));
        };
        Ok(match act {
            Act::Accept(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            Act::Decline => ElicitResult::new(ElicitationAction::Decline),
            Act::Cancel(content) => ElicitResult::new(ElicitationAction::Cancel).with_content(content),
            Act::After(wait, content) => {
                tokio::time::sleep(wait).await;
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Act::Never => std::future::pending().await,
            Act::NoSuchMethod => {
                return Err(ErrorData::new(
                    rmcp::model::ErrorCode(-32601),
                    "no such method",
                    None,
                ));
            }
        })
    }

    async fn on_cancelled(&self, told: CancelledNotificationParam, _: NotificationContext<RoleClient>) {
        self.see(json!({ "cancelled": told.reason }));
    }

    async fn on_logging_message(
        &self,
        told: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.see(json!({ "level": told.level, "log": told.data }));
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.see(json!({ "progress": told.progress, "total": told.total, "message": told.message }));
    }
}

pub(super) type Client = RunningService<RoleClient, User>;

/// A client of this era, with a server at its other end.
pub(super) async fn connect(server: Server, user: User, modern: bool) -> Client {
    let (here, there) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(there).await.expect("served").waiting().await });
    let mode = if modern {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    serve_client_with_lifecycle(user, here, mode)
        .await
        .expect("connected")
}

/// Calls the tool and lets the client go through the rounds by itself.
pub(super) async fn call(client: &Client) -> String {
    text(
        client
            .call_tool(CallToolRequestParams::new("book"))
            .await
            .expect("a result")
            .into(),
    )
}

pub(super) fn text(answer: CallToolResponse) -> String {
    let CallToolResponse::Complete(result) = answer else {
        panic!("not complete: {answer:?}")
    };
    result.content[0].as_text().expect("a text").text.clone()
}

/// One round.
pub(super) async fn once(
    client: &Client,
    arguments: &Value,
    state: Option<&str>,
    responses: &[(&str, Value)],
) -> Result<CallToolResponse, ServiceError> {
    let mut params = CallToolRequestParams::new("book");
    if let Some(arguments) = arguments.as_object() {
        params = params.with_arguments(arguments.clone());
    }
    if let Some(state) = state {
        params = params.with_request_state(state);
    }
    if !responses.is_empty() {
        let responses = responses
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect();
        params = params.with_input_responses(responses);
    }
    client.call_tool_once(params).await
}

/// What a round asks, and its state.
pub(super) fn asked(answer: Result<CallToolResponse, ServiceError>) -> (InputRequiredResult, String) {
    match answer {
        Ok(CallToolResponse::InputRequired(round)) => {
            let state = round.request_state.clone().expect("a state");
            (round, state)
        }
        other => panic!("no round: {other:?}"),
    }
}

/// The reason in the error that refuses a state.
pub(super) fn refusal(answer: Result<CallToolResponse, ServiceError>) -> String {
    match answer {
        Err(ServiceError::McpError(error)) => {
            assert_eq!(error.code.0, -32602);
            error.data.expect("data")["requestState"]
                .as_str()
                .expect("a reason")
                .to_owned()
        }
        other => panic!("not refused: {other:?}"),
    }
}

pub(super) fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}
