//! Tasks as 2025-11-25 has them. rmcp dropped them; [`crate::carry`] brings their messages to `on_custom_request` and
//! back.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, CustomRequest, CustomResult, ErrorCode, ErrorData, InitializeResult, JsonObject,
    MetaObject, ProtocolVersion, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::board::Tasks;
use super::extension::Resume;
use super::store::Refused;
use super::task::{End, State, Task, TaskId};
use super::wire::{TaskSupport, refusal};
use super::{lost, relay};
use crate::carry::rewriting::{CARRIED, INSTEAD, PREFIX, SUPPORT, TASK, TASKS};
use crate::principal::Principal;

/// In `_meta` of what belongs to a task (2025-11-25, Tasks, "Related task").
pub(super) const RELATED: &str = "io.modelcontextprotocol/related-task";

/// What a caller wishes of a task (`params.task`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wished {
    /// How long it is to be kept; the server has the last word.
    pub ttl: Option<Duration>,
}

/// Does this `tools/call` want to be a task? Only in exactly 2025-11-25 does the question arise.
pub fn wished(context: &RequestContext<RoleServer>) -> Option<Wished> {
    if !is_legacy(context) {
        return None;
    }
    let task = context.meta.get(TASK)?;
    Some(Wished {
        ttl: task.get("ttl").and_then(Value::as_u64).map(Duration::from_millis),
    })
}

/// Says among the capabilities of an `initialize` result that the server has tasks, to a client that can know them and
/// over a transport that carries them.
pub fn announce(result: &mut InitializeResult, who: &Principal, context: &RequestContext<RoleServer>) {
    if result.protocol_version != ProtocolVersion::V_2025_11_25 || !is_carried(context) {
        return;
    }
    let mut tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
    if may_list(who, context)
        && let Some(members) = tasks.as_object_mut()
    {
        members.insert("list".to_owned(), json!({}));
    }
    if let Value::Object(tasks) = tasks {
        result
            .capabilities
            .experimental
            .get_or_insert_default()
            .insert(TASKS.to_owned(), tasks);
    }
}

/// Says of a listed tool how it runs.
pub fn announce_tool(tool: &mut Tool, support: TaskSupport, context: &RequestContext<RoleServer>) {
    if support != TaskSupport::Never && is_legacy(context) && is_carried(context) {
        tool.meta
            .get_or_insert_default()
            .insert(SUPPORT.to_owned(), json!(support.as_str()));
    }
}

/// The answer to a `tools/call` that became a task. Only for a call that [`wished`] for one.
pub fn created(tasks: &Tasks, task: &Task) -> CallToolResult {
    let mut result = CallToolResult::success(Vec::new());
    let mut meta = MetaObject::new();
    meta.insert(INSTEAD.to_owned(), json!({ "task": plain(tasks, task) }));
    result.meta = Some(meta);
    result
}

/// Takes away from a tool's own result what only this library may put there: a tool that passes on what another server
/// said must not replace its whole result by it.
pub fn cleared(result: &mut CallToolResult) {
    if let Some(meta) = &mut result.meta {
        meta.shift_remove(INSTEAD);
    }
}

/// `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`, as they come through the rewriting. `None`: another
/// method.
///
/// `tasks/result` waits for the end, at most as long as the task is kept; meanwhile what the task wants of the user is
/// asked, if the client can be asked. `resume` runs the tool of a task again that outlived its process.
///
/// # Errors
///
/// -32602: no such task, in the same words for somebody else's; a cancel of a task that has ended, with its `status` in
/// `data`. What `tasks/result` gives for a failed task is the task's own error.
pub async fn on_custom_request(
    tasks: &Tasks,
    who: &Principal,
    request: &CustomRequest,
    context: &RequestContext<RoleServer>,
    resume: Option<&(dyn Fn() -> Resume + Send + Sync)>,
) -> Option<Result<CustomResult, ErrorData>> {
    let method = request
        .method
        .strip_prefix(PREFIX)
        .filter(|method| method.starts_with("tasks/"))?;
    let params = request.params.as_ref();
    let text = |key: &str| params.and_then(|params| params.get(key)).and_then(Value::as_str);
    let id = TaskId::given(text("taskId").unwrap_or_default());
    let answer = match method {
        "tasks/get" => tasks.get(who, &id).await.map(|task| plain(tasks, &task)),
        "tasks/cancel" => cancel(tasks, who, &id).await.map(|task| plain(tasks, &task)),
        "tasks/result" => {
            return Some(
                result(tasks, who, &id, context, resume)
                    .await
                    .map(CustomResult::new),
            );
        }
        "tasks/list" if may_list(who, context) => list(tasks, who, text("cursor")).await,
        _ => {
            return Some(Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                method.to_owned(),
                None,
            )));
        }
    };
    Some(answer.map(CustomResult::new).map_err(|refused| refusal(&refused)))
}

fn is_legacy(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version() == Some(ProtocolVersion::V_2025_11_25)
}

fn is_carried(context: &RequestContext<RoleServer>) -> bool {
    context.meta.get(CARRIED).and_then(Value::as_bool) == Some(true)
}

/// Over HTTP without authentication everybody is the same principal, and must not be shown the others' tasks.
fn may_list(who: &Principal, context: &RequestContext<RoleServer>) -> bool {
    *who != Principal::local() || context.extensions.get::<http::request::Parts>().is_none()
}

/// A task in the words of 2025-11-25.
fn plain(tasks: &Tasks, task: &Task) -> Value {
    let mut plain = json!({
        "taskId": task.id.as_str(),
        "status": task.status().as_str(),
        "createdAt": task.created.to_string(),
        "lastUpdatedAt": task.updated.to_string(),
        "ttl": task.ttl.map(milliseconds),
        "pollInterval": milliseconds(tasks.terms().poll),
    });
    if let (Some(message), Some(members)) = (&task.message, plain.as_object_mut()) {
        members.insert("statusMessage".to_owned(), json!(message));
    }
    plain
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

async fn list(tasks: &Tasks, who: &Principal, cursor: Option<&str>) -> Result<Value, Refused> {
    let page = tasks.list(who, cursor.map(TaskId::given).as_ref()).await?;
    let mut list = json!({ "tasks": page.tasks.iter().map(|task| plain(tasks, task)).collect::<Vec<_>>() });
    if let (Some(next), Some(members)) = (page.next, list.as_object_mut()) {
        members.insert("nextCursor".to_owned(), json!(next.as_str()));
    }
    Ok(list)
}

/// This revision wants a task to be `cancelled` in the answer. The tool is told, and has a moment to say what it did;
/// an end of its own that comes first stands, and is named.
async fn cancel(tasks: &Tasks, who: &Principal, id: &TaskId) -> Result<Task, Refused> {
    tasks.cancel(who, id).await?;
    let task = tasks.ended(who, id, tasks.terms().stopping).await?;
    match &task.state {
        State::Ended(End::Cancelled(_)) => Ok(task),
        State::Ended(_) => Err(Refused::OutOfTurn(super::state::OutOfTurn { now: task.status() })),
        State::Working | State::InputRequired(_) => tasks.give_up(&task).await,
    }
}

async fn result(
    tasks: &Tasks,
    who: &Principal,
    id: &TaskId,
    context: &RequestContext<RoleServer>,
    resume: Option<&(dyn Fn() -> Resume + Send + Sync)>,
) -> Result<Value, ErrorData> {
    let task = relay::until_ended(tasks, who, id, context, resume)
        .await
        .map_err(|refused| refusal(&refused))?;
    let State::Ended(end) = &task.state else {
        let what = format!("The task is {}.", task.status().as_str());
        return Err(ErrorData::internal_error(
            what,
            Some(json!({ "status": task.status().as_str() })),
        ));
    };
    let mut result = match end {
        End::Completed(result) => result.clone(),
        End::Failed(error) => return Err(error_of(error)),
        End::Cancelled(Some(result)) => result.clone(),
        End::Cancelled(None) => lost::silent(&task.tool, task.operation),
    };
    // This revision knows no such member.
    result.shift_remove("resultType");
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(RELATED.to_owned(), json!({ "taskId": task.id.as_str() }));
    }
    Ok(Value::Object(result))
}

fn error_of(error: &JsonObject) -> ErrorData {
    serde_json::from_value(Value::Object(error.clone()))
        .unwrap_or_else(|_| ErrorData::internal_error("The task failed.", None))
}
