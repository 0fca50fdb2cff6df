//! The official Rust SDK's client plays the plan, as `clients/typescript/driver.mjs` and `clients/python/driver.py` do for theirs.

#![expect(
    deprecated,
    reason = "what the new era has dropped is still said in the old one"
)]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, ClientServiceExt, ErrorData, ServiceError,
    model::{
        CallToolRequestParams, ClientConfig, ClientRequest, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationAction, ListRootsResult,
        LoggingMessageNotificationParam, PingRequest, ProgressNotificationParam, ProtocolVersion,
        ServerNotification, SubscriptionFilter,
    },
    service::{ClientLifecycleMode, NotificationContext, RequestContext, RoleClient, RunningService},
    transport::TokioChildProcess,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    judge::Seen,
    plan::{Plan, Turn},
    sessions::{Do, Era, Step},
};

/// No wait is longer than this: a client that hangs is a finding, not a hung test.
const DEADLINE: Duration = Duration::from_secs(20);

/// A caller of the SDK: remembers what the server says by itself, and answers what it asks.
#[derive(Clone, Default)]
struct Caller {
    heard: Arc<Mutex<Vec<Value>>>,
    came: Arc<Notify>,
}

impl Caller {
    fn hear(&self, event: Value) {
        self.heard.lock().unwrap().push(event);
        self.came.notify_waiters();
    }

    /// Returns when so much was heard, or at the deadline: what is missing then is the judge's affair.
    async fn until(&self, count: usize) {
        let enough = async {
            loop {
                let came = self.came.notified();
                if self.heard.lock().unwrap().len() >= count {
                    return;
                }
                came.await;
            }
        };
        let _in_time = tokio::time::timeout(DEADLINE, enough).await;
    }
}

impl ClientHandler for Caller {
    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let message = match asked {
            ElicitRequestParams::FormElicitationParams { message, .. } => message,
            other => format!("not a form: {other:?}"),
        };
        self.hear(json!({ "asked": "elicitation/create", "message": message }));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.hear(json!({ "asked": "sampling/createMessage" }));
        let answer =
            json!({ "model": "abacus", "role": "assistant", "content": { "type": "text", "text": "4" } });
        Ok(serde_json::from_value(answer).unwrap())
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        self.hear(json!({ "asked": "roots/list" }));
        let answer = json!({ "roots": [{ "uri": "file:///srv/site", "name": "site" }] });
        Ok(serde_json::from_value(answer).unwrap())
    }

    async fn on_progress(&self, said: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut progress = json!({ "progress": said.progress });
        if let Some(total) = said.total {
            progress["total"] = json!(total);
        }
        if let Some(message) = said.message {
            progress["message"] = json!(message);
        }
        self.hear(json!({ "progress": progress }));
    }

    async fn on_logging_message(
        &self,
        said: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear(json!({ "log": said.data }));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear(json!({ "changed": "tools" }));
    }

    fn get_info(&self) -> ClientConfig {
        serde_json::from_value(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "elicitation": {}, "sampling": {}, "roots": {} },
            "clientInfo": { "name": "candor-tests-rmcp", "version": "0.0.0" },
        }))
        .unwrap()
    }
}

/// Plays the plan.
pub(crate) fn play(plan: &Plan) -> Vec<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut seen = Vec::new();
    for turn in &plan.turns {
        runtime.block_on(play_turn(turn, &mut seen));
    }
    seen
}

async fn play_turn(turn: &Turn, seen: &mut Vec<Seen>) {
    let mut tell = |step: &str, saw: Value| {
        seen.push(Seen {
            session: turn.session.name.clone(),
            era: turn.era,
            step: step.to_owned(),
            saw,
        });
    };
    let caller = Caller::default();
    let mut session = match open(turn, caller.clone()).await {
        Ok(session) => session,
        Err(fault) => return tell("open", json!({ "threw": { "class": "Open", "message": fault } })),
    };
    let info = session
        .peer_info()
        .map(|info| serde_json::to_value(&*info).unwrap());
    tell("open", opened(&info.unwrap_or_default()));
    for step in turn.steps() {
        caller.heard.lock().unwrap().clear();
        let played = tokio::time::timeout(DEADLINE * 2, play_step(&session, &caller, step)).await;
        let mut saw = match played {
            Ok(Ok(saw)) => saw,
            Ok(Err(fault)) => thrown(&fault),
            Err(_) => json!({ "threw": { "class": "Deadline", "message": "the step never ended" } }),
        };
        let heard = caller.heard.lock().unwrap().clone();
        if !heard.is_empty() {
            saw["heard"] = json!(heard);
        }
        tell(&step.name, saw);
    }
    let closed = session.close_with_timeout(DEADLINE).await;
    tell("close", json!({ "closed": matches!(closed, Ok(Some(_))) }));
}

async fn open(turn: &Turn, caller: Caller) -> Result<RunningService<RoleClient, Caller>, String> {
    let mut command = tokio::process::Command::new(&turn.command[0]);
    command.args(&turn.command[1..]);
    let transport = TokioChildProcess::new(command).map_err(|fault| fault.to_string())?;
    let newest = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match turn.era {
        Era::Legacy => ClientLifecycleMode::Initialize,
        Era::Modern => ClientLifecycleMode::Discover {
            preferred_versions: newest,
        },
        Era::Auto => ClientLifecycleMode::Auto {
            preferred_versions: newest,
            legacy_version: None,
        },
    };
    let opening = caller.serve_with_lifecycle(transport, lifecycle);
    match tokio::time::timeout(DEADLINE, opening).await {
        Ok(opened) => opened.map_err(|fault| fault.to_string()),
        Err(_) => Err("it never opened".to_owned()),
    }
}

fn opened(info: &Value) -> Value {
    json!({ "server": info["serverInfo"], "revision": info["protocolVersion"] })
}

async fn play_step(
    session: &RunningService<RoleClient, Caller>,
    caller: &Caller,
    step: &Step,
) -> Result<Value, ServiceError> {
    match step.act {
        Do::Ping => {
            session
                .send_request(ClientRequest::PingRequest(PingRequest::default()))
                .await?;
            Ok(json!({ "pong": {} }))
        }
        Do::List => Ok(json!({ "tools": session.list_all_tools().await? })),
        Do::Call => {
            let result = session.call_tool(params(step)).await?;
            caller.until(step.awaits).await;
            Ok(json!({ "result": result }))
        }
        Do::Cancel => tokio::select! {
            // Dropping the call is how a caller of this SDK leaves.
            result = session.call_tool(params(step)) => Ok(json!({ "result": result? })),
            () = caller.until(1) => Ok(json!({ "left": true })),
        },
        Do::Pair => {
            let answered = Mutex::new(Vec::new());
            let one = async |tool: &String| {
                let result = session
                    .call_tool(CallToolRequestParams::new(tool.clone()))
                    .await?;
                answered.lock().unwrap().push(json!([tool, result]));
                Ok::<(), ServiceError>(())
            };
            tokio::try_join!(one(&step.tools[0]), one(&step.tools[1]))?;
            Ok(json!({ "answered": answered.into_inner().unwrap() }))
        }
        Do::Listen => {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let mut subscription = session.listen(filter).await?;
            let event = match subscription.next().await? {
                Some(ServerNotification::ToolListChangedNotification(_)) => json!("tools"),
                other => json!(format!("{other:?}")),
            };
            let honored = json!(subscription.acknowledged());
            subscription.cancel().await?;
            Ok(json!({ "honored": honored, "events": [event] }))
        }
    }
}

fn params(step: &Step) -> CallToolRequestParams {
    let arguments = step.arguments.clone().into_iter().collect();
    CallToolRequestParams::new(step.tool.clone()).with_arguments(arguments)
}

fn thrown(fault: &ServiceError) -> Value {
    let threw = match fault {
        ServiceError::McpError(error) => {
            json!({ "class": "McpError", "code": error.code, "message": error.message, "data": error.data })
        }
        other => {
            let class: String = format!("{other:?}")
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            json!({ "class": class, "message": other.to_string() })
        }
    };
    json!({ "threw": threw })
}
