//! What both eras share on the wire: refusals as JSON-RPC errors, ends out of a tool's answer, who can take a task.

use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, ClientCapabilities, ErrorCode, ErrorData, JsonObject, ProtocolVersion};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use uuid::Uuid;

use super::legacy;
use super::store::{Refused, StoreFault};
use super::task::End;

/// The JSON-RPC code where no more tasks may run or be kept for now; nothing was done. Of the implementation's own range, as
/// [`PERMISSION_DENIED`](crate::principal::PERMISSION_DENIED).
pub const RATE_LIMITED: i32 = -32004;

/// How a tool may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskSupport {
    /// Never as a task.
    #[default]
    Never,
    /// As a task where the caller can take one, else directly.
    Optional,
    /// As a task only.
    Required,
}

/// How one call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Directly: its answer is its result.
    Directly,
    /// As a task of the 2026-07-28 extension.
    Extension,
    /// As a task of 2025-11-25.
    Legacy(legacy::Wished),
}

impl TaskSupport {
    /// The word of 2025-11-25 (`execution.taskSupport`).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "forbidden",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    /// How this call of such a tool runs.
    ///
    /// # Errors
    ///
    /// The tool runs as a task only and the caller can't take one: -32021 with the missing capability for a caller of
    /// 2026-07-28, else -32601. It runs never as a task and a caller of 2025-11-25 wants one: -32601.
    pub fn way(self, context: &RequestContext<RoleServer>) -> Result<Way, ErrorData> {
        let modern = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let wished = if modern { None } else { legacy::wished(context) };
        let can = modern
            && context
                .client_capabilities()
                .is_some_and(|client| client.supports_tasks());
        match (self, can, wished) {
            (Self::Never, _, None) | (Self::Optional, false, None) => Ok(Way::Directly),
            (Self::Optional | Self::Required, true, _) => Ok(Way::Extension),
            (Self::Optional | Self::Required, false, Some(wished)) => Ok(Way::Legacy(wished)),
            (Self::Required, false, None) if modern => Err(ErrorData::missing_required_client_capability(
                ClientCapabilities::builder().enable_tasks().build(),
            )),
            (Self::Required, false, None) => Err(no_method(
                "This tool runs as a task only, and was called without one.",
            )),
            (Self::Never, _, Some(_)) => Err(no_method(
                "This tool does not run as a task, and was called as one.",
            )),
        }
    }
}

fn no_method(what: &'static str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, what, None)
}

/// A refusal as a JSON-RPC error. What is wrong inside the server is masked, with a correlation id.
pub fn refusal(refused: &Refused) -> ErrorData {
    match refused {
        Refused::Absent | Refused::Resting | Refused::Elsewhere => {
            ErrorData::invalid_params(refused.to_string(), None)
        }
        Refused::OutOfTurn(out) => {
            let data = json!({ "status": out.now.as_str() });
            ErrorData::invalid_params(
                format!("The task is {} already; nothing changed.", out.now.as_str()),
                Some(data),
            )
        }
        Refused::Invalid(issues) => {
            ErrorData::invalid_params(refused.to_string(), Some(json!({ "issues": issues })))
        }
        Refused::Busy { .. } | Refused::Store(StoreFault::Full { .. }) => ErrorData::new(
            ErrorCode(RATE_LIMITED),
            refused.to_string(),
            Some(json!({ "code": "CANDOR_RATE_LIMITED" })),
        ),
        Refused::Store(fault) => {
            let correlation = Uuid::now_v7();
            tracing::error!(%correlation, %fault, "the store of tasks failed");
            ErrorData::internal_error(format!("Internal fault (correlation id {correlation})."), None)
        }
    }
}

impl End {
    /// A tool's answer as the end of its task.
    ///
    /// A result is `completed`, flagged or not: what became of the call stands in it. A protocol error is `failed`. A
    /// result whose verdict says that the call was cancelled ends the task as `cancelled`, if the task was told to stop.
    pub fn of(answer: Result<CallToolResponse, ErrorData>, told_to_stop: bool) -> Self {
        match answer {
            Ok(CallToolResponse::Complete(result)) => match serde_json::to_value(&result) {
                Ok(Value::Object(result)) if told_to_stop && says_cancelled(&result) => {
                    Self::Cancelled(Some(result))
                }
                Ok(Value::Object(result)) => Self::Completed(result),
                Ok(_) | Err(_) => {
                    Self::failed(&ErrorData::internal_error("The result can't be written.", None))
                }
            },
            Ok(_) => Self::failed(&ErrorData::internal_error(
                "The tool gave no result of its own.",
                None,
            )),
            Err(error) => Self::failed(&error),
        }
    }
}

fn says_cancelled(result: &JsonObject) -> bool {
    let kind = result
        .get("_meta")
        .and_then(|meta| meta.get("candor/verdict")?.get("error")?.get("kind"));
    kind.and_then(Value::as_str) == Some("cancelled")
}
