//! The smallest wrapper: makes calls, and turns a halt into an answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use candor_core::names::OperationId;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::asking::{Asking, Board, Cause, Told, rounds};
use crate::call::{Call, Halt, Inner};
use crate::principal::Principal;
use crate::seal::{Bound, Keys, SpentInMemory};

pub(super) type Tool = Arc<dyn Fn(Call) -> BoxFuture<'static, Result<String, Halt>> + Send + Sync>;

/// A server with one tool.
#[derive(Clone)]
pub(super) struct Server {
    tool: Tool,
    keys: Keys,
    spent: Arc<SpentInMemory>,
    /// What may change during a test: the principal and the time.
    pub(super) who: Arc<Mutex<Principal>>,
    pub(super) now: Arc<Mutex<Timestamp>>,
    /// Where questions of tasks go; with it, calls can become tasks.
    board: Option<Arc<TestBoard>>,
}

impl Server {
    pub(super) fn new<F, Fut>(tool: F) -> Self
    where
        F: Fn(Call) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, Halt>> + Send + 'static,
    {
        Self {
            tool: Arc::new(move |call| Box::pin(tool(call))),
            keys: Keys::from_bytes(1, &[1; 32]),
            spent: Arc::default(),
            who: Arc::new(Mutex::new(Principal::new("alice"))),
            now: Arc::new(Mutex::new(Timestamp::UNIX_EPOCH)),
            board: None,
        }
    }

    pub(super) fn with_board(self, board: TestBoard) -> Self {
        Self {
            board: Some(Arc::new(board)),
            ..self
        }
    }

    async fn run(
        &self,
        context: &RequestContext<RoleServer>,
        asking: Asking,
    ) -> (Call, Result<String, Halt>) {
        let call = Call(Arc::new(Inner {
            operation: OperationId::new(uuid::Uuid::now_v7()),
            opened: *locked(&self.now),
            principal: locked(&self.who).clone(),
            context: context.clone(),
            given: Arc::default(),
            arguments: Arc::default(),
            asking,
        }));
        let told = (self.tool)(call.clone()).await;
        (call, told)
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= rmcp::model::ProtocolVersion::V_2026_07_28)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let bound = Bound::to_call(&request.name, &locked(&self.who).clone(), &arguments);
        let now = *locked(&self.now);
        let asking = if is_modern(&context) {
            let (state, responses) = (request.request_state.as_deref(), request.input_responses);
            let opened = rounds::open(state, responses, &bound, &self.keys, &*self.spent, now).await;
            Asking::round(&context, opened.map_err(crate::seal::Refused::to_error)?)
        } else {
            Asking::legacy(&context)
        };
        let asking = if self.board.is_some() {
            asking.can_become_task()
        } else {
            asking
        };
        let (call, told) = self.run(&context, asking).await;
        let asking = &call.0.asking;
        let text = match told {
            Ok(text) => text,
            Err(Halt(())) => match asking.halted().expect("a cause") {
                Cause::Asked => {
                    return rounds::close(asking, &bound, &self.keys, now)
                        .map(CallToolResponse::from)
                        .map_err(|why| ErrorData::internal_error(why.to_string(), None));
                }
                Cause::AsTask => {
                    let board = self.board.clone().expect("a board");
                    let (_, told) = self
                        .run(
                            &context,
                            Asking::in_task(board, asking.answers(), asking.offered()),
                        )
                        .await;
                    told.map(|text| format!("task: {text}"))
                        .unwrap_or_else(|_| "task: halted".to_owned())
                }
                cause => {
                    let needed: Vec<_> = rounds::needed(asking).into_iter().map(|(key, ..)| key).collect();
                    format!("HALTED {cause:?} {needed:?}")
                }
            },
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// A board whose questions a test sees and answers.
pub(super) struct TestBoard(mpsc::UnboundedSender<Wanted>);

/// A question on the board.
pub(super) struct Wanted {
    pub(super) key: String,
    pub(super) request: InputRequest,
    pub(super) answer: oneshot::Sender<Value>,
}

impl TestBoard {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Wanted>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
}

impl Board for TestBoard {
    fn want<'a>(&'a self, key: &'a str, request: &'a InputRequest, within: Duration) -> BoxFuture<'a, Told> {
        Box::pin(async move {
            let (answer, given) = oneshot::channel();
            let wanted = Wanted {
                key: key.to_owned(),
                request: request.clone(),
                answer,
            };
            self.0
                .send(wanted)
                .map_err(drop)
                .expect("the test looks at the board");
            match tokio::time::timeout(within, given).await {
                Err(_) => Told::Expired,
                Ok(Err(_)) => Told::Stopped,
                Ok(Ok(raw)) => Told::Answer(raw),
            }
        })
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// What was asked, by key, of all requests.
pub(super) fn messages(requests: &BTreeMap<String, InputRequest>) -> BTreeMap<String, String> {
    requests
        .iter()
        .map(|(key, request)| {
            let request = serde_json::to_value(request).expect("JSON");
            (
                key.clone(),
                request["params"]["message"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            )
        })
        .collect()
}
