//! One task as a row of SQLite.

use std::collections::BTreeMap;
use std::time::Duration;

use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::model::JsonObject;
use rusqlite::{Row, Transaction, params};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::sqlite::broken;
use super::state::Status;
use super::store::StoreFault;
use super::task::{End, Keeper, State, Task, TaskId};

/// What [`read`] reads, in its order.
pub(super) const COLUMNS: &str =
    "id, owner, tool, operation, arguments, answers, status, held, message, created, updated, ttl, process";

/// Writes a new task that this process works on.
pub(super) fn insert(act: &Transaction<'_>, task: &Task, process: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO task (id, place, owner, tool, operation, arguments, answers, status, held, message, created,
                                 updated, ttl, expires, process)
               VALUES (?1, (SELECT coalesce(max(place), 0) + 1 FROM task), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                       ?13, ?14)";
    act.prepare_cached(sql)?.execute(params![
        task.id.as_str(),
        task.owner,
        task.tool,
        task.operation.uuid().to_string(),
        task.arguments.as_ref().map(Value::to_string),
        text(&task.answers),
        task.status().as_str(),
        held(&task.state),
        task.message,
        task.created.as_millisecond(),
        task.updated.as_millisecond(),
        task.ttl.map(milliseconds),
        task.expiry().map(Timestamp::as_millisecond),
        process,
    ])?;
    Ok(())
}

/// Writes what a step changed. A task that has ended belongs to no process any more.
pub(super) fn update(act: &Transaction<'_>, task: &Task) -> rusqlite::Result<()> {
    let sql =
        "UPDATE task SET arguments = ?2, answers = ?3, status = ?4, held = ?5, message = ?6, updated = ?7,
                               process = CASE WHEN ?8 THEN NULL ELSE process END
               WHERE id = ?1";
    act.prepare_cached(sql)?.execute(params![
        task.id.as_str(),
        task.arguments.as_ref().map(Value::to_string),
        text(&task.answers),
        task.status().as_str(),
        held(&task.state),
        task.message,
        task.updated.as_millisecond(),
        task.status().is_final(),
    ])?;
    Ok(())
}

/// Nobody works on it any more.
pub(super) fn rest(act: &Transaction<'_>, id: &TaskId) -> rusqlite::Result<()> {
    act.execute("UPDATE task SET process = NULL WHERE id = ?1", [id.as_str()])
        .map(|_| ())
}

/// This process works on it from now on.
pub(super) fn hold(act: &Transaction<'_>, id: &TaskId, process: &str) -> rusqlite::Result<()> {
    act.execute(
        "UPDATE task SET process = ?2 WHERE id = ?1",
        [id.as_str(), process],
    )
    .map(|_| ())
}

/// A task, and the process that works on it.
pub(super) type Read = Result<(Task, Option<String>), StoreFault>;

/// Reads [`COLUMNS`]. What SQLite can't give is its error; what makes no sense is the store's.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Read> {
    let text = |at: usize| row.get::<_, String>(at);
    let (id, owner, tool, operation) = (text(0)?, text(1)?, text(2)?, text(3)?);
    let arguments: Option<String> = row.get(4)?;
    let (answers, status): (String, String) = (row.get(5)?, row.get(6)?);
    let (held, message): (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
    let (created, updated): (i64, i64) = (row.get(9)?, row.get(10)?);
    let (ttl, process): (Option<i64>, Option<String>) = (row.get(11)?, row.get(12)?);
    let task = || {
        Ok(Task {
            id: TaskId::given(id),
            owner,
            tool,
            operation: OperationId::new(Uuid::parse_str(&operation).map_err(broken)?),
            arguments: arguments.as_deref().map(json).transpose()?,
            answers: json::<BTreeMap<String, Value>>(&answers)?,
            state: state(&status, held.as_deref())?,
            message,
            created: Timestamp::from_millisecond(created).map_err(broken)?,
            updated: Timestamp::from_millisecond(updated).map_err(broken)?,
            ttl: ttl.map(|ttl| Duration::from_millis(u64::try_from(ttl).unwrap_or_default())),
            keeper: Keeper::Nobody,
        })
    };
    Ok(task().map(|task| (task, process)))
}

fn state(status: &str, held: Option<&str>) -> Result<State, StoreFault> {
    let status = Status::parse(status).ok_or_else(|| broken("a task has a status that there is not"))?;
    let object = || held.map(json::<JsonObject>).transpose();
    Ok(match status {
        Status::Working => State::Working,
        Status::InputRequired => State::InputRequired(held.map(json).transpose()?.unwrap_or_default()),
        Status::Completed => State::Ended(End::Completed(object()?.unwrap_or_default())),
        Status::Failed => State::Ended(End::Failed(object()?.unwrap_or_default())),
        Status::Cancelled => State::Ended(End::Cancelled(object()?)),
    })
}

fn held(state: &State) -> Option<String> {
    match state {
        State::Working => None,
        State::InputRequired(wanted) => Some(text(wanted)),
        State::Ended(end) => end.held().map(|held| Value::Object(held.clone()).to_string()),
    }
}

fn text(map: &BTreeMap<String, Value>) -> String {
    Value::Object(
        map.iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
    .to_string()
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, StoreFault> {
    serde_json::from_str(text).map_err(broken)
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
