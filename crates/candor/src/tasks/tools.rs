//! Three plain tools with which a host that knows no tasks can follow one: `task_state`, `task_answer`, `task_cancel`.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, Tool, ToolAnnotations, object};
use serde_json::{Value, json};

use super::board::Tasks;
use super::extension::Resume;
use super::lost;
use super::store::Refused;
use super::task::{End, State, Task, TaskId};
use super::wire::refusal;
use crate::principal::Principal;

/// Shows where a task stands; once it has ended, its tool's own result.
pub const TASK_STATE: &str = "task_state";
/// Answers what a task wants.
pub const TASK_ANSWER: &str = "task_answer";
/// Tells a task to stop.
pub const TASK_CANCEL: &str = "task_cancel";

/// The three tools as a server lists them.
pub fn tools() -> [Tool; 3] {
    let id = json!({ "type": "string", "description": "The reference that the call was accepted with." });
    let with = |more: Value, required: &[&str]| {
        let mut properties = object(json!({ "task": id }));
        properties.extend(object(more));
        object(
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false }),
        )
    };
    [
        Tool::new(
            TASK_STATE,
            "Shows where an accepted call stands: working, input_required, completed, failed or cancelled. Once it is \
             completed, gives its result.",
            with(json!({}), &["task"]),
        )
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(false)),
        Tool::new(
            TASK_ANSWER,
            "Answers what an accepted call wants of the user: for each key that task_state shows, what the user \
             decided. The user decides, nobody else.",
            with(
                json!({ "answers": { "type": "object", "description": "By key.", "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "action": { "type": "string", "enum": ["accept", "decline", "cancel"] },
                        "content": { "type": "object", "description": "What the form asks for; on accept only." }
                    },
                    "required": ["action"]
                } } }),
                &["task", "answers"],
            ),
        )
        .with_annotations(ToolAnnotations::new().read_only(false).open_world(false)),
        Tool::new(
            TASK_CANCEL,
            "Tells an accepted call to stop. It may have been done before it hears that; task_state shows how it ended.",
            with(json!({}), &["task"]),
        )
        .with_annotations(ToolAnnotations::new().read_only(false).open_world(false)),
    ]
}

/// Runs one of the three, with arguments that were checked against its schema. `None`: another tool.
///
/// `resume` runs the tool of a task again that outlived its process.
pub async fn call(
    tasks: &Tasks,
    who: &Principal,
    name: &str,
    arguments: &JsonObject,
    resume: Option<Resume>,
) -> Option<CallToolResult> {
    let id = TaskId::given(arguments.get("task").and_then(Value::as_str).unwrap_or_default());
    let told = match name {
        TASK_STATE => tasks.get(who, &id).await.map(|task| shown(&task)),
        TASK_ANSWER => answer(tasks, who, &id, arguments, resume).await,
        TASK_CANCEL => tasks.cancel(who, &id).await.map(|task| {
            let what = format!(
                "ACCEPTED, NOT YET DONE: {} was told to stop. It may be done before it hears that; {TASK_STATE} shows \
                 how it ended.",
                task.tool
            );
            stating(&task, what)
        }),
        _ => return None,
    };
    Some(told.unwrap_or_else(|refused| refusing(&refused)))
}

async fn answer(
    tasks: &Tasks,
    who: &Principal,
    id: &TaskId,
    arguments: &JsonObject,
    resume: Option<Resume>,
) -> Result<CallToolResult, Refused> {
    let given = arguments
        .get("answers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let answers: BTreeMap<String, Value> = given.map(|(key, answer)| (key.clone(), answer.clone())).collect();
    let before = tasks.get(who, id).await?;
    let task = tasks.answer_or_resume(who, id, &answers, resume).await?;
    let was_wanted =
        |key: &String| matches!(&before.state, State::InputRequired(wanted) if wanted.contains_key(key));
    let unwanted: Vec<&String> = answers.keys().filter(|key| !was_wanted(key)).collect();
    if unwanted.len() == answers.len() {
        let what = format!(
            "NOT DONE: the task is {} and wants nothing under these names. Nothing changed.",
            before.status().as_str()
        );
        let mut result = stating(&before, what);
        result.is_error = Some(true);
        return Ok(result);
    }
    let what = match &task.state {
        State::InputRequired(wanted) => {
            format!(
                "The answer was taken. {} still waits for: {}.",
                task.tool,
                names(wanted)
            )
        }
        State::Working | State::Ended(_) => format!("The answer was taken, and {} goes on.", task.tool),
    };
    Ok(stating(&task, what))
}

/// A task as a result: its own where there is one, else where it stands.
fn shown(task: &Task) -> CallToolResult {
    match &task.state {
        State::Working => stating(task, format!("ACCEPTED, NOT YET DONE: {} still runs.", task.tool)),
        State::InputRequired(wanted) => {
            let what = format!(
                "NEEDS INPUT: {} waits for its user: {}. What it asks stands under wanted; {TASK_ANSWER} takes the \
                 answers.",
                task.tool,
                names(wanted)
            );
            stating(task, what)
        }
        State::Ended(End::Completed(result)) | State::Ended(End::Cancelled(Some(result))) => {
            own(task, result)
        }
        State::Ended(End::Cancelled(None)) => own(task, &lost::silent(&task.tool, task.operation)),
        State::Ended(End::Failed(error)) => failed(task, error),
    }
}

/// The tool's own result, which says itself what became of the call.
fn own(task: &Task, result: &JsonObject) -> CallToolResult {
    match serde_json::from_value::<CallToolResult>(Value::Object(result.clone())) {
        Ok(mut result) => {
            result
                .meta
                .get_or_insert_default()
                .insert("candor/taskState".to_owned(), state(task));
            result
        }
        Err(_) => stating(
            task,
            format!(
                "The task is {}; its result can't be shown here.",
                task.status().as_str()
            ),
        ),
    }
}

fn failed(task: &Task, error: &JsonObject) -> CallToolResult {
    let said = error
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or("The task failed.");
    let mut result = stating(task, said.to_owned());
    result.is_error = Some(true);
    if let (Some(verdict), Some(meta)) = (
        error.get("data").and_then(|data| data.get("candor/verdict")),
        result.meta.as_mut(),
    ) {
        meta.insert("candor/verdict".to_owned(), verdict.clone());
    }
    result
}

fn refusing(refused: &Refused) -> CallToolResult {
    let error = refusal(refused);
    let what = match refused {
        Refused::Store(_) => format!("FAILED, EFFECT UNKNOWN: {}", error.message),
        _ => format!("NOT DONE: {} Nothing changed.", error.message),
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(what)]);
    result.structured_content = error.data;
    result
}

fn stating(task: &Task, what: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(what)]);
    result.structured_content = Some(state(task));
    result.meta = Some(MetaObject::new());
    result
}

fn state(task: &Task) -> Value {
    let mut state = json!({
        "task": task.id.as_str(),
        "tool": task.tool,
        "status": task.status().as_str(),
        "updated": task.updated.to_string(),
    });
    if let (State::InputRequired(wanted), Some(members)) = (&task.state, state.as_object_mut()) {
        members.insert("wanted".to_owned(), json!(wanted));
    }
    state
}

fn names(wanted: &BTreeMap<String, Value>) -> String {
    let names: Vec<&str> = wanted.keys().map(String::as_str).collect();
    names.join(", ")
}
