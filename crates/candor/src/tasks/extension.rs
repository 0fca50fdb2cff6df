//! Tasks as the extension `io.modelcontextprotocol/tasks` of 2026-07-28 has them (SEP-2663).

use futures_util::future::BoxFuture;
use rmcp::model::{
    CancelTaskParams, CreateTaskResult, DetailedTask, ErrorData, GetTaskParams, GetTaskResult, InputRequest,
    InputRequests, ServerCapabilities, TASKS_EXTENSION_ID, TaskPayload, TaskStatus, UpdateTaskParams,
};

use super::board::Tasks;
use super::desk::InTask;
use super::state::Status;
use super::store::Refused;
use super::task::{End, State, Task, TaskId};
use super::wire::refusal;
use crate::principal::Principal;

/// Runs the tool of a resting task again: with the task as it stands, and what it has at hand in it.
pub type Resume = Box<dyn FnOnce(Task, InTask) -> BoxFuture<'static, End> + Send>;

/// Says among a server's capabilities that it has tasks.
pub fn announce(capabilities: &mut ServerCapabilities) {
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.entry(TASKS_EXTENSION_ID.to_owned()).or_default();
}

/// The answer to a `tools/call` that became a task.
pub fn created(tasks: &Tasks, task: &Task) -> CreateTaskResult {
    CreateTaskResult::new(plain(tasks, task))
}

/// `tasks/get`.
///
/// # Errors
///
/// -32602 in the same words for an unknown id, somebody else's and one past its time.
pub async fn get_task(
    tasks: &Tasks,
    who: &Principal,
    params: &GetTaskParams,
) -> Result<GetTaskResult, ErrorData> {
    let id = TaskId::given(params.task_id.as_str());
    let task = tasks.get(who, &id).await.map_err(|refused| refusal(&refused))?;
    Ok(GetTaskResult::new(DetailedTask::new(
        plain(tasks, &task),
        payload(&task.state),
    )))
}

/// `tasks/update`: answers what a task wants. `resume` runs the tool again where the task outlived its process; without
/// it such a task is not resumed.
///
/// # Errors
///
/// -32602: no such task; one that has ended, with its `status` in `data`; answers that break their form, with the
/// `issues` in `data`, and the task goes on waiting.
pub async fn update_task(
    tasks: &Tasks,
    who: &Principal,
    params: &UpdateTaskParams,
    resume: Option<Resume>,
) -> Result<(), ErrorData> {
    let id = TaskId::given(params.task_id.as_str());
    let answered = tasks
        .answer_or_resume(who, &id, &params.input_responses, resume)
        .await;
    answered.map(|_| ()).map_err(|refused| refusal(&refused))
}

/// `tasks/cancel`: tells a task to stop. The acknowledgement says no more than that it was told; what became of it is in
/// `tasks/get`. A task that has ended stays as it is, and the acknowledgement is the same (SEP-2663 wants both).
///
/// # Errors
///
/// -32602: no such task, or one that runs in another process.
pub async fn cancel_task(tasks: &Tasks, who: &Principal, params: &CancelTaskParams) -> Result<(), ErrorData> {
    match tasks.cancel(who, &TaskId::given(params.task_id.as_str())).await {
        Ok(_) | Err(Refused::OutOfTurn(_)) => Ok(()),
        Err(refused) => Err(refusal(&refused)),
    }
}

fn plain(tasks: &Tasks, task: &Task) -> rmcp::model::Task {
    let (created, updated) = (task.created.to_string(), task.updated.to_string());
    let mut plain = rmcp::model::Task::new(task.id.as_str(), word(task.status()), created, updated)
        .with_poll_interval_ms(tasks.terms().poll.as_millis().try_into().unwrap_or(u64::MAX));
    plain.ttl_ms = task.ttl.map(|ttl| ttl.as_millis().try_into().unwrap_or(u64::MAX));
    plain.status_message.clone_from(&task.message);
    plain
}

fn word(status: Status) -> TaskStatus {
    match status {
        Status::Working => TaskStatus::Working,
        Status::InputRequired => TaskStatus::InputRequired,
        Status::Completed => TaskStatus::Completed,
        Status::Failed => TaskStatus::Failed,
        Status::Cancelled => TaskStatus::Cancelled,
    }
}

fn payload(state: &State) -> TaskPayload {
    match state {
        State::Working => TaskPayload::Working,
        State::InputRequired(wanted) => {
            let requests: InputRequests = wanted
                .iter()
                .filter_map(|(key, request)| {
                    Some((
                        key.clone(),
                        serde_json::from_value::<InputRequest>(request.clone()).ok()?,
                    ))
                })
                .collect();
            TaskPayload::InputRequired {
                input_requests: requests,
            }
        }
        State::Ended(End::Completed(result)) => TaskPayload::Completed {
            result: result.clone(),
        },
        State::Ended(End::Failed(error)) => TaskPayload::Failed { error: error.clone() },
        State::Ended(End::Cancelled(_)) => TaskPayload::Cancelled,
    }
}
